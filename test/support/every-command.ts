/**
 * Commands of every type, for properties: from small pools of names, so that they meet each other's flags, projects
 * and users, valid and invalid mixed. Ids that the engine gives out are sketched as positions (`#2`), to be looked up
 * in the state right before the command is submitted.
 */
import fc from 'fast-check';
import type { PermissionName } from '../../src/domain/access/permissions.ts';
import { SIGN_INS } from '../../src/domain/access/sessions.ts';
import type { Command } from '../../src/domain/decide/decide.ts';
import type { CreateRecord } from '../../src/domain/decide/kind-commands.ts';
import { FLAG_TYPES } from '../../src/domain/flags/metadata.ts';
import type { World } from '../../src/domain/state/world.ts';
import { PATCH_OPERATIONS } from './random-patches.ts';

/** Little would ever be found if names were chosen evenly. */
const usually = (usual: string, ...others: readonly string[]) =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );

const project = usually('default', 'p1', '__proto__');
const flag = usually('a', 'b', 'c', 'd', 'constructor', 'toString');
const newFlag = fc.constantFrom(...'abcdefghijkl', 'constructor', 'toString', '__proto__');
const environment = usually('development', 'production', 'staging');
/** An environment that is taken away at times: `development`, which everything else needs, stays. */
const spareEnvironment = fc.constantFrom('production', 'staging', 'staging');
const strategyId = fc.constantFrom('#0', '#0', '#1', '#2');
const userId = fc.integer({ min: 1, max: 4 });
const roleId = fc.constantFrom(4, 5, 5, 6, 7);
const customRoleId = fc.integer({ min: 5, max: 8 });
const groupId = fc.integer({ min: 1, max: 3 });
const digest = fc.constantFrom('d1', 'd2', 'd3');
const passwordHash = fc.constantFrom(
  ...'abc'.split('').map((one) => `$scrypt$ln=15,r=8,p=3$${one.repeat(22)}$${one.repeat(43)}`),
);
const text = fc.oneof(fc.constantFrom('', 'x', '\u0000', 'é😀'), fc.string({ unit: 'binary', maxLength: 8 }));
const expiresAt = fc.constantFrom('2030-01-01T00:00:00.000Z', '2031-01-01T00:00:00.000Z');

const ofFlag = { project, flag };
const ofEnvironment = { ...ofFlag, environment };
const ofFlags = { project, flags: fc.uniqueArray(newFlag, { minLength: 1, maxLength: 3 }) };

const tag = fc.record({ type: fc.constantFrom('simple', 'team'), value: fc.constantFrom('red', 'blue') });

const linkId = fc.constantFrom('l1', 'l2', 'l3');
const link = fc.record({
  id: linkId,
  url: fc.constantFrom('https://tracker.example/1', 'http://a'),
  title: fc.option(text, { nil: null }),
});

const metadata = fc.record(
  {
    description: fc.option(text, { nil: null }),
    type: fc.constantFrom(...FLAG_TYPES),
    stale: fc.boolean(),
    impressionData: fc.boolean(),
    links: fc.uniqueArray(link, { selector: ({ id }) => id, maxLength: 2 }),
  },
  { requiredKeys: [] },
);

const variants = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('v1', 'v2', 'v3'),
    weight: fc.integer({ min: 0, max: 1000 }),
    weightType: fc.constant('variable' as const),
    stickiness: fc.constantFrom('default', 'userId'),
    overrides: fc.array(fc.record({ contextName: fc.constant('userId'), values: fc.array(text) }), {
      maxLength: 1,
    }),
  }),
  { selector: ({ name }) => name, maxLength: 3 },
);

const parameters = fc.oneof(
  fc.constant(null),
  fc.dictionary(
    fc.constantFrom('rollout', 'groupId', 'constructor', 'hasOwnProperty', ''),
    fc.oneof(
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => x + 0),
      flag,
      fc.constant([{}, [null]]),
    ),
    { noNullPrototype: true },
  ),
);

