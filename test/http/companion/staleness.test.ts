/** Flags that outlived their types: their event, and the lists of them (docs/specification/flags.md#staleness). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { flagDataOf } from '../../../src/domain/flags/flag.ts';
import { INITIAL_METADATA } from '../../../src/domain/flags/metadata.ts';
import { aboutFlag } from '../../../src/domain/state/events.ts';
import '../../support/check-responses.ts';
import { archive, FEATURES, flagEvent, invalidAt, makeFlag, record } from '../../support/interface.ts';
import { describeInterface, type TestServer } from '../../support/server.ts';

const NOTED = 'feature-potentially-stale-on';

function recordOldFlag(server: TestServer, name: string): Promise<void> {
  const data = flagDataOf({
    identity: { name, project: 'default', createdAt: '2020-01-01T00:00:00.000Z' },
    metadata: INITIAL_METADATA,
    variants: [],
    archived: false,
  });
  return record(server, { type: 'feature-created', ...aboutFlag(data), data, preData: null });
}

async function notesOf(server: TestServer): Promise<readonly Record<string, unknown>[]> {
  await server.server.staleness.check();
  const { body } = await server.call('POST', '/events/search', { type: NOTED });
  return body.events;
}

async function listed(server: TestServer, state: string): Promise<readonly string[]> {
  const { status, body } = await server.call('GET', `${FEATURES}?state=${state}`);
  assert.equal(status, 200);
  return body.features.map(({ name }: { readonly name: string }) => name);
}

describeInterface('staleness', (server) => {
  it('lists active, potentially stale and stale flags apart', async () => {
    const { call } = server();
    for (const name of ['old.a', 'old.b', 'old.c']) await recordOldFlag(server(), name);
    for (const name of ['new.a', 'new.b']) await makeFlag(call, name);
    await call('POST', '/projects/default/stale', { features: ['old.b', 'new.b'], stale: true });
    await archive(call, 'old.c');
    assert.deepEqual(await listed(server(), 'active'), ['new.a']);
    assert.deepEqual(await listed(server(), 'potentially-stale'), ['old.a']);
    assert.deepEqual(await listed(server(), 'stale'), ['old.b', 'new.b']);
    assert.deepEqual(await listed(server(), 'stale&namePrefix=new'), ['new.b']);
    const etags = await Promise.all(
      ['', '?state=active', '?state=stale'].map(async (query) => {
        const { headers } = await call('GET', `${FEATURES}${query}`);
        return headers.get('etag');
      }),
    );
    assert.equal(new Set(etags).size, 3);
  });

  it('goes by the lifetime of the type that Admins set, after a restart too, until it is null or 0', async () => {
    const { call, restart } = server();
    await recordOldFlag(server(), 'aged');
    const isIn = async (state: string) => (await listed(server(), state)).includes('aged');
    const health = async () => (await call('GET', '/projects/default/overview')).body.health;
    const setLifetime = (lifetimeDays: unknown, type = 'release') =>
      call('PUT', `/feature-types/${type}/lifetime`, { lifetimeDays });
    const before = await health();
    const { headers } = await call('GET', `${FEATURES}?state=potentially-stale`);
    assert.deepEqual((await setLifetime(100_000, 'Release')).body.lifetimeDays, 100_000);
    assert(await isIn('active'));
    assert((await health()) > before);
    const etag = headers.get('etag') ?? '';
    const again = await call('GET', `${FEATURES}?state=potentially-stale`, undefined, {
      headers: { 'if-none-match': etag },
    });
    assert.equal(again.status, 200);
    const found = await call('GET', '/search/features?state=IS:potentially-stale&query=aged');
    assert.equal(found.body.total, 0);
    await restart();
    const { body } = await call('GET', '/feature-types');
    assert.equal(body.types[0].lifetimeDays, 100_000);
    assert(await isIn('active'));
    assert.equal((await setLifetime(40)).status, 200);
    assert(await isIn('potentially-stale'));
    for (const never of [0, null]) {
      assert.equal((await setLifetime(never)).body.lifetimeDays, null);
      assert(await isIn('active'));
    }
    await setLifetime(40);
    for (const wrong of [-1, 1.5, '7', 2 ** 31, undefined]) {
      const request = {
        method: 'PUT',
        path: '/feature-types/release/lifetime',
        body: { lifetimeDays: wrong },
      };
      await invalidAt(server(), '/body/lifetimeDays', request);
    }
    assert.equal((await setLifetime(7, 'releases')).status, 404);
    await archive(call, 'aged');
  });

  it('goes by the lifetimes that a project has set for itself, which its readers see beside those of other types', async () => {
    const { call, restart } = server();
    await recordOldFlag(server(), 'own');
    const setLifetimes = (lifetimes: object | null) =>
      call('PUT', '/projects/default/settings', { lifetimes });
    const shown = async () => {
      const { body } = await call('GET', '/projects/default/feature-types');
      const days = body.types.map((type: { lifetimeDays: number | null }) => type.lifetimeDays);
      const { total } = (await call('GET', '/search/features?state=IS:potentially-stale&query=own')).body;
      const isListed = (await listed(server(), 'potentially-stale')).includes('own');
      const { health } = (await call('GET', '/projects/default/overview')).body;
      return { days, total, isListed, isHealthier: health > before };
    };
    const before = (await call('GET', '/projects/default')).body.health;
    const others = [null, 40, 7, null];
    await setLifetimes({ release: 100_000, operational: undefined });
    const later = { days: [100_000, ...others], total: 0, isListed: false, isHealthier: true };
    assert.deepEqual(await shown(), later);
    await restart();
    assert.deepEqual(await shown(), later);
    const { body } = await call('GET', '/feature-types');
    assert.equal(body.types[0].lifetimeDays, 40);
    await setLifetimes(null);
    assert.deepEqual(await shown(), { days: [40, ...others], total: 1, isListed: true, isHealthier: false });
    await archive(call, 'own');
  });

  it('refuses a state that does not exist, and says which do', async () => {
    const { body } = await invalidAt(server(), '/query/state', {
      method: 'GET',
      path: `${FEATURES}?state=old`,
    });
    assert.match(body.message, /active, potentially-stale, stale/);
  });

  it('records once, over a restart too, that a flag became potentially stale', async () => {
    const expected = flagEvent(NOTED, 'old.a', {
      ...{ createdBy: 'system', createdByUserId: -1337 },
      data: { owner: null, potentiallyStaleAt: '2020-02-10T00:00:00.000Z' },
    });
    const [first, ...others] = await notesOf(server());
    assert(first !== undefined);
    const { id, createdAt: _, ...event } = first;
    assert.deepEqual(event, expected);
    assert.deepEqual(others, []);
    await server().restart();
    assert.deepEqual(
      (await notesOf(server())).map((one) => one['id']),
      [id],
    );
  });

  it('leaves the flag and its ETag as they are', async () => {
    const { call } = server();
    await recordOldFlag(server(), 'old.d');
    const before = await call('GET', `${FEATURES}/old.d`);
    assert.equal((await notesOf(server())).length, 2);
    const after = await call('GET', `${FEATURES}/old.d`);
    assert.deepEqual(after.body, before.body);
    assert.equal(after.headers.get('etag'), before.headers.get('etag'));
  });
});
