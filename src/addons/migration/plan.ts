/**
 * The steps that make the configuration of one server equal to that of another, in an order in which each can be taken. What is equal
 * already takes no step, so the plan of a migration that has been carried out is empty; that is how it can be run again.
 * What only the target has stays as it is.
 */
import { isDeepStrictEqual } from 'node:util';
import { groupMembershipSteps, groupSteps, roleSteps } from './access.ts';
import {
  type Configuration,
  type Flag,
  type Project,
  rulesOf,
  type Segment,
  type Strategy,
  type Variant,
} from './configuration.ts';
import { archiveSteps, dependencySteps, flagSteps, independenceSteps, strategyBody } from './plan-flags.ts';
import { idOf, type Step, segment, step, type TargetIds } from './step.ts';

export interface Plan {
  readonly steps: readonly Step[];
  /** Sentences about differences that cannot be removed. */
  readonly remarks: readonly string[];
}

export function planMigration(wanted: Configuration, target: Configuration): Plan {
  const source = adapted(wanted, target);
  const remarks: string[] = [...source.remarks];
  const flags = [...source.flags.values()];
  const projects = [...source.projects.values()];
  const steps = [
    ...environmentSteps(source, target),
    ...strategyTypeSteps(source, target),
    ...contextFieldSteps(source, target),
    ...projects.flatMap((project) => projectSteps(project, source, target)),
    ...segmentSteps(source, target),
    ...tagTypeSteps(source, target),
    ...roleSteps(source.access, target.access),
    ...userSteps(source, target, remarks),
    ...groupSteps(source.access, target.access),
    ...projects.flatMap((project) => memberSteps(project, source, target, remarks)),
    ...projects.flatMap((project) => defaultStrategySteps(project, target.projects.get(project.id))),
    ...flags.flatMap((flag) => flagSteps(flag, target.flags.get(flag.name), remarks)),
    ...(source.isWhole ? flags : [])
      .filter(({ archived, project, name }) => !archived && target.flags.get(name)?.project === project)
      .flatMap((flag) => independenceSteps(flag, target.flags.get(flag.name))),
    ...flags.flatMap((flag) => dependencySteps(flag, target.flags.get(flag.name))),
    ...flags.flatMap((flag) => archiveSteps(flag, target.flags.get(flag.name))),
    ...projects.flatMap((project) => ruleSteps(project, target.projects.get(project.id))),
  ];
  return { steps, remarks };
}

function environmentSteps(source: Configuration, target: Configuration): Step[] {
  return [...source.environments.values()].flatMap(({ name, type, enabled }) => {
    const subject = `environment ${name}`;
    const present = target.environments.get(name);
    const switched = step(
      subject,
      `switch environment "${name}" ${enabled ? 'on' : 'off'}`,
      'POST',
      `/environments/${segment(name)}/${enabled ? 'on' : 'off'}`,
    );
    if (present === undefined) {
      const created = step(subject, `create environment "${name}"`, 'POST', '/environments', { name, type });
      return enabled ? [created] : [created, switched];
    }
    return present.enabled === enabled ? [] : [switched];
  });
}

function strategyTypeSteps(source: Configuration, target: Configuration): Step[] {
  return [...source.strategyTypes.values()].flatMap((type) => {
    const subject = `strategy type ${type.name}`;
    const present = target.strategyTypes.get(type.name);
    // SDKs evaluate those that are predefined on either side by themselves, whatever a server says of them.
    if (!type.editable || present?.editable === false) return [];
    const { name, title, description, parameters, deprecated } = type;
    const body = { name, title, description, parameters };
    const deprecate = step(
      subject,
      `deprecate strategy type "${name}"`,
      'POST',
      `/strategies/${segment(name)}/deprecate`,
    );
    const marks = deprecated && present?.deprecated !== true ? [deprecate] : [];
    if (present === undefined)
      return [step(subject, `create strategy type "${name}"`, 'POST', '/strategies', body), ...marks];
    const equal = isDeepStrictEqual([present.description, present.parameters], [description, parameters]);
    const change = step(
      subject,
      `change strategy type "${name}"`,
      'PUT',
      `/strategies/${segment(name)}`,
      body,
    );
    return equal ? marks : [change, ...marks];
  });
}

