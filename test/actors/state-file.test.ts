/** The state out of one service and into another, as a document. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { stateHash } from '../../src/actors/state/world-snapshot.ts';
import { importState } from '../../src/actors/state-file.ts';
import { openStore, type Store, type StoreOptions } from '../../src/actors/store.ts';
import type { Command } from '../../src/domain/decide/decide.ts';
import type { FlagDocument, StateDocument } from '../../src/domain/desired/state-document.ts';
import type { StrategyInput } from '../../src/domain/flags/strategy.ts';
import { ABOUT_NOTHING } from '../../src/domain/state/events.ts';
import { digestOf } from '../../src/http/serving/access.ts';
import { realFileSystem } from '../../src/persistence/disk/file-system.ts';
import { WorkerLogReader } from '../../src/persistence/event-log/log-reader.ts';
import { exportState, planImport, sourceOf } from '../support/documents/state-document.ts';
import { eventsOf } from '../support/event-page.ts';
import { temporaryFolder } from '../support/server.ts';
import { DEFAULT_STRATEGY, TestWorld } from '../support/test-world.ts';

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function open(folder: string, options: Partial<StoreOptions> = {}): Promise<Store> {
  return openStore({
    fs: realFileSystem,
    folder,
    clock: { now: Date.now, defer: setImmediate, monotonic: () => performance.now() },
    newId: () => assert.fail('an import makes no new ids'),
    newName: () => '00000000',
    logReader: new WorkerLogReader(),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    stop: (error) => {
      throw error;
    },
    ...options,
  });
}

function newFolder(): string {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder;
}

async function withEmptyStore<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const store = await open(newFolder());
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

const segment = { name: '', description: null, project: null, constraints: [] };

const strategy: StrategyInput = {
  ...DEFAULT_STRATEGY,
  name: 'flexibleRollout',
  parameters: { rollout: 50, constructor: 'kept', nested: { list: [1, null, 'x'] } },
  segments: [1, 2],
};
const variant = (name: string, weight: number) =>
  ({ name, weight, weightType: 'variable', stickiness: 'default', overrides: [] }) as const;

/** With something of everything that a document can hold. */
function populated(): TestWorld {
  const of = { project: 'default' } as const;
  const commands: Command[] = [
    { type: 'create-environment', name: 'staging', fields: { type: 'test', sortOrder: 0, enabled: false } },
    { type: 'add-project-environment', project: 'default', environment: 'staging' },
    { type: 'create-record', kind: 'segments', fields: { ...segment, name: 'first' } },
    { type: 'create-record', kind: 'segments', fields: { ...segment, name: 'second', project: 'default' } },
    {
      type: 'create-record',
      kind: 'contextFields',
      fields: { name: 'country', legalValues: [{ value: 'fi' }] },
    },
    { type: 'update-record', kind: 'contextFields', id: 'userId', fields: { description: 'Who asks' } },
    { type: 'create-record', kind: 'strategyTypes', fields: { name: 'own', title: 'Own' } },
    { type: 'deprecate-strategy-type', name: 'userWithId', deprecated: true },
    { type: 'create-user', fields: { email: 'ada@example.com', name: 'Ada', rootRole: 2 } },
    { type: 'create-user', fields: { username: 'gone', rootRole: 3 } },
    { type: 'create-user', fields: { username: 'bob', rootRole: 5 } },
    { type: 'delete-user', userId: 3 },
    { type: 'add-member', project: 'default', userId: 4, roleId: 5 },
    {
      ...{ type: 'create-project', id: '__proto__' },
      fields: { name: 'Odd', description: 'd', mode: 'private', lifetimes: { release: 90, permission: 0 } },
    },
    ...['parent', 'child', 'archived'].map(
      (name): Command => ({
        type: 'create-flag',
        ...of,
        name,
        metadata: { type: 'experiment', stale: true },
      }),
    ),
    { type: 'create-flag', project: '__proto__', name: 'constructor', metadata: { description: null } },
    { type: 'add-strategy', ...of, flag: 'child', environment: 'production', strategy },
    { type: 'add-strategy', ...of, flag: 'child', environment: 'production', strategy },
    {
      type: 'add-strategy',
      ...of,
      flag: 'child',
      environment: 'production',
      strategy: { ...strategy, sortOrder: -1 },
    },
    { type: 'switch-environment', ...of, flag: 'child', environment: 'production', enabled: true },
    {
      type: 'set-variants',
      ...of,
      flag: 'child',
      environment: null,
      variants: [variant('a', 500), variant('b', 500)],
    },
    { type: 'create-record', kind: 'tagTypes', fields: { name: 'team', icon: 'T' } },
    {
      type: 'set-default-strategy',
      project: 'default',
      environment: 'production',
      strategy: { ...strategy, name: 'flexibleRollout' },
    },
    { type: 'set-lifetime', flagType: 'release', lifetimeDays: 9 },
    { type: 'set-lifetime', flagType: 'operational', lifetimeDays: null },
    { type: 'set-maintenance', enabled: true },
    { type: 'set-maintenance', enabled: false },
    { type: 'mark-favorite', ...of, flag: 'child', userId: 2, isMarked: true },
    { type: 'mark-favorite', project: '__proto__', flag: null, userId: 2, isMarked: true },
    { type: 'tag-flag', ...of, flag: 'child', tag: { type: 'simple', value: 'kept' } },
    {
      type: 'add-dependency',
      ...of,
      child: 'child',
      dependency: { feature: 'parent', enabled: true, variants: ['red'] },
    },
    { type: 'archive-flag', ...of, flag: 'archived' },
    {
      type: 'create-api-token',
      token: {
        digest: digestOf('secret'),
        tokenName: 'ci',
        type: 'client',
        projects: ['__proto__', 'default'],
        environment: 'staging',
        expiresAt: '2999-01-01T00:00:00.000Z',
      },
    },
    {
      type: 'create-personal-token',
      userId: 2,
      digest: digestOf('mine'),
      description: 'laptop',
      expiresAt: '2999-01-01T00:00:00.000Z',
    },
  ];
  const team: Command[] = [
    {
      type: 'create-record',
      kind: 'roles',
      fields: {
        name: 'Releaser',
        type: 'custom',
        description: '',
        permissions: [{ name: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'development' }],
      },
    },
    { type: 'create-record', kind: 'groups', fields: { name: 'Team', rootRole: 3, users: [2] } },
    {
      type: 'grant-project-access',
      project: 'default',
      holdings: [{ kind: 'group', id: 1, roleId: 6 }],
    },
  ];
  const state = new TestWorld().given(...commands, ...team);
  const tag = { type: 'team', value: 'waiting' };
  // Of release 0.2.0.
  state.record([{ type: 'tag-created', ...ABOUT_NOTHING, data: tag, preData: null }]);
  return state;
}

