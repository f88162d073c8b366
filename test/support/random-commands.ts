/**
 * Commands of every type, chosen by a seed with an eye on the state, so that most of them change something. The table
 * has an entry for each type of command: a new one does not compile before simulation and properties know it too.
 */
import fc from 'fast-check';

import { CUSTOM_ROLE_TYPES } from '../../src/domain/access/roles.ts';
import { type Command, ownCommand } from '../../src/domain/decide/decide.ts';
import type { Flag } from '../../src/domain/flags/flag.ts';
import type { SegmentInput } from '../../src/domain/kinds/segment.ts';
import type { DecideContext } from '../../src/domain/state/decision.ts';
import {
  ABOUT_NOTHING,
  type DomainEvent,
  ofEnvironment,
  recordChange,
} from '../../src/domain/state/events.ts';
import { peopleOf } from '../../src/domain/state/locate.ts';
import type { World } from '../../src/domain/state/world.ts';
import { createExample, deleteExample, EXAMPLE_KIND, updateExample } from './example-kind.ts';
import {
  anyPatch,
  anyStrategy,
  anyText,
  anyVariants,
  ENVIRONMENTS,
  FLAGS,
  PROJECTS,
  pick,
  someOf,
  type ValueRandom,
} from './random-values.ts';
import { seededRandom } from './seeded-random.ts';

type CommandOf<T extends Command['type']> = Command<T>;
/** Null when the state has nothing that such a command could be about. */
type Choose<T extends Command['type']> = (chance: Chance) => CommandOf<T> | null;

const FLAG_TYPES = ['release', 'kill-switch', 'experiment', 'operational', 'permission'] as const;
const EXPIRY = '2999-01-01T00:00:00.000Z';

/** Choices from a state. */
class Chance {
  readonly random: ValueRandom;
  readonly world: World;
  /** Flags as they once were. */
  readonly former: readonly Flag[];

  constructor(random: ValueRandom, world: World, former: readonly Flag[]) {
    this.random = random;
    this.world = world;
    this.former = former;
  }

  /** A record of some kind, and what may be sent of that kind. */
  record() {
    const description = anyText(this.random);
    return this.of([
      { kind: 'segments', id: this.segmentId(), fields: anySegment(this) },
      {
        kind: 'contextFields',
        id: this.of(CONTEXT_FIELDS),
        fields: { description, stickiness: this.yes, legalValues: [{ value: 'a' }] },
      },
      {
        kind: 'strategyTypes',
        id: this.of(STRATEGY_TYPES),
        fields: { description, title: anyText(this.random) },
      },
      { kind: 'tagTypes', id: this.of(TAG_TYPES), fields: { description, icon: anyText(this.random) } },
      { kind: 'roles', id: this.customRole(), fields: roleFieldsOf(this) },
      { kind: 'groups', id: this.groups()[0] ?? 1, fields: groupFieldsOf(this) },
    ] as const);
  }

  get yes(): boolean {
    return this.random.chance(0.5);
  }

  of<T>(from: readonly T[]): T {
    return pick(this.random, from);
  }

  /** One that exists, nearly always. */
  project(): string {
    return this.random.chance(0.9) ? this.of([...this.world.projects.keys()]) : this.of(PROJECTS);
  }

  environment(): string {
    const { environments } = this.world.directory;
    const known = environments.length > 0 && this.random.chance(0.9);
    return known ? this.of(environments).name : this.of(ENVIRONMENTS);
  }

  /** A flag in the state, nearly always. */
  flag(): { project: string; flag: string } {
    const found = this.flagIf(() => true);
    return found !== null && this.random.chance(0.95)
      ? { project: found.project, flag: found.name }
      : { project: this.project(), flag: this.of(FLAGS) };
  }

  flagIf(wanted: (flag: Flag) => boolean): Flag | null {
    const records = [...this.world.projects.values()].flatMap((project) => [...project.flags.values()]);
    const flags = records.map(({ flag }) => flag).filter(wanted);
    return flags.length === 0 ? null : this.of(flags);
  }

  flagsIf(wanted: (flag: Flag) => boolean): { project: string; flags: string[] } {
    const first = this.flagIf(wanted);
    if (first === null) return { project: this.project(), flags: [this.of(FLAGS)] };
    const all = [...(this.world.projects.get(first.project)?.flags.values() ?? [])];
    const names = all.filter(({ flag }) => wanted(flag)).map(({ flag }) => flag.name);
    return { project: first.project, flags: someOf(this.random, names) };
  }

