/** The steps for one flag: what it is, its environments, what it depends on, and whether it is archived. */
import { isDeepStrictEqual } from 'node:util';
import type { Flag, FlagEnvironment, Strategy } from './configuration.ts';
import { MissingSegmentError, type Step, segment, step, type TargetIds } from './step.ts';

const pathOf = ({ project, name }: Flag): string => `/projects/${segment(project)}/features/${segment(name)}`;

/** Characters that a server takes with its default settings. */
const LONG_DESCRIPTION = 10_000;

const subjectOf = ({ name }: Flag): string => `flag ${name}`;

/** Everything of the flag itself. Archived flags get their steps last, when nothing else refers to them. */
export function flagSteps(flag: Flag, present: Flag | undefined, remarks: string[]): Step[] {
  if (present !== undefined && present.project !== flag.project) {
    remarks.push(
      `Flag "${flag.name}" is in project "${present.project}" there, and in "${flag.project}" here; it stays as it is.`,
    );
    return [];
  }
  if (present?.archived === true && flag.archived) return [];
  return [
    ...reviveSteps(flag, present),
    ...metadataSteps(flag, present),
    ...tagSteps(flag, present),
    ...linkSteps(flag, present),
    ...[...flag.environments].flatMap(([name, wanted]) =>
      environmentSteps(flag, name, wanted, present?.environments.get(name)),
    ),
  ];
}

/** A revived flag is off everywhere until the steps behind this one. */
function reviveSteps(flag: Flag, present: Flag | undefined): Step[] {
  if (present?.archived !== true) return [];
  const path = `/archive/revive/${segment(flag.name)}`;
  return [step(subjectOf(flag), `revive flag "${flag.name}"`, 'POST', path)];
}

function metadataSteps(flag: Flag, present: Flag | undefined): Step[] {
  const { name, type, description, impressionData, stale, project } = flag;
  const subject = subjectOf(flag);
  const body = { type, description, impressionData, stale };
  if (present === undefined) {
    // A refusal of the description keeps back nothing else of the flag.
    const isLong = (description ?? '').length > LONG_DESCRIPTION;
    const created = step(
      subject,
      `create flag "${name}" in project "${project}"`,
      'POST',
      `/projects/${segment(project)}/features`,
      { name, type, description: isLong ? '' : description, impressionData, links: [] },
    );
    return stale || isLong
      ? [
          created,
          {
            ...step(
              `${subject}: metadata`,
              isLong ? `describe flag "${name}"` : `mark flag "${name}" as stale`,
              'PUT',
              pathOf(flag),
              body,
            ),
            needs: subject,
          },
        ]
      : [created];
  }
  const has = [present.type, present.description, present.impressionData, present.stale];
  if (isDeepStrictEqual(has, [type, description, impressionData, stale])) return [];
  return [step(`${subject}: metadata`, `change what flag "${name}" is`, 'PUT', pathOf(flag), body)];
}

/** By their addresses: titles are for people, and may have been changed on either side. */
function linkSteps(flag: Flag, present: Flag | undefined): Step[] {
  const has = new Set(present?.links.map(({ url }) => url));
  return flag.links
    .filter(({ url }) => !has.has(url))
    .map((link) => ({
      ...step(
        `${subjectOf(flag)}: ${link.url}`,
        `link flag "${flag.name}" to ${link.url}`,
        'POST',
        `${pathOf(flag)}/link`,
        link,
      ),
      needs: subjectOf(flag),
    }));
}

function tagSteps(flag: Flag, present: Flag | undefined): Step[] {
  const has = new Set(present?.tags.map(({ type, value }) => `${type}:${value}`));
  return flag.tags
    .filter(({ type, value }) => !has.has(`${type}:${value}`))
    .map((tag) => ({
      ...step(
        `${subjectOf(flag)}: tag ${tag.type}:${tag.value}`,
        `tag flag "${flag.name}" with "${tag.type}:${tag.value}"`,
        'POST',
        `/features/${segment(flag.name)}/tags`,
        tag,
      ),
      needs: subjectOf(flag),
    }));
}

