/** The page of a project, without its flags. */
import type * as v from 'valibot';
import { each, inTurns } from '../../actors/turn.ts';
import type { FlagsSeen } from '../../actors/usage-view.ts';
import { shownRules } from '../../domain/flags/project-rules.ts';
import type { DefaultStrategy } from '../../domain/flags/strategy.ts';
import type { FlagChunk } from '../../domain/state/project-flags.ts';
import { type ProjectState, projectEnvironments, type World } from '../../domain/state/world.ts';
import { type OnboardingStatusSchema, ProjectSummaryOverviewSchema } from './directory-schemas.ts';
import { healthOf, projectFigures } from './project-figures.ts';
import type { ListSources } from './render-project.ts';
import { shown } from './shown.ts';

interface OverviewSources extends Omit<ListSources, 'favorites'> {
  /** Ids of the caller's favorite projects. */
  readonly favoriteProjects: readonly string[];
}

/** The project as it is at the moment of the call. */
export async function projectOverviewView(sources: OverviewSources, project: ProjectState) {
  const { world, favoriteProjects, now, requester } = sources;
  const { settings } = project;
  const environments = projectEnvironments(world, project).map((one) => ({
    environment: one.name,
    ...defaultStrategyIn(world, project, one.name),
  }));
  const { chunks } = project.flags;
  const [figures] = await projectFigures([project], now, requester);
  const { typeCounts, firstFlag } = figures!;
  return shown(ProjectSummaryOverviewSchema, {
    ...{ ...settings, ...shownRules(settings) },
    version: 1,
    description: settings.description ?? '',
    health: healthOf(figures!),
    members: project.members.size,
    favorite: favoriteProjects.includes(settings.id),
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
