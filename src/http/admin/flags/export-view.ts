/** Flags with all that they are in one environment, as Unleash exports them (docs/specification/companions.md#export-and-import). */

import { environmentOf, type Flag } from '../../../domain/flags/flag.ts';
import type { Strategy } from '../../../domain/flags/strategy.ts';
import type { Variant } from '../../../domain/flags/variant.ts';
import type { ContextField } from '../../../domain/kinds/context-field.ts';
import { namedRecords } from '../../../domain/state/directory-records.ts';
import type { World } from '../../../domain/state/world.ts';

/** Context fields that a strategy or a variant looks at. */
function fieldsIn(strategies: readonly Strategy[], variants: readonly Variant[]): readonly unknown[] {
  return [
    ...strategies.flatMap(({ parameters, constraints, variants: own }) => [
      parameters?.['stickiness'],
      ...constraints.map(({ contextName }) => contextName),
      ...fieldsIn([], own),
    ]),
    ...variants.flatMap(({ stickiness, overrides }) => [
      stickiness,
      ...overrides.map(({ contextName }) => contextName),
    ]),
  ];
}

/** Unleash refuses a file in which a variant of a strategy has overrides, even none. */
const withoutEmptyOverrides = ({ overrides, ...variant }: Variant) =>
  overrides.length === 0 ? variant : { ...variant, overrides };

const exportedStrategy = (strategy: Strategy, featureName: string) => ({
  ...strategy,
  variants: strategy.variants.map(withoutEmptyOverrides),
  featureName,
});

const exportedField = ({ createdAt: _, ...field }: ContextField) => field;

export function exportView(world: World, flags: readonly Flag[], environment: string) {
  const parts = flags.map((flag) => ({ flag, here: environmentOf(flag, environment) }));
  const strategies = parts.flatMap(({ here }) => here.strategies);
  const usedFields = new Set(parts.flatMap(({ here }) => fieldsIn(here.strategies, here.variants)));
  const usedSegments = new Set(strategies.flatMap(({ segments }) => segments));
  const usedTypes = new Set(flags.flatMap(({ tags }) => tags.map(({ type }) => type)));
  return {
    features: flags.map(({ name, description, type, project, stale, impressionData, links }) => ({
      name,
      description,
      type,
      project,
      stale,
      impressionData,
      archived: false,
      links,
    })),
    featureStrategies: parts.flatMap(({ flag, here }) =>
      here.strategies.map((strategy) => exportedStrategy(strategy, flag.name)),
    ),
    featureEnvironments: parts.map(({ flag, here }) => ({
      name: flag.name,
      featureName: flag.name,
      environment,
      enabled: here.enabled,
      variants: here.variants,
    })),
    contextFields: namedRecords(world, 'contextFields')
      .filter(({ name }) => usedFields.has(name))
      .map(exportedField),
    featureTags: flags.flatMap(({ name: featureName, tags }) =>
      tags.map(({ type, value }) => ({ featureName, tagType: type, tagValue: value })),
    ),
    segments: [...world.directory.segments.values()]
      .filter(({ id }) => usedSegments.has(id))
      .map(({ id, name }) => ({ id, name })),
    tagTypes: namedRecords(world, 'tagTypes').filter(({ name }) => usedTypes.has(name)),
    dependencies: flags
      .filter(({ dependencies }) => dependencies.length > 0)
      .map(({ name, dependencies }) => ({ feature: name, dependencies })),
  };
}
