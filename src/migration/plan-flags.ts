/** The steps for one flag: what it is, its environments, what it depends on, and whether it is archived. */
import { isDeepStrictEqual } from 'node:util';
import type { Flag, FlagEnvironment, Strategy } from './configuration.ts';
import { MissingSegmentError, type Step, segment, step, type TargetIds } from './step.ts';

const pathOf = ({ project, name }: Flag): string => `/projects/${segment(project)}/features/${segment(name)}`;

const subjectOf = ({ name }: Flag): string => `flag ${name}`;

/** Everything of the flag itself. Archived flags get their steps last, when nothing else refers to them. */
export function flagSteps(flag: Flag, present: Flag | undefined, remarks: string[]): Step[] {
  if (present !== undefined && present.project !== flag.project) {
    remarks.push(
      `Flag "${flag.name}" is in project "${present.project}" there, and in "${flag.project}" here; it stays as it is.`,
    );
    return [];
  }
  if (present?.archived === true) {
    if (!flag.archived)
      remarks.push(`Flag "${flag.name}" is archived there; revive or delete it, and run again.`);
    return [];
  }
  return [
    ...metadataSteps(flag, present),
    ...tagSteps(flag, present),
    ...linkSteps(flag, present),
    ...[...flag.environments].flatMap(([name, wanted]) =>
      environmentSteps(flag, name, wanted, present?.environments.get(name)),
    ),
  ];
}

function metadataSteps(flag: Flag, present: Flag | undefined): Step[] {
  const { name, type, description, impressionData, stale, project } = flag;
  const subject = subjectOf(flag);
  const body = { type, description, impressionData, stale };
  if (present === undefined) {
    const created = step(
      subject,
      `create flag "${name}" in project "${project}"`,
      'POST',
      `/projects/${segment(project)}/features`,
      { name, type, description, impressionData },
    );
    return stale
      ? [created, step(subject, `mark flag "${name}" as stale`, 'PUT', pathOf(flag), body)]
      : [created];
  }
  const has = [present.type, present.description, present.impressionData, present.stale];
  if (isDeepStrictEqual(has, [type, description, impressionData, stale])) return [];
  return [step(subject, `change what flag "${name}" is`, 'PUT', pathOf(flag), body)];
}

/** By their addresses: titles are for people, and may have been changed on either side. */
function linkSteps(flag: Flag, present: Flag | undefined): Step[] {
  const has = new Set(present?.links.map(({ url }) => url));
  return flag.links
    .filter(({ url }) => !has.has(url))
    .map((link) =>
      step(subjectOf(flag), `link flag "${flag.name}" to ${link.url}`, 'POST', `${pathOf(flag)}/link`, link),
    );
}

function tagSteps(flag: Flag, present: Flag | undefined): Step[] {
  const has = new Set(present?.tags.map(({ type, value }) => `${type}:${value}`));
  return flag.tags
    .filter(({ type, value }) => !has.has(`${type}:${value}`))
    .map((tag) =>
      step(
        subjectOf(flag),
        `tag flag "${flag.name}" with "${tag.type}:${tag.value}"`,
        'POST',
        `/features/${segment(flag.name)}/tags`,
        tag,
      ),
    );
}

/** A flag is switched off before its strategies change and on after, so that nobody gets half of it. */
function environmentSteps(
  flag: Flag,
  environment: string,
  wanted: FlagEnvironment,
  present: FlagEnvironment | undefined,
): Step[] {
  const path = `${pathOf(flag)}/environments/${segment(environment)}`;
  const where = `flag "${flag.name}" in ${environment}`;
  const subject = subjectOf(flag);
  const strategies = strategySteps(flag, environment, wanted, present);
  const isOn = present?.enabled ?? false;
  const isWantedOn = wanted.enabled ?? isOn;
  const variants = isDeepStrictEqual(present?.variants ?? [], wanted.variants)
    ? []
    : [step(subject, `set the variants of ${where}`, 'PUT', `${path}/variants`, wanted.variants)];
  const pauses = isOn && strategies.length > 0;
  const off = step(subject, `switch ${where} off`, 'POST', `${path}/off`);
  const on = step(subject, `switch ${where} on`, 'POST', `${path}/on`);
  return [
    ...(isOn && (pauses || !isWantedOn) ? [off] : []),
    ...strategies,
    ...variants,
    ...(isWantedOn && (!isOn || pauses) ? [on] : []),
  ];
}

function strategySteps(
  flag: Flag,
  environment: string,
  { strategies }: FlagEnvironment,
  present: FlagEnvironment | undefined,
): Step[] {
  const path = `${pathOf(flag)}/environments/${segment(environment)}/strategies`;
  const where = `of flag "${flag.name}" in ${environment}`;
  const subject = subjectOf(flag);
  const has = present?.strategies ?? [];
  const ids = present?.strategyIds ?? [];
  const set = strategies.flatMap((wanted, at): Step[] => {
    const current = has[at];
    if (current !== undefined && isDeepStrictEqual(current, wanted)) return [];
    const body = (targetIds: TargetIds): unknown => strategyBody(wanted, at, targetIds);
    if (current !== undefined && current.name === wanted.name)
      return [{ ...step(subject, `change strategy ${at + 1} ${where}`, 'PUT', `${path}/${ids[at]}`), body }];
    const remove = step(subject, `remove strategy ${at + 1} ${where}`, 'DELETE', `${path}/${ids[at]}`);
    const add = {
      ...step(subject, `add strategy ${at + 1} ("${wanted.name}") ${where}`, 'POST', path),
      body,
    };
    return current === undefined ? [add] : [remove, add];
  });
  const surplus = ids
    .slice(strategies.length)
    .map((id, at) =>
      step(subject, `remove strategy ${strategies.length + at + 1} ${where}`, 'DELETE', `${path}/${id}`),
    );
  return [...set, ...surplus];
}

/** A strategy without one of its segments would be for more users than it was, so it is not made. */
export function strategyBody({ segments, ...strategy }: Strategy, at: number, ids: TargetIds): unknown {
  const known = segments.map((name) => {
    const id = ids.segments.get(name);
    if (id === undefined) throw new MissingSegmentError(name);
    return id;
  });
  return { ...strategy, sortOrder: at, segments: known };
}

/** After all flags are there, because a parent must be. */
export function dependencySteps(flag: Flag, present: Flag | undefined): Step[] {
  const has = new Map(present?.dependencies.map((one) => [one.feature, one]));
  return flag.dependencies
    .filter((wanted) => !isDeepStrictEqual(has.get(wanted.feature), wanted))
    .map((wanted) =>
      step(
        subjectOf(flag),
        `let flag "${flag.name}" depend on "${wanted.feature}"`,
        'POST',
        `${pathOf(flag)}/dependencies`,
        wanted,
      ),
    );
}

export function archiveSteps(flag: Flag, present: Flag | undefined): Step[] {
  if (!flag.archived || present?.archived === true) return [];
  return [step(subjectOf(flag), `archive flag "${flag.name}"`, 'DELETE', pathOf(flag))];
}
