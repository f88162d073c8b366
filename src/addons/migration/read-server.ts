/** Reads the configuration of a running server of the Unleash Admin API: Unleash 4.3 to 8, or Flagstaff. */
import * as v from 'valibot';
import { AdminCallError, type AdminClient } from '../../host/admin-client.ts';
import { type GroupMembership, readAccess } from './access.ts';
import {
  byName,
  CONTEXT_FIELD,
  type Configuration,
  DEPENDENCY,
  ENVIRONMENT,
  type Flag,
  type FlagEnvironment,
  listOf,
  loginOf,
  type Membership,
  PROJECT_RULES,
  PROJECT_SETTINGS,
  type Project,
  rulesOf,
  SENT_FLAG,
  SENT_SEGMENT,
  SENT_STRATEGY,
  STRATEGY_TYPE,
  type Strategy,
  TAG,
  TAG_TYPE,
  textOr,
  type User,
  VARIANT,
  yesNo,
} from './configuration.ts';
import { shaped } from './target-request.ts';

const READS_AT_ONCE = 8;

const SENT_ENVIRONMENT = v.object({
  name: v.string(),
  enabled: yesNo,
  strategies: listOf(SENT_STRATEGY),
  /** Unleash sends them here, Flagstaff at an address of their own. */
  variants: v.optional(v.array(VARIANT)),
});

const WHOLE_FLAG = v.object({
  ...SENT_FLAG.entries,
  environments: listOf(SENT_ENVIRONMENT),
  dependencies: listOf(DEPENDENCY),
});

const ROLE = v.object({ id: v.number(), name: v.string(), type: v.nullish(v.string(), 'root') });

const USERS = v.object({
  users: v.array(
    v.object({
      id: v.number(),
      email: v.nullish(v.string(), null),
      username: v.nullish(v.string(), null),
      name: v.nullish(v.string(), null),
      rootRole: v.nullish(v.union([v.number(), v.object({ id: v.number() })])),
      accountType: v.nullish(v.string(), 'User'),
    }),
  ),
  rootRoles: listOf(ROLE),
});

const HOLDER = v.object({ roleId: v.nullish(v.number()), roles: v.nullish(v.array(v.number())) });

const ACCESS = v.object({
  users: listOf(v.object({ id: v.number(), ...HOLDER.entries })),
  groups: listOf(v.object({ name: v.string(), ...HOLDER.entries })),
  roles: listOf(ROLE),
});

const PROJECTS = v.object({
  projects: v.array(v.object({ id: v.string(), name: v.string(), description: textOr('') })),
});

const FLAG_TYPES = v.object({
  types: v.array(v.object({ id: v.string(), lifetimeDays: v.nullish(v.number(), null) })),
});

const USED_ENVIRONMENTS = v.object({
  environments: v.array(
    v.object({
      name: v.string(),
      visible: v.nullish(v.boolean(), true),
      defaultStrategy: v.nullish(SENT_STRATEGY),
    }),
  ),
});

const ENVIRONMENTS = v.object({ environments: v.array(ENVIRONMENT) });
const VARIANTS = v.object({ variants: v.array(VARIANT) });
const TAGS = v.object({ tags: v.array(TAG) });
const NAMES = v.object({ features: v.array(v.object({ name: v.string() })) });

/** Every reading of `path` in the shape that the interface promises. Throws where the server sends something else. */
async function read<S extends v.GenericSchema>(
  client: AdminClient,
  path: string,
  schema: S,
): Promise<v.InferOutput<S>> {
  return shaped(path, await client.get(path), schema);
}

