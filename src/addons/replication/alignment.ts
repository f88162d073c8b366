/**
 * The place of a node in the log: from its journal's end to the record that it has to read next.
 *
 * The part of its last batch beyond the log was refused by the log or never reached it, and was never
 * acknowledged: it is to be cut off. Anything else that does not agree is a refusal, because either the log has lost
 * what was acknowledged, or journal and log are of different histories.
 */

import assert from 'node:assert/strict';
import type { JournalEnd, JournalPlace } from '../../persistence/recovery/journal-end.ts';
import { EXIT } from '../../process/exit-codes.ts';
import { ExitError } from '../../process/exit-error.ts';
import type { NodeHistory } from './node-history.ts';
import { decodeRecord, LogDamageError } from './record-format.ts';
import { RecordReader } from './record-reader.ts';
import type { LogExtent, ReplicatedLog } from './replicated-log.ts';

export interface Alignment {
  /** The end of the journal that the node keeps. */
  readonly place: JournalPlace;
  /** Position of the record to read first; what it holds of older events is to be skipped. */
  readonly from: number;
  /** Position of the last record that the log held. */
  readonly last: number;
}

/** Journal and log do not agree, and nothing may be served. The message says what an operator can do. */
export class DisagreementError extends ExitError {
  constructor(message: string) {
    super(EXIT.damagedData, message);
  }
}

/** Learns which history the log tells. Rejects with `DisagreementError` where that is not the one of the data folder. */
export async function meetHistory(log: ReplicatedLog, history: NodeHistory): Promise<void> {
  const { last } = await log.extent();
  if (last === 0) return;
  const record = decodeRecord(await recordAt(log, last));
  if (record.cluster === history.cluster && !history.mayBe(record.history)) {
    throw new DisagreementError(
      `This data folder belongs to the history ${history.id}, and the log of the cluster "${history.cluster}" to ${record.history}. Point REPLICATION_URL and REPLICATION_CLUSTER at the log of this folder; or, to join that cluster, start with an empty folder. Nothing was changed.`,
    );
  }
  history.meet(record, `position ${last} of the log`);
}

export async function align(log: ReplicatedLog, history: NodeHistory, end: JournalEnd): Promise<Alignment> {
  const { cluster } = history;
  const extent = await log.extent();
  const [earliest] = end.places;
  const newest = end.places.at(-1) ?? earliest;
  if (extent.last < extent.first || extent.last === 0) {
    throw new DisagreementError(
      `The log of the cluster "${cluster}" is empty. ${adviceWithoutLog(newest.id)}`,
    );
  }
  const from = (await recordBefore(log, extent, earliest.id)) ?? (await recordBefore(log, extent, newest.id));
  if (from === null) {
    throw new DisagreementError(
      `The replicated log begins after event ${newest.id}, with which the journal of this node ends, and the archive does not lead there. Copy the data folder of another node that is stopped, and start again.`,
    );
  }
  const common = await lastCommonPlace({ log, history, end, from, last: extent.last });
  if (common !== null && common.id >= end.committedId) {
    // The log may forget what a node with all events up to that place does not need, so this one must not ask for it.
    const next = await recordBefore(log, { first: from, last: extent.last }, common.id);
    assert(next !== null, 'the place was found in a record from there on');
    return { place: common, from: next, last: extent.last };
  }
  if (end.isAlone) {
    throw new DisagreementError(
      `This node ran alone and acknowledged events up to ${newest.id} that the log of the cluster "${cluster}" does not have. Keep what they say ("flagstaff export"), then start it with an empty folder to join; or, to have the cluster go on from this folder, delete its stream and run "flagstaff cluster republish" here. Nothing was changed.`,
    );
  }
  throw new DisagreementError(
    `The journal of this node and the replicated log tell different histories: all up to event ${end.committedId} was acknowledged here, and the log agrees up to ${common === null ? `no event from ${earliest.id} on` : `event ${common.id} only`}. Either the log has lost records, or this data folder belongs to another cluster. Nothing was changed.`,
  );
}

/** Advice to the operator of a node whose log has no record; `lastId` is the end of its journal. */
export const adviceWithoutLog = (lastId: number): string =>
  lastId === 0
    ? 'For a new cluster, run "flagstaff cluster init" once; otherwise point REPLICATION_URL and REPLICATION_CLUSTER at the log that is there.'
    : `The journal of this node ends with event ${lastId}. Point REPLICATION_URL and REPLICATION_CLUSTER at its log; or, if that is lost, go on from the node with the newest event: stop all nodes and run "flagstaff cluster republish" there.`;

/**
 * The first of the records that follow the same event as the last record that follows an event up to `id`; null where
 * every record follows a later one. The event that a record follows never decreases from record to record.
 */
export async function recordBefore(
  log: ReplicatedLog,
  { first, last }: LogExtent,
  id: number,
): Promise<number | null> {
  const previousIdAt = async (position: number): Promise<number> =>
    decodeRecord(await recordAt(log, position)).previousId;
  const firstWhere = async (holds: (previousId: number) => boolean): Promise<number> => {
    let [low, high] = [first, last + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (holds(await previousIdAt(middle))) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  const beyond = await firstWhere((previousId) => previousId > id);
  if (beyond === first) return null;
  const wanted = await previousIdAt(beyond - 1);
  const from = await firstWhere((previousId) => previousId >= wanted);
  assert(from < beyond, 'a record follows the event that it was found by');
  return from;
}

interface Comparison {
  readonly log: ReplicatedLog;
  readonly history: NodeHistory;
  readonly end: JournalEnd;
  /** Positions of the records to compare with. */
  readonly from: number;
  readonly last: number;
}

/** The last place of the journal's end at which the log has the same checksum; null where none is. */
async function lastCommonPlace({ log, history, end, from, last }: Comparison): Promise<JournalPlace | null> {
  const chains = new Map<number, number>();
  const reader = new RecordReader(history, from);
  const newestId = end.places.at(-1)!.id;
  for (let position = from; position <= last && (reader.place?.id ?? -1) < newestId; position += 1) {
    const bytes = await recordAt(log, position);
    const { previousId, previousChain } = decodeRecord(bytes);
    chains.set(previousId, previousChain);
    const decided = reader.read({ position, bytes });
    if (decided.kind === 'batch') for (const frame of decided.frames) chains.set(frame.lastId, frame.chain);
  }
  return end.places.findLast(({ id, chain }) => chains.get(id) === chain) ?? null;
}

async function recordAt(log: ReplicatedLog, position: number): Promise<Buffer> {
  const bytes = await log.read(position);
  if (bytes !== null) return bytes;
  // The leader may have had the log forget it since the extent was asked for.
  if ((await log.extent()).first > position)
    throw new Error(`position ${position} of the log was forgotten meanwhile`);
  // A server that was cut off may have told the first time.
  const again = await log.read(position);
  if (again !== null) return again;
  throw new LogDamageError(`position ${position} of the log is missing`);
}