const constraint = fc.record({
  contextName: fc.constant('c'),
  operator: fc.constant('IN' as const),
  caseInsensitive: fc.boolean(),
  inverted: fc.boolean(),
  values: fc.array(text, { maxLength: 2 }),
});

const segmentId = fc.integer({ min: 1, max: 4 });
const segmentIds = fc.oneof(
  { weight: 3, arbitrary: fc.constant<number[]>([]) },
  { weight: 1, arbitrary: fc.uniqueArray(segmentId, { maxLength: 2 }) },
);
const segment = fc.record({
  name: fc.constantFrom('s1', 's2', 's3'),
  description: fc.option(text, { nil: null }),
  project: fc.option(project, { nil: null }),
  constraints: fc.array(constraint, { maxLength: 2 }),
});

const contextField = fc.constantFrom('country', 'userId', 'constructor', 'absent');
const legalValue = fc.record(
  { value: fc.constantFrom('x', 'y'), description: text },
  { requiredKeys: ['value'] },
);
const contextFieldFields = fc.record(
  {
    description: text,
    stickiness: fc.boolean(),
    sortOrder: fc.nat(5),
    legalValues: fc.uniqueArray(legalValue, { selector: ({ value }) => value, maxLength: 2 }),
  },
  { requiredKeys: [] },
);

const strategyType = fc.constantFrom('own', 'default', 'constructor');
const strategyTypeFields = fc.record(
  {
    title: fc.option(text, { nil: null }),
    description: text,
    parameters: fc.constantFrom(
      [],
      [{ name: 'p', type: 'number' as const, description: '', required: true }],
    ),
  },
  { requiredKeys: [] },
);

const tagType = fc.constantFrom('simple', 'team', 'constructor');
const tagTypeFields = fc.record(
  { description: text, icon: fc.option(text, { nil: null }), color: fc.constantFrom(null, '#00ff00') },
  { requiredKeys: [] },
);

const STRATEGY_FIELDS = {
  name: usually('default', 'flexibleRollout', 'own'),
  title: fc.option(text, { nil: null }),
  disabled: fc.constantFrom(true, false, null),
  constraints: fc.array(constraint, { maxLength: 1 }),
  parameters,
  variants,
  segments: segmentIds,
} as const;

const strategy = fc.record(
  { ...STRATEGY_FIELDS, sortOrder: fc.constantFrom(-1, 0, 1.5, 7, 1e300) },
  { requiredKeys: ['name', 'title', 'disabled', 'constraints', 'parameters', 'variants', 'segments'] },
);

/** A flag as it may have been. */
export const formerFlag = fc.record({
  name: flag,
  project,
  description: fc.option(text, { nil: null }),
  type: fc.constantFrom(...FLAG_TYPES),
  stale: fc.boolean(),
  impressionData: fc.boolean(),
  links: fc.uniqueArray(link, { selector: ({ id }) => id, maxLength: 2 }),
  createdAt: expiresAt,
  archivedAt: fc.constant(null),
  environments: fc.uniqueArray(
    fc.record({
      name: environment,
      enabled: fc.boolean(),
      strategies: fc.uniqueArray(
        fc.record({ ...STRATEGY_FIELDS, id: fc.constantFrom('former-1', 'former-2'), sortOrder: fc.nat(3) }),
        { selector: ({ id }) => id, maxLength: 2 },
      ),
      variants,
    }),
    { selector: ({ name }) => name, maxLength: 2 },
  ),
  tags: fc.uniqueArray(tag, { selector: ({ type, value }) => `${type}:${value}`, maxLength: 2 }),
  dependencies: fc.constant([]),
  children: fc.constant([]),
});

const userFields = fc.record(
  {
    name: fc.option(text, { nil: null }),
    email: fc.constantFrom(null, 'a@example.com', 'b@example.com', 'C@example.com'),
    username: fc.constantFrom(null, 'ann', 'bob', 'cid'),
  },
  { requiredKeys: [] },
);
const rootRole = fc.integer({ min: 1, max: 7 });