/** The strategy that SDKs assume for an enabled flag without strategies; the target asks for one before it enables a flag. */
const FOR_EVERYBODY: Strategy = {
  name: 'default',
  title: '',
  disabled: false,
  parameters: {},
  constraints: [],
  segments: [],
  variants: [],
};

/**
 * One change makes the flag in an environment what it is there, or is refused as a whole. So nobody gets half of it, and a flag that is on
 * is not switched off on the way: a refusal leaves it as it was found.
 */
function environmentSteps(
  flag: Flag,
  environment: string,
  wanted: FlagEnvironment,
  present: FlagEnvironment | undefined,
): Step[] {
  const isOn = present?.enabled ?? false;
  const isWantedOn = wanted.enabled ?? isOn;
  const strategies =
    wanted.enabled === true && wanted.strategies.length === 0 ? [FOR_EVERYBODY] : wanted.strategies;
  const changes = [
    ...(isDeepStrictEqual(present?.strategies ?? [], strategies) ? [] : ['strategies']),
    ...(isDeepStrictEqual(present?.variants ?? [], wanted.variants) ? [] : ['variants']),
    ...(isOn === isWantedOn ? [] : [`switch (${isWantedOn ? 'on' : 'off'})`]),
  ];
  if (changes.length === 0) return [];
  const where = `flag "${flag.name}" in ${environment}`;
  return [
    {
      ...step(
        `${subjectOf(flag)} in ${environment}`,
        `set the ${changes.join(', the ')} of ${where}`,
        'POST',
        '/features-batch/import',
      ),
      needs: subjectOf(flag),
      otherwise: `Flag "${flag.name}" stays ${isOn ? 'on' : 'off'} in ${environment}, with ${present?.strategies.length ?? 0} strategies.`,
      body: (ids) => ({
        project: flag.project,
        environment,
        data: {
          features: [{ name: flag.name }],
          featureStrategies: strategies.map((one, at) => ({
            featureName: flag.name,
            ...strategyBody(one, at, ids),
          })),
          featureEnvironments: [
            { featureName: flag.name, name: environment, enabled: isWantedOn, variants: wanted.variants },
          ],
          featureTags: null,
          segments: [...ids.segments].map(([name, id]) => ({ id, name })),
        },
      }),
    },
  ];
}

/** A strategy without one of its segments would be for more users than it was, so it is not made. */
export function strategyBody({ segments, ...strategy }: Strategy, at: number, ids: TargetIds): object {
  const known = segments.map((name) => {
    const id = ids.segments.get(name);
    if (id === undefined) throw new MissingSegmentError(name);
    return id;
  });
  return { ...strategy, sortOrder: at, segments: known };
}

/** Before any is added, because a parent can have no parents, and only where the source says all: what is left would keep the flag off. */
export function independenceSteps(flag: Flag, present: Flag | undefined): Step[] {
  const wanted = new Set(flag.dependencies.map(({ feature }) => feature));
  return (present?.dependencies ?? [])
    .filter(({ feature }) => !wanted.has(feature))
    .map(({ feature }) => ({
      ...step(
        `${subjectOf(flag)}: parent ${feature}`,
        `let flag "${flag.name}" no longer depend on "${feature}"`,
        'DELETE',
        `${pathOf(flag)}/dependencies/${segment(feature)}`,
      ),
      needs: subjectOf(flag),
    }));
}

/** After all flags are there, because a parent must be. */
export function dependencySteps(flag: Flag, present: Flag | undefined): Step[] {
  const has = new Map(present?.dependencies.map((one) => [one.feature, one]));
  return flag.dependencies
    .filter((wanted) => !isDeepStrictEqual(has.get(wanted.feature), wanted))
    .map((wanted) => ({
      ...step(
        `${subjectOf(flag)}: parent ${wanted.feature}`,
        `let flag "${flag.name}" depend on "${wanted.feature}"`,
        'POST',
        `${pathOf(flag)}/dependencies`,
        wanted,
      ),
      needs: subjectOf(flag),
    }));
}

export function archiveSteps(flag: Flag, present: Flag | undefined): Step[] {
  if (!flag.archived || present?.archived === true) return [];
  return [step(subjectOf(flag), `archive flag "${flag.name}"`, 'DELETE', pathOf(flag))];
}
