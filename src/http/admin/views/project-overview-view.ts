/** What the page of a project shows besides its flags. */
import { type ProjectState, projectEnvironments, type World } from '../../../domain/state/world.ts';
import type { FlagsSeen } from '../../../domain/usage/last-seen.ts';
import { projectFigures } from './project-figures.ts';

/** Of the format. */
const VERSION = 1;

interface OverviewSources {
  readonly world: World;
  readonly seen: FlagsSeen;
  /** Ids of the caller's favorite projects. */
  readonly favorites: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

export function projectOverviewView({ world, seen, favorites, now }: OverviewSources, project: ProjectState) {
  const { name, description, mode, defaultStickiness, createdAt, updatedAt } = project.settings;
  const { health, typeCounts, firstFlag } = projectFigures(project, now);
  return {
    version: VERSION,
    name,
    description: description ?? '',
    ...{
      mode,
      defaultStickiness,
      health: health.percent,
      members: project.members.size,
      favorite: favorites.includes(project.settings.id),
    },
    featureTypeCounts: [...typeCounts].map(([type, count]) => ({ type, count })),
    environments: projectEnvironments(world, project).map((one) => ({ environment: one.name })),
    onboardingStatus: onboardingStatus(project, firstFlag, seen),
    ...{ createdAt, updatedAt, archivedAt: null },
  };
}

function onboardingStatus({ flags }: ProjectState, firstFlag: string | null, seen: FlagsSeen) {
  for (const name of flags.keys()) if (seen.flag(name) !== null) return { status: 'onboarded' };
  return firstFlag === null
    ? { status: 'onboarding-started' }
    : { status: 'first-flag-created', feature: firstFlag };
}