const permission = fc
  .constantFrom(
    ['CREATE_FEATURE'],
    ['CREATE_PROJECT'],
    ['UPDATE_FEATURE_ENVIRONMENT', 'development'],
    ['constructor'],
  )
  .map(([name, environment = null]) => ({ name: name as PermissionName, environment }));
const customRole = fc.record({
  name: fc.constantFrom('Releaser', 'Reader', 'owner'),
  description: text,
  type: fc.constantFrom('custom' as const, 'root-custom' as const),
  permissions: fc.array(permission, { maxLength: 2 }),
});
const groupFields = fc.record(
  {
    name: fc.constantFrom('g1', 'g2'),
    description: fc.option(text, { nil: null }),
    rootRole: fc.option(rootRole, { nil: null }),
    users: fc.array(userId, { maxLength: 3 }),
  },
  { requiredKeys: ['name'] },
);

const environmentFields = fc.record(
  {
    type: fc.constantFrom('test', 'production'),
    sortOrder: fc.integer({ min: 0, max: 9 }),
    enabled: fc.boolean(),
  },
  { requiredKeys: ['type'] },
);

const projectFields = fc.record(
  {
    name: fc.constantFrom('Name', 'Other'),
    description: text,
    mode: fc.constantFrom('open' as const, 'protected' as const, 'private' as const),
    defaultStickiness: fc.constantFrom('default', 'userId'),
    featureNaming: fc.constantFrom(null, { pattern: '[a-zA-Z0-9._-]+', example: 'a1', description: null }),
    featureLimit: fc.constantFrom(null, 1_000),
    linkTemplates: fc.option(
      fc.array(
        fc.record({ title: fc.constant(null), urlTemplate: fc.constant('https://a.example/{{feature}}') }),
        {
          maxLength: 1,
        },
      ),
    ),
  },
  { requiredKeys: ['name'] },
);

const child = fc.constantFrom('c', 'd', 'e');
const parent = fc.constantFrom('a', 'b', 'constructor');
const dependency = fc.record({
  feature: parent,
  enabled: fc.boolean(),
  variants: fc.constantFrom([], ['v1']),
});
const NAMED_APART = { selector: ({ name }: { readonly name: string }) => name, maxLength: 2 };
const importedFlag = fc.record({
  name: newFlag,
  metadata,
  enabled: fc.constantFrom(true, false, null),
  variants: fc.option(variants, { nil: null }),
  strategies: fc.array(strategy, { maxLength: 2 }),
  tags: fc.uniqueArray(tag, { selector: ({ type, value }) => `${type}:${value}`, maxLength: 2 }),
  dependencies: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(dependency, { maxLength: 1 }) },
  ),
});
const member = fc.record({ userId, roleId });
const granted = {
  project,
  members: fc.uniqueArray(member, { selector: (one) => one.userId, maxLength: 3 }),
  groups: fc.uniqueArray(fc.record({ groupId, roleId }), { selector: (one) => one.groupId, maxLength: 2 }),
};

const apiToken = fc.record({
  digest,
  tokenName: fc.constantFrom('t1', 't2'),
  type: fc.constantFrom('admin' as const, 'client' as const, 'frontend' as const),
  projects: fc.constantFrom(['*'], ['default'], ['p1']),
  environment: fc.constantFrom('*', 'development', 'staging'),
  expiresAt: fc.option(expiresAt, { nil: null }),
});

/** A record of each managed kind, and fields of it. Segments come as often as each of the others. */
const record = fc.oneof(
  fc.record({ kind: fc.constant('segments' as const), id: segmentId, fields: segment }),
  fc.record({ kind: fc.constant('contextFields' as const), id: contextField, fields: contextFieldFields }),
  fc.record({ kind: fc.constant('strategyTypes' as const), id: strategyType, fields: strategyTypeFields }),
  fc.record({ kind: fc.constant('tagTypes' as const), id: tagType, fields: tagTypeFields }),
  fc.record({ kind: fc.constant('roles' as const), id: customRoleId, fields: customRole }),
  fc.record({ kind: fc.constant('groups' as const), id: groupId, fields: groupFields }),
);