export async function readServer(client: AdminClient): Promise<Configuration> {
  const { environments } = await read(client, '/environments', ENVIRONMENTS);
  const { strategies } = await read(client, '/strategies', v.object({ strategies: v.array(STRATEGY_TYPE) }));
  const fields = await read(client, '/context', v.array(CONTEXT_FIELD));
  const major = await client.majorVersion();
  const { users, rootRoles } = await read(client, '/user-admin', USERS);
  const roleNames = new Map(rootRoles.map(({ id, name }) => [id, name]));
  const people = users.filter((user) => loginOf(user) !== '' && user.accountType === 'User');
  const logins = new Map(people.map((user) => [user.id, loginOf(user)]));
  const roles = new Map(rootRoles.map(({ id, name }) => [name, id]));
  const remarks: string[] = [];
  const access = await readAccess(client, logins, roles, remarks);
  const segmentNames = namesOf(await segmentsOf(client, major));
  const projects = await projectsOf(client, { logins, roles, segmentNames, major });
  const { tagTypes } = await read(client, '/tag-types', v.object({ tagTypes: v.array(TAG_TYPE) }));
  const { types } = await read(client, '/feature-types', FLAG_TYPES);
  const flags = await flagsOf(client, { projectIds: [...projects.keys()], major });
  // Those that flags began to use meanwhile are among them.
  const segments = await segmentsOf(client, major);
  return {
    isWhole: true,
    environments: byName(environments),
    strategyTypes: byName(strategies),
    contextFields: byName(fields),
    segments: byName(segments.map(({ id, ...segment }) => segment)),
    segmentIds: new Map(segments.map(({ id, name }) => [name, id])),
    users: new Map(people.map((user) => [loginOf(user), userOf(user, roleNames)])),
    userIds: new Map(people.map((user) => [loginOf(user), user.id])),
    projects,
    flags: flags(namesOf(segments)),
    lifetimes: new Map(types.map(({ id, lifetimeDays }) => [id, lifetimeDays])),
    roles,
    tagTypes: byName(tagTypes),
    access,
    remarks: [...remarks, ...(await remarksOf(client)), ...LEFT_BEHIND],
  };
}

type SentUser = v.InferOutput<typeof USERS>['users'][number];

function userOf({ email, username, name, rootRole }: SentUser, roleNames: ReadonlyMap<number, string>): User {
  const id = typeof rootRole === 'object' ? rootRole?.id : rootRole;
  return { email, username, name, rootRole: roleNames.get(id ?? 0) ?? 'Viewer' };
}

type SentSegment = v.InferOutput<typeof SENT_SEGMENT>;

/** Segments came with Unleash 4.13, and were part of the paid edition until 6. */
async function segmentsOf(client: AdminClient, major: number | null): Promise<readonly SentSegment[]> {
  const sent = await client.getIfThere('/segments', major !== null && major < 6);
  if (sent === null) return [];
  return shaped('/segments', sent, v.object({ segments: v.array(SENT_SEGMENT) })).segments;
}

const namesOf = (segments: readonly SentSegment[]): ReadonlyMap<number, string> =>
  new Map(segments.map(({ id, name }) => [id, name]));

interface Known {
  /** By the id of the user. */
  readonly logins: ReadonlyMap<number, string>;
  /** Gets the roles that only projects show. */
  readonly roles: Map<string, number>;
  readonly segmentNames: ReadonlyMap<number, string>;
  /** The version of the server. */
  readonly major: number | null;
}

async function projectsOf(
  client: AdminClient,
  { logins, roles, segmentNames, major }: Known,
): Promise<ReadonlyMap<string, Project>> {
  const { projects } = await read(client, '/projects', PROJECTS);
  // The open-source edition shows no members any more.
  const lacksAccess = major !== null && major >= 6;
  const lacksOverview = major !== null && major < 6;
  const found: Project[] = [];
  for (const { id, name, description } of projects) {
    const path = encodeURIComponent(id);
    const used = await read(client, `/environments/project/${path}`, USED_ENVIRONMENTS);
    const sent = (await client.getIfThere(`/projects/${path}/access`, lacksAccess)) ?? {};
    const access = shaped('access', sent, ACCESS);
    for (const role of access.roles) roles.set(role.name, role.id);
    const overview = await client.getIfThere(`/projects/${path}/overview`, lacksOverview);
    found.push({
      id,
      name,
      description,
      settings: overview === null ? null : shaped('overview', overview, PROJECT_SETTINGS),
      rules: overview === null ? null : rulesOf(shaped('overview', overview, PROJECT_RULES)),
      environments: used.environments.filter(({ visible }) => visible !== false).map((one) => one.name),
      memberships: membershipsOf(access, logins),
      groups: groupsIn(access),
      defaultStrategies: new Map(
        used.environments.flatMap((one) =>
          one.defaultStrategy ? [[one.name, strategyOf(one.defaultStrategy, segmentNames)] as const] : [],
        ),
      ),
    });
  }
  return new Map(found.map((project) => [project.id, project]));
}

