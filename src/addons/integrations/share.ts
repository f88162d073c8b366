/** The percentage of users for whom a flag is on, for sentences about it. */
import { soleRollout } from '../../domain/flags/strategy.ts';
import type { World } from '../../domain/state/world.ts';
import type { LoggedEvent } from '../../persistence/event-log/logged-event.ts';

/** The share of the flag of an event in its environment, as the state is now; null where no one rollout decides. */
export function shareOf(world: World, { project, featureName, environment }: LoggedEvent): number | null {
  if (project === null || featureName === null) return null;
  const flag = world.projects.get(project)?.flags.get(featureName)?.flag;
  const strategies = flag?.environments.find(({ name }) => name === environment)?.strategies ?? [];
  return soleRollout(strategies.filter(({ disabled }) => disabled !== true));
}