  userId(): number {
    const ids = [...this.world.directory.users.keys()];
    return this.random.chance(0.9) ? this.of(ids) : 1 + this.random.below(6);
  }

  role(): number {
    return this.random.chance(0.8) ? this.of([4, 5]) : this.customRole();
  }

  customRole(): number {
    const ids = [...this.world.directory.roles.keys()];
    return ids.length === 0 ? 6 : this.of(ids);
  }

  /** Ids of some. */
  groups(): number[] {
    return [...this.world.directory.groups.keys()].filter(() => this.yes);
  }

  /** A strategy in the state, by all that names it. */
  strategy(): { project: string; flag: string; environment: string; strategyId: string } | null {
    const flag = this.flagIf((one) => one.environments.some((part) => part.strategies.length > 0));
    if (flag === null) return null;
    const part = this.of(flag.environments.filter((one) => one.strategies.length > 0));
    const { project, name } = flag;
    return { project, flag: name, environment: part.name, strategyId: this.of(part.strategies).id };
  }

  segmentId(): number {
    const ids = [...this.world.directory.segments.keys()];
    return ids.length === 0 ? 1 : this.of(ids);
  }

  digest(): string {
    return String(this.random.below(10)).repeat(64);
  }

  knownDigest(): string {
    const digests = [...this.world.directory.apiTokens.keys()];
    return digests.length === 0 ? this.digest() : this.of(digests);
  }
}

const CONTEXT_FIELDS = ['country', 'constructor', 'userId'] as const;
const TAG_TYPES = ['simple', 'team', 'constructor'] as const;
const STRATEGY_TYPES = ['own', 'default', 'constructor'] as const;

const FLAG_POINTERS = [
  '/description',
  '/description',
  '/stale',
  '/type',
  '/impressionData',
  '/name',
  '/archived',
];
const STRATEGY_POINTERS = [
  '/title',
  '/title',
  '/parameters/rollout',
  '/parameters',
  '/variants',
  '/segments',
  '/id',
];
const VARIANT_POINTERS = ['/-', '/-', '/0', '/1', '/0/stickiness', '/0/name', '/0/weight', '/0/weightType'];

const isActive = (flag: Flag): boolean => flag.archivedAt === null;
const isArchived = (flag: Flag): boolean => flag.archivedAt !== null;