type Access = v.InferOutput<typeof ACCESS>;

function membershipsOf({ users, roles }: Access, logins: ReadonlyMap<number, string>): readonly Membership[] {
  return users.flatMap((holder) => {
    const user = logins.get(holder.id);
    return user === undefined ? [] : rolesOf(holder, roles).map((role) => ({ user, role }));
  });
}

const groupsIn = ({ groups, roles }: Access): readonly GroupMembership[] =>
  groups.map((holder) => ({ group: holder.name, roles: rolesOf(holder, roles).toSorted() }));

/** The names of the roles that a user holds: several in newer servers, and one in older ones. */
const rolesOf = ({ roles, roleId }: v.InferOutput<typeof HOLDER>, all: Access['roles']): readonly string[] =>
  (roles ?? [roleId]).flatMap((held) => all.find(({ id }) => id === held)?.name ?? []);

const pathOf = (project: string, name: string): string =>
  `/projects/${encodeURIComponent(project)}/features/${encodeURIComponent(name)}`;

interface FlagSource {
  readonly projectIds: readonly string[];
  /** The version of the server. */
  readonly major: number | null;
}

async function pathsOf(client: AdminClient, projectIds: readonly string[]): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const id of projectIds) {
    const listed = await read(client, `/projects/${encodeURIComponent(id)}/features`, NAMES);
    for (const { name } of listed.features) paths.push(pathOf(id, name));
  }
  return paths;
}

async function flagsOf(
  client: AdminClient,
  { projectIds, major }: FlagSource,
): Promise<WithSegments<ReadonlyMap<string, Flag>>> {
  const paths = await pathsOf(client, projectIds);
  const flags: WithSegments<Flag>[] = [];
  const missed = new Map<string, AdminCallError>();
  const waiting = paths.values();
  const worker = async (): Promise<void> => {
    for (const path of waiting) {
      const found = await flagOf(client, path).catch((error: unknown) => {
        if (!(error instanceof AdminCallError) || error.status !== 404) throw error;
        missed.set(path, error);
        return null;
      });
      if (found !== null) flags.push(found);
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, worker));
  // Archived or deleted since they were listed: then they are listed no more.
  const listed = missed.size === 0 ? [] : await pathsOf(client, projectIds);
  for (const path of listed) {
    const error = missed.get(path);
    if (error !== undefined) throw error;
  }
  const gone: Flag[] = (await archivedOf(client, major)).map((flag) => ({
    ...flag,
    archived: true,
    tags: [],
    dependencies: [],
    environments: new Map(),
  }));
  return (segmentNames) => {
    // A flag that was archived after it was read is archived.
    const all = byName([...flags.map((one) => one(segmentNames)), ...gone]);
    return byName([...all.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)));
  };
}

/** A reader's result, finished once the names of the segments are known. */
type WithSegments<T> = (names: ReadonlyMap<number, string>) => T;

/** With the whole of these flags, of which the archive shows little; they are off everywhere, as they would be once revived. */
export async function withWholeFlags(
  client: AdminClient,
  configuration: Configuration,
  names: readonly string[],
): Promise<Configuration> {
  const flags = new Map(configuration.flags);
  const segmentNames = new Map([...configuration.segmentIds].map(([name, id]) => [id, name]));
  for (const name of names) {
    const { project } = configuration.flags.get(name) ?? {};
    if (project === undefined) continue;
    const flag = (await flagOf(client, pathOf(project, name)))(segmentNames);
    const off = [...flag.environments].map(([at, place]) => [at, { ...place, enabled: false }] as const);
    flags.set(name, { ...flag, archived: true, environments: new Map(off) });
  }
  return { ...configuration, flags };
}

