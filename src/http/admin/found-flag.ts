/** A flag as the search for flags shows it. */
import * as v from 'valibot';
import type { Flag } from '../../domain/flags/flag.ts';
import { FLAG_TYPES } from '../../domain/flags/metadata.ts';
import { described, Integer, NullableTimestamp, Timestamp, titled } from '../../domain/json/schema.ts';
import { type ProjectState, projectEnvironments, type World } from '../../domain/state/world.ts';
import { authorOf } from '../serving/access.ts';
import type { ShownFlag } from './chunk-walk.ts';
import { type FlagSources, usedEnvironmentSummary, useOf } from './render-flag.ts';
import { ColoredTagSchema, FoundFlagEnvironmentSchema, StageSchema } from './schemas.ts';
import { shown } from './shown.ts';
import { coloredTags, imageUrlOf, stageView, timeOrNull } from './views.ts';

export const FoundFlagSchema = titled('FoundFlag', {
  name: v.string(),
  type: v.picklist(FLAG_TYPES),
  description: v.nullable(v.string()),
  project: v.string(),
  stale: v.boolean(),
  favorite: v.boolean(),
  impressionData: v.boolean(),
  createdAt: Timestamp,
  archivedAt: NullableTimestamp,
  lastSeenAt: NullableTimestamp,
  lifecycle: StageSchema,
  dependencyType: v.nullable(v.picklist(['parent', 'child'])),
  environments: v.array(FoundFlagEnvironmentSchema),
  segments: described(v.array(v.string()), 'Names of those that its strategies use.'),
  tags: v.array(ColoredTagSchema),
  createdBy: described(
    v.object({ id: Integer, name: v.string(), imageUrl: v.string() }),
    'The id is 0 where it is not known: older releases did not record it.',
  ),
});

interface FoundFlagSources extends FlagSources {
  /** Names of the caller's favorite flags. */
  readonly favorites: ReadonlySet<string>;
}

export function foundFlagView(
  { world, seen, favorites }: FoundFlagSources,
  project: ProjectState,
  { flag, createdBy }: ShownFlag['record'],
) {
  const use = useOf(seen, flag.name);
  const { id, name, email } = authorOf(world, createdBy);
  return shown(FoundFlagSchema, {
    ...flag,
    favorite: favorites.has(flag.name),
    lastSeenAt: timeOrNull(use.seen?.atMs),
    lifecycle: stageView(world, flag, use.seen),
    dependencyType: dependencyType(flag),
    environments: projectEnvironments(world, project).map((one) =>
      usedEnvironmentSummary(world, flag, one, use),
    ),
    segments: segmentNames(world, flag),
    tags: coloredTags(world, flag),
    createdBy: { id, name, imageUrl: imageUrlOf({ email, username: name }) },
  });
}

function dependencyType({ dependencies, children }: Flag): 'child' | 'parent' | null {
  if (dependencies.length > 0) return 'child';
  return children.length > 0 ? 'parent' : null;
}

/** Names of the segments that strategies of the flag use, each once. */
export function segmentNames({ directory }: World, { environments }: Flag): readonly string[] {
  const ids = environments.flatMap(({ strategies }) => strategies.flatMap(({ segments }) => segments));
  return [...new Set(ids)].flatMap((id) => directory.segments.get(id)?.name ?? []);
}
