/**
 * Begins an empty log behind the end of a journal: for a server that ran alone and becomes the first node of a cluster,
 * and after the log was lost. Nodes whose journals end there, or are copies of this one, go on from it.
 */
import type { JournalEnd } from '../../persistence/recovery/journal-end.ts';
import { encodeRecord, type NodeIdentity } from './record-format.ts';
import type { ReplicatedLog } from './replicated-log.ts';

export interface NewLogOptions {
  readonly log: ReplicatedLog;
  readonly cluster: string;
  readonly by: NodeIdentity;
  /** The end of the journal, which nobody writes to meanwhile. */
  readonly end: JournalEnd;
}

/** `begun`: with the id of the event that the log begins behind. `occupied`: the log holds records already. */
export type NewLogOutcome =
  | { readonly kind: 'begun'; readonly lastId: number }
  | { readonly kind: 'occupied' }
  | { readonly kind: 'unknown'; readonly cause: unknown };

export async function beginLog({ log, cluster, by, end }: NewLogOptions): Promise<NewLogOutcome> {
  const { id: previousId, chain: previousChain } = end.places.at(-1) ?? end.places[0];
  const record = encodeRecord({ kind: 'take-over', cluster, epoch: 1, by, previousId, previousChain });
  const outcome = await log.append(0, record);
  if (outcome.kind === 'accepted') return { kind: 'begun', lastId: previousId };
  return outcome.kind === 'conflict' ? { kind: 'occupied' } : outcome;
}
