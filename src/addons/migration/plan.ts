/**
 * The steps that make the configuration of one server equal to that of another, as the calls that take them. What is equal
 * already takes no step, so the plan of a migration that has been carried out is empty; that is how it can be run again.
 * What only the target has stays as it is.
 */
import { type Current, difference, positionOf, subjectOf } from '../../domain/desired/difference.ts';
import { withScheme } from '../../domain/flags/link.ts';
import { groupItems, groupMembershipItem, roleItems } from './access.ts';
import {
  type Configuration,
  type Environment,
  type Flag,
  type FlagEnvironment,
  type Project,
  rulesOf,
  type Segment,
  type Strategy,
  type StrategyType,
  type User,
  type Variant,
} from './configuration.ts';
import { desiredFlag, flagCalls, type Migrated, strategyBody } from './plan-flags.ts';
import {
  type Call,
  type MigratedItem,
  namedItem,
  request,
  segment,
  type TargetRequest,
} from './target-request.ts';

export interface Plan {
  readonly steps: readonly Call[];
  /** Sentences about differences that cannot be removed. */
  readonly remarks: readonly string[];
}

export function planMigration(wanted: Configuration, target: Configuration): Plan {
  const source = adapted(wanted, target);
  const steps = difference(currentOf(target), {
    items: itemsOf(source, target),
    flags: [...source.flags.values()].map((flag) => desiredFlag(flag, source.isWhole)),
    itemsAfterFlags: ruleItems(source),
  });
  const calls = steps.flatMap((step): readonly Call[] => {
    if (step.type !== 'create' && step.type !== 'change') return flagCalls(step);
    const { create, change = create } = step.item;
    return [{ ...positionOf(step), ...(step.type === 'create' ? create : change) }];
  });
  return { steps: calls, remarks: source.remarks };
}

function currentOf(target: Configuration): Current<Migrated> {
  const items = [...itemsOf(target, target), ...ruleItems(target)];
  const bySubject = new Map(items.map((item) => [subjectOf(item), item]));
  return {
    item(wanted) {
      const { initially } = wanted;
      return bySubject.get(subjectOf(wanted)) ?? (initially === undefined ? undefined : { value: initially });
    },
    flag(name) {
      const flag = target.flags.get(name);
      if (flag === undefined) return undefined;
      return { flag, archived: flag.archived, environment: (at) => switched(flag.environments.get(at)) };
    },
  };
}

/** A running server tells of every switch. */
const switched = (one: FlagEnvironment | undefined) =>
  one === undefined ? undefined : { ...one, enabled: one.enabled === true };

/** Everything beside flags, in an order in which it can be made. */
function itemsOf(of: Configuration, target: Configuration): readonly MigratedItem[] {
  const projects = [...of.projects.values()];
  return [
    ...[...of.environments.values()].flatMap(environmentItems),
    // SDKs evaluate those that are predefined on either side by themselves, regardless of what a server says of them.
    ...[...of.strategyTypes.values()]
      .filter(({ name, editable }) => editable && target.strategyTypes.get(name)?.editable !== false)
      .flatMap(strategyTypeItems),
    ...[...of.contextFields.values()].map((field) => ({
      ...namedItem('context field', '/context', field),
      compared: { ...field, sortOrder: 0 },
    })),
    ...projects.flatMap((project) => projectItems(project, of, target)),
    ...[...of.segments.values()].map(segmentItem),
    ...[...of.tagTypes.values()].map((one) => ({
      ...namedItem('tag type', '/tag-types', one),
      isFixed: one.name === 'simple',
    })),
    ...roleItems(of.access),
    ...[...of.users].map(userItem),
    ...groupItems(of.access),
    ...projects.flatMap(memberItems),
    ...projects.flatMap(defaultStrategyItems),
  ];
}

function environmentItems({ name, type, enabled }: Environment): readonly MigratedItem[] {
  const turn = enabled ? 'on' : 'off';
  const create = request(
    `switch environment "${name}" ${turn}`,
    'POST',
    `/environments/${segment(name)}/${turn}`,
  );
  return [
    { ...namedItem('environment', '/environments', { name, type }), isFixed: true },
    { kind: 'switch', name, value: enabled, initially: true, needs: `environment ${name}`, create },
  ];
}

function strategyTypeItems({ name, title, description, parameters, deprecated }: StrategyType) {
  const value = { name, title, description, parameters };
  const item = namedItem('strategy type', '/strategies', value);
  const create = request(
    `deprecate strategy type "${name}"`,
    'POST',
    `/strategies/${segment(name)}/deprecate`,
  );
  const mark = { kind: 'deprecation', name, value: true, needs: subjectOf(item), create };
  return [{ ...item, compared: [description, parameters] }, ...(deprecated ? [mark] : [])];
}