type CommandOf<T extends Command['type']> = Command<T>;
type Fields<C> = { readonly [K in Exclude<keyof C, 'type'>]-?: fc.Arbitrary<C[K]> };

/** How often a command comes, in relation to the others, and what it is made of. A type left out does not compile. */
const FIELDS: {
  readonly [T in Command['type']]: readonly [
    weight: number,
    Fields<CommandOf<T>> | fc.Arbitrary<Omit<CommandOf<T>, 'type'>>,
  ];
} = {
  'create-flag': [7, { project, name: newFlag, metadata, tags: fc.array(tag, { maxLength: 2 }) }],
  'rollback-flags': [
    3,
    {
      project,
      targets: fc.uniqueArray(
        fc.record({
          flag,
          target: formerFlag,
          environments: fc.constantFrom(['development'], ['production'], ['development', 'production']),
        }),
        { selector: (one) => one.flag, maxLength: 2 },
      ),
      dryRun: fc.constantFrom(false, false, true),
    },
  ],
  'update-flag': [3, { ...ofFlag, name: fc.constantFrom(undefined, 'a'), metadata }],
  'patch-flag': [3, { ...ofFlag, operations: PATCH_OPERATIONS.flag }],
  'clone-flag': [4, { ...ofFlag, name: newFlag, replaceGroupId: fc.boolean() }],
  'move-flag': [3, { ...ofFlag, newProject: project }],
  'change-link': [2, { ...ofFlag, id: fc.option(linkId, { nil: null }), link }],
  'remove-link': [1, { ...ofFlag, id: linkId }],
  'archive-flag': [2, { project, flag: newFlag }],
  'archive-flags': [1, ofFlags],
  'revive-flags': [3, ofFlags],
  'delete-flags': [4, ofFlags],
  'mark-flags-stale': [1, { ...ofFlags, stale: fc.boolean() }],
  'note-potentially-stale': [1, ofFlags],
  'complete-flag': [
    1,
    {
      ...ofFlag,
      completion: fc.constantFrom({ status: 'kept', statusValue: 'v1' }, { status: 'discarded' }),
    },
  ],
  'uncomplete-flag': [1, ofFlag],
  'tag-flag': [2, { ...ofFlag, tag }],
  'untag-flag': [1, { ...ofFlag, tag }],
  'change-tags': [
    2,
    { ...ofFlags, added: fc.array(tag, { maxLength: 2 }), removed: fc.array(tag, { maxLength: 2 }) },
  ],
  'mark-favorite': [2, { project, flag: fc.option(flag, { nil: null }), userId, isMarked: fc.boolean() }],
  'add-dependency': [4, { project, child, dependency }],
  'remove-dependency': [4, { project, child, parent }],
  'remove-dependencies': [1, { project, child }],
  'add-strategy': [6, { ...ofEnvironment, strategy }],
  'replace-strategy': [2, { ...ofEnvironment, strategyId, strategy }],
  'patch-strategy': [6, { ...ofEnvironment, strategyId, operations: PATCH_OPERATIONS.strategy }],
  'remove-strategy': [3, { ...ofEnvironment, strategyId }],
  'export-flags': [1, { environment, flags: fc.uniqueArray(flag, { maxLength: 2 }) }],
  'import-flags': [
    8,
    {
      project,
      environment,
      flags: fc.uniqueArray(importedFlag, { selector: ({ name }) => name, maxLength: 3 }),
      segmentNames: fc.constant(new Map([1, 2, 3, 4].map((id) => [id, `s${id % 3}`] as const))),
      tagTypes: fc.uniqueArray(fc.record({ name: tagType, fields: tagTypeFields }), NAMED_APART),
      contextFields: fc.uniqueArray(
        fc.record({ name: contextField, fields: contextFieldFields }),
        NAMED_APART,
      ),
      strangers: fc.constant([]),
      archived: fc.constant([]),
    },
  ],
  'copy-strategies': [
    8,
    {
      ...ofEnvironment,
      from: fc.constantFrom('development', 'production'),
      dryRun: fc.constantFrom(false, false, true),
    },
  ],
  'order-strategies': [
    2,
    {
      ...ofEnvironment,
      order: fc.array(fc.record({ id: strategyId, sortOrder: fc.integer({ min: 0, max: 5 }) }), {
        maxLength: 3,
      }),
    },
  ],
  'switch-environment': [5, { ...ofEnvironment, enabled: fc.boolean() }],
  'set-variants': [3, { ...ofFlag, environment: fc.option(environment, { nil: null }), variants }],
  'patch-variants': [
    5,
    { ...ofFlag, environment: fc.option(environment, { nil: null }), operations: PATCH_OPERATIONS.variants },
  ],
  'switch-flags': [2, { ...ofFlags, environment, enabled: fc.boolean() }],
  'create-record': [
    9,
    record.map(({ kind, id, fields }) => ({ kind, fields: { name: id, ...fields } }) as CreateRecord),
  ],
  'update-record': [14, record],
  'delete-record': [7, record.map(({ kind, id }) => ({ kind, id }) as CommandOf<'delete-record'>)],
  'deprecate-strategy-type': [1, { name: strategyType, deprecated: fc.boolean() }],
  'set-maintenance': [1, { enabled: fc.constant(false) }],
  'set-frontend-origins': [1, { origins: fc.subarray(['*', 'https://a.example', 'https://b.example']) }],
  'add-member': [2, { project, userId, roleId }],
  'change-member': [2, { project, userId, roleId }],
  'remove-member': [2, { project, userId, roleId }],
  'set-project-access': [3, granted],
  'grant-project-access': [2, granted],
  'revoke-project-access': [4, { project, groupId }],
  'create-project': [
    2,
    {
      id: project,
      fields: projectFields,
      environments: fc.constantFrom(undefined, ['development'], ['production']),
    },
  ],
  'update-project': [1, { project, fields: projectFields }],
  'delete-project': [1, { project }],
  'add-project-environment': [2, { project, environment }],
  'remove-project-environment': [1, { project, environment: spareEnvironment }],
  'set-default-strategy': [2, { project, environment, strategy }],
  'create-environment': [1, { name: environment, fields: environmentFields }],
  'update-environment': [1, { name: environment, fields: environmentFields }],
  'order-environments': [
    1,
    {
      order: fc.uniqueArray(fc.tuple(environment, fc.integer({ min: 0, max: 9 })), {
        selector: ([name]) => name,
      }),
    },
  ],
  'delete-environment': [1, { name: spareEnvironment }],
  'create-user': [
    2,
    {
      fields: fc.tuple(userFields, rootRole).map(([fields, role]) => ({ ...fields, rootRole: role })),
      passwordHash: fc.option(passwordHash, { nil: undefined }),
      linkDigest: fc.option(digest, { nil: undefined }),
    },
  ],
  'update-user': [2, { userId, fields: userFields }],
  'delete-user': [1, { userId }],
  'create-service-account': [
    1,
    {
      fields: fc.record({
        name: fc.option(text, { nil: null }),
        username: fc.constantFrom(null, 'bob', 'robot'),
        rootRole,
      }),
    },
  ],
  'create-password-link': [1, { userId, digest, lifetimeMs: fc.constant(1000) }],
  'use-password-link': [1, { digest, hash: passwordHash }],
  'create-invitation': [1, { digest, name: text, expiresAt }],
  'update-invitation': [
    1,
    {
      digest,
      enabled: fc.constantFrom(undefined, true, false),
      expiresAt: fc.option(expiresAt, { nil: undefined }),
    },
  ],
  'sign-up': [
    1,
    {
      digest,
      fields: fc.record({
        name: fc.option(text, { nil: null }),
        username: fc.constantFrom(null, 'ann', 'guest'),
        email: fc.constantFrom(null, 'guest@example.com'),
      }),
      passwordHash,
    },
  ],
  'set-password': [1, { userId, hash: passwordHash, checked: fc.option(passwordHash, { nil: null }) }],
  'create-api-token': [1, { token: apiToken }],
  'update-api-token': [1, { digest, expiresAt: fc.option(expiresAt, { nil: null }) }],
  'delete-api-token': [1, { digest }],
  'create-personal-token': [1, { userId, digest, description: text, expiresAt }],
  'delete-personal-token': [1, { userId, id: fc.integer({ min: 0, max: 3 }) }],
  'begin-session': [
    2,
    {
      digest,
      userId: fc.option(userId, { nil: null }),
      tokenDigest: fc.option(digest, { nil: null }),
      begunWith: fc.constantFrom(...SIGN_INS),
      lifetimeMs: fc.integer({ min: 1, max: 1e9 }),
    },
  ],
  'end-session': [1, { digest }],
  'sign-in-by-provider': [
    2,
    {
      identity: fc.record({ issuer: fc.constantFrom('https://a', 'https://b'), subject: digest }),
      profile: fc.record({
        email: fc.option(fc.constantFrom('ada@a.example', 'BOB@a.example'), { nil: null }),
        username: fc.option(fc.constantFrom('ada', 'Bob'), { nil: null }),
        name: fc.option(text, { nil: null }),
      }),
      groups: fc.subarray(['one', 'two']),
      rules: fc.record({
        roles: fc.subarray<[string, string]>([
          ['one', 'Admin'],
          ['two', 'editor'],
        ]),
        defaultRole: fc.constantFrom('Viewer', 'nothing', null),
        admins: fc.subarray(['d1', 'bob@a.example']),
      }),
      session: fc.record({ digest, lifetimeMs: fc.constant(1000) }),
    },
  ],
  'end-sessions': [
    1,
    { userId: fc.option(userId, { nil: null }), tokenDigest: fc.option(digest, { nil: null }) },
  ],
};

