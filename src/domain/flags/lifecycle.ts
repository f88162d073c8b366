/**
 * The stages of a flag's life, computed from what is known of it (docs/specification/flags.md#lifecycle). None of them but the
 * completion is stored: a flag is in the last stage that it has entered.
 */
import * as v from 'valibot';
import { textUpTo } from '../json/schema.ts';

export const STAGES = ['initial', 'pre-live', 'live', 'completed', 'archived'] as const;
export type StageName = (typeof STAGES)[number];

/** The fate of the thing that the flag was for. */
export const COMPLETION_STATUSES = ['kept', 'discarded'] as const;

export const STATUS_VALUE_LENGTH_MAX = 200;

export const COMPLETION_ENTRIES = {
  status: v.picklist(COMPLETION_STATUSES, `one of ${COMPLETION_STATUSES.join(', ')}`),
  statusValue: v.exactOptional(
    v.pipe(textUpTo(STATUS_VALUE_LENGTH_MAX), v.description('The variant that was kept, for example.')),
  ),
};

export type CompletionData = v.InferOutput<v.ObjectSchema<typeof COMPLETION_ENTRIES, undefined>>;

/** A user's statement that a flag is completed. */
export interface Completion extends CompletionData {
  /** The flag's name. */
  readonly flag: string;
  /** ISO 8601, UTC. */
  readonly at: string;
}

export interface Stage {
  readonly stage: StageName;
  readonly status?: Completion['status'];
  /** ISO 8601, UTC. */
  readonly enteredStageAt: string;
}

export interface Life {
  readonly createdAt: string;
  readonly archivedAt: string | null;
  readonly completion: Completion | null;
  /** The first report of an evaluation, in milliseconds since 1970, by environment. */
  readonly firstSeen: ReadonlyMap<string, number>;
  isProduction(environment: string): boolean;
}

/** The stages that the flag has entered, in the order in which stages follow each other. The last one is where it is. */
export function stagesOf({ createdAt, archivedAt, completion, firstSeen, isProduction }: Life): Stage[] {
  const stages: Stage[] = [{ stage: 'initial', enteredStageAt: createdAt }];
  const seen = [...firstSeen];
  const preLive = earliest(seen.filter(([environment]) => !isProduction(environment)));
  const live = earliest(seen.filter(([environment]) => isProduction(environment)));
  if (preLive !== null) stages.push({ stage: 'pre-live', enteredStageAt: preLive });
  if (live !== null) stages.push({ stage: 'live', enteredStageAt: live });
  if (completion !== null)
    stages.push({ stage: 'completed', status: completion.status, enteredStageAt: completion.at });
  if (archivedAt !== null) stages.push({ stage: 'archived', enteredStageAt: archivedAt });
  return stages;
}

function earliest(seen: readonly (readonly [environment: string, atMs: number])[]): string | null {
  return seen.length === 0 ? null : new Date(Math.min(...seen.map(([, atMs]) => atMs))).toISOString();
}
