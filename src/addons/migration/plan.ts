/**
 * The steps that make the configuration of one server equal to that of another, in an order in which each can be taken. What is equal
 * already takes no step, so the plan of a migration that has been carried out is empty; that is how it can be run again.
 * What only the target has stays as it is.
 */
import { isDeepStrictEqual } from 'node:util';
import { groupMembershipSteps, groupSteps, roleSteps } from './access.ts';
import { adapted } from './adapt.ts';
import { type Configuration, type Project, rulesOf, type Segment } from './configuration.ts';
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
