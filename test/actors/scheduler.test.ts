/** The round of the mailboxes: fairness is counted in commands, never in time. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Scheduler } from '../../src/actors/scheduler.ts';
import { ManualClock } from '../support/engine.ts';

interface Bench {
  readonly scheduler: Scheduler<number>;
  /** Actor and item of what ran, in order; a dash after each turn. */
  readonly ran: string[];
  readonly manual: ManualClock;
  /** Commands that may still run before the journal is full. */
  room: number;
  /** Commands after which a turn has lasted long enough. */
  turnLength: number;
}

function bench(mailboxLengthMax?: number): Bench {
  const manual = new ManualClock();
  const ran: string[] = [];
  const made: Bench = {
    ran,
    manual,
    room: Number.POSITIVE_INFINITY,
    turnLength: Number.POSITIVE_INFINITY,
    scheduler: new Scheduler<number>({
      run: (actor, item) => {
        made.room -= 1;
        ran.push(`${actor}${item}`);
      },
      canRun: () => made.room > 0,
      isTurnOver: () => ran.length - 1 - ran.lastIndexOf('-') >= made.turnLength,
      afterTurn: () => ran.push('-'),
      defer: manual.clock.defer,
      ...(mailboxLengthMax === undefined ? {} : { mailboxLengthMax }),
    }),
  };
  return made;
}

describe('the scheduler', () => {
  it('runs nothing where it is offered, and all that was offered in one turn, with one commit', () => {
    const { scheduler, ran, manual } = bench();
    for (let item = 0; item < 3; item += 1) scheduler.offer('a', item);
    assert.deepEqual([ran, manual.turnsDue], [[], 1]);
    manual.runTurns();
    assert.deepEqual(ran, ['a0', 'a1', 'a2', '-']);
  });

  it('takes one command of each mailbox in turn, so that a busy one cannot starve the others', () => {
    const { scheduler, ran, manual } = bench();
    for (let item = 0; item < 100; item += 1) scheduler.offer('busy', item);
    scheduler.offer('calm', 0);
    scheduler.offer('calm', 1);
    manual.runTurns();
    assert.deepEqual(ran.slice(0, 5), ['busy0', 'calm0', 'busy1', 'calm1', 'busy2']);
    assert.equal(ran.length, 103);
  });

  it('ends a turn that has lasted long enough, and begins the next one with those whose turn had not come', () => {
    const made = bench();
    const { scheduler, ran, manual } = made;
    for (const actor of ['a', 'b', 'c']) for (let item = 0; item < 2; item += 1) scheduler.offer(actor, item);
    made.turnLength = 2;
    manual.runTurns();
    assert.deepEqual(ran, ['a0', 'b0', '-', 'c0', 'a1', '-', 'b1', 'c1', '-']);
    scheduler.audit();
  });

  it('goes on with the round where it stopped when the journal had no room', () => {
    const made = bench();
    const { scheduler, ran, manual } = made;
    for (const actor of ['a', 'b', 'c']) for (let item = 0; item < 2; item += 1) scheduler.offer(actor, item);
    made.room = 3;
    manual.runTurns();
    assert.deepEqual(ran, ['a0', 'b0', 'c0', '-']);
    assert.equal(scheduler.queuedCount, 3);
    made.room = 1;
    scheduler.wake();
    manual.runTurns();
    scheduler.offer('d', 0);
    made.room = Number.POSITIVE_INFINITY;
    scheduler.wake();
    manual.runTurns();
    assert.deepEqual(ran.filter((one) => one !== '-').sort(), ['a0', 'a1', 'b0', 'b1', 'c0', 'c1', 'd0']);
    assert.equal(scheduler.queuedCount, 0);
  });

  it('makes a newcomer wait for one command of each other mailbox at most', () => {
    const { scheduler, ran, manual } = bench();
    const actors = ['a', 'b', 'c', 'd'];
    for (const actor of actors) for (let item = 0; item < 50; item += 1) scheduler.offer(actor, item);
    scheduler.offer('new', 0);
    manual.runTurns();
    assert(ran.indexOf('new0') <= actors.length);
  });

  it('refuses for a full mailbox alone', () => {
    const { scheduler, manual, ran } = bench(2);
    assert.deepEqual(
      [scheduler.offer('a', 0), scheduler.offer('a', 1), scheduler.offer('a', 2), scheduler.offer('b', 0)],
      [true, true, false, true],
    );
    assert.equal(scheduler.deepest, 2);
    manual.runTurns();
    assert.deepEqual(ran, ['a0', 'b0', 'a1', '-']);
    assert.equal(scheduler.offer('a', 3), true);
  });

  it('plans one turn however often it is woken, and none when nothing waits', () => {
    const { scheduler, manual, ran } = bench();
    scheduler.wake();
    assert.equal(manual.turnsDue, 0);
    scheduler.offer('a', 0);
    scheduler.wake();
    scheduler.wake();
    assert.equal(manual.turnsDue, 1);
    manual.runTurns();
    assert.deepEqual(ran, ['a0', '-']);
  });

  it('runs in the same turn what a command offers while it runs', () => {
    const manual = new ManualClock();
    const ran: string[] = [];
    const scheduler: Scheduler<string> = new Scheduler<string>({
      run: (_actor, item) => {
        ran.push(item);
        if (item === 'first') scheduler.offer('a', 'second');
      },
      canRun: () => true,
      isTurnOver: () => false,
      afterTurn: () => undefined,
      defer: manual.clock.defer,
    });
    scheduler.offer('a', 'first');
    manual.runTurns();
    assert.deepEqual(ran, ['first', 'second']);
    assert.equal(scheduler.queuedCount, 0);
  });
});
