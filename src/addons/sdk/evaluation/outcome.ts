/**
 * The result of an evaluation. A flag can end in few ways, one a variant and two without, so all of them are made
 * when the flag is compiled: evaluating makes no object, and responses keep bytes beside each.
 */
import type { Flag } from '../../../domain/flags/flag.ts';
import type { Variant } from '../../../domain/flags/variant.ts';

/** OpenFeature's word for how the value came about: the same for all users, by conditions, by a share of users, or off. */
export type Reason = 'STATIC' | 'TARGETING_MATCH' | 'SPLIT' | 'DISABLED';

export interface RenderedOutcome {
  readonly bytes: Uint8Array;
  /** 128 bits of a hash of the bytes, as four integers of 32 bits. */
  readonly digest0: number;
  readonly digest1: number;
  readonly digest2: number;
  readonly digest3: number;
}

export interface Outcome {
  readonly name: string;
  readonly enabled: boolean;
  /** Null when the flag is off, or on without a variant. */
  readonly variant: Variant | null;
  readonly reason: Reason;
  /** The flag as the frontend API shows it, on or off. */
  readonly toggle: Toggle;
  /** Encoded forms of this outcome, kept by the code that sends outcomes. */
  readonly rendered: Record<OutcomeForm, RenderedOutcome | null>;
}

export type OutcomeForm = 'toggle' | 'evaluation';

export interface Toggle {
  readonly name: string;
  readonly enabled: boolean;
  readonly impressionData: boolean;
  readonly variant: ToggleVariant;
}

/** `feature_enabled` is the older spelling, which SDKs still read. */
export interface ToggleVariant {
  readonly name: string;
  readonly enabled: boolean;
  readonly payload?: NonNullable<Variant['payload']>;
  readonly feature_enabled: boolean;
  readonly featureEnabled: boolean;
}

/** The name that SDKs give to the absence of a variant. */
const NO_VARIANT_NAME = 'disabled';

export function variantNameOf({ variant }: Pick<Outcome, 'variant'>): string {
  return variant === null ? NO_VARIANT_NAME : variant.name;
}

/** A flag that is not there, or not in the scope of who asks. */
export function unknownFlagOutcome(name: string): Outcome {
  return offOutcome({ name, impressionData: false }, 'DISABLED');
}

export function offOutcome(flag: Pick<Flag, 'name' | 'impressionData'>, reason: Reason): Outcome {
  return outcome(flag, { enabled: false, variant: null, reason });
}

export function onOutcome(flag: Flag, reason: Reason, variant: Variant | null = null): Outcome {
  return outcome(flag, { enabled: true, variant, reason });
}

function outcome(
  { name, impressionData }: Pick<Flag, 'name' | 'impressionData'>,
  end: Pick<Outcome, 'enabled' | 'variant' | 'reason'>,
): Outcome {
  const { enabled, variant } = end;
  const chosen: ToggleVariant = {
    name: variantNameOf(end),
    enabled: variant !== null,
    ...(variant?.payload === undefined ? {} : { payload: variant.payload }),
    feature_enabled: enabled,
    featureEnabled: enabled,
  };
  const toggle: Toggle = { name, enabled, impressionData, variant: chosen };
  return { name, ...end, toggle, rendered: { toggle: null, evaluation: null } };
}
