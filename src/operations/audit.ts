/**
 * Holds the journal of a folder against signed heads: what was signed is there, unchanged, and nothing else is in its place.
 *
 * The journal alone gives the roots; heads only say which they were. So a head that an auditor has kept elsewhere proves
 * everything before it, whoever has written to the folder since, and those in the folder tell how far a difference reaches.
 */
import assert from 'node:assert/strict';
import { DataFolderError, dataFolder } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { declaresLost } from '../persistence/journal/declared-gap.ts';
import { lastEventId } from '../persistence/journal/frame.ts';
import { SEGMENT_HEADER_BYTES } from '../persistence/journal/segment.ts';
import { type JournalSource, listSegments } from '../persistence/journal/segment-file.ts';
import { eachHead, type RecordedHead } from '../persistence/proof/heads-file.ts';
import { rootOf } from '../persistence/proof/merkle-tree.ts';
import { type Head, parseHead } from '../persistence/proof/signed-head.ts';
import { growTree, type TreePlace } from '../persistence/proof/tree-growth.ts';
import type { TrustedKeys } from '../persistence/proof/trusted-keys.ts';
import { type FoundFrame, readJournal } from './journal-reading.ts';
import { OperationError } from './operation-error.ts';
import type { EventRange } from './verify-journal.ts';

export interface AuditOptions {
  readonly fs: FileSystem;
  /** The data folder. */
  readonly folder: string;
  /** The keys whose heads count. */
  readonly keys: TrustedKeys;
  /** A head that was kept elsewhere. */
  readonly kept: Head | null;
  /** The last event that is certain to be on disk, asked for when the heads are read: a running server may sign more. */
  newestId(): Promise<number>;
  onProgress?(eventsDone: number): void;
}

/** Events, both included, that are not what a head stands for. */
export interface Difference {
  readonly from: number;
  readonly to: number;
  readonly what: string;
}

export interface Audit {
  readonly differences: readonly Difference[];
  /** Events that a repair has declared lost, of those that differ. */
  readonly gaps: readonly EventRange[];
  /** The last event that a head under one of the keys stands for, and when it was signed; null without one. */
  readonly signed: { readonly lastId: number; readonly at: number } | null;
  /** The oldest event that is kept, and the newest one. */
  readonly firstId: number;
  readonly lastId: number;
  /** Frames that were hashed. */
  readonly frames: number;
  readonly root: Buffer;
}

/** A head under a trusted key, and the state of the tree there, where the folder has it. */
interface Witness {
  readonly head: Head;
  readonly place: TreePlace | null;
}

export async function auditFolder(options: AuditOptions): Promise<Audit> {
  const { fs, folder, onProgress } = options;
  const source = { fs, folder: dataFolder(folder).journal };
  const { begin, newestSize } = await beginningOf(source, options);
  const lastId = await options.newestId();
  const witnesses = new Witnesses(options, { above: begin?.tree.size ?? 0, upTo: newestSize });
  return new Auditor({ source, begin, lastId, onProgress }).run(witnesses);
}

interface Beginning {
  /** The tree before the oldest event that is kept; null where that is the tree's first one. */
  readonly begin: TreePlace | null;
  /** The newest head of the folder. A running server may sign more. */
  readonly newestSize: number;
}

async function beginningOf(
  source: JournalSource,
  { fs, folder, keys, kept }: AuditOptions,
): Promise<Beginning> {
  const [oldest] = await listSegments(source);
  if (oldest === undefined) throw new OperationError('missing', `${source.folder} holds no events.`);
  let isFirst = kept === null || kept.firstId === oldest;
  let begin: TreePlace | null = null;
  let newestSize = 0;
  for await (const recorded of eachHead(fs, folder)) {
    const { head, place } = recorded;
    newestSize = head.size;
    if (begin !== null || head.firstId === oldest || !keys.signed(recorded.note)) continue;
    isFirst = false;
    const { segment, offset } = place.boundary;
    if (segment === oldest && offset === SEGMENT_HEADER_BYTES) begin = place;
  }
  if (isFirst || begin !== null) return { begin, newestSize };
  const message = `The journal begins with event ${oldest}, and no signed head stands there; the older events, or history.heads of this folder, are needed.`;
  throw new OperationError('unsound', message);
}

/** Protects memory: a folder may have a head for every frame. */
const WITNESSES_MAX = 1_000;