const CHOICES: { readonly [T in Command['type']]: Choose<T> } = {
  'create-flag': (c) => ({
    type: 'create-flag',
    project: c.project(),
    name: c.of(FLAGS),
    metadata: { description: anyText(c.random), type: c.of(FLAG_TYPES), stale: c.random.chance(0.2) },
  }),
  'update-flag': (c) => ({
    type: 'update-flag',
    ...c.flag(),
    metadata: { description: anyText(c.random), stale: c.yes, impressionData: c.yes },
  }),
  'patch-flag': (c) => ({
    type: 'patch-flag',
    ...c.flag(),
    operations: anyPatch(c.random, FLAG_POINTERS),
  }),
  'clone-flag': (c) => ({ type: 'clone-flag', ...c.flag(), name: c.of(FLAGS), replaceGroupId: c.yes }),
  'move-flag': (c) => ({ type: 'move-flag', ...c.flag(), newProject: c.project() }),
  'change-link': (c) => {
    const flag = c.flagIf((one) => one.links.length > 0);
    const link = { url: 'https://a.example', title: anyText(c.random) };
    if (flag === null || c.yes) return { type: 'change-link', ...c.flag(), id: null, link };
    const { project, name, links } = flag;
    return { type: 'change-link', project, flag: name, id: c.of(links).id, link };
  },
  'remove-link': (c) => {
    const flag = c.flagIf((one) => one.links.length > 0);
    return flag && { type: 'remove-link', project: flag.project, flag: flag.name, id: c.of(flag.links).id };
  },
  'archive-flag': (c) => ({ type: 'archive-flag', ...c.flag() }),
  'archive-flags': (c) => ({ type: 'archive-flags', ...c.flagsIf(isActive) }),
  'revive-flags': (c) => ({ type: 'revive-flags', ...c.flagsIf(isArchived) }),
  'delete-flags': (c) => ({ type: 'delete-flags', ...c.flagsIf(isArchived) }),
  'mark-flags-stale': (c) => ({ type: 'mark-flags-stale', ...c.flagsIf(isActive), stale: c.yes }),
  'note-potentially-stale': (c) => ({ type: 'note-potentially-stale', ...c.flagsIf(isActive) }),
  'complete-flag': (c) => ({
    type: 'complete-flag',
    ...c.flag(),
    completion: c.yes ? { status: 'discarded' } : { status: 'kept', statusValue: 'v1' },
  }),
  'uncomplete-flag': (c) => ({ type: 'uncomplete-flag', ...c.flag() }),
  'comment-on-flag': (c) => ({
    type: 'comment-on-flag',
    ...c.flag(),
    text: c.yes ? 'Why?' : 'For \u202eall.',
  }),
  'tag-flag': (c) => ({ type: 'tag-flag', ...c.flag(), tag: tagOf(c) }),
  'untag-flag': (c) => {
    const flag = c.flagIf((one) => one.tags.length > 0);
    if (flag === null) return null;
    return { type: 'untag-flag', project: flag.project, flag: flag.name, tag: c.of(flag.tags) };
  },
  'change-tags': (c) => ({
    type: 'change-tags',
    ...c.flagsIf(isActive),
    added: [tagOf(c)],
    removed: c.yes ? [tagOf(c)] : [],
  }),
  'mark-favorite': (c) => {
    const { project, flag } = c.flag();
    return { type: 'mark-favorite', project, flag: c.yes ? flag : null, userId: c.userId(), isMarked: c.yes };
  },
  'switch-flags': (c) => ({
    type: 'switch-flags',
    ...c.flagsIf(isActive),
    environment: c.environment(),
    enabled: c.yes,
  }),
  'add-dependency': (c) => {
    const { project, flag } = c.flag();
    const parent = c.flagIf((one) => one.project === project && one.name !== flag)?.name ?? c.of(FLAGS);
    const dependency = { feature: parent, enabled: c.yes, variants: [] };
    return { type: 'add-dependency', project, child: flag, dependency };
  },
  'remove-dependency': (c) => {
    const flag = c.flagIf((one) => one.dependencies.length > 0);
    if (flag === null) return null;
    const parent = c.of(flag.dependencies).feature;
    return { type: 'remove-dependency', project: flag.project, child: flag.name, parent };
  },
  'remove-dependencies': (c) => {
    const flag = c.flagIf((one) => one.dependencies.length > 0);
    return flag && { type: 'remove-dependencies', project: flag.project, child: flag.name };
  },
  'add-strategy': (c) => ({
    type: 'add-strategy',
    ...c.flag(),
    environment: c.environment(),
    strategy: anyStrategy(c.random),
  }),
  'copy-strategies': (c) => ({
    type: 'copy-strategies',
    ...c.flag(),
    environment: c.environment(),
    from: c.environment(),
    dryRun: c.random.chance(0.2),
  }),
  'replace-strategy': (c) => {
    const named = c.strategy();
    return named && { type: 'replace-strategy', ...named, strategy: anyStrategy(c.random) };
  },
  'patch-strategy': (c) => {
    const named = c.strategy();
    return named && { type: 'patch-strategy', ...named, operations: anyPatch(c.random, STRATEGY_POINTERS) };
  },
  'remove-strategy': (c) => {
    const named = c.strategy();
    return named && { type: 'remove-strategy', ...named };
  },
  'order-strategies': (c) => {
    const named = c.strategy();
    if (named === null) return null;
    const { strategyId, ...flagEnvironment } = named;
    const order = [{ id: strategyId, sortOrder: c.random.below(9) }];
    return { type: 'order-strategies', ...flagEnvironment, order };
  },
  'switch-environment': (c) => {
    const enabled = c.random.chance(0.7);
    const { project, flag, environment } = c.strategy() ?? { ...c.flag(), environment: c.environment() };
    return { type: 'switch-environment', project, flag, environment, enabled };
  },
  'set-variants': (c) => ({
    type: 'set-variants',
    ...c.flag(),
    environment: c.yes ? null : c.environment(),
    variants: anyVariants(c.random),
  }),
  'patch-variants': (c) => ({
    type: 'patch-variants',
    ...c.flag(),
    environment: c.yes ? null : c.environment(),
    operations: anyPatch(c.random, VARIANT_POINTERS),
  }),
  'rollback-flags': (c) => {
    const { project } = c.flag();
    const flags = c.world.projects.get(project)?.flags;
    const former = new Map(c.former.filter((one) => one.project === project).map((one) => [one.name, one]));
    const environments = c.world.projects.get(project)?.settings.environments ?? [];
    const targets = [...former.values()]
      .filter(({ name }) => flags?.has(name))
      .slice(0, c.of([1, 3]))
      .map((target) => ({ flag: target.name, target, environments }));
    return targets.length === 0
      ? null
      : { type: 'rollback-flags', project, targets, dryRun: c.random.chance(0.2) };
  },
  'create-record': (c) => {
    const { id, ...created } = c.record();
    return {
      type: 'create-record',
      ...created,
      fields: { name: id, ...created.fields },
    } as Command<'create-record'>;
  },
  'update-record': (c) => ({ type: 'update-record', ...c.record() }),
  'delete-record': (c) => {
    const { kind, id } = c.record();
    return { type: 'delete-record', kind, id } as Command<'delete-record'>;
  },
  'deprecate-strategy-type': (c) => ({
    type: 'deprecate-strategy-type',
    name: c.of(STRATEGY_TYPES),
    deprecated: c.yes,
  }),
  // Nothing else would change while it is on.
  'set-lifetime': (c) => ({
    type: 'set-lifetime',
    flagType: c.of(FLAG_TYPES),
    lifetimeDays: c.of([null, 1, 7, 40]),
  }),
  'set-maintenance': () => ({ type: 'set-maintenance', enabled: false }),
  'set-frontend-origins': (c) => ({
    type: 'set-frontend-origins',
    origins: [c.of(['*', 'https://a.example', 'https://b.example'])],
  }),
  'add-member': (c) => ({
    type: 'add-member',
    project: c.project(),
    userId: c.userId(),
    roleId: c.role(),
  }),
  'change-member': (c) => ({ type: 'change-member', ...memberOf(c), roleId: c.role() }),
  'remove-member': (c) => ({ type: 'remove-member', ...memberOf(c) }),
  'set-project-access': (c) => {
    const others = [...c.world.directory.users.keys()].filter((id) => id !== 1 && c.yes);
    const owner = { kind: 'user', id: 1, roleId: 4 } as const;
    const members = others.map((id) => ({ kind: 'user', id, roleId: c.role() }) as const);
    const holdings = [owner, ...members, ...groupRoles(c)];
    return { type: 'set-project-access', project: c.project(), holdings };
  },
  'grant-project-access': (c) => {
    const holdings = [{ kind: 'user', id: c.userId(), roleId: c.role() } as const, ...groupRoles(c)];
    return { type: 'grant-project-access', project: c.project(), holdings };
  },
  'revoke-project-access': (c) => {
    const [groupId] = c.groups();
    return groupId === undefined ? null : { type: 'revoke-project-access', project: c.project(), groupId };
  },
  'create-project': (c) => ({
    type: 'create-project',
    ...(c.random.chance(0.8) ? { id: c.of(PROJECTS) } : {}),
    fields: { name: `Project ${c.random.below(3)}`, description: anyText(c.random) },
  }),
  'update-project': (c) => ({
    type: 'update-project',
    project: c.project(),
    fields: {
      description: anyText(c.random),
      mode: c.of(['open', 'protected', 'private']),
      lifetimes: c.of([{}, null, { release: 1 }, { operational: null, experiment: 30 }]),
    },
  }),
  'delete-project': (c) => ({ type: 'delete-project', project: c.project() }),
  'add-project-environment': (c) => {
    const { project, environment } = { project: c.project(), environment: c.environment() };
    return { type: 'add-project-environment', project, environment };
  },
  'remove-project-environment': (c) => {
    const { project, environment } = { project: c.project(), environment: c.environment() };
    return { type: 'remove-project-environment', project, environment };
  },
  'set-default-strategy': (c) => ({
    type: 'set-default-strategy',
    project: c.project(),
    environment: c.environment(),
    strategy: anyStrategy(c.random),
  }),
  'create-environment': (c) => ({
    type: 'create-environment',
    name: c.of(ENVIRONMENTS),
    fields: { type: c.of(['test', 'production']), enabled: c.yes },
  }),
  'update-environment': (c) => ({
    type: 'update-environment',
    name: c.environment(),
    fields: { type: c.of(['test', 'production', 'other']), enabled: c.yes },
  }),
  'order-environments': (c) => {
    const names = c.world.directory.environments.map(({ name }) => name);
    const order = someOf(c.random, names).map((name) => [name, c.random.below(9)] as const);
    return { type: 'order-environments', order };
  },
  'delete-environment': (c) => ({ type: 'delete-environment', name: c.environment() }),
  'create-user': (c) => ({ type: 'create-user', fields: { ...identityOf(c), rootRole: c.of([1, 2, 3]) } }),
  'update-user': (c) => ({ type: 'update-user', userId: c.userId(), fields: identityOf(c) }),
  'create-service-account': (c) => ({
    type: 'create-service-account',
    fields: {
      name: c.yes ? null : anyText(c.random),
      username: c.yes ? null : `robot-${c.random.below(3)}`,
      rootRole: c.of([1, 2, 3]),
    },
  }),
  'delete-user': (c) => ({ type: 'delete-user', userId: c.userId() }),
  'create-api-token': (c) => ({
    type: 'create-api-token',
    token: {
      digest: c.digest(),
      tokenName: c.of(['one', 'Größe']),
      type: 'client',
      projects: [c.project()],
      environment: c.environment(),
      expiresAt: c.yes ? null : EXPIRY,
    },
  }),
  'update-api-token': (c) => ({
    type: 'update-api-token',
    digest: c.knownDigest(),
    expiresAt: c.yes ? null : EXPIRY,
  }),
  'delete-api-token': (c) => ({ type: 'delete-api-token', digest: c.knownDigest() }),
  'create-personal-token': (c) => ({
    type: 'create-personal-token',
    userId: c.userId(),
    digest: c.digest(),
    description: anyText(c.random),
    expiresAt: EXPIRY,
  }),
  'delete-personal-token': (c) => {
    const tokens = [...c.world.directory.personalTokens.values()];
    if (tokens.length === 0) return null;
    const { userId, id } = c.of(tokens);
    return { type: 'delete-personal-token', userId, id };
  },
  own: (c) => (c.yes ? ofExample(c) : ownCommand({ sent: {}, decide: ownDecision(c) })),
};

