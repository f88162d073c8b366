/** The flags that are desired of the target, and the requests that each step towards them takes. */
import {
  type DesiredFlag,
  type FlagStep,
  type PartOfEnvironment,
  positionOf,
} from '../../domain/desired/difference.ts';
import type { Flag, Strategy, Variant } from './configuration.ts';
import {
  type Call,
  type MigratedItem,
  MissingSegmentError,
  request,
  segment,
  type TargetIds,
  type TargetRequest,
} from './target-request.ts';

/** The types of what two servers compare: names stand for ids. */
export interface Migrated {
  readonly metadata: Pick<Flag, 'type' | 'description' | 'impressionData' | 'stale'>;
  readonly strategy: Strategy;
  readonly variant: Variant;
  readonly link: Flag['links'][number];
  readonly item: MigratedItem;
}

/** Links and tags that only the target has stay, and parents too where the source may not have sent all. */
export function desiredFlag(flag: Flag, isWhole: boolean): DesiredFlag<Migrated> {
  const { name, project, archived, type, description, impressionData, stale, tags, links } = flag;
  return {
    name,
    project,
    archived,
    metadata: { type, description, impressionData, stale },
    tags: { items: tags, isWhole: false },
    links,
    dependencies: { items: flag.dependencies, isWhole },
    environments: [...flag.environments].map(([at, { enabled, strategies, variants }]) => ({
      name: at,
      enabled,
      strategies: enabled === true && strategies.length === 0 ? [FOR_EVERYBODY] : strategies,
      variants,
    })),
  };
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

export function flagCalls(step: FlagStep<Migrated>): readonly Call[] {
  if (step.type === 'create-flag') return createCalls(step);
  const call = step.type === 'set-environment' ? setEnvironment(step) : requestOf(step);
  return [{ ...positionOf(step), ...call }];
}

const pathOf = ({ project, name }: Pick<Flag, 'project' | 'name'>): string =>
  `/projects/${segment(project)}/features/${segment(name)}`;

type StepOf<Type> = Extract<FlagStep<Migrated>, { readonly type: Type }>;

function requestOf(
  step: Exclude<FlagStep<Migrated>, StepOf<'create-flag' | 'set-environment'>>,
): TargetRequest {
  const flag = `flag "${step.name}"`;
  const path = pathOf(step);
  switch (step.type) {
    case 'revive-flag':
      return request(`revive ${flag}`, 'POST', `/archive/revive/${segment(step.name)}`);
    case 'set-metadata':
      return request(`change what ${flag} is`, 'PUT', path, step.metadata);
    case 'add-tag': {
      const { type, value } = step.tag;
      return request(
        `tag ${flag} with "${type}:${value}"`,
        'POST',
        `/features/${segment(step.name)}/tags`,
        step.tag,
      );
    }
    case 'remove-tag':
      throw new Error('Tags that only the target has stay.');
    case 'add-link':
      return request(`link ${flag} to ${step.link.url}`, 'POST', `${path}/link`, step.link);
    case 'remove-parent': {
      const { feature } = step.before;
      const does = `let ${flag} no longer depend on "${feature}"`;
      return request(does, 'DELETE', `${path}/dependencies/${segment(feature)}`);
    }
    case 'set-parent':
      return request(
        `let ${flag} depend on "${step.after.feature}"`,
        'POST',
        `${path}/dependencies`,
        step.after,
      );
    case 'archive-flag':
      return request(`archive ${flag}`, 'DELETE', path);
  }
}

/** Characters that a server takes with its default settings. */
const LONG_DESCRIPTION = 10_000;

/** A long description comes by a request of its own: its refusal keeps back nothing else of the flag. */
function createCalls(step: StepOf<'create-flag'>): readonly Call[] {
  const { name, project, metadata } = step;
  const { type, description = '', impressionData, stale } = metadata;
  const isLong = description.length > LONG_DESCRIPTION;
  const body = { name, type, description: isLong ? '' : description, impressionData, links: [] };
  const path = `/projects/${segment(project)}/features`;
  const created = request(`create flag "${name}" in project "${project}"`, 'POST', path, body);
  const does = isLong ? `describe flag "${name}"` : `mark flag "${name}" as stale`;
  const more = request(does, 'PUT', pathOf({ name, project }), metadata);
  return [
    { ...positionOf(step), ...created },
    ...(stale || isLong ? [{ ...positionOf({ ...step, type: 'set-metadata' }), ...more }] : []),
  ];
}

/** An import of the flag alone is one change, so no client sees half of it, and a refusal changes nothing. */
function setEnvironment(step: StepOf<'set-environment'>) {
  const { name, project, environment, before, after, changes } = step;
  const words: Readonly<Record<PartOfEnvironment, string>> = {
    strategies: 'strategies',
    variants: 'variants',
    switch: `switch (${after.enabled ? 'on' : 'off'})`,
  };
  const parts = changes.map((part) => words[part]).join(', the ');
  const { enabled, strategies, variants } = after;
  const call = request(`set the ${parts} of flag "${name}" in ${environment}`, 'POST', (ids) => ({
    path: '/features-batch/import',
    body: {
      project,
      environment,
      data: {
        features: [{ name }],
        featureStrategies: strategies.map((one, at) => ({
          featureName: name,
          ...strategyBody(one, at, ids),
        })),
        featureEnvironments: [{ featureName: name, name: environment, enabled, variants }],
        featureTags: null,
        segments: [...ids.segments].map(([of, id]) => ({ id, name: of })),
      },
    },
  }));
  const otherwise = `Flag "${name}" stays ${before.enabled ? 'on' : 'off'} in ${environment}, with ${before.strategies.length} strategies.`;
  return { ...call, otherwise };
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
