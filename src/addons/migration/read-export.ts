/**
 * Reads an export of Unleash: what its page "Export" and `POST /features-batch/export` give (Unleash 5 and newer), or
 * `GET /state/export` of Unleash 4. Both have flags, their parts and their environments in separate lists.
 */
import * as v from 'valibot';
import { grouped } from '../../domain/json/grouped.ts';
import {
  byName,
  CONSTRAINT,
  CONTEXT_FIELD,
  type Configuration,
  DEPENDENCY,
  ENVIRONMENT,
  type Flag,
  type FlagEnvironment,
  listOf,
  NO_ACCESS,
  SENT_FLAG,
  SENT_SEGMENT,
  SENT_STRATEGY,
  STRATEGY_TYPE,
  TAG_TYPE,
  VARIANT,
  yesNo,
} from './configuration.ts';
import { inOrder, strategyOf } from './read-server.ts';
import { shaped } from './target-request.ts';

const STRATEGY_OF_FLAG = v.object({
  ...v.omit(SENT_STRATEGY, ['name']).entries,
  /** `strategyName` in Unleash 4, `name` in some of the newer versions. */
  strategyName: v.nullish(v.string()),
  name: v.nullish(v.string()),
  featureName: v.string(),
  /** Left out by newer versions, whose exports have one environment only. */
  environment: v.nullish(v.string()),
});

const EXPORT = v.object({
  /** Present in `state/export` alone. */
  version: v.nullish(v.number()),
  features: v.array(v.object({ ...SENT_FLAG.entries, archived: yesNo })),
  featureStrategies: listOf(STRATEGY_OF_FLAG),
  featureEnvironments: listOf(
    v.object({
      featureName: v.string(),
      environment: v.string(),
      enabled: yesNo,
      variants: listOf(VARIANT),
    }),
  ),
  featureTags: listOf(
    v.object({
      featureName: v.string(),
      tagType: v.nullish(v.string()),
      type: v.nullish(v.string()),
      tagValue: v.nullish(v.string()),
      value: v.nullish(v.string()),
    }),
  ),
  dependencies: listOf(v.object({ feature: v.string(), dependencies: v.array(DEPENDENCY) })),
  /** Newer versions give the names of the segments only, and leave their constraints behind. */
  segments: listOf(v.object({ ...SENT_SEGMENT.entries, constraints: v.nullish(v.array(CONSTRAINT)) })),
  contextFields: listOf(CONTEXT_FIELD),
  tagTypes: listOf(TAG_TYPE),
  strategies: listOf(STRATEGY_TYPE),
  environments: listOf(ENVIRONMENT),
  projects: listOf(
    v.object({ id: v.string(), name: v.nullish(v.string()), description: v.nullish(v.string()) }),
  ),
});

type Export = v.InferOutput<typeof EXPORT>;

/** Throws with the place in the document where it is not an export. */
export function readExport(document: unknown): Configuration {
  const sent = shaped('The export', document, EXPORT);
  const flags = flagsOf(sent);
  const segments = sent.segments;
  const whole = segments.flatMap(({ id, constraints, ...segment }) =>
    constraints ? [{ ...segment, constraints }] : [],
  );
  const bare = segments.filter(({ constraints }) => !constraints).map(({ name }) => `"${name}"`);
  const remarks = ['An export has no users and no members of projects; they do not move with it.'];
  if (!tellsSwitches(sent))
    remarks.push(
      'Exports of the open-source Unleash call every flag on, so no flag is switched by it: new ones are off. Read the running server to bring the switches.',
    );
  if (bare.length > 0)
    remarks.push(
      `The export has only the names of the segments ${bare.join(', ')}; those of the target are used.`,
    );
  return {
    isWhole: false,
    environments: environmentsOf(sent),
    strategyTypes: byName(sent.strategies),
    contextFields: byName(sent.contextFields),
    segments: byName(whole),
    segmentIds: new Map(segments.map(({ id, name }) => [name, id])),
    users: new Map(),
    userIds: new Map(),
    projects: projectsOf(sent, flags),
    flags: byName(flags),
    lifetimes: new Map(),
    roles: new Map(),
    tagTypes: byName(sent.tagTypes),
    access: NO_ACCESS,
    remarks,
  };
}

