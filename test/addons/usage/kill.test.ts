/** A server that is killed: what applications reported is lost only as far as it was not saved, and flags not at all. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { makeRunningFlag } from '../../support/applications.ts';
import { processFor, type ServerProcess, temporaryFolder } from '../../support/server.ts';

const TOKEN = 'default:development.kill-test';

async function report(server: ServerProcess, yes: number): Promise<void> {
  const now = new Date().toISOString();
  const bucket = { start: now, stop: now, toggles: { used: { yes, no: 0 } } };
  const { status } = await fetch(`${server.origin}/api/client/metrics`, {
    method: 'POST',
    headers: { authorization: TOKEN, 'content-type': 'application/json' },
    body: JSON.stringify({ appName: 'shop', bucket }),
  });
  assert.equal(status, 202);
}

async function reported(server: ServerProcess): Promise<number> {
  const { body } = await server.call('GET', '/client-metrics/features/used/raw');
  return body.data.reduce((sum: number, one: { yes: number }) => sum + one.yes, 0);
}

/** Waits for two saves: where the report came in the middle of one, the rest of it is in the next one, a minute later. */
async function saved(folder: string): Promise<void> {
  const isSaved = (): boolean => {
    try {
      const usage = join(folder, 'usage');
      const hasHour = readdirSync(usage).some((name) => /^backend-hour-[0-9]+\.usage$/.test(name));
      return hasHour && readFileSync(join(usage, 'seen.usage')).includes('used');
    } catch {
      return false;
    }
  };
  while (!isSaved()) await wait(20);
}

it('a killed server has what was saved of the reports, and every flag', { timeout: 150_000 }, async (t) => {
  const folder = temporaryFolder();
  const start = () => processFor(t, folder, { INIT_CLIENT_API_TOKENS: TOKEN });
  const lastSeenAt = async ({ call }: ServerProcess): Promise<unknown> =>
    (await call('GET', '/projects/default/features/used')).body.lastSeenAt;
  const server = await start();
  await makeRunningFlag(server.call, 'used');
  await report(server, 3);
  await saved(folder);
  await report(server, 4);
  await makeRunningFlag(server.call, 'last');
  await server.kill();
  const again = await start();
  assert.equal(await reported(again), 3, 'the last minute may be lost, and nothing before it');
  assert.notEqual(await lastSeenAt(again), null);
  assert.equal((await again.call('GET', '/projects/default/features/last')).status, 200);
  await report(again, 5);
  assert.equal(await again.terminate(), 0);
  const third = await start();
  assert.equal(await reported(third), 8, 'a stop loses nothing');
  assert.notEqual(await lastSeenAt(third), null);
});
