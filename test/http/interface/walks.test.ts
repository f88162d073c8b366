/** Reads that look through all flags wait in a queue, so that few of them run at a time, whoever asks. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { READS } from '../../../src/actors/log-reads.ts';
import { describeInterface, type ReceivedResponse } from '../../support/server.ts';

describeInterface('reads that look through all flags', (server) => {
  /** Takes all places in the queue; the result gives them back. */
  function occupy(): () => Promise<void> {
    let resolve = (): void => undefined;
    const promise = new Promise<void>((whenFree) => {
      resolve = whenFree;
    });
    const { signal } = new AbortController();
    const { reads } = server().server.store;
    const walks = Array.from({ length: READS.runningMax }, (_, at) =>
      reads.walk(() => promise, { name: `other ${at}`, signal, charge: () => undefined }),
    );
    return async () => {
      resolve();
      await Promise.all(walks);
    };
  }

  it('wait for their turn', async () => {
    const { call } = server();
    const { body: segment } = await call('POST', '/segments', { name: 'queue', constraints: [] });
    const paths = [
      `/segments/${segment.id}/strategies`,
      '/context/userId/strategies',
      '/archive/features',
      '/archive/features/default',
    ];
    for (const path of paths) {
      const release = occupy();
      let response: ReceivedResponse | undefined;
      const pending = call('GET', path).then((received) => {
        response = received;
      });
      const { reads } = server().server.store;
      while (reads.waitingCount === 0 && response === undefined) await nextRound();
      assert.equal(response, undefined, `${path} does not wait`);
      await release();
      await pending;
      assert.equal((response as ReceivedResponse | undefined)?.status, 200, path);
    }
  });
});
