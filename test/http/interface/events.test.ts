/** Endpoint 20: searching the event log (docs/specification/events.md#search). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import {
  addProject,
  addStrategy,
  addUser,
  FEATURES,
  invalidAt,
  makeFlag,
  refused,
} from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

interface Found {
  readonly id: number;
  readonly type: string;
  readonly createdAt: string;
  readonly project: string | null;
  readonly featureName: string | null;
  readonly createdBy: string;
  readonly createdByUserId: number;
}

describeInterface('events', (server) => {
  const search = async (
    filter: object,
  ): Promise<{ events: Found[]; totalEvents: number; version: number }> => {
    const { status, body } = await server().call('POST', '/events/search', filter);
    assert.equal(status, 200);
    return body;
  };

  it('lists every event newest first, with ids from 1 without a gap and times that never go back', async () => {
    await makeFlag(server().call, 'listed');
    const { events, totalEvents, version } = await search({});
    assert.equal(version, 1);
    assert.equal(totalEvents, events.length);
    assert.deepEqual(
      events.map(({ id }) => id),
      events.map((_, index) => totalEvents - index),
    );
    const times = events.map(({ createdAt }) => createdAt).reverse();
    assert.deepEqual(times, [...times].sort());
  });

  it('begins a new data folder with its environments, its user, its project and its token', async () => {
    const { totalEvents } = await search({});
    const { events } = await search({ offset: 6 });
    assert(totalEvents >= 6);
    assert.deepEqual(events.map(({ type }) => type).reverse(), [
      'environment-created',
      'environment-created',
      'user-created',
      'project-created',
      'project-user-added',
      'api-token-created',
    ]);
    assert(events.every(({ createdBy }) => createdBy === 'system'));
  });

  it('filters by type, project and flag, all of them together, and counts all that match', async () => {
    const { call } = server();
    await addProject(server(), 'second');
    for (const name of ['f-1', 'f-2', 'f-3']) await makeFlag(call, name);
    await call('POST', '/projects/second/features', { name: 'f-4' });
    await call('PUT', `${FEATURES}/f-2`, { description: 'x' });
    const found = async (filter: object) =>
      (await search(filter)).events.map((one) => [one.type, one.featureName]);
    assert.deepEqual(await found({ feature: 'f-2' }), [
      ['feature-metadata-updated', 'f-2'],
      ['feature-created', 'f-2'],
    ]);
    assert.deepEqual(await found({ type: 'feature-created', project: 'second' }), [
      ['feature-created', 'f-4'],
    ]);
    assert.deepEqual(await found({ type: 'feature-created', feature: 'f-2', project: 'second' }), []);
    const page = await search({ type: 'feature-created', project: 'default', limit: 2 });
    assert.deepEqual(
      page.events.map(({ featureName }) => featureName),
      ['f-3', 'f-2'],
    );
    assert.equal(page.totalEvents, 4);
  });

  it('compares names and types with regard to case, and finds nothing under an empty name', async () => {
    await makeFlag(server().call, 'Cased');
    for (const filter of [
      { feature: 'cased' },
      { project: 'Default' },
      { feature: 'no-such-flag' },
      { project: '' },
      { feature: '' },
    ]) {
      const { events, totalEvents } = await search(filter);
      assert.deepEqual({ filter, events, totalEvents }, { filter, events: [], totalEvents: 0 });
    }
    await invalidAt(server(), '/body/type', {
      method: 'POST',
      path: '/events/search',
      body: { type: 'Feature-created' },
    });
  });

  it('starts at the event of the offset, going to older ones, while the total stays', async () => {
    for (let index = 0; index < 5; index += 1) await makeFlag(server().call, `paged-${index}`);
    const all = await search({});
    const newest = all.events[0]?.id ?? 0;
    const page = await search({ offset: newest - 2, limit: 3 });
    assert.deepEqual(
      page.events.map(({ id }) => id),
      [newest - 2, newest - 3, newest - 4],
    );
    assert.equal(page.totalEvents, all.totalEvents);
    assert.deepEqual(await search({ offset: 0 }), all);
    assert.deepEqual(await search({ offset: newest + 100 }), all);
    assert.equal((await search({ offset: 1 })).events.length, 1);
  });

  it('walks all events, page by page, each once', async () => {
    const all = await search({});
    const walked: number[] = [];
    for (let offset = 0, more = true; more; ) {
      const { events } = await search({ offset, limit: 4 });
      walked.push(...events.map(({ id }) => id));
      offset = (events.at(-1)?.id ?? 1) - 1;
      more = offset > 0;
    }
    assert.deepEqual(
      walked,
      all.events.map(({ id }) => id),
    );
  });

  it('finds text in type, author and data, whatever the case, and not in names or former data', async () => {
    const { call } = server();
    const author = await addUser(server(), 1, { username: 'Grace.Hopper' });
    await call(
      'POST',
      FEATURES,
      { name: 'texts', description: 'Needle Æ "quoted"' },
      { token: author.token },
    );
    await call('PUT', `${FEATURES}/texts`, { description: 'straw' });
    const found = async (query: string, more: object = {}) =>
      (await search({ query, feature: 'texts', ...more })).events.map(({ type }) => type);
    assert.deepEqual(await found('NEEDLE'), ['feature-created']);
    assert.deepEqual(await found('needle æ'), ['feature-created']);
    assert.deepEqual(await found('hopper'), ['feature-created']);
    assert.deepEqual(await found('METADATA'), ['feature-metadata-updated']);
    assert.deepEqual(await found('straw'), ['feature-metadata-updated']);
    assert.deepEqual(await found('straw', { type: 'feature-created' }), []);
    assert.deepEqual(await found('haystack'), []);
    assert.equal((await found('')).length, 2);
  });

  it('names the author: a token by its name with -42, a user by name and id', async () => {
    const { id, token } = await addUser(server(), 1, { username: null, email: 'anna@example.com' });
    await makeFlag(server().call, 'by-token');
    await server().call('POST', FEATURES, { name: 'by-user' }, { token });
    const author = async (feature: string) => {
      const [{ createdBy, createdByUserId } = {} as Found] = (await search({ feature })).events;
      return { createdBy, createdByUserId };
    };
    assert.deepEqual(await author('by-token'), { createdBy: 'admin', createdByUserId: -42 });
    assert.deepEqual(await author('by-user'), { createdBy: 'anna@example.com', createdByUserId: id });
  });

  it('never shows a secret or its digest', async () => {
    await addUser(server(), 3);
    const { body } = await server().call('POST', '/events/search', {});
    assert.doesNotMatch(JSON.stringify(body), /secret|digest|hidden|[0-9a-f]{64}/);
    for (const query of ['test-secret', 'digest']) assert.equal((await search({ query })).totalEvents, 0);
  });

  it('shows at least what was answered, in the order of the responses', async () => {
    await makeFlag(server().call, 'ordered');
    for (let index = 0; index < 3; index += 1) {
      const { id } = await addStrategy(server().call, 'ordered', { title: `${index}` });
      const { body } = await server().call('POST', '/events/search', { feature: 'ordered', limit: 1 });
      assert.equal(body.events[0].data.id, id);
    }
  });

  it('needs a body, and refuses one that breaks a rule', async () => {
    const call = { method: 'POST', path: '/events/search' };
    await refused(server(), 400, 'ValidationError', call);
    const cases: readonly (readonly [unknown, string])[] = [
      [[], '/body'],
      [{ type: 'no-such-type' }, '/body/type'],
      [{ type: null }, '/body/type'],
      [{ project: 5 }, '/body/project'],
      [{ feature: ['x'] }, '/body/feature'],
      [{ query: 5 }, '/body/query'],
      [{ limit: 0 }, '/body/limit'],
      [{ limit: 101 }, '/body/limit'],
      [{ limit: 1.5 }, '/body/limit'],
      [{ limit: '10' }, '/body/limit'],
      [{ limit: null }, '/body/limit'],
      [{ offset: -1 }, '/body/offset'],
      [{ offset: 0.5 }, '/body/offset'],
      [{ offset: '1' }, '/body/offset'],
    ];
    for (const [body, pointer] of cases) await invalidAt(server(), pointer, { ...call, body });
    assert.equal((await server().call('POST', '/events/search', { limit: 1, unknown: true })).status, 200);
  });
});
