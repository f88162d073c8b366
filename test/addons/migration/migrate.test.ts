/** Moving from an Unleash 6.10 whose answers record-unleash.ts recorded, and from its export. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { flagstaff } from '../../support/operator.ts';
import {
  ADMIN_TOKEN,
  closedAfter,
  serverFor,
  startTestServer,
  type TestServer,
  temporaryFolder,
} from '../../support/server.ts';
import {
  type PlayedUnleash,
  playUnleash,
  RECORDED_TOKEN,
  type RecordedUnleash,
  recordedUnleash,
} from '../../support/unleash/recorded-unleash.ts';
import { type ClientFeatures, contexts, sdkAnswers } from './sdk-answers.ts';

/** A port that nobody listens on. */
async function closedPort(): Promise<number> {
  const { url, close } = await playUnleash(recordedUnleash());
  close();
  return Number(new URL(url).port);
}

const CLIENT_TOKEN = '*:production.migrated';
const SEED = 4711;

describe('flagstaff import-unleash', () => {
  const recorded: RecordedUnleash = recordedUnleash();
  let unleash: PlayedUnleash;
  let server: TestServer;
  before(async () => {
    unleash = await playUnleash(recorded);
    server = await startTestServer({ env: { INIT_CLIENT_API_TOKENS: CLIENT_TOKEN } });
  });
  after(async () => {
    unleash.close();
    await server.stop();
  });
  const env = { UNLEASH_TOKEN: RECORDED_TOKEN, FLAGSTAFF_TOKEN: ADMIN_TOKEN };
  const run = (source: string, ...options: string[]) =>
    flagstaff(['import-unleash', source, '--to', server.origin, ...options], { env });
  const lastEvent = (): number => server.server.store.engine.lastId;
  const read = async (path: string, token = ADMIN_TOKEN): Promise<unknown> =>
    (await server.call('GET', path, undefined, { token })).body;

  it('shows first what it would do, and changes nothing', async () => {
    const before = lastEvent();
    const { code, out } = await run(unleash.url, '--dry-run');
    assert.equal(code, 0);
    assert.match(out, /^Read 3 environments, 1 projects, 36 flags, 1 segments, /);
    assert.match(out, /^- create flag "flag-0000" in project "default"$/m);
    assert.match(out, /^Note: \d+ API tokens do not move/m);
    assert.equal(lastEvent(), before);
  });

  it('brings everything, and applications get the answers that they got before', async () => {
    const { code, out, err } = await run(unleash.url);
    assert.deepEqual([code, err], [0, ''], out);
    const ours = (
      await server.callBelow('/api/client')('GET', '/features', undefined, { token: CLIENT_TOKEN })
    ).body;
    const theirs = recorded.client as ClientFeatures;
    const names = (sent: ClientFeatures): string[] => sent.features.map(({ name }) => name).toSorted();
    assert.deepEqual(names(ours), names(theirs));
    const asked = contexts(1_000, SEED);
    const answers = await sdkAnswers(theirs, asked);
    assert.deepEqual(await sdkAnswers(ours, asked), answers, `seed ${SEED}`);
    const distinct = new Set(answers.flat());
    assert(distinct.size > 15, `flags are on and off, with variants: ${[...distinct]}`);
  });

  it('has brought users, fields, tags, dependencies and what is archived', async () => {
    const { users } = (await read('/user-admin')) as { users: { email?: string; rootRole: number }[] };
    assert.deepEqual(
      users.flatMap(({ email, rootRole }) => (email === undefined ? [] : [[email, rootRole]])),
      [0, 1, 2].map((at) => [`person-${at}@example.com`, at + 1]),
    );
    const country = (await read('/context/country')) as { stickiness: boolean; legalValues: unknown[] };
    assert.deepEqual([country.stickiness, country.legalValues.length], [true, 4]);
    const { tags } = (await read('/features/flag-0008/tags')) as { tags: { value: string }[] };
    assert.deepEqual(
      tags.map(({ value }) => value),
      ['team-2'],
    );
    const child = (await read('/projects/default/features/flag-0005')) as {
      dependencies: { feature: string }[];
    };
    assert.deepEqual(
      child.dependencies.map(({ feature }) => feature),
      ['flag-0000'],
    );
    const { features } = (await read('/archive/features')) as { features: { name: string }[] };
    assert.deepEqual(features.map(({ name }) => name).toSorted(), ['flag-0016', 'flag-0033']);
  });

  it('finds everything equal when it runs again, and then takes in only what has changed', async () => {
    const before = lastEvent();
    assert.match((await run(unleash.url)).out, /^Everything is equal already\.$/m);
    assert.equal(lastEvent(), before);
    const path = '/projects/default/features/flag-0001';
    const production = `${path}/environments/production`;
    const { body } = await server.call('GET', `${production}/strategies`);
    await server.call('DELETE', `${production}/strategies/${body[1].id}`);
    await server.call('PUT', `${path}`, {
      type: 'release',
      description: 'Changed',
      stale: false,
      impressionData: true,
    });
    await server.call('POST', '/projects/default/features', { name: 'only-here' });
    const planned = await run(unleash.url, '--dry-run', '--json');
    assert.deepEqual(JSON.parse(planned.out).steps, [
      'change what flag "flag-0001" is',
      'set the strategies of flag "flag-0001" in production',
    ]);
    await run(unleash.url);
    assert.match((await run(unleash.url)).out, /^Everything is equal already\.$/m);
    assert.equal((await server.call('GET', '/projects/default/features/only-here')).status, 200);
  });

  it('brings variants in the order in which they are stored, which decides who gets them, and then finds it equal', async (t) => {
    const path = '/projects/default/features/flag-0000/environments/production/variants';
    const { variants } = recorded.admin[path] as { variants: { name: string }[] };
    const admin = { ...recorded.admin, [path]: { variants: variants.toReversed() } };
    const to = await serverFor(t);
    const unsorted = closedAfter(t, await playUnleash({ ...recorded, admin }));
    const migrate = () => flagstaff(['import-unleash', unsorted.url, '--to', to.origin], { env });
    assert.equal((await migrate()).code, 0);
    const { body } = await to.call('GET', path);
    assert.deepEqual(
      body.variants.map(({ name }: { name: string }) => name),
      ['two', 'one'],
    );
    assert.match((await migrate()).out, /^Everything is equal already\.$/m);
  });

  /** A run from the recorded server, changed, to a new one. */
  async function fromChanged(admin: RecordedUnleash['admin']) {
    const [changed, to] = [await playUnleash({ ...recorded, admin }), await startTestServer()];
    try {
      const { code, out, err } = await flagstaff(['import-unleash', changed.url, '--to', to.origin], { env });
      const { features } = (await to.call('GET', '/archive/features')).body;
      return {
        code,
        out,
        err,
        archived: (features as { name: string }[]).map(({ name }) => name).toSorted(),
      };
    } finally {
      changed.close();
      await to.stop();
    }
  }

  it('finds the archived flags of an Unleash 8 by a search, page by page', async () => {
    const { '/archive/features': archive, ...rest } = recorded.admin;
    const { features } = archive as { features: readonly { name: string }[] };
    const page = (offset: number) =>
      `/search/features?archived=IS:true&sortBy=name&limit=100&offset=${offset}`;
    const { code, out, archived } = await fromChanged({
      ...rest,
      '/ui-config': { version: '8.2.0' },
      [page(0)]: { features: features.slice(0, 1), total: features.length },
      [page(1)]: { features: features.slice(1), total: features.length },
    });
    assert.equal(code, 0, out);
    assert.deepEqual(archived, features.map(({ name }) => name).toSorted());
  });

  it('ends with 0 beside strategy types that Flagstaff predefines, such as gradualRolloutUserId, and brings flags of a type that it lacks as releases', async () => {
    const [list, first, archive] = [
      '/strategies',
      '/projects/default/features/flag-0000?variantEnvironments=true',
      '/archive/features',
    ].map((path) => recorded.admin[path] as Record<string, object[]>);
    const old = {
      name: 'gradualRolloutUserId',
      description: 'Of Unleash 3',
      editable: true,
      deprecated: true,
    };
    const parameters = [{ name: 'percentage', type: 'percentage' }];
    const { code, out } = await fromChanged({
      ...recorded.admin,
      '/strategies': { ...list, strategies: [...(list?.['strategies'] ?? []), { ...old, parameters }] },
      '/projects/default/features/flag-0000?variantEnvironments=true': { ...first, type: 'sunset' },
      '/archive/features': {
        features: [...(archive?.['features'] ?? []), { name: 'elsewhere', project: 'archived-project' }],
      },
    });
    assert.equal(code, 0, out);
    assert.match(out, /^Note: Flag "flag-0000" has the type "sunset", .* as "release"\.$/m);
    assert.match(out, /^Note: Flag "elsewhere" is in project "archived-project", which is not there/m);
  });

  it('says that creation dates, last uses, favourites and other lifetimes of flag types do not come', async () => {
    const { out } = await run(unleash.url, '--dry-run');
    assert.match(out, /^Note: Creation dates, times of the last use, favourites and history do not move/m);
    assert.match(
      out,
      /^Note: The lifetime of flags of the type "release" is 33 days in the source and 40 days/m,
    );
    assert.doesNotMatch(out, /lifetime of flags of the type "operational"/);
  });

  it('reads a source in which flags vanish meanwhile, and ends where one is listed and cannot be read', async () => {
    const list = '/projects/default/features';
    const { features } = recorded.admin[list] as { features: readonly object[] };
    const withOneMore = { features: [...features, { name: 'vanished' }] };
    let reads = 0;
    const admin = Object.defineProperty({ ...recorded.admin }, list, {
      get: () => (reads++ === 0 ? withOneMore : { features }),
    });
    const { code, out, archived } = await fromChanged(admin);
    assert.deepEqual([code, archived.length], [0, 2], out);
    const broken = await fromChanged({ ...recorded.admin, [list]: withOneMore });
    assert.equal(broken.code, 69);
    assert.match(broken.err, /^flagstaff: http:\S+: GET \/projects\/default\/features\/vanished.*: 404/);
  });

  it('says which server and which flag it is where one is sent in another shape, such as a flag named constructor', async () => {
    const list = '/projects/default/features';
    const { features } = recorded.admin[list] as { features: readonly object[] };
    const { code, err, archived } = await fromChanged({
      ...recorded.admin,
      [list]: { features: [...features, { name: 'constructor' }] },
      [`${list}/constructor?variantEnvironments=true`]: { name: 'constructor', environments: {} },
    });
    assert.deepEqual([code, archived], [69, []]);
    assert.match(
      err,
      /^flagstaff: http:\S+: \/projects\/default\/features\/constructor\S* has an unexpected shape at "/,
    );
    assert.equal(err.split('\n').length, 1);
  });

  it('ends where the source does not show what its version has, and has changed nothing', async () => {
    const overview = '/projects/default/overview';
    for (const path of ['/segments', '/archive/features', '/tag-types', '/feature-types', overview]) {
      const { [path]: _, ...admin } = recorded.admin;
      const { code, err, archived } = await fromChanged(admin);
      assert.deepEqual([code, archived], [69, []], path);
      assert.match(err, new RegExp(`GET ${path}: 404`));
    }
  });

  it('brings roles, groups, tag types, segments that stay with their projects, settings of projects, default strategies and links from a server that has them', async (t) => {
    const [from, to] = [await serverFor(t), await serverFor(t)];
    const make = async (method: string, path: string, body?: unknown) => {
      const response = await from.call(method, path, body);
      assert.ok(response.status < 300, `${method} ${path}: ${JSON.stringify(response.body)}`);
      return response.body;
    };
    const permissions = [
      { name: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'production' },
      { name: 'UPDATE_FEATURE' },
    ];
    const { roles: role } = await make('POST', '/roles', { name: 'Releaser', type: 'custom', permissions });
    const { roles: lead } = await make('POST', '/roles', {
      name: 'Lead',
      type: 'root-custom',
      permissions: [],
    });
    const user = await make('POST', '/user-admin', { email: 'ada@example.com', rootRole: lead.id });
    const group = { name: 'Team', rootRole: lead.id, users: [{ user: { id: user.id } }] };
    const { id: groupId } = await make('POST', '/groups', group);
    await make('PUT', `/projects/default/groups/${groupId}/roles`, { roles: [role.id] });
    await make('POST', `/projects/default/users/${user.id}/roles/${role.id}`);
    await make('POST', '/tag-types', { name: 'team', description: 'Who owns it', color: '#123456' });
    await make('POST', '/segments', { name: 'other', constraints: [] });
    await make('POST', '/projects', { id: 'north', name: 'North', mode: 'protected' });
    await make('PUT', '/projects/default/settings', { defaultStickiness: 'userId' });
    await make('POST', '/segments', { name: 'of-north', project: 'north', constraints: [] });
    const segment = await make('POST', '/segments', {
      name: 'nordic',
      project: 'default',
      constraints: [],
    });
    await make('POST', '/projects/default/environments/production/default-strategy', {
      name: 'flexibleRollout',
      parameters: { rollout: '10' },
      segments: [segment.id],
    });
    await make('POST', '/projects/default/features', { name: 'linked' });
    await make('POST', '/projects/default/features/linked/link', {
      url: 'https://tracker.example/1',
      title: 'Ticket',
    });
    // Ids are others there.
    await to.call('POST', '/roles', { name: 'First', type: 'custom', permissions: [] });
    await to.call('POST', '/groups', { name: 'First' });
    const migrate = () =>
      flagstaff(['import-unleash', from.origin, '--to', to.origin], {
        env: { UNLEASH_TOKEN: ADMIN_TOKEN, FLAGSTAFF_TOKEN: ADMIN_TOKEN },
      });
    const { code, out } = await migrate();
    assert.equal(code, 0, out);
    assert.match((await migrate()).out, /^Everything is equal already\.$/m);
    const there = async (path: string) => (await to.call('GET', path)).body;
    assert.deepEqual(
      (await there('/segments')).segments.map(({ name, project }: Record<string, unknown>) => [
        name,
        project,
      ]),
      [
        ['nordic', 'default'],
        ['of-north', 'north'],
        ['other', undefined],
      ],
    );
    assert.equal((await there('/projects/default/overview')).defaultStickiness, 'userId');
    assert.equal((await there('/projects/north/overview')).mode, 'protected');
    const known = (await there('/roles')).roles as { id: number; name: string }[];
    const idOf = (name: string) => known.find((one) => one.name === name)?.id;
    assert.deepEqual(
      (await there(`/roles/${idOf('Releaser')}`)).permissions.map(
        ({ name, environment }: Record<string, unknown>) => [name, environment],
      ),
      [
        ['UPDATE_FEATURE', undefined],
        ['UPDATE_FEATURE_ENVIRONMENT', 'production'],
      ],
    );
    const access = await there('/projects/default/access');
    assert.deepEqual(
      access.groups.map(({ name, roles }: Record<string, unknown>) => [name, roles]),
      [['Team', [idOf('Releaser')]]],
    );
    assert.deepEqual(
      (await there('/user-admin')).users.map((one: Record<string, unknown>) => one['rootRole']),
      [1, idOf('Lead')],
    );
    const { links } = await there('/projects/default/features/linked');
    assert.deepEqual([links[0].url, links[0].title], ['https://tracker.example/1', 'Ticket']);
  });

  it('takes a parent away and revives a flag where the source did so, and one more run finds everything equal', async (t) => {
    const [from, to] = [await serverFor(t), await serverFor(t)];
    const features = '/projects/default/features';
    const migrate = () =>
      flagstaff(['import-unleash', from.origin, '--to', to.origin], {
        env: { UNLEASH_TOKEN: ADMIN_TOKEN, FLAGSTAFF_TOKEN: ADMIN_TOKEN },
      });
    for (const name of ['first', 'second', 'child', 'gone']) await from.call('POST', features, { name });
    const place = `${features}/gone/environments/production`;
    await from.call('POST', `${place}/strategies`, { name: 'default' });
    await from.call('POST', `${place}/on`);
    await from.call('POST', `${features}/child/dependencies`, { feature: 'first' });
    await migrate();
    await from.call('DELETE', `${features}/gone`);
    await from.call('DELETE', `${features}/child/dependencies/first`);
    await from.call('POST', `${features}/first/dependencies`, { feature: 'second' });
    assert.equal((await migrate()).code, 0);
    const parentsOf = async (name: string): Promise<string[]> =>
      (await to.call('GET', `${features}/${name}`)).body.dependencies.map(
        ({ feature }: { feature: string }) => feature,
      );
    assert.deepEqual([await parentsOf('child'), await parentsOf('first')], [[], ['second']]);
    await from.call('POST', '/archive/revive/gone');
    await from.call('POST', `${place}/on`);
    const { out } = await migrate();
    assert.match(out, /^2 of 2 steps were taken\.$/m);
    const { archived, environments } = (await to.call('GET', `${features}/gone`)).body;
    assert.deepEqual(
      [archived, environments.map(({ enabled }: { enabled: boolean }) => enabled)],
      [false, [false, true]],
    );
    assert.match((await migrate()).out, /^Everything is equal already\.$/m);
  });

  it('reads the export of the same flags, and takes the segments from where they are', async () => {
    const file = join(temporaryFolder(), 'export.json');
    writeFileSync(file, JSON.stringify(recorded.exported));
    const { code, out } = await run(file);
    assert.equal(code, 0, out);
    assert.match(out, /^Read 1 environments, 1 projects, 36 flags, 0 segments, /);
    assert.match(out, /no flag is switched by it/);
    const off = (await read('/projects/default/features/flag-0001')) as {
      environments: { enabled: boolean }[];
    };
    assert.deepEqual(
      off.environments.map(({ enabled }) => enabled),
      [true, false],
    );
    assert.match(out, /only the names of the segments "beta-testers"/);
    assert.match((await run(file)).out, /^Everything is equal already\.$/m);
  });

  it('switches flags as an export of Unleash 4 says', async () => {
    const file = join(temporaryFolder(), 'state.json');
    const features = [{ name: 'four', project: 'default', type: 'release', archived: false }];
    const where = { featureName: 'four', environment: 'production' };
    const featureStrategies = [{ ...where, strategyName: 'default', parameters: {}, sortOrder: 9999 }];
    const featureEnvironments = [{ ...where, enabled: true }];
    writeFileSync(file, JSON.stringify({ version: 4, features, featureStrategies, featureEnvironments }));
    assert.equal((await run(file)).code, 0);
    const { environments } = (await read('/projects/default/features/four')) as {
      environments: { name: string; enabled: boolean }[];
    };
    assert.equal(environments.find(({ name }) => name === 'production')?.enabled, true);
  });

  it('makes no strategy without its segment, which would be for more users', async () => {
    const file = join(temporaryFolder(), 'bare.json');
    const featureStrategies = [
      { featureName: 'rolled', environment: 'production', strategyName: 'default', segments: [7] },
    ];
    const featureEnvironments = [{ featureName: 'rolled', environment: 'production', enabled: true }];
    const segments = [{ id: 7, name: 'not-there' }];
    writeFileSync(
      file,
      JSON.stringify({ features: [{ name: 'rolled' }], featureStrategies, featureEnvironments, segments }),
    );
    const { code, out } = await run(file);
    assert.equal(code, 65);
    assert.match(
      out,
      /^- refused: set the strategies.* of flag "rolled" in production: The segment "not-there" is not there\./m,
    );
    const { environments } = (await read('/projects/default/features/rolled')) as {
      environments: { name: string; enabled: boolean; strategies: unknown[] }[];
    };
    const production = environments.find(({ name }) => name === 'production');
    assert.deepEqual([production?.enabled, production?.strategies], [false, []]);
  });

  it('goes on after a refusal, names it, and ends with 65', async () => {
    const file = join(temporaryFolder(), 'refused.json');
    const flags = [{ name: 'b/d' }, { name: 'good' }];
    const featureStrategies = [{ featureName: 'b/d', environment: 'development', strategyName: 'default' }];
    const featureEnvironments = flags.map(({ name }) => ({ featureName: name, environment: 'development' }));
    writeFileSync(file, JSON.stringify({ features: flags, featureStrategies, featureEnvironments }));
    const { code, out } = await run(file);
    assert.equal(code, 65);
    assert.match(out, /^- refused: create flag "b\/d" in project "default": POST .*: 400 .*name/m);
    const left =
      /^- left out: set the strategies of flag "b\/d" in development: It builds on this: create flag "b\/d"/m;
    assert.match(out, left);
    assert.equal((await server.call('GET', '/projects/default/features/good')).status, 200);
  });

  it('leaves out all that builds on a project that is refused, and nothing else', async () => {
    const file = join(temporaryFolder(), 'refused-project.json');
    const flags = [{ name: 'within', project: 'b/d' }, { name: 'beside' }];
    const featureStrategies = flags.map(({ name }) => ({
      ...{ featureName: name, environment: 'development', strategyName: 'default' },
    }));
    const featureEnvironments = flags.map(({ name }) => ({ featureName: name, environment: 'development' }));
    writeFileSync(file, JSON.stringify({ features: flags, featureStrategies, featureEnvironments }));
    const { code, out } = await run(file);
    assert.equal(code, 65);
    assert.deepEqual(
      [...out.matchAll(/^- (refused: create project "b\/d"|.*: It builds on this: .*)/gm)].map(
        ([line]) => line,
      ),
      [
        '- refused: create project "b/d"',
        '- left out: create flag "within" in project "b/d": It builds on this: create project "b/d".',
        '- left out: set the strategies of flag "within" in development: It builds on this: create project "b/d". Flag "within" stays off in development, with 0 strategies.',
      ],
    );
    assert.equal((await server.call('GET', '/projects/default/features/beside')).status, 200);
  });

  describe('with an export that tells switches', () => {
    /** Its flags, each with strategies by environment; all are on, in `environments`. */
    const exported = (
      flags: Readonly<Record<string, Readonly<Record<string, readonly object[]>>>>,
      more: object = {},
    ): string => {
      const file = join(temporaryFolder(), 'switches.json');
      const places = Object.entries(flags).flatMap(([featureName, places]) =>
        Object.entries(places).map(([environment, strategies]) => ({ featureName, environment, strategies })),
      );
      const document = {
        version: 4,
        features: Object.keys(flags).map((name) => ({ name })),
        featureStrategies: places.flatMap(({ strategies, ...place }) =>
          strategies.map((one) => ({ ...place, strategyName: 'default', ...one })),
        ),
        featureEnvironments: places.map(({ strategies: _, ...place }) => ({
          ...place,
          enabled: true,
          ...more,
        })),
        segments: [{ id: 7, name: 'not-there' }],
      };
      writeFileSync(file, JSON.stringify(document));
      return file;
    };
    const found = async (name: string, environment: string) => {
      const path = `/projects/default/features/${name}/environments/${environment}`;
      const { enabled, strategies } = (await read(path)) as { enabled: boolean; strategies: object[] };
      return [enabled, strategies.length];
    };

    it('leaves a flag on that is on where what it should become is refused, and says so', async () => {
      await server.call('POST', '/projects/default/features', { name: 'kept-on' });
      const path = '/projects/default/features/kept-on/environments/production';
      await server.call('POST', `${path}/strategies`, { name: 'default' });
      await server.call('POST', `${path}/on`);
      const refused = [
        [{}, { segments: [7] }],
        [{ constraints: [{ contextName: 'age', operator: 'NUM_GT', value: 'old', values: [] }] }],
      ];
      for (const strategies of refused) {
        const before = lastEvent();
        const { code, out } = await run(exported({ 'kept-on': { production: strategies } }));
        assert.equal(code, 65);
        assert.match(
          out,
          /^- refused: .* "kept-on" in production: .* Flag "kept-on" stays on in production, with 1 strategies\.$/m,
        );
        assert.deepEqual(await found('kept-on', 'production'), [true, 1]);
        assert.equal(lastEvent(), before, 'it was not switched off and on again either');
      }
    });

    it('sets a flag in its other environments where one is refused', async () => {
      const file = exported({ 'half-bad': { development: [{ segments: [7] }], production: [{}] } });
      assert.equal((await run(file)).code, 65);
      assert.deepEqual(await found('half-bad', 'development'), [false, 0]);
      assert.deepEqual(await found('half-bad', 'production'), [true, 1]);
    });

    it('keeps weights that add up, and takes no step in a second run', async () => {
      const variants = [334, 333, 333].map((weight, at) => ({ name: `v${2 - at}`, weight })).toReversed();
      const file = exported({ 'split-up': { production: [{}] } }, { variants });
      assert.equal((await run(file)).code, 0);
      assert.match((await run(file)).out, /^Everything is equal already\.$/m);
    });

    it('switches a flag on whose strategies are all disabled, as it is in the source, and then finds it equal', async () => {
      const file = exported({ 'all-disabled': { production: [{ disabled: true }] } });
      assert.equal((await run(file)).code, 0);
      assert.deepEqual(await found('all-disabled', 'production'), [true, 1]);
      assert.match((await run(file)).out, /^Everything is equal already\.$/m);
    });

    it('gives a flag that is on without strategies the one that is for everybody', async () => {
      const file = exported({ everybody: { production: [] } });
      assert.equal((await run(file)).code, 0);
      assert.deepEqual(await found('everybody', 'production'), [true, 1]);
      assert.match((await run(file)).out, /^Everything is equal already\.$/m);
    });

    it('brings what Unleash takes and Flagstaff refuses in a form that SDKs evaluate alike, and tells it', async () => {
      const constraint = (operator: string, value: unknown) => ({ contextName: 'now', operator, value });
      const payload = (type: string, value: string) => ({
        name: type,
        weight: 500,
        payload: { type, value },
      });
      const strategy = {
        constraints: [
          constraint('DATE_AFTER', '2020-01-01'),
          constraint('DATE_BEFORE', '2030-01-01T12:30'),
          constraint('NUM_GT', 5),
          { contextName: 'age', operator: 'IN', values: [18, ''] },
        ],
      };
      const name = "it's-(new)!*";
      const file = exported(
        { [name]: { production: [strategy] } },
        { variants: [payload('number', 'ten'), payload('json', '{')] },
      );
      const document = JSON.parse(readFileSync(file, 'utf8'));
      document.features[0].links = [{ url: 'tracker.example/1', title: null }];
      document.features.push({ name: 'long', description: 'x'.repeat(10_001) });
      writeFileSync(file, JSON.stringify(document));
      const { code, out } = await run(file);
      assert.equal(code, 65, 'the description is refused, and nothing else');
      assert.equal([...out.matchAll(/^- /gm)].length, 1, out);
      assert.match(out, /^- refused: describe flag "long"/m);
      for (const told of [
        '"2020-01-01T00:00:00Z"',
        '"2030-01-01T12:30Z"',
        'no number',
        'no json',
        'https://tracker.example/1',
      ])
        assert(out.includes(told), told);
      const path = `/projects/default/features/${encodeURIComponent(name)}`;
      const { links, environments } = (await read(path)) as {
        links: { url: string }[];
        environments: {
          name: string;
          strategies: { constraints: { value?: string; values: string[] }[] }[];
        }[];
      };
      assert.deepEqual(
        links.map(({ url }) => url),
        ['https://tracker.example/1'],
      );
      const [placed] = environments.find((one) => one.name === 'production')?.strategies ?? [];
      assert.deepEqual(
        placed?.constraints.map(({ value, values }) => value ?? values),
        ['2020-01-01T00:00:00Z', '2030-01-01T12:30Z', '5', ['18', '']],
      );
      assert.doesNotMatch((await run(file)).out, /set the /, 'a second run finds it equal');
    });

    it('brings parameters of any name, such as constructor', async () => {
      const parameters = { constructor: 'kept', count: 5 };
      await run(exported({ named: { production: [{ parameters }] } }));
      const path = '/projects/default/features/named/environments/production';
      const [placed] = ((await read(path)) as { strategies: { parameters: object }[] }).strategies;
      assert.deepEqual(placed?.parameters, { constructor: 'kept', count: '5' });
    });

    it('keeps the tags that a flag has here', async () => {
      await server.call('POST', '/projects/default/features', { name: 'tagged-here' });
      await server.call('POST', '/features/tagged-here/tags', { type: 'simple', value: 'mine' });
      assert.equal((await run(exported({ 'tagged-here': { production: [{}] } }))).code, 0);
      const { tags } = (await read('/features/tagged-here/tags')) as { tags: { value: string }[] };
      assert.deepEqual(
        tags.map(({ value }) => value),
        ['mine'],
      );
    });
  });

  it('says in one line what is wrong with an address, a token or a file', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'text.json'), 'no JSON');
    writeFileSync(join(folder, 'other.json'), '{"features":[{"name":1}]}');
    const cases: readonly [string, Readonly<Record<string, string>>, number, RegExp][] = [
      [`http://127.0.0.1:${await closedPort()}`, env, 69, /got no response: connect ECONNREFUSED/],
      [unleash.url, { ...env, UNLEASH_TOKEN: 'wrong' }, 69, /401/],
      [unleash.url, { FLAGSTAFF_TOKEN: ADMIN_TOKEN }, 64, /Set UNLEASH_TOKEN to an admin token/],
      [join(folder, 'nowhere.json'), env, 66, /neither an address, .* nor a file that can be read/],
      [join(folder, 'text.json'), env, 65, /is no export of Unleash/],
      [join(folder, 'other.json'), env, 65, /unexpected shape at "features\.0\.name"/],
    ];
    for (const [source, given, code, message] of cases) {
      const ran = await flagstaff(['import-unleash', source, '--to', server.origin], { env: given });
      assert.deepEqual([ran.code, ran.out, ran.err.split('\n').length], [code, '', 1], source);
      assert.match(ran.err, message);
    }
  });

  it('prints JSON for scripts', async () => {
    const { result, read: counts } = (await run(unleash.url, '--json')).json;
    assert.deepEqual([result.failed, counts.flags], [[], 36]);
  });
});