const ARCHIVE = v.object({ features: v.array(SENT_FLAG) });
const FOUND = v.object({ ...ARCHIVE.entries, total: v.number() });

/** The largest page that Unleash gives. */
const FOUND_AT_ONCE = 100;

/** Unleash 8 has no list of the archive any more; the search of Unleash 5 to 8 finds archived flags. */
async function archivedOf(
  client: AdminClient,
  major: number | null,
): Promise<readonly v.InferOutput<typeof SENT_FLAG>[]> {
  const sent = await client.getIfThere('/archive/features', major !== null && major >= 8);
  if (sent !== null) return shaped('archive', sent, ARCHIVE).features;
  const found: v.InferOutput<typeof SENT_FLAG>[] = [];
  for (;;) {
    const path = `/search/features?archived=IS:true&sortBy=name&limit=${FOUND_AT_ONCE}&offset=${found.length}`;
    const { features, total } = await read(client, path, FOUND);
    found.push(...features);
    if (features.length === 0 || found.length >= total) return found;
  }
}

async function flagOf(client: AdminClient, path: string): Promise<WithSegments<Flag>> {
  // Without the parameter, Unleash leaves the variants of the environments out.
  const sent = await read(client, `${path}?variantEnvironments=true`, WHOLE_FLAG);
  const { environments, dependencies, ...flag } = sent;
  const { tags } = await read(client, `/features/${encodeURIComponent(flag.name)}/tags`, TAGS);
  const found: [string, WithSegments<FlagEnvironment>][] = [];
  for (const { name, enabled, strategies, variants: sorted } of environments) {
    const variantsPath = `${path}/environments/${encodeURIComponent(name)}/variants`;
    // Unleash sorts those of the flag by name, and evaluates them as they are stored.
    const isInOrder = sorted !== undefined && sorted.length < 2;
    const { variants } = isInOrder ? { variants: sorted } : await read(client, variantsPath, VARIANTS);
    const place: WithSegments<FlagEnvironment> = (segmentNames) => ({
      enabled,
      strategies: inOrder(strategies).map((strategy) => strategyOf(strategy, segmentNames)),
      variants,
    });
    found.push([name, place]);
  }
  return (segmentNames) => ({
    ...flag,
    archived: false,
    tags,
    dependencies,
    environments: new Map(found.map(([name, place]) => [name, place(segmentNames)])),
  });
}

type SentStrategy = v.InferOutput<typeof SENT_STRATEGY>;

export const inOrder = (strategies: readonly SentStrategy[]): readonly SentStrategy[] =>
  strategies.toSorted((a, b) => a.sortOrder - b.sortOrder);

export function strategyOf(sent: SentStrategy, segmentNames: ReadonlyMap<number, string>): Strategy {
  const { id, segments, sortOrder, ...strategy } = sent;
  return {
    ...strategy,
    segments: segments.map((one) => segmentNames.get(one) ?? `number ${one}`).toSorted(),
  };
}

const COUNTED: readonly { path: string; list: string; sentence: (count: number) => string }[] = [
  {
    path: '/api-tokens',
    list: 'tokens',
    sentence: (count) =>
      `${count} API tokens do not move. Give their secrets to a new data folder by INIT_CLIENT_API_TOKENS and INIT_FRONTEND_API_TOKENS, and applications keep them.`,
  },
  { path: '/addons', list: 'addons', sentence: (count) => `${count} integrations do not move.` },
];

const LEFT_BEHIND = [
  'Creation dates, times of the last use, favourites and history do not move: flags, segments and users are as old as their arrival.',
];

async function remarksOf(client: AdminClient): Promise<string[]> {
  const remarks: string[] = [];
  for (const { path, list, sentence } of COUNTED) {
    const sent = await client.getIfThere(path, true);
    const found = typeof sent === 'object' && sent !== null ? (sent as Record<string, unknown>)[list] : null;
    if (Array.isArray(found) && found.length > 0) remarks.push(sentence(found.length));
  }
  return remarks;
}