const throughFile = (document: StateDocument): StateDocument => JSON.parse(JSON.stringify(document));

describe('a state document', () => {
  it('holds the whole state, without tokens unless asked for, and never a secret', () => {
    const { world } = populated();
    const plain = exportState(world);
    assert.deepEqual(Object.keys(plain), [
      'formatVersion',
      'environments',
      'roles',
      'users',
      'groups',
      'projects',
      'segments',
      'contextFields',
      'strategyTypes',
      'tagTypes',
      'tags',
      'favorites',
      'settings',
      'addonRecords',
    ]);
    assert(!JSON.stringify(plain).includes(digestOf('secret')));
    const { credentials } = exportState(world, { credentials: true });
    assert.equal(credentials?.apiTokens[0]?.digest, digestOf('secret'));
    assert.equal(credentials?.personalTokens[0]?.userId, 2);
  });

  it('imported is durable, has the same export, and records its history as ordinary events', async () => {
    const document = throughFile(exportState(populated().world, { credentials: true }));
    const folder = newFolder();
    const store = await open(folder);
    const outcome = await importState(store.engine, sourceOf(document));
    assert.deepEqual(outcome, { ok: true, eventCount: store.engine.lastId });
    assert.equal(store.engine.durableId, store.engine.lastId);
    assert.deepEqual(exportState(store.engine.world, { credentials: true }), document);
    const page = await store.engine.eventLog.search(
      { feature: 'child', limit: 100, offset: 0 },
      store.engine.durableId,
    );
    const events = eventsOf(page);
    assert.deepEqual(events.map((event) => event.type).reverse(), [
      'feature-created',
      'feature-strategy-add',
      'feature-strategy-add',
      'feature-strategy-add',
      'feature-environment-enabled',
      'feature-tagged',
      'feature-dependency-added',
      'feature-favorited',
    ]);
    assert(events.every((event) => event.createdBy === 'import'));
    const before = stateHash(store.engine.world);
    await store.close();
    const reopened = await open(folder);
    assert.equal(stateHash(reopened.engine.world), before);
    await reopened.close();
  });

  it('is recorded in one frame where it fits in one, and in several where it does not', async () => {
    const flagCount = 40;
    const document = throughFile(exportState(new TestWorld().world));
    const description = 'x'.repeat(2 ** 18);
    const flags = Array.from({ length: flagCount }, (_, index) => ({
      ...throughFile(exportState(populated().world)).projects[0]!.flags[0]!,
      name: `large-${index}`,
      description,
    }));
    await withEmptyStore(async ({ engine }) => {
      document.projects[0]!.flags.push(...flags);
      assert.equal((await importState(engine, sourceOf(document))).ok, true);
      const first = await engine.eventLog.readFrame(1);
      const last = await engine.eventLog.readFrame(engine.lastId);
      assert(first !== null && last !== null);
      assert(first.id < last.id, 'ten MiB take two frames');
      assert.equal(engine.world.projects.get('default')?.flags.size, flagCount);
    });
    await withEmptyStore(async ({ engine }) => {
      await importState(engine, sourceOf(exportState(populated().world)));
      assert.equal((await engine.eventLog.readFrame(engine.lastId))?.id, 1, 'a crash leaves all or nothing');
    });
  });

  /** A flag whose parameters are so many empty lists: little text, and many values. */
  function flagOfLists(name: string, count: number): FlagDocument {
    const document = throughFile(exportState(populated().world));
    const flag = document.projects[0]!.flags.find((one) => one.environments.length > 0)!;
    const [environment] = flag.environments;
    const parameters = { lists: Array.from({ length: count }, () => []) };
    const strategies = [{ ...environment!.strategies[0]!, id: randomUUID(), parameters }];
    return { ...flag, name, dependencies: [], environments: [{ ...environment!, strategies }] };
  }

  it('is recorded in several frames where its values, small as they are, would be too many for one', async () => {
    const document = throughFile(exportState(populated().world));
    const { flags } = document.projects[0]!;
    for (let index = 0; index < 7; index += 1) flags.push(flagOfLists(`lists-${index}`, 160_000));
    await withEmptyStore(async ({ engine }) => {
      const outcome = await importState(engine, sourceOf(document));
      assert.deepEqual(outcome, { ok: true, eventCount: engine.lastId });
      assert.notEqual((await engine.eventLog.readFrame(engine.lastId))?.id, 1, 'in several frames');
      assert.deepEqual(exportState(engine.world, { credentials: false }).projects, document.projects);
    });
  });

  it('is refused where one flag has more values than a frame, and says so', async () => {
    const document = throughFile(exportState(new TestWorld().world));
    document.projects[0]!.flags.push(flagOfLists('lists', 1_100_000));
    await withEmptyStore(async ({ engine }) => {
      const issue = { path: '/projects/0/flags/0', message: 'The flag would have more than 1048576 values.' };
      assert.deepEqual(await importState(engine, sourceOf(document)), { ok: false, issues: [issue] });
      assert.equal(engine.lastId, 0);
    });
  });

  it('is refused by a service whose memory budget it would exceed, which stays empty', async () => {
    const store = await open(newFolder(), { memoryBudgetBytes: 1_000 });
    const outcome = await importState(store.engine, sourceOf(exportState(populated().world)));
    assert(!outcome.ok);
    assert.match(
      outcome.issues[0]!.message,
      /^The flags would take 0\.[0-9] MiB .* \(MEMORY_BUDGET_BYTES\)\.$/,
    );
    assert.equal(store.engine.lastId, 0);
    await store.close();
  });

  it('is refused by a service that is in use, which stays as it is', async () => {
    const document = exportState(populated().world);
    await withEmptyStore(async ({ engine }) => {
      await importState(engine, sourceOf(exportState(new TestWorld().world)));
      const before = stateHash(engine.world);
      const outcome = await importState(engine, sourceOf(document));
      assert(!outcome.ok);
      assert.match(outcome.issues[0]!.message, /empty data folder/);
      assert.equal(stateHash(engine.world), before);
    });
  });
});