/** The heads that count, by their sizes, some of them at a time. */
class Witnesses {
  readonly #options: AuditOptions;
  readonly #heads: AsyncGenerator<RecordedHead>;
  readonly #sizes: { readonly above: number; readonly upTo: number };
  readonly #waiting: Witness[] = [];
  #kept: Witness | null;
  #newest: Head | null = null;
  #isOver = false;
  /** The first head that proves nothing, and how many do not. */
  #refused: { readonly first: Head; count: number } | null = null;

  constructor(options: AuditOptions, sizes: { readonly above: number; readonly upTo: number }) {
    this.#options = options;
    this.#heads = eachHead(options.fs, options.folder);
    this.#sizes = sizes;
    this.#kept = options.kept === null ? null : { head: options.kept, place: null };
  }

  get newest(): Head | null {
    return this.#newest;
  }

  get refused(): Difference | null {
    if (this.#refused === null) return null;
    const { first, count } = this.#refused;
    const what = `history.heads has ${count} heads that none of the keys signed, or out of their order`;
    return { from: first.firstId, to: first.lastId, what };
  }

  /** Sizes of the tree up to the last head that is in memory; behind it there may be more. */
  get horizon(): { readonly sizes: ReadonlySet<number>; readonly upToSize: number } {
    const sizes = new Set(this.#waiting.map(({ head }) => head.size));
    const last = this.#isOver ? undefined : this.#waiting.at(-1);
    return { sizes, upToSize: last?.head.size ?? Number.POSITIVE_INFINITY };
  }

  /** Takes the next one, if it is for a tree of this size or a smaller one. */
  takeUpTo(size: number): Witness | null {
    const [next] = this.#waiting;
    return next !== undefined && next.head.size <= size ? (this.#waiting.shift() ?? null) : null;
  }

  async fill(): Promise<void> {
    while (!this.#isOver && this.#waiting.length < WITNESSES_MAX) {
      const { value: recorded, done } = await this.#heads.next();
      if (done !== true) this.#consider(recorded);
      else {
        this.#isOver = true;
        if (this.#kept !== null) this.#add(this.#kept);
      }
    }
  }

  /** Reads to the end; gives the newest head that was not taken. */
  async lastWaiting(): Promise<Witness | null> {
    let last: Witness | null = null;
    for (await this.fill(); this.#waiting.length > 0; await this.fill())
      last = this.#waiting.splice(0).at(-1) ?? null;
    return last;
  }

  #consider(recorded: RecordedHead): void {
    const { head } = recorded;
    if (head.size > this.#sizes.upTo) return;
    if (!this.#options.keys.signed(recorded.note) || head.size < (this.#newest?.size ?? 0)) {
      this.#refused ??= { first: head, count: 0 };
      this.#refused.count += 1;
      return;
    }
    if (this.#kept !== null && this.#kept.head.size <= head.size) {
      this.#add(this.#kept);
      this.#kept = null;
    }
    this.#add(recorded);
  }

  #add(witness: Witness): void {
    if (witness.head.size <= this.#sizes.above) return;
    this.#waiting.push(witness);
    this.#newest = witness.head;
  }
}

interface AuditorOptions {
  readonly source: JournalSource;
  /** The tree before the oldest event that is kept; null for the empty one. */
  readonly begin: TreePlace | null;
  readonly lastId: number;
  readonly onProgress: ((eventsDone: number) => void) | undefined;
}

class Auditor {
  readonly #options: AuditorOptions;
  readonly #differences: Difference[] = [];
  readonly #gaps: EventRange[] = [];
  #place: TreePlace | null;
  /** The last event that is proved, or known to differ. */
  #judgedId: number;

  constructor(options: AuditorOptions) {
    this.#options = options;
    this.#place = options.begin;
    this.#judgedId = options.begin?.lastId ?? 0;
  }

  async run(witnesses: Witnesses): Promise<Audit> {
    await witnesses.fill();
    while (this.#place?.lastId !== this.#options.lastId) {
      const places = await this.#grow(witnesses);
      if (places.length === 0) break;
      await this.#pass(places, witnesses);
      this.#options.onProgress?.(this.#place?.lastId ?? 0);
      await witnesses.fill();
    }
    const missing = await witnesses.lastWaiting();
    if (missing !== null) this.#endsEarly(missing.head);
    return this.#result(witnesses);
  }

  /** Ends at a difference, to grow again from what was signed. */
  async #pass(places: readonly TreePlace[], witnesses: Witnesses): Promise<void> {
    for (const place of places) {
      this.#place = place;
      if ((await this.#compareUpTo(place, witnesses)) !== place) return;
    }
  }

  /** Takes the heads that the place reaches; gives the place to go on from. */
  async #compareUpTo(place: TreePlace, witnesses: Witnesses): Promise<TreePlace> {
    let from = place;
    for (
      let next = witnesses.takeUpTo(from.tree.size);
      next !== null;
      next = witnesses.takeUpTo(from.tree.size)
    ) {
      from = await this.#compare(next, from);
      this.#place = from;
    }
    return from;
  }

  async #grow(witnesses: Witnesses): Promise<readonly TreePlace[]> {
    const { source, lastId: upToId } = this.#options;
    try {
      return await growTree(source, { from: this.#place, upToId, ...witnesses.horizon });
    } catch (error) {
      if (!(error instanceof DataFolderError)) throw error;
      const from = (error.lastGoodEventId ?? this.#judgedId) + 1;
      this.#differ(from, this.#options.lastId, `${error.problem} (${error.file})`);
      return [];
    }
  }

  /** Goes on from the tree that was signed, so that the next head tells of the frames between them alone. */
  async #compare({ head, place: signed }: Witness, found: TreePlace): Promise<TreePlace> {
    const isSame =
      found.tree.size === head.size && rootOf(found.tree).equals(head.root) && found.lastId === head.lastId;
    const judgedId = this.#judgedId;
    this.#judgedId = Math.max(judgedId, head.lastId);
    if (isSame) return found;
    const time = new Date(head.at).toISOString();
    const gaps = await this.#gapsBetween(judgedId, head.lastId);
    const what = gaps.length === 0 ? `not what was signed at ${time}` : besideGaps(gaps, time);
    this.#differ(judgedId + 1, head.lastId, what);
    this.#gaps.push(...gaps);
    if (signed === null) return found;
    // Nobody knows how many frames a gap had, and the head does: the place behind it is where the frame that follows lies.
    if (gaps.length > 0) return signed;
    return found.tree.size === head.size ? { ...found, tree: signed.tree } : found;
  }

  /** The events behind `afterId` that a repair has declared lost; none where the journal cannot be read. */
  async #gapsBetween(afterId: number, lastId: number): Promise<readonly EventRange[]> {
    const gaps: EventRange[] = [];
    const visit = ({ frame }: FoundFrame): boolean => {
      const to = lastEventId(frame);
      const last = gaps.at(-1);
      if (declaresLost(frame) === null) return to < lastId;
      if (last?.to === frame.id - 1) gaps.splice(-1, 1, { from: last.from, to });
      else gaps.push({ from: frame.id, to });
      return to < lastId;
    };
    try {
      await readJournal(this.#options.source, { afterId, visit });
      return gaps;
    } catch (error) {
      if (error instanceof DataFolderError) return [];
      throw error;
    }
  }

  #differ(from: number, to: number, what: string): void {
    this.#differences.push({ from: Math.min(from, to), to, what });
  }

  #endsEarly({ lastId, at }: Head): void {
    const end = this.#place?.lastId ?? 0;
    const what = `missing: the journal ends with event ${end}, and a head of ${new Date(at).toISOString()} stands for events up to ${lastId}`;
    this.#differ(Math.min(end + 1, lastId), lastId, what);
  }

  #result({ newest, refused }: Witnesses): Audit {
    assert(this.#place !== null, 'an audit reads at least one frame');
    const { begin } = this.#options;
    const { lastId, tree } = this.#place;
    const firstId = begin === null ? this.#place.firstId : begin.lastId + 1;
    const signed = newest === null ? null : { lastId: newest.lastId, at: newest.at };
    const frames = tree.size - (begin?.tree.size ?? 0);
    const differences = refused === null ? this.#differences : [refused, ...this.#differences];
    return { differences, gaps: this.#gaps, signed, firstId, lastId, frames, root: rootOf(tree) };
  }
}

/** Tells an auditor of the frames between two heads, some of which are lost. */
function besideGaps(gaps: readonly EventRange[], time: string): string {
  const lost = gaps.map(({ from, to }) =>
    from === to ? `event ${from}` : `the events from ${from} to ${to}`,
  );
  return `not all of what was signed at ${time}: of them a repair has declared ${lost.join(', ')} lost, and checksums alone speak for the others`;
}

/** A head that the auditor has kept. Throws where it is none, or none of the keys signed it. */
export function keptHead(note: string, keys: TrustedKeys): Head {
  const head = parseHead(note);
  if (head === null) throw new OperationError('unsound', 'This is no signed head.');
  if (keys.signed(note)) return head;
  throw new OperationError('unsound', 'None of the keys signed this head.');
}