/** A new project is created with its settings and environments. */
function projectItems(
  { id, name, description, settings, environments }: Project,
  of: Configuration,
  target: Configuration,
): readonly MigratedItem[] {
  const path = `/projects/${segment(id)}`;
  const isNew = !target.projects.has(id);
  const partOf = (part: string, value: unknown, create: TargetRequest): MigratedItem => ({
    ...{ kind: 'project', name: `${id}: ${part}`, needs: `project ${id}`, value, create },
    ...(isNew ? { initially: value } : {}),
  });
  const body = { id, name, description, ...settings, environments };
  const changed = request(`change the settings of project "${id}"`, 'PUT', `${path}/settings`, settings);
  return [
    {
      kind: 'project',
      name: id,
      value: { name, description },
      // An export has no names of projects, only their ids.
      isFixed: of.userIds.size === 0 && name === id,
      create: request(`create project "${id}"`, 'POST', '/projects', body),
      change: request(`change project "${id}"`, 'PUT', path, { name, description }),
    },
    ...(settings === null ? [] : [partOf('settings', settings, changed)]),
    ...environments.map((environment) => {
      const does = `add environment "${environment}" to project "${id}"`;
      const create = request(does, 'POST', `${path}/environments`, { environment });
      return partOf(`environment ${environment}`, true, create);
    }),
  ];
}

const segmentItem = (wanted: Segment): MigratedItem => ({
  ...namedItem('segment', '/segments', wanted, 'segments'),
  ...(wanted.project === null ? {} : { needs: `project ${wanted.project}` }),
});

/** A user who is there stays as he is. */
function userItem([login, { email, username, name, rootRole }]: readonly [string, User]): MigratedItem {
  const given = Object.entries({ email, username, name }).filter(([, value]) => value !== null);
  const create = request(`create user "${login}" as ${rootRole}`, 'POST', ({ roles }) => ({
    path: '/user-admin',
    body: { ...Object.fromEntries(given), rootRole: roles.get(rootRole) },
  }));
  const learns = { of: 'users', name: login } as const;
  return { kind: 'user', name: login, value: null, isFixed: true, create: { ...create, learns } };
}

/** After users, roles and groups are there. */
const memberItems = ({ id, memberships, groups }: Project): readonly MigratedItem[] => [
  ...memberships.map(({ user, role }) => ({
    ...{ kind: 'member', name: `${user} of ${id} as ${role}`, value: true, needs: `project ${id}` },
    create: request(`make ${user} ${role} of project "${id}"`, 'POST', ({ users, roles }) => ({
      path: `/projects/${segment(id)}/users/${users.get(user) ?? 0}/roles/${roles.get(role) ?? 0}`,
    })),
  })),
  ...groups.map((one) => groupMembershipItem(id, one)),
];

const defaultStrategyItems = ({ id, defaultStrategies }: Project): readonly MigratedItem[] =>
  [...defaultStrategies].map(([environment, value]) => {
    const does = `set the default strategy of project "${id}" in ${environment}`;
    const path = `/projects/${segment(id)}/environments/${segment(environment)}/default-strategy`;
    const create = request(does, 'POST', (ids) => ({ path, body: strategyBody(value, 0, ids) }));
    const name = `of ${id} in ${environment}`;
    return { kind: 'default strategy', name, value, needs: `project ${id}`, create };
  });

const NO_RULES = rulesOf({ featureNaming: null, featureLimit: null, linkTemplates: null });

/** Rules that follow the flags, because those that the source has already need not keep its rules, and have their links. */
const ruleItems = ({ projects }: Configuration): readonly MigratedItem[] =>
  [...projects.values()].flatMap(({ id, rules }) => {
    if (rules === null) return [];
    const does = `set the rules for new flags of project "${id}"`;
    const create = request(does, 'PUT', `/projects/${segment(id)}/settings`, rules);
    const part = { needs: `project ${id}`, initially: NO_RULES };
    return [{ kind: 'rules', name: `of ${id}`, value: rules, ...part, create }];
  });

// Rewrites what Unleash takes and Flagstaff refuses into a form that Flagstaff takes and that SDKs evaluate alike. Each change is reported as a sentence. The
// same source is always adapted in the same way, so a second run finds what the first one made.

type Constraint = Strategy['constraints'][number];
type Tell = (sentence: string) => void;

const ROOT_ROLES = new Set(['Admin', 'Editor', 'Viewer']);