function anySegment(c: Chance): SegmentInput {
  return {
    name: c.of(['Customers', 'Größe', 'toString']),
    description: c.yes ? null : anyText(c.random),
    project: c.yes ? null : c.project(),
    constraints: anyStrategy(c.random).constraints,
  };
}

function tagOf(c: Chance): { type: string; value: string } {
  return { type: c.of(['simple', 'team']), value: c.of(['one', 'two', 'x'.repeat(50)]) };
}

function roleFieldsOf(c: Chance) {
  const names = (['CREATE_FEATURE', 'UPDATE_PROJECT'] as const).filter(() => c.yes);
  return {
    name: c.of(['Releaser', 'Größe', 'toString']),
    description: anyText(c.random),
    permissions: names.map((name) => ({ name, environment: null })),
    type: c.of(CUSTOM_ROLE_TYPES),
  };
}

function groupFieldsOf(c: Chance) {
  const users = [...c.world.directory.users.keys()].filter(() => c.yes);
  return { name: c.of(['one', 'two']), rootRole: c.yes ? null : c.of([2, 3, c.customRole()]), users };
}

const groupRoles = (c: Chance) => c.groups().map((id) => ({ kind: 'group', id, roleId: c.role() }) as const);

function memberOf(c: Chance): { project: string; userId: number; roleId: number } {
  const project = c.project();
  const members = [...(c.world.projects.get(project)?.members ?? [])];
  const [userId, roleId] = members.length === 0 ? [c.userId(), c.role()] : c.of(members);
  return { project, userId, roleId };
}

