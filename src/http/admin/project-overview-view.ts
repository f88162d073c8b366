/** The page of a project, without its flags. */

import * as v from 'valibot';
import { each, inTurns } from '../../actors/turn.ts';
import type { FlagsSeen } from '../../actors/usage-view.ts';
import { FLAG_TYPES } from '../../domain/flags/metadata.ts';
import { SHOWN_RULES_ENTRIES, shownRules } from '../../domain/flags/project-rules.ts';
import type { DefaultStrategy } from '../../domain/flags/strategy.ts';
import { described, Integer, Percent, Timestamp, titled, Version } from '../../domain/json/schema.ts';
import type { FlagChunk } from '../../domain/state/project-flags.ts';
import { type ProjectState, projectEnvironments, type World } from '../../domain/state/world.ts';
import { healthOf, projectFigures } from './project-figures.ts';
import type { ListSources } from './render-project.ts';
import { DefaultStrategySchema } from './schemas.ts';
import { shown } from './shown.ts';

const OnboardingStatusSchema = v.variant('status', [
  v.object({ status: v.picklist(['onboarding-started', 'onboarded']) }),
  v.object({ status: v.literal('first-flag-created'), feature: v.string() }),
]);

export const ProjectSummaryOverviewSchema = titled('ProjectSummaryOverview', {
  version: Version,
  name: v.string(),
  description: v.string(),
  mode: v.picklist(['open', 'protected', 'private']),
  defaultStickiness: v.string(),
  health: Percent,
  members: Integer,
  favorite: v.boolean(),
  ...SHOWN_RULES_ENTRIES,
  featureTypeCounts: v.array(titled('FeatureTypeCount', { type: v.picklist(FLAG_TYPES), count: Integer })),
  environments: v.array(
    v.object({ environment: v.string(), defaultStrategy: v.exactOptional(DefaultStrategySchema) }),
  ),
  onboardingStatus: described(
    OnboardingStatusSchema,
    'Whether the project has flags, and whether applications use any of them.',
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  archivedAt: v.null(),
});

/** The project as it is at the moment of the call. */
export async function projectOverviewView(sources: ListSources, project: ProjectState) {
  const { world, favorites, requester } = sources;
  const { settings } = project;
  const environments = projectEnvironments(world, project).map((one) => ({
    environment: one.name,
    ...defaultStrategyIn(world, project, one.name),
  }));
  const { chunks } = project.flags;
  const [figures] = await projectFigures([project], sources, requester);
  const { typeCounts, firstFlag } = figures!;
  return shown(ProjectSummaryOverviewSchema, {
    ...{ ...settings, ...shownRules(settings) },
    version: 1,
    description: settings.description ?? '',
    health: healthOf(figures!),
    members: project.members.size,
    favorite: favorites?.projects.includes(settings.id) === true,
    featureTypeCounts: [...typeCounts].map(([type, count]) => ({ type, count })),
    environments,
    onboardingStatus: await onboardingStatus(sources, chunks, firstFlag),
    archivedAt: null,
  });
}

/** Under the name that responses give it; empty where none was set. Segments that were deleted since are left out. */
export function defaultStrategyIn(
  { directory }: World,
  { defaultStrategies }: ProjectState,
  environment: string,
): { readonly defaultStrategy?: DefaultStrategy } {
  const known = defaultStrategies.get(environment);
  if (known === undefined) return {};
  const segments = known.segments.filter((id) => directory.segments.has(id));
  return { defaultStrategy: { ...known, segments } };
}

async function onboardingStatus(
  { seen, requester }: Pick<ListSources, 'seen' | 'requester'>,
  chunks: readonly FlagChunk[],
  firstFlag: string | null,
): Promise<v.InferOutput<typeof OnboardingStatusSchema>> {
  let isUsed = false;
  const look = (chunk: FlagChunk): boolean => {
    isUsed = hasUse(chunk, seen);
    return isUsed;
  };
  await inTurns(each(chunks, look), requester);
  if (isUsed) return { status: 'onboarded' };
  return firstFlag === null
    ? { status: 'onboarding-started' }
    : { status: 'first-flag-created', feature: firstFlag };
}

function hasUse({ values }: FlagChunk, seen: FlagsSeen): boolean {
  return values.some(({ flag }) => seen.flag(flag.name) !== null);
}
