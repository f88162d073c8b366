/** The promises of every adapter of the replicated log (src/addons/replication/replicated-log.ts), as one suite. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { LogRecord, ReplicatedLog } from '../../../src/addons/replication/replicated-log.ts';

export interface LogFactory {
  /** Two links to one new, empty log. */
  open(): Promise<readonly [ReplicatedLog, ReplicatedLog]>;
  close(): Promise<void>;
}

const record = (text: string): Buffer => Buffer.from(text);

async function take(log: ReplicatedLog, from: number, count: number): Promise<readonly LogRecord[]> {
  const taken: LogRecord[] = [];
  const stop = new AbortController();
  if (count === 0) return taken;
  for await (const one of log.tail(from, stop.signal)) {
    taken.push(one);
    if (taken.length === count) stop.abort();
  }
  return taken;
}

const texts = (records: readonly LogRecord[]): readonly string[] =>
  records.map(({ position, bytes }) => `${position} ${bytes}`);

/** `skip`: why it cannot run here, or false. */
export function describeReplicatedLog(name: string, factory: LogFactory, skip: string | false = false): void {
  describe(`the replicated log ${name}`, { skip }, () => {
    let one: ReplicatedLog;
    let other: ReplicatedLog;
    before(async () => {
      [one, other] = await factory.open();
    });
    after(() => factory.close());

    it('begins empty', async () => {
      assert.equal((await one.extent()).last, 0);
      assert.equal(await one.read(1), null);
    });

    it('takes records at the expected position only, and of two at the same place one', async () => {
      assert.deepEqual(await one.append(0, record('a')), { kind: 'accepted' });
      assert.deepEqual(await other.append(0, record('b')), { kind: 'conflict' });
      assert.deepEqual(await one.append(5, record('b')), { kind: 'conflict' });
      const both = await Promise.all([one.append(1, record('one')), other.append(1, record('other'))]);
      assert.deepEqual(both.map(({ kind }) => kind).sort(), ['accepted', 'conflict']);
      assert.deepEqual(await one.extent(), { first: 1, last: 2 });
    });

    it('reads what stands at a position, on every link alike', async () => {
      assert.equal(String(await one.read(1)), 'a');
      assert.deepEqual(await one.read(2), await other.read(2));
      assert.equal(await one.read(3), null);
    });

    it('takes a record of the largest size and gives back its bytes', async () => {
      const large = Buffer.alloc(768 * 1024, 0xfe);
      assert.deepEqual(await one.append(2, large), { kind: 'accepted' });
      assert(large.equals((await other.read(3))!));
    });

    it('tails from any position, what is there and what comes, in order', async () => {
      const taken = take(other, 2, 6);
      for (let at = 3; at < 8; at += 1) await one.append(at, record(`r${at + 1}`));
      const records = await taken;
      assert.deepEqual(
        records.map(({ position }) => position),
        [2, 3, 4, 5, 6, 7],
      );
      assert.deepEqual(texts(await take(one, 4, 3)), ['4 r4', '5 r5', '6 r6']);
      assert.deepEqual(texts(await take(one, 8, 1)), ['8 r8']);
    });

    it('tails from a position that is not taken yet', async () => {
      const taken = take(other, 9, 1);
      await one.append(8, record('ninth'));
      assert.deepEqual(texts(await taken), ['9 ninth']);
    });

    it('ends a tail that waits when it is told to', async () => {
      const stop = new AbortController();
      const ended = (async () => {
        for await (const { position } of other.tail(10, stop.signal)) assert.fail(`a record at ${position}`);
      })();
      setImmediate(() => stop.abort());
      await ended;
    });

    it('forgets what is purged, keeps its positions, and tails from what it keeps', async () => {
      await one.purge(5);
      assert.deepEqual(await other.extent(), { first: 5, last: 9 });
      assert.equal(await other.read(4), null);
      assert.equal(String(await other.read(5)), 'r5');
      await one.purge(3);
      assert.deepEqual(texts(await take(other, 2, 2)), ['5 r5', '6 r6']);
      assert.deepEqual(await other.append(9, record('tenth')), { kind: 'accepted' });
      assert.deepEqual(await one.extent(), { first: 5, last: 10 });
    });

    it('tells announcements to every link, the own one included', async () => {
      const heard = [one, other].map(
        (log) => new Promise<string>((resolve) => log.onAnnouncement((message) => resolve(String(message)))),
      );
      // Who has only just begun to listen may miss one.
      const again = setInterval(() => one.announce(record('here')), 20);
      assert.deepEqual(await Promise.all(heard), ['here', 'here']);
      clearInterval(again);
    });
  });
}