/**
 * The open-source edition puts the state of the environment where that of the flag in it should stand (seen in 6.10), so a flag
 * that is off is exported as on. An export does not say which edition wrote it.
 */
const tellsSwitches = ({ version }: Export): boolean => typeof version === 'number';

function flagsOf(sent: Export): Flag[] {
  const segmentNames = new Map(sent.segments.map(({ id, name }) => [id, name]));
  const [only] = sent.featureEnvironments;
  const placed = sent.featureStrategies.map((strategy) => ({
    ...strategy,
    environment: strategy.environment ?? only?.environment ?? '',
  }));
  const strategies = grouped(placed, placeOf);
  const environments = grouped(sent.featureEnvironments, ({ featureName }) => featureName);
  const tags = grouped(sent.featureTags, ({ featureName }) => featureName);
  const parents = new Map(sent.dependencies.map((one) => [one.feature, one.dependencies]));
  return sent.features.map(({ archived, ...flag }) => ({
    ...flag,
    archived,
    tags: (tags.get(flag.name) ?? []).map((tag) => ({
      type: tag.tagType ?? tag.type ?? 'simple',
      value: tag.tagValue ?? tag.value ?? '',
    })),
    dependencies: parents.get(flag.name) ?? [],
    environments: new Map(
      (environments.get(flag.name) ?? []).map((one): [string, FlagEnvironment] => {
        const found = strategies.get(placeOf(one)) ?? [];
        const named = found.map(({ strategyName, name, ...rest }) => ({
          ...rest,
          name: strategyName ?? name ?? 'default',
        }));
        return [
          one.environment,
          {
            enabled: tellsSwitches(sent) ? one.enabled : null,
            strategies: inOrder(named).map((strategy) => partsOf(strategyOf(strategy, segmentNames))),
            variants: one.variants,
          },
        ];
      }),
    ),
  }));
}

/** Names cannot hold the line break between them. */
const placeOf = ({ featureName, environment }: { featureName: string; environment: string }): string =>
  `${featureName}\n${environment}`;

/** A strategy of an export says besides where it belongs. */
function partsOf(strategy: ReturnType<typeof strategyOf>): ReturnType<typeof strategyOf> {
  const { name, title, disabled, parameters, constraints, segments, variants } = strategy;
  return { name, title, disabled, parameters, constraints, segments, variants };
}

/** An export of single flags has no list of environments. Their types are unknown then, and those of the target stay. */
function environmentsOf(sent: Export): Configuration['environments'] {
  const listed = byName(sent.environments);
  const used = new Set(sent.featureEnvironments.map(({ environment }) => environment));
  const unlisted = [...used].filter((name) => !listed.has(name));
  return new Map([
    ...listed,
    ...unlisted.map((name): [string, { name: string; type: string; enabled: boolean }] => [
      name,
      { name, type: name === 'production' ? 'production' : 'development', enabled: true },
    ]),
  ]);
}

function projectsOf(sent: Export, flags: readonly Flag[]): Configuration['projects'] {
  const listed = new Map(sent.projects.map((project) => [project.id, project]));
  const ids = new Set([...listed.keys(), ...flags.map(({ project }) => project)]);
  return new Map(
    [...ids].map((id) => {
      const own = flags.filter(({ project }) => project === id);
      const environments = [...new Set(own.flatMap((flag) => [...flag.environments.keys()]))];
      const { name, description } = listed.get(id) ?? {};
      return [
        id,
        {
          id,
          name: name ?? id,
          description: description ?? '',
          settings: null,
          rules: null,
          environments,
          memberships: [],
          groups: [],
          defaultStrategies: new Map(),
        },
      ];
    }),
  );
}
