/**
 * Holds the journal of a folder against signed heads: what was signed is there, unchanged, and nothing else is in its place.
 *
 * The journal alone gives the links; heads only say which they were. So a head that an auditor has kept elsewhere proves
 * everything before it, regardless of later writes to the folder, and those in the folder tell how far a difference reaches.
 */
import { DataFolderError, dataFolder } from '../../persistence/disk/data-folder.ts';
import type { FileSystem } from '../../persistence/disk/file-system.ts';
import { type JournalSource, listSegments } from '../../persistence/journal/segment-file.ts';
import type { Rest } from '../../persistence/journal/segment-scan.ts';
import { type ChainPlace, followChain, NOWHERE, type Place } from './chain-reading.ts';
import { eachHead, placeOf, type RecordedHead } from './heads-file.ts';
import { HistoryChain } from './history-chain.ts';
import type { Head, PublicKey } from './signed-head.ts';

export interface AuditOptions {
  readonly fs: FileSystem;
  /** The data folder. */
  readonly folder: string;
  /** The key whose heads count. */
  readonly key: PublicKey;
  /** A head that was kept elsewhere. */
  readonly kept: Head | null;
  /** The last event that is certain to be on disk, asked for when the heads are read: a running server may sign more. */
  newestId(): Promise<number>;
  onProgress?(eventsDone: number): void;
  /** So many frames are hashed at most between two rests; all of a segment unless given. */
  readonly framesMax?: number;
  readonly rest?: Rest;
}

/** Events, both included, that are not what a head stands for. */
export interface Difference {
  readonly from: number;
  readonly to: number;
  readonly kind: 'changed' | 'missing' | 'unsigned' | 'damaged';
  readonly what: string;
}

export interface Audit {
  readonly differences: readonly Difference[];
  /** The last event that a head under the key stands for, and when it was signed; null without one. */
  readonly signed: { readonly lastId: number; readonly at: number } | null;
  /** The first event that was held against heads, and the newest one that is kept. */
  readonly firstId: number;
  readonly lastId: number;
}

export async function auditFolder(options: AuditOptions): Promise<Audit> {
  const source = { fs: options.fs, folder: dataFolder(options.folder).journal };
  for (let heads = await readHeads(options); ; ) {
    const lastId = await options.newestId();
    const [oldestId = lastId + 1] = await listSegments(source);
    const audit = await new Auditor({ ...options, source, heads, oldestId, lastId }).run();
    if (audit.differences.length === 0) return audit;
    const before = heads;
    heads = await readHeads(options);
    // Else retention of a running server has deleted the oldest events meanwhile.
    if (heads.begin.lastId === before.begin.lastId) return audit;
  }
}

/**
 * The first events that are not what was signed, as a clause; null where none is. Heads that do not count here may be those of another
 * key, and one that was read while it was written has no signature.
 */
export function contradictionIn({ differences }: Audit): string | null {
  const first = differences.find(({ kind }) => kind === 'changed' || kind === 'missing');
  return first === undefined ? null : `the events from ${first.from} to ${first.to} are ${first.what}`;
}

interface ReadHeads {
  /** Heads of the folder that count, by their last events, and among them the one that was kept elsewhere. */
  readonly witnesses: readonly RecordedHead[];
  /** The newest cut, or the beginning of all. */
  readonly begin: ChainPlace;
  /** The last event of the newest head of the folder that counts; 0 without one. */
  readonly newestId: number;
  /** The heads of the folder that do not count: how many, and the last event of any. */
  readonly refused: { readonly count: number; readonly lastId: number };
}

/** A folder has one head for a thousand events, and none can be added without the key, so all of them have room in memory. */
async function readHeads({ fs, folder, key, kept }: AuditOptions): Promise<ReadHeads> {
  const witnesses: RecordedHead[] = [];
  let begin = NOWHERE;
  let newestId = 0;
  let refused = { count: 0, lastId: 0 };
  for await (const recorded of eachHead(fs, folder)) {
    const { lastId, isCut } = recorded.head;
    if (!key.signed(recorded.note) || lastId < newestId) {
      refused = { count: refused.count + 1, lastId: Math.max(refused.lastId, lastId) };
      continue;
    }
    witnesses.push(recorded);
    newestId = lastId;
    if (isCut) begin = placeOf(recorded);
  }
  if (kept !== null) {
    const at = witnesses.findLastIndex(({ head }) => head.lastId <= kept.lastId);
    witnesses.splice(at + 1, 0, { note: '', head: kept, boundary: null, endsBlock: false });
  }
  return { witnesses, begin, newestId, refused };
}

interface AuditorOptions extends AuditOptions {
  readonly source: JournalSource;
  readonly heads: ReadHeads;
  /** The first event of the oldest segment. */
  readonly oldestId: number;
  readonly lastId: number;
}

class Auditor {
  readonly #options: AuditorOptions;
  readonly #witnesses: readonly RecordedHead[];
  readonly #differences: Difference[] = [];
  /** The witness that is due next. */
  #next: number;
  /** The last event that is proved, or known to differ. */
  #judgedId: number;
  #reachedId: number;

