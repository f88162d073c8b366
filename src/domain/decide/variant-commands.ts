/** Decisions on variants, of the whole flag or of one environment (docs/specification/variants.md). */
import { environmentOf, flagVariants } from '../flags/flag.ts';
import { normaliseVariants, type Variant } from '../flags/variant.ts';
import { type JsonValue, jsonEqual } from '../json/json.ts';
import { applyPatch, type PatchOperation } from '../json/json-patch.ts';
import { type Decision, UNCHANGED } from '../state/decision.ts';
import { aboutFlag, aboutFlagEnvironment, newEvent } from '../state/events.ts';
import { firstEnvironment, type LocatedFlag, locateFlag, locateFlagEnvironment } from '../state/locate.ts';
import { invalidOperation, isRefusal, type Refusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { type NamesFlag, patchedValueRefusal, patchRefusal, unlessArchived } from './guards.ts';

interface NamesVariants extends NamesFlag {
  /** Null for the variants of the flag in all environments of its project. */
  readonly environment: string | null;
}

interface SetVariants extends NamesVariants {
  /** Valid, with the weights distributed. */
  readonly variants: readonly Variant[];
}

export function setVariants(world: World, command: SetVariants): Decision {
  const located = unlessArchived(locateNamed(world, command));
  if (located.refused) return located;
  return variantEvents(world, located, command.environment, command.variants);
}

interface PatchVariants extends NamesVariants {
  readonly operations: readonly PatchOperation[];
}

export function patchVariants(world: World, command: PatchVariants): Decision {
  const located = unlessArchived(locateNamed(world, command));
  if (located.refused) return located;
  const variants = patchedVariants(currentVariants(world, located, command.environment), command.operations);
  if (isRefusal(variants)) return variants;
  return variantEvents(world, located, command.environment, variants);
}

function patchedVariants(
  before: readonly Variant[],
  operations: readonly PatchOperation[],
): readonly Variant[] | Refusal {
  const patched = applyPatch(before as unknown as JsonValue, operations);
  if (!patched.ok) return patchRefusal(patched);
  const result = normaliseVariants(patched.document);
  if (result.ok) return result.variants;
  const [issue] = result.issues;
  return patchedValueRefusal(
    operations,
    issue?.path.slice(1) ?? '',
    issue?.message ?? 'The result is not valid.',
  );
}

function locateNamed(world: World, { project, flag, environment }: NamesVariants) {
  return environment === null
    ? locateFlag(world, project, flag)
    : locateFlagEnvironment(world, project, flag, environment);
}

function currentVariants(
  world: World,
  { project, record }: LocatedFlag,
  environment: string | null,
): readonly Variant[] {
  return environment === null
    ? flagVariants(record.flag, firstEnvironment(world, project))
    : environmentOf(record.flag, environment).variants;
}

/** The events that give the flag `variants` in one environment or in all; empty when it has them already. */
export function variantEvents(
  world: World,
  located: LocatedFlag,
  environment: string | null,
  variants: readonly Variant[],
): Decision {
  const { flag } = located.record;
  const { environments } = located.project.settings;
  if (environments.length === 0 && variants.length > 0) {
    return invalidOperation(
      `The project "${flag.project}" has no environments, and variants belong to an environment; add one first.`,
    );
  }
  const targets = environment === null ? environments : [environment];
  const same = (name: string) => jsonEqual(environmentOf(flag, name).variants, variants);
  if (targets.every(same)) return UNCHANGED;
  const change = {
    data: { variants },
    preData: { variants: currentVariants(world, located, environment) },
  };
  if (environment === null) return [newEvent('feature-variants-updated', aboutFlag(flag), change)];
  return [newEvent('feature-environment-variants-updated', aboutFlagEnvironment(flag, environment), change)];
}
