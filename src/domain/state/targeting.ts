/** What strategies refer to beside their flag: segments, strategy types, context fields. Found, and listed. */
import {
  type ContextField,
  isPredefinedContextField,
  PREDEFINED_CONTEXT_FIELDS,
} from '../flags/context-field.ts';
import type { Segment } from '../flags/segment.ts';
import {
  PREDEFINED_STRATEGY_TYPES,
  predefinedStrategyType,
  type StrategyType,
} from '../flags/strategy-type.ts';
import { SIMPLE_TAG_TYPE, type TagType } from '../flags/tag-type.ts';
import { didYouMean } from './nearest-name.ts';
import { notFound, type Refusal } from './refusal.ts';
import type { World } from './world.ts';

export function locateSegment({ directory }: World, id: number): Segment | Refusal {
  return directory.segments.get(id) ?? notFound(`There is no segment ${id}.`);
}

/** The predefined ones first, as they are now; then the others, by `sortOrder` and creation. */
export function contextFields({ directory }: World): readonly ContextField[] {
  const made = [...directory.contextFields.values()].filter(({ name }) => !isPredefinedContextField(name));
  const predefined = PREDEFINED_CONTEXT_FIELDS.map((one) => directory.contextFields.get(one.name) ?? one);
  return [...predefined, ...made].sort((a, b) => a.sortOrder - b.sortOrder);
}

export function findContextField({ directory }: World, name: string): ContextField | undefined {
  return (
    directory.contextFields.get(name) ??
    PREDEFINED_CONTEXT_FIELDS.find((predefined) => predefined.name === name)
  );
}

export function locateContextField(world: World, name: string): ContextField | Refusal {
  const field = findContextField(world, name);
  if (field !== undefined) return field;
  const names = contextFields(world).map((one) => one.name);
  return notFound(`There is no context field "${name}".${didYouMean(name, names)}`);
}

/** The predefined ones first, as they are now; then the others, in order of creation. */
export function strategyTypes({ directory }: World): readonly StrategyType[] {
  const predefined = PREDEFINED_STRATEGY_TYPES.map((one) => directory.strategyTypes.get(one.name) ?? one);
  const made = [...directory.strategyTypes.values()].filter(
    ({ name }) => predefinedStrategyType(name) === undefined,
  );
  return [...predefined, ...made];
}

export function findStrategyType({ directory }: World, name: string): StrategyType | undefined {
  return directory.strategyTypes.get(name) ?? predefinedStrategyType(name);
}

export function locateStrategyType(world: World, name: string): StrategyType | Refusal {
  const found = findStrategyType(world, name);
  return found ?? notFound(`There is no strategy type "${name}".${suggestStrategyType(world, name)}`);
}

/** The predefined one first, as it is now; then the others, in order of creation. */
export function tagTypes({ directory }: World): readonly TagType[] {
  const made = [...directory.tagTypes.values()].filter(({ name }) => name !== SIMPLE_TAG_TYPE.name);
  return [directory.tagTypes.get(SIMPLE_TAG_TYPE.name) ?? SIMPLE_TAG_TYPE, ...made];
}

export function findTagType({ directory }: World, name: string): TagType | undefined {
  return directory.tagTypes.get(name) ?? (name === SIMPLE_TAG_TYPE.name ? SIMPLE_TAG_TYPE : undefined);
}

export function locateTagType(world: World, name: string): TagType | Refusal {
  const found = findTagType(world, name);
  if (found !== undefined) return found;
  const names = tagTypes(world).map((one) => one.name);
  return notFound(`There is no tag type "${name}".${didYouMean(name, names)}`);
}

export function suggestStrategyType(world: World, name: string): string {
  return didYouMean(
    name,
    strategyTypes(world).map((one) => one.name),
  );
}