function ofExample(c: Chance): Command<'own'> {
  const { addonRecords } = c.world;
  const id = c.of([1, ...(addonRecords.get(EXAMPLE_KIND.name)?.byId.keys() ?? [])]);
  const secret = c.yes ? anyText(c.random) : undefined;
  return c.of([
    createExample(anyText(c.random), secret),
    updateExample(id, anyText(c.random), secret),
    deleteExample(id),
  ]) as Command<'own'>;
}

/** One of the changes that add-ons decide: of what people sign in with, and exports. */
function ownDecision(c: Chance): (_: World, __: object, context: DecideContext) => readonly DomainEvent[] {
  const { directory } = c.world;
  const user = c.of(peopleOf(directory));
  const digest = c.digest();
  const about = { type: 'user-updated', ...ABOUT_NOTHING } as const;
  const session = directory.sessions.values().next().value;
  const id = directory.lastPersonalTokenId + 1;
  const token = { id, userId: user.id, description: '', expiresAt: EXPIRY };
  const flag = c.flag().flag;
  const exported = { type: 'features-exported', ...ofEnvironment(c.environment()) } as const;
  const which = c.random.below(7);
  return (world, _, { now }) => {
    // It may have been deleted by a command that came first.
    if (!world.directory.users.has(user.id)) return [];
    const changes: readonly (readonly DomainEvent[])[] = [
      [{ ...exported, data: { features: [flag] }, preData: null }],
      [
        {
          ...{ type: 'pat-created', ...ABOUT_NOTHING, preData: null, hidden: { digest, tokenDigest: null } },
          data: { ...token, createdAt: now, session: 'password' },
        },
      ],
      session === undefined
        ? []
        : [
            {
              ...{ type: 'pat-deleted', ...ABOUT_NOTHING, data: null },
              preData: { ...token, id: session.id, createdAt: session.createdAt, session: 'password' },
              hidden: { digest: session.digest, tokenDigest: session.tokenDigest },
            },
          ],
      [
        {
          ...{
            ...about,
            data: { ...user, passwordChangedAt: now },
            preData: { ...user, passwordChangedAt: null },
          },
          hidden: {
            passwordHash: `$scrypt$ln=15,r=8,p=3$${digest.padEnd(22, '0').slice(0, 22)}$${'k'.repeat(43)}`,
          },
        },
      ],
      [
        {
          ...{ ...about, data: { ...user, passwordLinkExpiresAt: EXPIRY } },
          preData: { ...user, passwordLinkExpiresAt: null },
          hidden: { linkDigest: digest, linkExpiresAt: EXPIRY },
        },
      ],
      [
        {
          ...{ ...about, data: user, preData: user },
          hidden: { identity: { issuer: 'https://provider.example', subject: digest }, endsPassword: true },
        },
      ],
      recordChange('invitations', directory.invitations.get(digest) ?? null, {
        ...{ digest, name: 'Team', enabled: true, expiresAt: EXPIRY, createdAt: now, createdBy: 'ada' },
        ...{ rootRole: 3, users: [] },
      }),
    ];
    return changes[which]!;
  };
}

