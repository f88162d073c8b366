/**
 * Kills a server while it delivers to integrations, again and again on the same folder. In each round flags are created until the
 * process is killed at a moment that the seed chooses, with deliveries under way. At the end, each integration must have got each event
 * of the history, in order, and at most one twice for each kill.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { seededRandom } from '../../support/seeded-random.ts';
import { type Call, type ServerProcess, spawnServer, temporaryFolder } from '../../support/server.ts';
import { startReceiver } from './receiver.ts';

const RECEIVERS = 3;
const FLAGS_PER_ROUND_MAX = 30;
const ENV = { INTEGRATION_PRIVATE_HOSTS: '127.0.0.1' };

export async function runIntegrationKills(
  t: Pick<TestContext, 'after'>,
  { rounds, seed }: { readonly rounds: number; readonly seed: number },
): Promise<void> {
  const random = seededRandom(seed);
  const folder = temporaryFolder();
  const taken: number[][] = [];
  let server: ServerProcess = await spawnServer(folder, ENV);
  t.after(() => server.child.kill('SIGKILL'));
  for (let at = 0; at < RECEIVERS; at += 1) {
    const ids: number[] = [];
    taken.push(ids);
    const { url } = await startReceiver(t, ({ headers }, response) => {
      ids.push(Number(headers['webhook-id']));
      setTimeout(() => response.end(), random.below(10));
    });
    const { status } = await server.call('POST', '/addons', {
      ...{ provider: 'webhook', enabled: true, parameters: { url }, events: ['feature-created'] },
    });
    assert.equal(status, 201);
  }
  for (let round = 0; round < rounds; round += 1) {
    const flags = 1 + random.below(FLAGS_PER_ROUND_MAX);
    for (let at = 0; at < flags; at += 1) {
      const body = { name: `flag-${round}-${at}` };
      assert.equal((await server.call('POST', '/projects/default/features', body)).status, 201);
    }
    await new Promise((resolve) => setTimeout(resolve, random.below(15)));
    await server.kill();
    server = await spawnServer(folder, ENV);
  }
  const created = await createdIn(server.call);
  await untilTaken(taken, created.at(-1) ?? 0);
  for (const [at, ids] of taken.entries()) {
    const why = `receiver ${at} of seed ${seed}, in ${folder}`;
    assert.deepEqual([...new Set(ids)], created, `each event arrives, and first in order: ${why}`);
    assert(ids.length - created.length <= rounds, `${ids.length - created.length} doubles: ${why}`);
  }
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
}

/** Ids of the events that the history has, oldest first. */
async function createdIn(call: Call): Promise<readonly number[]> {
  const ids: number[] = [];
  for (let offset = 0; ; ) {
    const { body } = await call('GET', `/search/events?type=IS%3Afeature-created&limit=500&offset=${offset}`);
    const { events, nextOffset } = body as {
      events: readonly { readonly id: number }[];
      nextOffset?: number;
    };
    ids.push(...events.map(({ id }) => id));
    if (nextOffset === undefined) return ids.toReversed();
    offset = nextOffset;
  }
}

async function untilTaken(taken: readonly (readonly number[])[], lastId: number): Promise<void> {
  while (!taken.every((ids) => ids.includes(lastId))) await new Promise((resolve) => setTimeout(resolve, 20));
}
