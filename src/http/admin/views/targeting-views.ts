/** Segments, context fields and strategy types as responses show them. */
import type { ContextField } from '../../../domain/kinds/context-field.ts';
import type { Segment } from '../../../domain/kinds/segment.ts';
import { isPredefinedStrategyType, type StrategyType } from '../../../domain/kinds/strategy-type.ts';
import type { ReferenceKind } from '../../../domain/state/references.ts';
import type { World } from '../../../domain/state/world.ts';

/** JSON of segments, without their use: a list of them may take megabytes, of which a change makes one anew. */
const segmentTexts = new WeakMap<Segment, string>();

/** The segment as JSON text. */
export function segmentText(world: World, segment: Segment): string {
  let text = segmentTexts.get(segment);
  if (text === undefined) {
    const { description, project, ...always } = segment;
    const shown = {
      ...always,
      ...(description === null ? {} : { description }),
      ...(project === null ? {} : { project }),
    };
    text = JSON.stringify(shown).slice(0, -1);
    segmentTexts.set(segment, text);
  }
  const { usedInFeatures, usedInProjects } = useCounts(world, 'segment', segment.id);
  return `${text},"usedInFeatures":${usedInFeatures},"usedInProjects":${usedInProjects}}`;
}

export function segmentsText(world: World, segments: Iterable<Segment>): string {
  return `{"segments":[${[...segments].map((one) => segmentText(world, one)).join(',')}]}`;
}

export function contextFieldView(world: World, field: ContextField) {
  return { ...field, ...useCounts(world, 'context-field', field.name) };
}

export function strategyTypeView(type: StrategyType) {
  return {
    ...type,
    displayName: type.title ?? type.name,
    editable: !isPredefinedStrategyType(type.name),
  };
}

function useCounts({ references, projects }: World, kind: ReferenceKind, name: string | number) {
  let [usedInFeatures, usedInProjects] = [0, 0];
  for (const [project, count] of references.flagCounts(kind, name)) {
    if (!projects.has(project)) continue;
    usedInFeatures += count;
    usedInProjects += 1;
  }
  return { usedInFeatures, usedInProjects };
}
