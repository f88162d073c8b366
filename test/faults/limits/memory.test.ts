/**
 * The state never grows beyond what a restart can load. Clones share their parts with the original while the server runs and
 * not when it has started again, so what counts is the state as it will be then.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import '../../support/check-responses.ts';
import { stateBytes } from '../../../src/domain/state/records.ts';
import {
  addStrategy,
  archive,
  environmentPath,
  FEATURES,
  makeFlag,
  refused,
} from '../../support/interface.ts';
import {
  type Call,
  processFor,
  startTestServer,
  type TestServer,
  temporaryFolder,
} from '../../support/server.ts';

/** About 20 KB of them. */
const variants = () =>
  Array.from({ length: 45 }, (_, index) => ({
    ...{ name: `v${index}`, weight: 1, stickiness: 'default' },
    payload: { type: 'string', value: String(index).padEnd(368, 'x') },
  }));

/** A flag of about 100 KB: the variants of both environments, and two strategies. */
async function makeLargeFlag(call: Call, name: string): Promise<void> {
  await makeFlag(call, name);
  assert.equal((await call('PUT', `${FEATURES}/${name}/variants`, variants())).status, 200);
  for (const _ of [1, 2]) await addStrategy(call, name, { variants: variants() });
}

const clone = (call: Call, name: string) => call('POST', `${FEATURES}/large/clone`, { name });

/** Clones the large flag until that is refused; how many clones there are then. */
async function cloneUntilRefused(call: Call, clonesMax: number): Promise<number> {
  for (let count = 0; count < clonesMax; count += 1) {
    const { status } = await clone(call, `clone-${count}`);
    if (status === 507) return count;
    assert.equal(status, 201);
  }
  return assert.fail(`${clonesMax} clones of 100 KB were accepted`);
}

describe('a state that takes all of its memory', { timeout: 60_000 }, () => {
  const env: Record<string, string> = { MEMORY_BUDGET_BYTES: '710000' };
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ env });
    await makeLargeFlag(server.call, 'large');
    await addStrategy(server.call, 'large');
    for (const name of ['one', 'two']) assert.equal((await clone(server.call, name)).status, 201);
    assert.equal((await health(server)).body.health, 'GOOD');
    assert.equal(await cloneUntilRefused(server.call, 100), 2);
  });
  after(() => server.stop());

  it('refuses what makes it larger with 507, in words, and changes nothing', async () => {
    const calls = [
      { method: 'POST', path: `${FEATURES}/large/clone`, body: { name: 'more' } },
      {
        method: 'PUT',
        path: `${FEATURES}/one/variants`,
        body: [
          ...variants(),
          ...variants()
            .slice(0, 5)
            .map((one, at) => ({ ...one, name: `w${at}` })),
        ],
      },
      {
        method: 'POST',
        path: `${environmentPath('one')}/strategies`,
        body: { name: 'default', variants: variants() },
      },
    ];
    // The last clone leaves less room than any of these needs.
    await fillUp(server);
    for (const call of calls) {
      const { body } = await refused(server, 507, 'InsufficientStorageError', call);
      assert.match(
        body.message,
        /would take [0-9.]+ MiB of memory; the budget is 0\.7 MiB \(MEMORY_BUDGET_BYTES\)/,
      );
    }
    const { engine } = server.server.store;
    assert(stateBytes(engine.world) <= engine.memoryBudgetBytes);
  });

  it('shows it on /health, which stays good, and on the metrics page', async () => {
    const { status, body } = await health(server);
    assert.deepEqual([status, body.health], [200, 'GOOD']);
    assert.match(body.warning ?? '', /^The state takes (9[0-9]|100) % of its memory budget\./);
    const page = await (await fetch(`${server.origin}/internal-backstage/prometheus`)).text();
    assert.match(page, /^flagstaff_state_budget_bytes 710000$/m);
    assert.match(page, /^flagstaff_state_bytes (69|70)[0-9]{4}$/m);
  });

  it('can be read and switched, starts again, and takes flags once others are deleted', async () => {
    await server.restart();
    const { call } = server;
    assert.equal((await call('GET', `${FEATURES}/large`)).status, 200);
    for (const position of ['on', 'off']) {
      assert.equal((await call('POST', `${environmentPath('large')}/${position}`)).status, 200);
    }
    for (const name of ['one', 'two']) await archive(call, name);
    assert.equal((await clone(call, 'three')).status, 507, 'archived flags take what they took');
    assert.equal((await call('POST', '/projects/default/delete', { features: ['one', 'two'] })).status, 200);
    assert.equal((await clone(call, 'three')).status, 201);
  });
});

async function health({ origin }: TestServer) {
  const response = await fetch(`${origin}/health`);
  return { status: response.status, body: (await response.json()) as { health: string; warning?: string } };
}

/** Adds descriptions until there is room for no more. */
async function fillUp({ call }: TestServer): Promise<void> {
  for (let index = 0; index < 1000; index += 1) {
    const body = { name: `small-${index}`, description: 'x'.repeat(2_000) };
    if ((await call('POST', FEATURES, body)).status === 507) return;
  }
}

describe('a process with little memory', { timeout: 300_000 }, () => {
  const folder = temporaryFolder();
  it('refuses clones before a restart could not load them any more, and is killed and started again', async (t) => {
    const start = () => processFor(t, folder, { NODE_OPTIONS: '--max-old-space-size=192' });
    const first = await start();
    await makeLargeFlag(first.call, 'large');
    const clones = await cloneUntilRefused(first.call, 1_000);
    assert(clones > 3, `only ${clones} clones`);
    await first.kill();
    const second = await start();
    const last = await second.call('GET', `${FEATURES}/clone-${clones - 1}`);
    assert.equal(last.status, 200);
    assert.equal(last.body.environments[0].strategies.length, 2);
    assert.equal((await clone(second.call, 'one-more')).status, 507);
    assert.equal(await second.terminate(), 0);
    const third = await start();
    assert.equal((await third.call('GET', `${FEATURES}/clone-${clones - 1}`)).status, 200, 'from a snapshot');
  });
});
