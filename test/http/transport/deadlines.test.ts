import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type DeadlineEntry, DeadlineQueue } from '../../../src/http/transport/deadlines.ts';
import { ManualClock } from './engines.ts';

class Recorded implements DeadlineEntry {
  queue: DeadlineQueue | null = null;
  enteredAt = 0;
  readonly #name: string;
  readonly #expired: string[];

  constructor(name: string, expired: string[]) {
    this.#name = name;
    this.#expired = expired;
  }

  expire(): void {
    this.#expired.push(this.#name);
  }
}

test('entries expire in the order in which they entered, each after its time', () => {
  const clock = new ManualClock();
  const queue = new DeadlineQueue(100, clock);
  const expired: string[] = [];
  queue.enter(new Recorded('a', expired));
  clock.advance(60);
  queue.enter(new Recorded('b', expired));
  clock.advance(39);
  assert.deepEqual(expired, []);
  clock.advance(1);
  assert.deepEqual(expired, ['a']);
  clock.advance(60);
  assert.deepEqual([expired, queue.size], [['a', 'b'], 0]);
});

test('an entry that enters another queue has left the first', () => {
  const clock = new ManualClock();
  const short = new DeadlineQueue(100, clock);
  const long = new DeadlineQueue(1_000, clock);
  const expired: string[] = [];
  const entry = new Recorded('a', expired);
  short.enter(entry);
  long.enter(entry);
  clock.advance(100);
  assert.deepEqual([expired, short.size, long.size], [[], 0, 1]);
  short.leave(entry);
  assert.equal(long.size, 1);
  clock.advance(900);
  assert.deepEqual(expired, ['a']);
});

test('entries may leave and enter while others expire', () => {
  const clock = new ManualClock();
  const queue = new DeadlineQueue(100, clock);
  const expired: string[] = [];
  const last = new Recorded('last', expired);
  class Meddling extends Recorded {
    override expire(): void {
      super.expire();
      queue.leave(last);
      queue.enter(new Recorded('again', expired));
    }
  }
  queue.enter(new Meddling('meddling', expired));
  queue.enter(last);
  clock.advance(100);
  assert.deepEqual([expired, queue.size], [['meddling'], 1]);
  clock.advance(100);
  assert.deepEqual(expired, ['meddling', 'again']);
});

test('a closed queue no longer listens to the clock', () => {
  const clock = new ManualClock();
  const queue = new DeadlineQueue(100, clock);
  const expired: string[] = [];
  queue.enter(new Recorded('a', expired));
  queue.close();
  clock.advance(1_000);
  assert.deepEqual(expired, []);
});

test('after any comings and goings, exactly those expire that stayed for the whole time', () => {
  const step = fc.record({
    kind: fc.constantFrom('enter', 'leave', 'advance'),
    pick: fc.nat(9),
    ms: fc.nat(50),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const clock = new ManualClock();
      const queue = new DeadlineQueue(100, clock);
      const expired: string[] = [];
      const entries = Array.from({ length: 10 }, (_, i) => new Recorded(String(i), expired));
      const enteredAt = new Map<number, number>();
      const expected: string[] = [];
      for (const { kind, pick, ms } of steps) {
        if (kind === 'advance') {
          clock.advance(ms);
          // A Map iterates in the order of insertion, which is the order of entering.
          for (const [index, at] of [...enteredAt]) {
            if (clock.now() - at < 100) continue;
            expected.push(String(index));
            enteredAt.delete(index);
          }
        } else {
          enteredAt.delete(pick);
          if (kind === 'enter') {
            queue.enter(entries[pick]!);
            enteredAt.set(pick, clock.now());
          } else {
            queue.leave(entries[pick]!);
          }
        }
      }
      assert.deepEqual([expired, queue.size], [expected, enteredAt.size]);
    }),
  );
});