describe('a document with a fault is refused whole, and the place of the fault is named', () => {
  // biome-ignore lint/suspicious/noExplicitAny: documents are broken in ways that their type forbids.
  type Broken = any;
  const flagAt = (document: Broken, name: string): Broken =>
    document.projects[0].flags.find((flag: { name: string }) => flag.name === name);

  const FAULTS: readonly (readonly [pointer: string, breakIt: (document: Broken) => void])[] = [
    ['/formatVersion', (d) => (d.formatVersion = 5)],
    ['/formatVersion', (d) => delete d.formatVersion],
    ['/roles/0/permissions/0/name', (d) => (d.roles[0].permissions[0].name = 'constructor')],
    ['/roles/0/id', (d) => (d.roles[0].id = 5)],
    ['/roles/0/name', (d) => (d.roles[0].name = 'viewer')],
    [
      '/groups/1/name',
      (d) => d.groups.push({ ...d.groups[0], id: 99, name: d.groups[0].name.toUpperCase() }),
    ],
    ['/groups/0/rootRole', (d) => (d.groups[0].rootRole = 'Releaser')],
    ['/groups/0/users/0', (d) => (d.groups[0].users = [99])],
    ['/projects/0/groups/0/groupId', (d) => (d.projects[0].groups[0].groupId = 7)],
    ['/projects/0/groups/0/role', (d) => (d.projects[0].groups[0].role = 'Admin')],
    ['/environments', (d) => (d.environments = {})],
    ['/environments/1/name', (d) => (d.environments[1].name = d.environments[0].name)],
    ['/environments/0/name', (d) => (d.environments[0].name = 'a b')],
    ['/users/0/rootRole', (d) => (d.users[0].rootRole = 'Root')],
    ['/users/1/id', (d) => (d.users[1].id = 1)],
    ['/users/0', (d) => (d.users[0].username = null)],
    ['/users/1/email', (d) => (d.users[1].email = 'nobody')],
    ['/users/2/email', (d) => (d.users[2].email = d.users[1].email.toUpperCase())],
    ['/users/2/username', (d) => (d.users[2].username = d.users[0].username)],
    ['/projects/1/id', (d) => (d.projects[1].id = 'default')],
    ['/projects/0/environments/0', (d) => (d.projects[0].environments[0] = 'nowhere')],
    ['/projects/0/members/0/userId', (d) => (d.projects[0].members[0].userId = 99)],
    ['/projects/0/members/0/role', (d) => (d.projects[0].members[0].role = 'Admin')],
    ['/projects/0/flags/0/name', (d) => (d.projects[0].flags[0].name = '..')],
    ['/projects/1/flags/0/name', (d) => (d.projects[1].flags[0].name = 'child')],
    ['/projects/0/flags/0/createdAt', (d) => (d.projects[0].flags[0].createdAt = 'yesterday')],
    ['/projects/0/flags/1/environments/0/name', (d) => (flagAt(d, 'child').environments[0].name = 'nowhere')],
    [
      '/projects/0/flags/1/environments/1/name',
      (d) => (flagAt(d, 'child').environments[1].name = 'production'),
    ],
    [
      '/projects/0/flags/1/environments/0/enabled',
      (d) => (flagAt(d, 'child').environments[0].strategies = []),
    ],
    [
      '/projects/0/flags/1/environments/0/strategies/1/id',
      (d) => {
        const { strategies } = flagAt(d, 'child').environments[0];
        strategies[1].id = strategies[0].id;
      },
    ],
    [
      '/projects/0/flags/1/environments/0/strategies/0/constraints/0/operator',
      (d) =>
        (flagAt(d, 'child').environments[0].strategies[0].constraints = [
          { contextName: 'x', operator: 'IS' },
        ]),
    ],
    ['/favorites/0/userId', (d) => (d.favorites[0].userId = 99)],
    ['/favorites/0/projects/0', (d) => (d.favorites[0].projects[0] = 'nowhere')],
    ['/favorites/0/flags/0', (d) => (d.favorites[0].flags[0] = 'nothing')],
    ['/favorites/1/userId', (d) => d.favorites.push(d.favorites[0])],
    [
      '/projects/0/defaultStrategies/0/environment',
      (d) => (d.projects[0].defaultStrategies[0].environment = 'nowhere'),
    ],
    ['/tags/1', (d) => d.tags.push(d.tags[0])],
    ['/tagTypes/1/name', (d) => d.tagTypes.push(d.tagTypes[0])],
    ['/projects/0/flags/1/tags/0/value', (d) => (flagAt(d, 'child').tags[0].value = 'x')],
    ['/projects/0/flags/1/tags/1', (d) => flagAt(d, 'child').tags.push(flagAt(d, 'child').tags[0])],
    [
      '/projects/0/flags/1/dependencies/0/feature',
      (d) => (flagAt(d, 'child').dependencies[0].feature = 'constructor'),
    ],
    [
      '/projects/0/flags/1/dependencies/0/feature',
      (d) => (flagAt(d, 'child').dependencies[0].feature = 'child'),
    ],
    [
      '/projects/0/flags/1/dependencies/0/feature',
      (d) => (flagAt(d, 'parent').archivedAt = '2024-01-01T00:00:00Z'),
    ],
    [
      '/projects/0/flags/1/dependencies/0/variants',
      (d) => (flagAt(d, 'child').dependencies[0].enabled = false),
    ],
    [
      '/projects/0/flags/1/dependencies/0/feature',
      (d) => (flagAt(d, 'parent').dependencies = [{ feature: 'child', enabled: true, variants: [] }]),
    ],
    ['/credentials/apiTokens/0/digest', (d) => (d.credentials.apiTokens[0].digest = 'secret')],
    ['/credentials/apiTokens/0/projects/0', (d) => (d.credentials.apiTokens[0].projects[0] = 'nowhere')],
    ['/credentials/apiTokens/0/environment', (d) => (d.credentials.apiTokens[0].environment = 'nowhere')],
    ['/credentials/personalTokens/0/userId', (d) => (d.credentials.personalTokens[0].userId = 99)],
    ['/users/0/name', (d) => (d.users[0].name = '\ud800')],
  ];

  const sound = exportState(populated().world, { credentials: true });
  for (const [index, [pointer, breakIt]] of FAULTS.entries()) {
    it(`${index + 1}: ${pointer}`, () => {
      assert.equal(planImport(throughFile(sound)).ok, true);
      const document = throughFile(sound);
      breakIt(document);
      const plan = planImport(document);
      assert(!plan.ok, 'it must not be imported');
      assert.deepEqual(
        plan.issues.map((problem) => problem.path).filter((path) => path === pointer),
        [pointer],
        JSON.stringify(plan.issues),
      );
      assert(
        plan.issues.every(({ message }) => /^[A-Z"].*\.$/s.test(message)),
        'in whole sentences',
      );
    });
  }

  it('or is no document at all', () => {
    for (const document of [null, [], 'text', 7, {}, { formatVersion: 1 }]) {
      assert.equal(planImport(document).ok, false);
    }
  });
});
