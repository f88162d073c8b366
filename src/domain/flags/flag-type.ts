/** The purpose of a flag, and how long it is expected to live (docs/specification/flags.md#types). */

export const FLAG_TYPES = ['release', 'kill-switch', 'experiment', 'operational', 'permission'] as const;
export type FlagType = (typeof FLAG_TYPES)[number];

/**
 * Days after which an unarchived flag of the type counts as potentially stale; null for never. Replay depends on them, so a
 * change needs a new rule (state/upgrade/replay-rules.ts).
 */
export const LIFETIME_DAYS: Readonly<Record<FlagType, number | null>> = {
  release: 40,
  experiment: 40,
  operational: 7,
  'kill-switch': null,
  permission: null,
};
