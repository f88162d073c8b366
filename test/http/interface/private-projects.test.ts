/**
 * The things that a private project hides (docs/specification/rights.md#private-projects): to those who do not see it, each operation is as it would be
 * if the project and all that is in it did not exist.
 */
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { ADMIN_ROUTES } from '../../support/surfaces.ts';
import '../../support/check-responses.ts';
import { openStream } from '../../support/event-stream.ts';
import { addUser } from '../../support/interface.ts';
import { ADMIN_TOKEN, describeInterface, type ReceivedResponse } from '../../support/server.ts';

const [ADMIN, EDITOR, VIEWER, OWNER, MEMBER] = [1, 2, 3, 4, 5] as const;

/** A part of the names of all that must stay hidden; of the same length as what stands in the names of what does not exist. */
const HIDDEN = 'hush';
const ABSENT = 'none';

/** An id that no record has. */
const NO_ID = '4711';

/** Without what differs between two responses that say the same: times, and the ids of errors and of records. */
function textOf({ status, body }: ReceivedResponse, ...ids: readonly string[]): string {
  const text = `${status} ${JSON.stringify(body)}`
    .replaceAll(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"time"')
    .replaceAll(/"id":"[0-9a-f-]{36}"/g, '"id":"error"');
  return [NO_ID, ...ids].reduce((rest, id) => rest.replaceAll(new RegExp(`\\b${id}\\b`, 'g'), '#'), text);
}

describeInterface('a private project', (server) => {
  /** Tokens of those who must not see it, and of those who must. */
  const blind: Record<string, string> = {};
  const seeing: Record<string, string> = {};
  /** Ids of the hidden records, by the part of the paths that names them. */
  const ids = { strategyId: '', segment: '', token: '' };
  /** The responses to the blind before there was anything to hide. */
  const beforehand = new Map<string, string>();

  const made = async (method: string, path: string, body?: unknown, token?: string) => {
    const response = await server().call(method, path, body, token === undefined ? {} : { token });
    assert(response.status < 300, `${method} ${path}: ${JSON.stringify(response.body)}`);
    return response.body;
  };

  const linesFor = async (token: string): Promise<{ status: number; text: string }> => {
    const url = `${server().origin}/api/admin/events.ndjson?follow=false`;
    const response = await fetch(url, { headers: token === '' ? {} : { authorization: token } });
    return { status: response.status, text: await response.text() };
  };

  const addSeen = async (project: string): Promise<void> => {
    const flags = `/projects/${project}/features`;
    await made('POST', flags, { name: `${project}.parent` });
    await made('POST', flags, { name: `${project}.flag`, description: `${project} description` });
    await made('POST', `/features/${project}.flag/tags`, { type: 'simple', value: `${project}-tag` });
    await made('POST', `${flags}/${project}.flag/link`, { url: `https://${project}.example` });
    await made('POST', `${flags}/${project}.flag/dependencies`, { feature: `${project}.parent` });
    await made('POST', flags, { name: `${project}.old` });
    await made('DELETE', `${flags}/${project}.old`);
  };

  before(async () => {
    const user = async (rootRole: number, project?: string, roleId?: number): Promise<string> => {
      const { id, token } = await addUser(server(), rootRole);
      if (project !== undefined) await made('POST', `/projects/${project}/users/${id}/roles/${roleId}`);
      return token;
    };
    const ownerToBe = await addUser(server(), VIEWER);
    const memberToBe = await addUser(server(), VIEWER);
    const { id: groupId } = await made('POST', '/groups', {
      name: 'people',
      users: [{ user: { id: memberToBe.id } }],
    });
    blind['a root Viewer'] = await user(VIEWER);
    blind['a root Editor'] = await user(EDITOR);
    blind['an Owner of another project'] = await user(VIEWER, 'default', OWNER);
    blind['a Member of another project'] = await user(VIEWER, 'default', MEMBER);
    seeing['a root Admin'] = await user(ADMIN);
    seeing['a root Owner'] = await user(OWNER);
    seeing['a root Member'] = await user(MEMBER);
    seeing['an Owner of the project'] = ownerToBe.token;
    seeing['a member by a group'] = memberToBe.token;
    await addSeen('default');
    // Who uses the service is counted.
    for (const token of Object.values(blind)) await server().call('GET', '/projects', undefined, { token });
    for (const [kind, token] of Object.entries(blind))
      for (const path of openPaths()) beforehand.set(`${kind} ${path}`, await shown(path, token));

    await made('POST', '/projects', { id: HIDDEN, name: `${HIDDEN} project`, mode: 'private' });
    await addSeen(HIDDEN);
    const segment = { name: `${HIDDEN}-segment`, project: HIDDEN, constraints: [] };
    ids.segment = String((await made('POST', '/segments', segment)).id);
    const strategies = `/projects/${HIDDEN}/features/${HIDDEN}.flag/environments/development/strategies`;
    const strategy = {
      name: 'flexibleRollout',
      parameters: { rollout: '50', stickiness: 'default', groupId: 'x' },
      constraints: [{ contextName: 'appName', operator: 'IN', values: ['x'] }],
      segments: [Number(ids.segment)],
    };
    ids.strategyId = (await made('POST', strategies, strategy)).id;
    const token = {
      tokenName: `${HIDDEN}-token`,
      type: 'client',
      projects: [HIDDEN],
      environment: 'development',
    };
    ids.token = (await made('POST', '/api-tokens', token)).digest;
    await made('POST', `/projects/${HIDDEN}/users/${ownerToBe.id}/roles/${OWNER}`);
    await made('PUT', `/projects/${HIDDEN}/groups/${groupId}/roles`, { roles: [MEMBER] });
  });

  /** Paths of reads that name nothing, or what everybody sees. */
  function openPaths(): string[] {
    const named = ADMIN_ROUTES.flatMap(({ method, path, kind }) =>
      method === 'GET' && kind === 'read' ? [path] : [],
    ).map((path) =>
      path
        .replace(':projectId', 'default')
        .replace(':featureName', 'default.flag')
        .replace(':environment', 'development')
        .replace(':contextField', 'appName')
        .replace(/:[A-Za-z]+/g, NO_ID),
    );
    return [
      // What the process holds, and for how long it has run, is different each time.
      ...named.filter((path) => path !== '/instance-stats'),
      '/search/features?query=description',
      '/search/events?limit=1000',
      '/events?project=hush',
    ];
  }

  async function shown(path: string, token: string): Promise<string> {
    return textOf(await server().call('GET', path, undefined, { token }));
  }

  it('is in no list, count, search or report of those who do not see it', async (context) => {
    for (const [kind, token] of Object.entries(blind)) {
      for (const path of openPaths()) {
        const now = await shown(path, token);
        assert.equal(now, beforehand.get(`${kind} ${path}`), `${kind}: ${path}`);
        assert(!now.includes(HIDDEN), `${kind}: ${path}`);
      }
    }
    const stats = await server().call('GET', '/instance-stats', undefined, {
      token: blind['a root Viewer'] as string,
    });
    assert.deepEqual([stats.body.projects, stats.body.flags], [1, 3]);
    context.diagnostic(`${openPaths().length} reads by ${Object.keys(blind).length} callers, none different`);
  });

  it('is not there where a path names it, or what is in it', async (context) => {
    let pairCount = 0;
    const pathOf = ({ path }: { readonly path: string }, word: string): string => {
      const isHidden = word === HIDDEN;
      return path
        .replace(':projectId', word)
        .replace(/:(featureName|child)/, `${word}.flag`)
        .replace(':parent', `${word}.parent`)
        .replace(':environment', 'development')
        .replace(':strategyId', isHidden ? ids.strategyId : NO_ID)
        .replace(':token', isHidden ? ids.token : NO_ID)
        .replace(':type/:value', `simple/${word}-tag`)
        .replace(/^(\/segments\/):id/, `$1${isHidden ? ids.segment : NO_ID}`)
        .replaceAll(/:[A-Za-z]+/g, '999');
    };
    for (const route of ADMIN_ROUTES) {
      if (pathOf(route, HIDDEN) === pathOf(route, ABSENT)) continue;
      for (const [kind, token] of Object.entries(blind)) {
        const asked = async (word: string): Promise<string> =>
          textOf(
            await server().call(route.method, pathOf(route, word), undefined, { token }),
            ...Object.values(ids),
          ).replaceAll(ABSENT, HIDDEN);
        assert.equal(await asked(HIDDEN), await asked(ABSENT), `${kind}: ${route.operationId}`);
        pairCount += 1;
      }
    }
    assert(pairCount > 200);
    context.diagnostic(`${pairCount} pairs of route and caller, none different from what does not exist`);
  });

  it('was not there at any moment of the past, nor was a flag in it that has been moved out since', async () => {
    const flags = `/projects/${HIDDEN}/features`;
    await made('POST', flags, { name: `${HIDDEN}.moved`, description: `${HIDDEN} description` });
    const eventId = server().server.store.engine.lastId;
    await made('PUT', `${flags}/${HIDDEN}.moved`, { description: 'nothing to hide' });
    await made('POST', `${flags}/${HIDDEN}.moved/changeProject`, { newProjectId: 'default' });
    const routes = ADMIN_ROUTES.filter(({ query }) => query?.['at'] !== undefined);
    assert(routes.length > 0);
    const asked = async ({ method, path }: (typeof ADMIN_ROUTES)[number], word: string, token: string) => {
      const named = path.replace(':projectId', word).replace(':featureName', `${word}.moved`);
      const body = method === 'POST' ? { environment: 'development' } : undefined;
      return server().call(method, `${named}?at=${eventId}`, body, { token });
    };
    for (const route of routes) {
      for (const [kind, token] of Object.entries(blind)) {
        const [hidden, absent] = [await asked(route, HIDDEN, token), await asked(route, ABSENT, token)];
        assert.equal(hidden.status, 404, `${kind}: ${route.operationId}`);
        assert.equal(
          textOf(hidden),
          textOf(absent).replaceAll(ABSENT, HIDDEN),
          `${kind}: ${route.operationId}`,
        );
      }
      for (const [kind, token] of Object.entries(seeing))
        assert.equal((await asked(route, HIDDEN, token)).status, 200, `${kind}: ${route.operationId}`);
    }
    await made('POST', `/projects/default/features/${HIDDEN}.moved/changeProject`, { newProjectId: HIDDEN });
  });

  it('is not there where a body names it, or what is in it', async () => {
    const token = blind['a root Editor'] as string;
    const own = '/projects/default/features/default.flag';
    const strategies = `${own}/environments/development/strategies`;
    const bodies: readonly (readonly [string, string, (word: string, segment: number) => unknown])[] = [
      ['POST', `${own}/changeProject`, (word) => ({ newProjectId: word })],
      ['POST', '/segments', (word) => ({ name: 'mine', project: word, constraints: [] })],
      ['POST', `${own}/dependencies`, (word) => ({ feature: `${word}.parent` })],
      ['POST', strategies, (_, segment) => ({ name: 'default', segments: [segment] })],
      [
        'POST',
        '/features-batch/export',
        (word) => ({ environment: 'development', features: [`${word}.flag`] }),
      ],
      ['POST', '/features-batch/export', (word) => ({ environment: 'development', project: word })],
      ['POST', '/features-batch/export', (word) => ({ environment: 'development', tag: `${word}-tag` })],
      [
        'POST',
        '/features-batch/import',
        (word) => ({ project: word, environment: 'development', data: { features: [] } }),
      ],
      [
        'POST',
        '/features-batch/validate',
        (word) => ({ project: word, environment: 'development', data: { features: [] } }),
      ],
      ['POST', '/features/validate', (word) => ({ name: 'free', projectId: word })],
      ['POST', '/events/search', (word) => ({ project: word })],
      ['POST', '/events/search', (word) => ({ feature: `${word}.flag` })],
      ['POST', '/events/search', (word) => ({ query: `${word} description` })],
    ];
    for (const [method, path, bodyOf] of bodies) {
      const asked = async (word: string, segment: string): Promise<string> =>
        textOf(await server().call(method, path, bodyOf(word, Number(segment)), { token }), ids.segment);
      const [hidden, absent] = [await asked(HIDDEN, ids.segment), await asked(ABSENT, NO_ID)];
      assert.equal(hidden, absent.replaceAll(ABSENT, HIDDEN), `${method} ${path}`);
    }
  });

  it('keeps its names and its uses, and a refusal for that does not say whose they are', async () => {
    const token = blind['a root Editor'] as string;
    for (const name of [`${HIDDEN}.flag`, `${HIDDEN}.old`]) {
      const taken = await server().call('POST', '/projects/default/features', { name }, { token });
      assert.deepEqual(
        [taken.status, taken.body.message],
        [409, `A flag named "${name}" exists already, in a private project.`],
      );
    }
    await made('POST', '/strategies', { name: 'own', parameters: [] });
    const strategies = `/projects/${HIDDEN}/features/${HIDDEN}.flag/environments/development/strategies`;
    await made('POST', strategies, { name: 'own' });
    const inUse = await server().call('DELETE', '/strategies/own', undefined, { token });
    assert.equal(inUse.status, 409);
    assert.match(inUse.body.message, /is used by flags: 1 in a private project/);
  });

  it('is told of to nobody who hears of events, unless they see it', async () => {
    const viewer = blind['a root Viewer'] as string;
    const owner = seeing['an Owner of the project'] as string;
    const streamOf = (token: string) => openStream(server().origin, '/api/admin/event-stream', { token });
    const [deaf, hearing] = [await streamOf(viewer), await streamOf(owner)];
    for (const stream of [deaf, hearing]) assert.equal((await stream.next()).event, 'opened');
    const change = (project: string) =>
      made('PUT', `/projects/${project}/features/${project}.flag`, { description: 'changed' });
    await change(HIDDEN);
    assert.equal((await hearing.next()).data.events[0].featureName, `${HIDDEN}.flag`);
    await change('default');
    for (const stream of [deaf, hearing]) {
      const { events } = (await stream.next()).data;
      assert.deepEqual(
        events.map((one: { featureName: string }) => one.featureName),
        ['default.flag'],
      );
      stream.close();
    }
  });

  it('has no line among the events of those who do not see it, and the lines of all others are those that a search finds', async () => {
    const everybody = { ...blind, ...seeing, 'an API token': ADMIN_TOKEN };
    for (const [kind, token] of Object.entries(everybody)) {
      const { status, text } = await linesFor(token);
      assert.equal(status, 200, kind);
      const { body } = await server().call('GET', '/search/events?limit=1000', undefined, { token });
      const found: { id: number; type: string }[] = body.events.toReversed();
      const lines = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
      assert.equal(
        lines.some(({ project }) => project === HIDDEN),
        !(kind in blind),
        kind,
      );
      // A search leaves out segments of other projects, too.
      const isSought = ({ type }: { type: string }) => !(kind in blind && type.startsWith('segment-'));
      assert.deepEqual(lines.filter(isSought), found, kind);
    }
    for (const token of ['', 'user:nobody', 'default:development.no-such-token'])
      assert.equal((await linesFor(token)).status, 401);
  });

  it('is there for Admins, its members, and those who are members of all projects', async () => {
    for (const [kind, token] of Object.entries(seeing)) {
      const { body } = await server().call('GET', '/projects', undefined, { token });
      assert.deepEqual(
        body.projects.map((one: { id: string }) => one.id),
        ['default', HIDDEN],
        kind,
      );
      const flag = await server().call('GET', `/projects/${HIDDEN}/features/${HIDDEN}.flag`, undefined, {
        token,
      });
      assert.equal(flag.status, 200, kind);
      const events = await server().call('POST', '/events/search', { project: HIDDEN }, { token });
      assert(events.body.totalEvents > 5, kind);
    }
  });

  it('is there for all once it is open, and gone again once it is private, or a membership ends', async () => {
    const token = blind['a root Viewer'] as string;
    const status = async (): Promise<number> =>
      (await server().call('GET', `/projects/${HIDDEN}`, undefined, { token })).status;
    const settings = `/projects/${HIDDEN}/settings`;
    assert.equal(await status(), 404);
    await made('PUT', settings, { mode: 'open' });
    assert.equal(await status(), 200);
    await made('PUT', settings, { mode: 'private' });
    assert.equal(await status(), 404);
    const { users } = (await server().call('GET', '/user-admin')).body;
    const profile = (await server().call('GET', '/user', undefined, { token })).body;
    assert(users.some((one: { id: number }) => one.id === profile.user.id));
    const membership = `/projects/${HIDDEN}/users/${profile.user.id}/roles/${MEMBER}`;
    await made('POST', membership);
    assert.equal(await status(), 200);
    await made('DELETE', membership);
    assert.equal(await status(), 404);
  });
});
