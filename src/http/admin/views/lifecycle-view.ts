/** The stages of a flag's life, from the state and from what applications reported. */
import type { Flag } from '../../../domain/flags/flag.ts';
import { type Stage, stagesOf } from '../../../domain/flags/lifecycle.ts';
import type { World } from '../../../domain/state/world.ts';
import type { FlagSeen } from '../../../domain/usage/last-seen.ts';

const NEVER: ReadonlyMap<string, number> = new Map();

export function stagesView({ directory }: World, flag: Flag, seen: FlagSeen | null): readonly Stage[] {
  return stagesOf({
    createdAt: flag.createdAt,
    archivedAt: flag.archivedAt,
    completion: directory.completions.get(flag.name) ?? null,
    firstSeen: seen?.first ?? NEVER,
    isProduction: (name) => directory.environments.find((one) => one.name === name)?.type === 'production',
  });
}

/** The stage that the flag is in. */
export function stageView(world: World, flag: Flag, seen: FlagSeen | null): Stage {
  return stagesView(world, flag, seen).at(-1)!;
}
