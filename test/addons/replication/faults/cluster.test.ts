/** Real servers on real NATS servers, of which one is killed or paused. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { it } from 'node:test';
import { EXIT } from '../../../../src/process/exit-codes.ts';
import { noNatsServer } from '../nats-servers.ts';
import { killLeaders } from './kill-leaders.ts';
import { loseMachines } from './lost-machines.ts';
import { withCluster } from './real-cluster.ts';
import { makeTrouble } from './troubles.ts';

const skip = noNatsServer ?? false;

it('nothing acknowledged is lost or there twice when leaders are killed under load', { skip }, async () => {
  const { kills, acknowledged } = await killLeaders({ rounds: 2, writers: 8 });
  assert.equal(kills, 2);
  assert(acknowledged >= 600);
});

it('another node takes writes, and reports count, while leader and NATS leader of the log are away together', {
  skip,
}, async () => {
  const { figures, ends } = await loseMachines('log-leader', 1, { awayMs: 0 });
  assert.equal(figures.length, 1);
  assert.deepEqual(ends, {}, 'no other node ended');
});

it('no write fails while all nodes are restarted one after the other', { skip }, async () => {
  const { acknowledged } = await makeTrouble('rolling-restart', 1, 4);
  assert(acknowledged >= 400);
});

it(
  'a leader that stood still ends with its own exit code once another one leads, and follows',
  { skip },
  () =>
    withCluster(async (cluster) => {
      const at = await cluster.leader();
      const { child } = cluster.nodes[at]!;
      child.kill('SIGSTOP');
      const next = await cluster.leader(at);
      const ended = once(child, 'exit');
      child.kill('SIGCONT');
      assert.deepEqual(await ended, [EXIT.deposed, null]);
      await cluster.start(at);
      const health = (await (await fetch(`${cluster.nodes[at]!.origin}/health`)).json()) as {
        cluster: { role: string; leader: string };
      };
      assert.deepEqual([health.cluster.role, health.cluster.leader], ['following', `node-${next}`]);
    }),
);