export const COMMAND_TYPES = Object.keys(FIELDS) as Command['type'][];

export const commands: fc.Arbitrary<Command> = fc.oneof(
  ...COMMAND_TYPES.map((type) => {
    const [weight, fields] = FIELDS[type];
    const parts = (
      fields instanceof fc.Arbitrary ? fields : fc.record(fields as Record<string, fc.Arbitrary<unknown>>)
    ) as fc.Arbitrary<object>;
    return { weight, arbitrary: parts.map((one) => ({ type, ...one }) as Command) };
  }),
);

/** Puts real ids in the place of positions. */
export function withRealIds(world: World, command: Command): Command {
  const { users, personalTokens } = world.directory;
  if (command.type === 'delete-personal-token') {
    const token = [...personalTokens.values()][command.id];
    return token === undefined ? command : { ...command, userId: token.userId, id: token.id };
  }
  const realUser = (position: number): number => [...users.keys()][position - 1] ?? 999;
  if ('userId' in command) {
    const { userId } = command;
    return { ...command, userId: userId === null ? null : realUser(userId) } as Command;
  }
  if ('kind' in command && command.kind === 'groups' && 'fields' in command) {
    const { users: sent = [] } = command.fields;
    return { ...command, fields: { ...command.fields, users: sent.map(realUser) } } as Command;
  }
  if ('members' in command) {
    return {
      ...command,
      members: command.members.map((one) => ({ ...one, userId: realUser(one.userId) })),
    };
  }
  return 'environment' in command && 'flag' in command ? withRealStrategies(world, command) : command;
}

type AboutStrategies = Extract<Command, { readonly flag: string; readonly environment: string | null }>;

function withRealStrategies(world: World, command: AboutStrategies): Command {
  const record = world.projects.get(command.project)?.flags.get(command.flag);
  const flagEnvironment = record?.flag.environments.find(({ name }) => name === command.environment);
  const real = (id: string): string => flagEnvironment?.strategies[Number(id.slice(1))]?.id ?? 'nothing';
  if ('strategyId' in command) return { ...command, strategyId: real(command.strategyId) };
  if (!('order' in command)) return command;
  return { ...command, order: command.order.map((one) => ({ ...one, id: real(one.id) })) };
}