function adapted(source: Configuration, target: Configuration): Configuration {
  const told = new Set<string>();
  const tell = (sentence: string): void => {
    told.add(sentence);
  };
  const isProject = (id: string): boolean => source.projects.has(id) || target.projects.has(id);
  const segments = [...source.segments].flatMap(([name, segment]) => {
    const { project } = segment;
    if (project === null || isProject(project)) return [[name, adaptedSegment(segment, tell)] as const];
    tell(`Segment "${name}" is for project "${project}", which is not there; it does not move.`);
    return [];
  });
  const flags = [...source.flags].flatMap(([name, flag]) => {
    const there = target.flags.get(name)?.project ?? flag.project;
    if (isProject(flag.project) && there === flag.project)
      return [[name, adaptedFlag(withKnownType(flag, target.lifetimes, tell), tell)] as const];
    tell(
      there === flag.project
        ? `Flag "${name}" is in project "${flag.project}", which is not there; it does not move.`
        : `Flag "${name}" is in project "${there}" there, and in "${flag.project}" here; it stays as it is.`,
    );
    return [];
  });
  const isCustom = (role: string): boolean => source.access.customRoles.has(role);
  const users = [...source.users].map(([login, user]) => {
    const { rootRole } = user;
    if (target.users.has(login) || ROOT_ROLES.has(rootRole) || isCustom(rootRole))
      return [login, user] as const;
    tell(`The root role "${rootRole}" of ${login} is one of its own; the user becomes a Viewer.`);
    return [login, { ...user, rootRole: 'Viewer' }] as const;
  });
  const projects = [...source.projects].map(([id, project]) => {
    const memberships = project.memberships.filter(({ user, role }) => {
      if (target.roles.has(role) || isCustom(role)) return true;
      tell(`${user} has the role "${role}" in project "${id}", which is not there; give another one.`);
      return false;
    });
    return [id, { ...project, memberships }] as const;
  });
  tellLifetimes(source, target, tell);
  return {
    ...source,
    segments: new Map(segments),
    flags: new Map(flags),
    users: new Map(users),
    projects: new Map(projects),
    remarks: [...source.remarks, ...told],
  };
}

/** Newer versions have more types, and what a flag is for applications does not depend on it. */
function withKnownType(flag: Flag, known: Configuration['lifetimes'], tell: Tell): Flag {
  if (known.has(flag.type)) return flag;
  tell(`Flag "${flag.name}" has the type "${flag.type}", which is not there; it is brought as "release".`);
  return { ...flag, type: 'release' };
}

function tellLifetimes(source: Configuration, target: Configuration, tell: Tell): void {
  const days = (count: number | null): string => (count === null ? 'no end' : `${count} days`);
  for (const [type, there] of target.lifetimes) {
    const here = source.lifetimes.get(type);
    if (here === undefined || here === there) continue;
    tell(
      `The lifetime of flags of the type "${type}" is ${days(here)} in the source and ${days(there)} in Flagstaff, where PUT /api/admin/feature-types/${type}/lifetime sets it; it decides when they count as potentially stale.`,
    );
  }
}

function adaptedSegment(segment: Segment, tell: Tell): Segment {
  const where = `Segment "${segment.name}"`;
  return { ...segment, constraints: segment.constraints.map((one) => adaptedConstraint(one, where, tell)) };
}

function adaptedFlag(flag: Flag, tell: Tell): Flag {
  const environments = [...flag.environments].map(([name, environment]) => {
    const where = `Flag "${flag.name}" in ${name}`;
    const strategies = environment.strategies.map((strategy) => ({
      ...strategy,
      constraints: strategy.constraints.map((one) => adaptedConstraint(one, where, tell)),
      variants: strategy.variants.map((one) => adaptedVariant(one, where, tell)),
    }));
    const variants = environment.variants.map((one) => adaptedVariant(one, where, tell));
    return [name, { ...environment, strategies, variants }] as const;
  });
  const links = flag.links.map((link) => ({ ...link, url: adaptedLink(link.url, flag.name, tell) }));
  return { ...flag, links, environments: new Map(environments) };
}

const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME_WITHOUT_ZONE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;

function adaptedConstraint<C extends Constraint>(constraint: C, where: string, tell: Tell): C {
  const value = 'value' in constraint ? constraint.value : undefined;
  if (value === undefined || !constraint.operator.startsWith('DATE_')) return constraint;
  const time = DATE.test(value) ? 'T00:00:00Z' : DATE_TIME_WITHOUT_ZONE.test(value) ? 'Z' : null;
  if (time === null) return constraint;
  tell(
    `${where} compares with "${value}", which names no time zone, so SDKs read it differently; it is brought as "${value}${time}".`,
  );
  return { ...constraint, value: `${value}${time}` };
}

function adaptedVariant<V extends Pick<Variant, 'name'> & { readonly payload?: Variant['payload'] }>(
  variant: V,
  where: string,
  tell: Tell,
): V {
  const { payload } = variant;
  if (payload === undefined || isOfItsType(payload)) return variant;
  tell(
    `${where} has the variant "${variant.name}" with a payload that is no ${payload.type}; it is brought as one of the type string, so SDKs tell that type.`,
  );
  return { ...variant, payload: { ...payload, type: 'string' } };
}

function isOfItsType({ type, value }: NonNullable<Variant['payload']>): boolean {
  if (type === 'number') return value.trim() !== '' && Number.isFinite(Number(value));
  if (type !== 'json') return true;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

function adaptedLink(url: string, flag: string, tell: Tell): string {
  const address = withScheme(url);
  if (address !== url)
    tell(`Flag "${flag}" is linked to "${url}", which names no scheme; it is brought as "${address}".`);
  return address;
}