function contextFieldSteps(source: Configuration, target: Configuration): Step[] {
  return [...source.contextFields.values()].flatMap((field) => {
    const { name } = field;
    const subject = `context field ${name}`;
    const present = target.contextFields.get(name);
    if (present === undefined)
      return [step(subject, `create context field "${name}"`, 'POST', '/context', field)];
    if (isDeepStrictEqual({ ...present, sortOrder: 0 }, { ...field, sortOrder: 0 })) return [];
    return [step(subject, `change context field "${name}"`, 'PUT', `/context/${segment(name)}`, field)];
  });
}

function segmentSteps(source: Configuration, target: Configuration): Step[] {
  return [...source.segments.values()].flatMap((wanted): Step[] => {
    const { name } = wanted;
    const subject = `segment ${name}`;
    const present = target.segments.get(name);
    const needs = wanted.project === null ? subject : `project ${wanted.project}`;
    if (present === undefined) return [{ ...createSegment(subject, wanted), needs }];
    if (isDeepStrictEqual(present, wanted)) return [];
    const id = target.segmentIds.get(name);
    return [{ ...step(subject, `change segment "${name}"`, 'PUT', `/segments/${id}`, wanted), needs }];
  });
}

function tagTypeSteps(source: Configuration, target: Configuration): Step[] {
  return [...source.tagTypes.values()].flatMap((wanted): Step[] => {
    const { name } = wanted;
    const subject = `tag type ${name}`;
    const present = target.tagTypes.get(name);
    if (present === undefined)
      return [step(subject, `create tag type "${name}"`, 'POST', '/tag-types', wanted)];
    if (name === 'simple' || isDeepStrictEqual(present, wanted)) return [];
    return [step(subject, `change tag type "${name}"`, 'PUT', `/tag-types/${segment(name)}`, wanted)];
  });
}

function defaultStrategySteps({ id, defaultStrategies }: Project, present: Project | undefined): Step[] {
  return [...defaultStrategies].flatMap(([environment, wanted]): Step[] => {
    if (isDeepStrictEqual(present?.defaultStrategies.get(environment), wanted)) return [];
    return [
      {
        ...step(
          `default strategy of ${id} in ${environment}`,
          `set the default strategy of project "${id}" in ${environment}`,
          'POST',
          `/projects/${segment(id)}/environments/${segment(environment)}/default-strategy`,
        ),
        needs: `project ${id}`,
        body: (ids) => strategyBody(wanted, 0, ids),
      },
    ];
  });
}

function createSegment(subject: string, wanted: Segment): Step {
  return {
    ...step(subject, `create segment "${wanted.name}"`, 'POST', '/segments', wanted),
    learn: (response, ids) => ids.segments.set(wanted.name, idOf(response)),
  };
}

const ROOT_ROLES = new Set(['Admin', 'Editor', 'Viewer']);

function userSteps(source: Configuration, target: Configuration, remarks: string[]): Step[] {
  return [...source.users].flatMap(([login, { email, username, name, rootRole }]): Step[] => {
    if (target.users.has(login)) return [];
    const moves = ROOT_ROLES.has(rootRole) || source.access.customRoles.has(rootRole);
    const role = moves ? rootRole : 'Viewer';
    if (role !== rootRole)
      remarks.push(`The root role "${rootRole}" of ${login} is one of its own; the user becomes a Viewer.`);
    const given = Object.entries({ email, username, name }).filter(([, value]) => value !== null);
    const body = (ids: TargetIds): unknown => ({
      ...Object.fromEntries(given),
      rootRole: ids.roles.get(role),
    });
    return [
      {
        ...step(`user ${login}`, `create user "${login}" as ${role}`, 'POST', '/user-admin'),
        body,
        learn: (response, ids) => ids.users.set(login, idOf(response)),
      },
    ];
  });
}

