/** The promises of every adapter of the replicated log (src/addons/replication/replicated-log.ts), as one suite. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ReplicatedLog } from '../../../src/addons/replication/replicated-log.ts';

export interface LogFactory {
  /** Two links to one new, empty log. */
  open(): Promise<readonly [ReplicatedLog, ReplicatedLog]>;
  close(): Promise<void>;
}

const record = (text: string): Buffer => Buffer.from(text);

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

    it('tells every link of each record that is appended, the own one included, and gives it to all of them', async () => {
      const last = 9;
      const told = [one, other].map(
        (log) =>
          new Promise<void>((resolve) => {
            const stop = log.onAppended(({ position, bytes }) => {
              assert.equal(String(bytes), `r${position}`);
              if (position < last) return;
              stop();
              resolve();
            });
          }),
      );
      // Who has only just begun to listen may miss one.
      for (let at = 3; at < last; at += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        assert.deepEqual(await one.append(at, record(`r${at + 1}`)), { kind: 'accepted' });
      }
      await Promise.all(told);
      const reads = Array.from({ length: 7 }, (_, at) => other.read(at + 4));
      assert.deepEqual((await Promise.all(reads)).map(String), [
        ...['r4', 'r5', 'r6', 'r7', 'r8', 'r9'],
        'null',
      ]);
    });

    it('forgets what is purged, and keeps its positions', async () => {
      await one.purge(5);
      assert.deepEqual(await other.extent(), { first: 5, last: 9 });
      assert.equal(await other.read(4), null);
      assert.equal(String(await other.read(5)), 'r5');
      await one.purge(3);
      assert.equal(String(await other.read(5)), 'r5');
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
