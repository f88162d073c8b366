/**
 * Kills a server around the moments of schedules, again and again on the same folder: each request is applied exactly once, by whichever
 * start of the process.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { seededRandom } from '../../support/seeded-random.ts';
import {
  type ReceivedResponse,
  type ServerProcess,
  spawnServer,
  temporaryFolder,
} from '../../support/server.ts';
import { succeeded } from './scene.ts';

const ROUNDS = 50;
const SEED = 3;
const PROPOSALS = '/projects/default/environments/development/change-requests';

test(`over ${ROUNDS} kills around their moments scheduled requests are applied exactly once`, async (t) => {
  const random = seededRandom(SEED);
  const folder = temporaryFolder();
  let server: ServerProcess = await spawnServer(folder);
  t.after(() => server.child.kill('SIGKILL'));
  const person = await succeeded(server.call('POST', '/user-admin', { username: 'ada', rootRole: 1 }));
  const tokens = `/user-admin/${person.id}/tokens`;
  const expiresAt = '2999-01-01T00:00:00.000Z';
  const { secret: token } = await succeeded(server.call('POST', tokens, { description: 'a', expiresAt }));
  const by = (method: string, path: string, body?: unknown): Promise<ReceivedResponse> =>
    server.call(method, path, body, { token });
  for (let round = 0; round < ROUNDS; round += 1) {
    const feature = `flag-${round}`;
    await succeeded(by('POST', '/projects/default/features', { name: feature }));
    const change = { feature, action: 'updateEnabled', payload: { enabled: true } };
    const { id } = await succeeded(by('POST', PROPOSALS, change));
    const state = `/projects/default/change-requests/${id}/state`;
    await succeeded(by('PUT', state, { state: 'In review' }));
    const scheduledAt = new Date(Date.now() + 50 + random.below(600)).toISOString();
    await succeeded(by('PUT', state, { state: 'Scheduled', scheduledAt }));
    await new Promise((resolve) => setTimeout(resolve, random.below(1_200)));
    await server.kill();
    server = await spawnServer(folder);
  }
  const count = async (query: string): Promise<number> =>
    (await succeeded(server.call('GET', `/search/events?${query}&limit=1`))).total;
  const applied = 'type=IS%3Achange-request-scheduled-application-success';
  while ((await count(applied)) < ROUNDS) await new Promise((resolve) => setTimeout(resolve, 50));
  const why = `seed ${SEED}, in ${folder}`;
  assert.equal(await count(applied), ROUNDS, why);
  assert.equal(await count('type=IS%3Afeature-environment-enabled'), ROUNDS, why);
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
});