/** Steps that follow those of all flags: flags that the source has already need not keep its rules, and have their links. */
function ruleSteps({ id, rules }: Project, present: Project | undefined): Step[] {
  const before = present?.rules ?? rulesOf({ featureNaming: null, featureLimit: null, linkTemplates: null });
  if (rules === null || isDeepStrictEqual(before, rules)) return [];
  const subject = `project ${id}: rules for new flags`;
  const path = `/projects/${segment(id)}/settings`;
  return [
    {
      ...step(subject, `set the rules for new flags of project "${id}"`, 'PUT', path, rules),
      needs: `project ${id}`,
    },
  ];
}

function projectSteps(project: Project, source: Configuration, target: Configuration): Step[] {
  const { id, name, description, settings, environments } = project;
  const subject = `project ${id}`;
  const path = `/projects/${segment(id)}`;
  const present = target.projects.get(id);
  if (present === undefined) {
    const body = { id, name, description, ...settings, environments };
    return [step(subject, `create project "${id}"`, 'POST', '/projects', body)];
  }
  const changed = present.name !== name || present.description !== description;
  // An export has no names of projects, only their ids.
  const known = source.userIds.size > 0 || name !== id;
  return [
    ...(changed && known
      ? [step(subject, `change project "${id}"`, 'PUT', path, { name, description })]
      : []),
    ...(settings === null || isDeepStrictEqual(present.settings, settings)
      ? []
      : [
          {
            ...step(
              `${subject}: settings`,
              `change the settings of project "${id}"`,
              'PUT',
              `${path}/settings`,
              settings,
            ),
            needs: subject,
          },
        ]),
    ...environments
      .filter((one) => !present.environments.includes(one))
      .map((one) =>
        step(subject, `add environment "${one}" to project "${id}"`, 'POST', `${path}/environments`, {
          environment: one,
        }),
      ),
  ];
}

/** After users, roles and groups are there. */
function memberSteps(
  { id, memberships, groups }: Project,
  source: Configuration,
  target: Configuration,
  remarks: string[],
): Step[] {
  const present = target.projects.get(id);
  const has = new Set(present?.memberships.map(({ user, role }) => `${user}\n${role}`));
  const members = memberships.flatMap(({ user, role }): Step[] => {
    if (has.has(`${user}\n${role}`)) return [];
    if (!target.roles.has(role) && !source.access.customRoles.has(role)) {
      remarks.push(
        `${user} has the role "${role}" in project "${id}", which is not there; give another one.`,
      );
      return [];
    }
    return [
      {
        subject: `member ${user} of ${id}`,
        needs: `project ${id}`,
        does: `make ${user} ${role} of project "${id}"`,
        method: 'POST',
        path: (ids) =>
          `/projects/${segment(id)}/users/${ids.users.get(user) ?? 0}/roles/${ids.roles.get(role) ?? 0}`,
      },
    ];
  });
  return [...members, ...groupMembershipSteps(id, groups, present?.groups ?? [])];
}

// Rewrites what Unleash takes and Flagstaff refuses into a form that Flagstaff takes and that SDKs evaluate alike. Each change is told as a sentence. The
// same source is always adapted in the same way, so a second run finds what the first one made.

type Constraint = Strategy['constraints'][number];
type Tell = (sentence: string) => void;

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
    if (isProject(flag.project))
      return [[name, adaptedFlag(withKnownType(flag, target.lifetimes, tell), tell)] as const];
    tell(`Flag "${name}" is in project "${flag.project}", which is not there; it does not move.`);
    return [];
  });
  tellLifetimes(source, target, tell);
  return {
    ...source,
    segments: new Map(segments),
    flags: new Map(flags),
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
      `The lifetime of flags of the type "${type}" is ${days(here)} in the source and ${days(there)} in Flagstaff, where it is fixed; it decides when they count as potentially stale.`,
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
  if (/^[a-z][a-z0-9+.-]*:/i.test(url)) return url;
  tell(`Flag "${flag}" is linked to "${url}", which names no scheme; it is brought as "https://${url}".`);
  return `https://${url}`;
}