function identityOf(c: Chance): { username: string; name: string | null; email: string | null } {
  const number = c.random.below(5);
  return { username: `user-${number}`, name: c.yes ? null : anyText(c.random), email: null };
}

export const COMMAND_TYPES = Object.keys(CHOICES) as readonly Command['type'][];

/** The commands that users give most, and those that everything else needs. */
const FREQUENT: readonly Command['type'][] = [
  'create-flag',
  'create-flag',
  'create-flag',
  'add-strategy',
  'add-strategy',
  'switch-environment',
  'switch-environment',
  'set-variants',
  'update-flag',
  'create-project',
  'create-user',
  'create-record',
  'own',
];

/** Flags remembered to be brought back. */
const FORMER_MAX = 20;

export class CommandSource {
  readonly #random: ValueRandom;
  readonly #former: Flag[] = [];

  constructor(random: ValueRandom) {
    this.#random = random;
  }

  next(world: World): Command {
    const chance = new Chance(this.#random, world, this.#former);
    this.#remember(chance.flagIf(() => true));
    for (;;) {
      const type = pick(this.#random, this.#random.chance(0.5) ? FREQUENT : COMMAND_TYPES);
      const command = CHOICES[type](chance);
      if (command !== null) return command;
    }
  }

  #remember(flag: Flag | null): void {
    if (flag === null) return;
    this.#former.push(flag);
    if (this.#former.length > FORMER_MAX) this.#former.shift();
  }
}

/** Runs of commands for properties: fast-check prints the one that failed, with as few commands as it takes. */
export const commandRuns = (min: number, max: number) =>
  fc.record({ seed: fc.nat(), count: fc.integer({ min, max }) });

/** The commands of a run, each chosen when the ones before it have been carried out. */
export function* commandsOn(
  state: { readonly world: World },
  { seed, count }: { readonly seed: number; readonly count: number },
): Generator<Command> {
  const source = new CommandSource({ ...seededRandom(seed), longTexts: false });
  for (let made = 0; made < count; made += 1) yield source.next(state.world);
}
