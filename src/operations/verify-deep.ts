/**
 * The deep part of verifying checks that all ways lead to the same state. The journal is replayed from the first
 * event and from each snapshot, and the hashes of the states are compared at every snapshot and at the end. A
 * difference means a fault of the program, or events written by a version with other rules.
 */
import { stateHash } from '../actors/state/world-snapshot.ts';
import { StateAt, type StateProgress } from './state-at.ts';
import type { FolderVerification, VerifiedSnapshot, VerifyOptions } from './verify-folder.ts';
import type { Damage } from './verify-journal.ts';

export interface DeepVerification {
  /** Hash of the state after the newest event, as a restart would have it. */
  readonly stateHash: string;
  readonly lastId: number;
  /** Number of compared replays: one from the first event, if all events are kept, and one from each snapshot. */
  readonly ways: number;
  readonly replayedEvents: number;
  readonly damages: readonly Damage[];
}

export interface VerifyDeepOptions extends Omit<VerifyOptions, 'onProgress'> {
  /** Its journal and snapshots have no damage. */
  readonly verified: FolderVerification;
  onReplayed?(progress: StateProgress): void;
}

export async function verifyDeep(options: VerifyDeepOptions): Promise<DeepVerification> {
  const { verified } = options;
  const comparison = new Comparison(options);
  const firstId = verified.journal.segments[0] ?? null;
  if (firstId === 1 || verified.snapshots.length === 0) await comparison.way(null);
  for (const snapshot of verified.snapshots) {
    if (firstId === null || snapshot.id >= firstId - 1) await comparison.way(snapshot);
  }
  return comparison.result();
}

class Comparison {
  readonly #options: VerifyDeepOptions;
  readonly #lastId: number;
  /** By event id, the hash of the first replay that reached it. */
  readonly #hashes = new Map<number, string>();
  readonly #damages: Damage[] = [];
  #ways = 0;
  #replayedEvents = 0;

  constructor(options: VerifyDeepOptions) {
    this.#options = options;
    this.#lastId = Math.max(options.verified.lastId, options.verified.snapshots.at(-1)?.id ?? 0);
  }

  /** Replays from one snapshot, or from the first event, past the later snapshots to the end. */
  async way(from: VerifiedSnapshot | null): Promise<void> {
    const { fs, folder, verified, onReplayed } = this.#options;
    const startId = from?.id ?? 0;
    const state = await StateAt.open({
      fs,
      folder,
      upTo: startId,
      startFrom: from,
      ...(onReplayed === undefined ? {} : { onProgress: onReplayed }),
    });
    this.#ways += 1;
    const stops = verified.snapshots.map(({ id }) => id).filter((id) => id >= startId);
    for (const id of new Set([...stops, this.#lastId])) {
      await state.advance(id);
      this.#compare(id, stateHash(state.world), from);
    }
    this.#replayedEvents += state.replayedEvents;
  }

  #compare(id: number, hash: string, from: VerifiedSnapshot | null): void {
    const known = this.#hashes.get(id);
    if (known === undefined) this.#hashes.set(id, hash);
    if (known === undefined || known === hash) return;
    const what = `the state of event ${id} differs when the replay begins with this snapshot`;
    this.#damages.push({ file: from?.path ?? '', offset: null, lastGoodEventId: from?.id ?? 0, what });
  }

  result(): DeepVerification {
    return {
      stateHash: this.#hashes.get(this.#lastId) ?? '',
      lastId: this.#lastId,
      ways: this.#ways,
      replayedEvents: this.#replayedEvents,
      damages: this.#damages,
    };
  }
}
