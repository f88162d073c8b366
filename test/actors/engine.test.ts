/** The engine, behind its mailboxes and before its journal: what waits, what is refused, what cannot happen. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CHANGE_BYTES_MAX, QUEUE_DEADLINE_MS } from '../../src/actors/command-decider.ts';
import { UNSYNCED_FRAMES_MAX } from '../../src/actors/engine.ts';
import { stateHash } from '../../src/actors/state/world-snapshot.ts';
import { WRITE_BURST_BYTES } from '../../src/actors/write-allowances.ts';
import { type Command, ownCommand } from '../../src/domain/decide/decide.ts';
import { DEFAULT_GROWTH_LIMITS } from '../../src/domain/flags/growth-limits.ts';
import { FLAG_BYTES_MAX } from '../../src/domain/growth/refuse-growth.ts';
import { aboutFlag, type DomainEvent } from '../../src/domain/state/events.ts';
import { createFlag, openTestEngine, START_AT, type Submitted, settle, TESTER } from '../support/engine.ts';
import { eventsOf } from '../support/event-page.ts';
import { DEFAULT_STRATEGY } from '../support/test-world.ts';

const refusalOf = ({ outcome }: Submitted): string | null =>
  outcome?.kind === 'refusal' ? outcome.refusal.name : null;

const strategy = (values: unknown): Command => ({
  type: 'add-strategy',
  project: 'default',
  flag: 'f',
  environment: 'development',
  strategy: { ...DEFAULT_STRATEGY, parameters: { values } },
});

describe('the engine', () => {
  it('takes no more from a user who has had much written but that he signs out; from others, Admins and later it does', async () => {
    const { store, manual, submit, execute } = await openTestEngine();
    const { writeAllowances } = store.engine;
    const outcomeOf = async (userId: number, flag: string | Command): Promise<string | null> => {
      const command = typeof flag === 'string' ? createFlag(flag) : flag;
      const submitted = submit(command, { actor: { name: 'somebody', userId } });
      manual.runTurns();
      await settle();
      return refusalOf(submitted);
    };
    for (const username of ['viewer', 'other'])
      await execute({ type: 'create-user', fields: { username, rootRole: 3 }, linkDigest: username });
    const [ADMIN_ID, VIEWER_ID, OTHER_ID] = [1, 2, 3];
    for (const userId of [VIEWER_ID, ADMIN_ID])
      writeAllowances.charge({ name: '', userId }, 1, WRITE_BURST_BYTES);
    assert.equal(await outcomeOf(VIEWER_ID, 'one'), 'ServiceUnavailableError');
    const signOut = ownCommand({ sent: {}, decide: () => [], isFree: true });
    assert.equal(await outcomeOf(VIEWER_ID, signOut), null);
    assert.deepEqual([await outcomeOf(OTHER_ID, 'two'), await outcomeOf(ADMIN_ID, 'three')], [null, null]);
    manual.monotonicMs += 1_000;
    assert.equal(await outcomeOf(VIEWER_ID, 'four'), null);
  });

  it('lets a lone write wait for its turn and its sync only: no timer stands between', async () => {
    const { submit, manual, disk } = await openTestEngine();
    submit(createFlag('alone'));
    assert.equal(manual.turnsDue, 1);
    const callsBefore = disk.calls;
    manual.runTurns();
    assert(disk.calls > callsBefore, 'the write has reached the disk when the turn returns');
  });

  it('writes while a sync is under way as the next batch, all of it with one more sync', async () => {
    const { submit, gate, manual } = await openTestEngine();
    gate.close();
    const first = submit(createFlag('first'));
    manual.runTurns();
    await settle();
    const later = ['a', 'b', 'c'].map((name) => submit(createFlag(name)));
    manual.runTurns();
    await settle();
    assert.equal(gate.waitingCount, 1, 'one sync at a time');
    let syncs = 0;
    const pass = gate.pass.bind(gate);
    gate.pass = () => {
      syncs += 1;
      return pass();
    };
    gate.open();
    await settle();
    assert.equal(syncs, 1);
    assert(first.outcome !== null && later.every(({ outcome }) => outcome !== null));
  });

  it('lets commands wait in their mailboxes while too much is unsynced, and goes on after the sync', async () => {
    const { submit, gate, manual, store } = await openTestEngine({
      mailboxLengthMax: UNSYNCED_FRAMES_MAX * 2,
    });
    gate.close();
    const submitted = Array.from({ length: UNSYNCED_FRAMES_MAX + 10 }, (_, index) =>
      submit(createFlag(`f${index}`)),
    );
    manual.runTurns();
    assert.equal(store.engine.queuedCount, 10);
    gate.open();
    while (submitted.some(({ outcome }) => outcome === null)) {
      await settle();
      manual.runTurns();
    }
    assert(submitted.every(({ outcome }) => outcome?.kind === 'response'));
  });

  it('does not begin a command that waited too long, and says so while the disk is still stuck', async () => {
    const { submit, gate, manual, store } = await openTestEngine();
    gate.close();
    submit(createFlag('stuck'));
    manual.runTurns();
    const { lastId } = store.engine;
    const late = submit(createFlag('late'));
    const retired = submit(createFlag('late-too'));
    manual.monotonicMs += QUEUE_DEADLINE_MS + 1;
    manual.runTurns();
    assert.deepEqual([refusalOf(late), refusalOf(retired)], Array(2).fill('ServiceUnavailableError'));
    assert.equal(store.engine.lastId, lastId);
    gate.open();
    await settle();
  });

  it('measures waiting by a clock that does not jump', async () => {
    const { submit, manual } = await openTestEngine();
    const submitted = submit(createFlag('f'));
    manual.nowMs += 95 * 365 * 24 * 3600 * 1000;
    manual.runTurns();
    await settle();
    assert.equal(submitted.outcome?.kind, 'response');
  });

  it('never records a time before that of the event before, whatever the clock does', async () => {
    const { execute, manual, store } = await openTestEngine();
    const HOUR = 3600 * 1000;
    const jumps = [0, -HOUR, 5, -30 * HOUR, 1000 * HOUR, -1, 0];
    for (const [index, jump] of jumps.entries()) {
      manual.nowMs += jump;
      await execute(createFlag(`f${index}`));
    }
    const page = await store.engine.eventLog.search({ limit: 100, offset: 0 }, store.engine.durableId);
    const times = eventsOf(page)
      .map(({ createdAt }) => Date.parse(createdAt))
      .reverse();
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    assert.equal(times.at(-1), START_AT + 969 * HOUR + 5, 'the highest that the clock ever showed');
    assert.equal(store.engine.lastAt, times.at(-1));
  });

  it('answers a decision that throws as a fault, with the state as it was, and goes on', async () => {
    const { execute, store } = await openTestEngine();
    const before = stateHash(store.engine.world);
    const broken = { ...createFlag('f'), metadata: null } as unknown as Command;
    const outcome = await execute(broken);
    assert.equal(outcome.kind, 'fault');
    assert.equal(stateHash(store.engine.world), before);
    assert.equal((await execute(createFlag('f'))).kind, 'response');
  });

  it('answers a rendering that throws as a fault, after the change is durable', async () => {
    const { submit, manual, store } = await openTestEngine();
    const submitted = submit(createFlag('f'), {
      respond: () => {
        throw new Error('cannot be rendered');
      },
    });
    manual.runTurns();
    await settle();
    assert.equal(submitted.outcome?.kind, 'fault');
    assert.equal(store.engine.durableId, store.engine.lastId);
    assert(store.engine.world.projects.get('default')?.flags.has('f'));
  });

  it('writes all events of a command as one frame', async () => {
    const { execute, store } = await openTestEngine();
    await execute(createFlag('f'));
    for (let index = 0; index < 3; index += 1) await execute(strategy('x'));
    const firstId = store.engine.lastId + 1;
    const clone = {
      type: 'clone-flag',
      project: 'default',
      flag: 'f',
      name: 'g',
      replaceGroupId: false,
    } as const;
    await execute(clone);
    const frame = await store.engine.eventLog.readFrame(store.engine.lastId);
    assert.equal(frame?.id, firstId);
    assert.deepEqual(
      frame.events.map(({ type }) => type),
      ['feature-created', ...Array(3).fill('feature-strategy-add')],
    );
    assert.deepEqual([frame.by, frame.userId], [TESTER.name, TESTER.userId]);
  });

  it('refuses to let a flag grow beyond what a snapshot can hold', async () => {
    const limits = { ...DEFAULT_GROWTH_LIMITS, parameterBytes: 2 ** 20, strategyBytes: 2 ** 20 };
    const { execute, store, stops, manual } = await openTestEngine({ limits });
    await execute(createFlag('f'));
    const outcomes = [];
    // Empty lists: of all values, those of which the most fit in.
    const values = Array.from({ length: 34_000 }, () => []);
    for (let index = 0; index < 6; index += 1) outcomes.push((await execute(strategy(values))).kind);
    assert.deepEqual(outcomes, ['response', ...Array(5).fill('refusal')]);
    manual.runFreely();
    assert.notEqual(await store.keeper.take(), null);
    assert.deepEqual(stops, []);
  });

  it('refuses a change of more bytes than the journal takes before anything of it happens', async () => {
    const { execute, store, stops } = await openTestEngine();
    // Characters of three bytes each: by their count the change would be small enough.
    const values = ['ↂ'.repeat(FLAG_BYTES_MAX / 3 - 1_000)];
    const flags = Array.from({ length: 40 }, (_, index) => `f${index}`);
    for (const flag of flags) {
      await execute(createFlag(flag));
      const set = { ...setVariants(flag, values), environment: 'development' } as Command;
      assert.equal((await execute(set)).kind, 'response');
      await execute({ type: 'archive-flag', project: 'default', flag });
    }
    const before = { state: stateHash(store.engine.world), id: store.engine.lastId };
    const outcome = await execute({ type: 'delete-flags', project: 'default', flags });
    assert.equal(refusalOf({ outcome }), 'PayloadTooLargeError');
    assert.match(JSON.stringify(outcome), new RegExp(`more than ${CHANGE_BYTES_MAX / 2 ** 20} MiB`));
    assert.deepEqual({ state: stateHash(store.engine.world), id: store.engine.lastId }, before);
    assert.deepEqual(stops, []);
  });

  it('refuses a bulk change of more values than a frame may hold, and carries it out in parts', async () => {
    const { execute, store, stops } = await openTestEngine();
    const flags = Array.from({ length: 120 }, (_, index) => `f${index}`);
    for (const name of flags) {
      await execute(createFlag(name));
      assert.equal((await execute(setVariants(name, Array(20_000).fill('')))).kind, 'response');
      await execute({ type: 'archive-flag', project: 'default', flag: name });
    }
    const before = { state: stateHash(store.engine.world), id: store.engine.lastId };
    const remove = (some: readonly string[]): Command => ({
      type: 'delete-flags',
      project: 'default',
      flags: some,
    });
    const outcome = await execute(remove(flags));
    assert.equal(refusalOf({ outcome }), 'PayloadTooLargeError');
    assert.match(JSON.stringify(outcome), /more than 2097152 values/);
    assert.deepEqual({ state: stateHash(store.engine.world), id: store.engine.lastId }, before);
    for (const part of [flags.slice(0, 16), flags.slice(16)]) {
      assert.equal((await execute(remove(part))).kind, 'response');
    }
    assert.deepEqual(stops, []);
  });
  it('keeps what looks like code in data as data', async () => {
    const { execute, store, stops, disk } = await openTestEngine();
    await execute(createFlag('f'));
    const hostile = { constructor: 1, toJSON: 1, valueOf: 1 };
    assert.equal((await execute(strategy(hostile))).kind, 'response');
    const again = await openTestEngine({ disk: disk.crash() });
    assert.equal(stateHash(again.store.engine.world), stateHash(store.engine.world));
    assert.deepEqual(stops, []);
  });

  it('stops the process when events do not fit the state', async () => {
    const { store, stops } = await openTestEngine();
    const archived: DomainEvent = {
      type: 'feature-archived',
      ...aboutFlag({ name: 'nobody', project: 'default' }),
      data: null,
      preData: null,
    };
    assert.throws(() => store.engine.record(TESTER, [archived]));
    assert.match(stops[0]?.message ?? '', /could not be applied/);
  });

  it('applies nothing of what the journal cannot hold', async () => {
    const { store, stops } = await openTestEngine();
    let data: unknown = 1;
    for (let depth = 0; depth < 200; depth += 1) data = [data];
    const created = {
      type: 'user-created',
      project: null,
      featureName: null,
      environment: null,
      preData: null,
    };
    const before = { state: stateHash(store.engine.world), id: store.engine.lastId };
    const events = [{ ...created, data } as unknown as DomainEvent];
    assert.throws(() => store.engine.record(TESTER, events), /nesting deeper than/);
    assert.deepEqual({ state: stateHash(store.engine.world), id: store.engine.lastId }, before);
    assert.deepEqual(stops, []);
  });
});

/** Variants of one flag in all environments. */
function setVariants(flag: string, values: readonly string[]): Command {
  const variant = {
    name: 'large',
    weight: 1000,
    weightType: 'variable' as const,
    stickiness: 'default',
    overrides: [{ contextName: 'userId', values }],
  };
  return { type: 'set-variants', project: 'default', flag, environment: null, variants: [variant] };
}
