/** Decisions on the switch of a flag in an environment (docs/specification/switches.md). */
import { nextSwitch } from '../flags/environment-switch.ts';
import type { Flag } from '../flags/flag.ts';
import { type Decision, UNCHANGED } from '../state/decision.ts';
import type { DomainEvent } from '../state/events.ts';
import { locateFlagEnvironment } from '../state/locate.ts';
import { invalidOperation, isRefusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { type NamesFlag, type NamesFlags, unlessArchived } from './guards.ts';

export interface NamesFlagEnvironment extends NamesFlag {
  readonly environment: string;
}

export type NamesItsProject = Pick<Flag, 'name' | 'project'>;

interface SwitchEnvironment extends NamesFlagEnvironment {
  readonly enabled: boolean;
}

export function switchEnvironment(world: World, command: SwitchEnvironment): Decision {
  const located = unlessArchived(
    locateFlagEnvironment(world, command.project, command.flag, command.environment),
  );
  if (located.refused) return located;
  const { flag } = located.record;
  const { flagEnvironment } = located;
  const next = nextSwitch(
    flagEnvironment.enabled,
    command.enabled ? 'ON' : 'OFF',
    flagEnvironment.strategies.length,
  );
  if (next === 'refused') {
    return invalidOperation(
      `The flag "${flag.name}" has no strategies in the environment "${command.environment}"; add one before switching it on.`,
    );
  }
  return next.changed ? [switched(flag, command.environment, next.enabled)] : UNCHANGED;
}

interface SwitchFlags extends NamesFlags {
  readonly environment: string;
  readonly enabled: boolean;
}

/** Switches all flags, or none where one of them cannot be. */
export function switchFlags(world: World, { project, flags, environment, enabled }: SwitchFlags): Decision {
  const events: DomainEvent[] = [];
  for (const [index, flag] of flags.entries()) {
    if (flags.indexOf(flag) < index) continue;
    const named = { project, flag, environment, enabled };
    const decision = switchEnvironment(world, named);
    if (isRefusal(decision)) {
      return decision.at(`/body/features/${index}`);
    }
    events.push(...decision);
  }
  return events;
}

export function switched(flag: NamesItsProject, environment: string, enabled: boolean): DomainEvent {
  const type = enabled ? 'feature-environment-enabled' : 'feature-environment-disabled';
  return { type, project: flag.project, featureName: flag.name, environment, data: null, preData: null };
}