  constructor(options: AuditorOptions) {
    const { begin, witnesses } = options.heads;
    this.#options = options;
    this.#witnesses = witnesses;
    // What lies before the cut is deleted, so that nothing can be held against older heads.
    const isDue = ({ head }: RecordedHead): boolean => head.lastId >= begin.lastId;
    this.#next = witnesses.findIndex(isDue);
    if (this.#next < 0) this.#next = witnesses.length;
    this.#judgedId = begin.lastId;
    this.#reachedId = begin.lastId;
  }

  async run(): Promise<Audit> {
    const { heads, lastId, oldestId } = this.#options;
    const newest = this.#witnesses.at(-1)?.head ?? null;
    const { begin } = heads;
    if (newest !== null) {
      await this.#follow(oldestId > begin.lastId + 1 ? this.#behindMissing() : begin);
      this.#endsEarly();
    }
    this.#unsigned();
    const signed = newest === null ? null : { lastId: newest.lastId, at: newest.at };
    return { differences: this.#differences, signed, firstId: begin.lastId + 1, lastId };
  }

  /** Heads of the folder that do not count, and none where the newest one has to be: the server writes a head before it publishes it. */
  #unsigned(): void {
    const { heads, lastId, kept } = this.#options;
    const { count, lastId: refusedId } = heads.refused;
    const isOlder = kept !== null && heads.newestId < kept.lastId && kept.lastId < lastId;
    if (count === 0 && !isOlder) return;
    const from = (this.#witnesses.at(-1)?.head.lastId ?? 0) + 1;
    const what =
      count > 0
        ? `history.heads has ${count} heads that the key did not sign, or out of their order`
        : 'no head of the folder is as new as the one that was kept, so nothing stands for them';
    this.#differ('unsigned', { from, to: Math.max(refusedId, isOlder ? lastId : 0), what });
  }

  /** The place behind events that are gone, though no cut says so. */
  #behindMissing(): ChainPlace | null {
    const { oldestId, heads } = this.#options;
    const what = 'missing: the journal begins behind them, and no signed head says that they were deleted';
    this.#differ('missing', { from: heads.begin.lastId + 1, to: oldestId - 1, what });
    this.#judgedId = oldestId - 1;
    return this.#resume('changed', 'not proved: without the events before them nothing can be');
  }

  async #follow(begin: ChainPlace | null): Promise<void> {
    for (let from = begin; from !== null; )
      try {
        await this.#followFrom(from);
        return;
      } catch (error) {
        if (!(error instanceof DataFolderError)) throw error;
        from = this.#resume('damaged', `${error.problem} (${error.file})`);
      }
  }

  async #followFrom(begin: ChainPlace): Promise<void> {
    const { source, lastId: upToId, framesMax, rest, onProgress } = this.#options;
    const chain = new HistoryChain(begin.link);
    const onPlace = (lastId: number): void => this.#compare(lastId, chain);
    for (let from: Place = begin; from.lastId < upToId; ) {
      const following = { chain, from, upToId, onPlace, rest };
      from = await followChain(source, { ...following, ...(framesMax !== undefined && { framesMax }) });
      this.#reachedId = from.lastId;
      onProgress?.(from.lastId);
      await rest?.();
    }
  }

  /** Takes the heads up to a place. Goes on from what was signed, so that the next head tells of the frames between them alone. */
  #compare(lastId: number, chain: HistoryChain): void {
    for (let due = this.#due; due !== undefined && due.lastId <= lastId; due = this.#due) {
      this.#next += 1;
      const isSame = due.lastId === lastId && chain.link.equals(due.link);
      const what = `not what was signed at ${timeText(due)}`;
      if (!isSame) this.#differ('changed', { from: this.#judgedId + 1, to: due.lastId, what });
      const canGoOn = due.lastId === lastId && chain.isBlockEndBefore(lastId + 1);
      if (!isSame && canGoOn) chain.goOnFrom(due.link);
      this.#judgedId = due.lastId;
    }
  }

  get #due(): Head | undefined {
    return this.#witnesses[this.#next]?.head;
  }

  /** Gives the next place that was signed behind what cannot be followed, which differs up to there; null where there is none. */
  #resume(kind: Difference['kind'], what: string): ChainPlace | null {
    const { oldestId, lastId } = this.#options;
    const rest = this.#witnesses.slice(this.#next);
    const index = rest.findIndex(
      ({ head, endsBlock }) => endsBlock && head.lastId >= oldestId - 1 && head.lastId <= lastId,
    );
    const found = rest[index];
    const to = found?.head.lastId ?? Math.max(lastId, rest.at(-1)?.head.lastId ?? 0);
    if (to > this.#judgedId) this.#differ(kind, { from: this.#judgedId + 1, to, what });
    this.#judgedId = to;
    this.#next = found === undefined ? this.#witnesses.length : this.#next + index + 1;
    return found === undefined ? null : placeOf(found);
  }

  #endsEarly(): void {
    const last = this.#witnesses.at(-1)?.head;
    if (last === undefined || this.#due === undefined) return;
    const unproved = 'not proved: the heads behind them stand for events that are missing';
    if (this.#reachedId > this.#judgedId)
      this.#differ('changed', { from: this.#judgedId + 1, to: this.#reachedId, what: unproved });
    const what = `missing: the journal ends with event ${this.#reachedId}, and a head of ${timeText(last)} stands for events up to ${last.lastId}`;
    this.#differ('missing', { from: this.#reachedId + 1, to: last.lastId, what });
  }

  /** One difference for what lies side by side, for the same reason but for the time of a signature. */
  #differ(kind: Difference['kind'], { from, to, what }: Omit<Difference, 'kind'>): void {
    const before = this.#differences.at(-1);
    const isMore = before?.kind === kind && kind === 'changed' && before.to >= from - 1;
    if (isMore) this.#differences.splice(-1, 1, { ...before, to, what });
    else this.#differences.push({ from: Math.min(from, to), to, kind, what });
  }
}

const timeText = ({ at }: Head): string => new Date(at).toISOString();
