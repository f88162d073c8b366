/**
 * Holds the journal of a folder against signed heads: what was signed is there, unchanged, and nothing else is in its place.
 *
 * The journal alone gives the roots; heads only say which they were. So a head that an auditor has kept elsewhere proves
 * everything before it, whoever has written to the folder since, and those in the folder tell how far a difference reaches.
 */
import assert from 'node:assert/strict';
import { DataFolderError, dataFolder } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { SEGMENT_HEADER_BYTES } from '../persistence/journal/segment.ts';
import { type JournalSource, listSegments } from '../persistence/journal/segment-file.ts';
import { type RecordedHead, readHeads } from '../persistence/proof/heads-file.ts';
import { rootOf } from '../persistence/proof/merkle-tree.ts';
import { type Head, type PublicKey, parseHead } from '../persistence/proof/signed-head.ts';
import { growTree, type TreePlace } from '../persistence/proof/tree-growth.ts';
import { OperationError } from './operation-error.ts';

export interface AuditOptions {
  readonly fs: FileSystem;
  /** The data folder. */
  readonly folder: string;
  /** The keys whose heads count. */
  readonly keys: readonly PublicKey[];
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
  const source = { fs: options.fs, folder: dataFolder(options.folder).journal };
  const recorded = await readHeads(options.fs, options.folder);
  const lastId = await options.newestId();
  const isSigned = ({ note }: RecordedHead): boolean => options.keys.some((key) => key.signed(note));
  const witnesses: Witness[] = recorded.filter(isSigned);
  if (options.kept !== null) witnesses.push({ head: options.kept, place: null });
  witnesses.sort((a, b) => a.head.size - b.head.size);
  const begin = await beginningOf(source, witnesses);
  const auditor = new Auditor({ source, begin, lastId, onProgress: options.onProgress });
  const forged = recorded.filter((head) => !isSigned(head));
  const [first] = forged;
  if (first !== undefined) auditor.unsigned(first.head, forged.length);
  return auditor.run(witnesses.filter(({ head }) => head.size > (begin?.tree.size ?? 0)));
}

/** The tree before the oldest event that is kept; null where that is the tree's first one. */
async function beginningOf(source: JournalSource, witnesses: readonly Witness[]): Promise<TreePlace | null> {
  const [oldest] = await listSegments(source);
  if (oldest === undefined) throw new OperationError('missing', `${source.folder} holds no events.`);
  if (witnesses.every(({ head }) => head.firstId === oldest)) return null;
  const found = witnesses.find(
    ({ place }) => place?.boundary.segment === oldest && place.boundary.offset === SEGMENT_HEADER_BYTES,
  );
  if (found?.place != null) return found.place;
  const message = `The journal begins with event ${oldest}, and no signed head stands there; the older events, or history.heads of this folder, are needed.`;
  throw new OperationError('unsound', message);
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
  #place: TreePlace | null;
  /** The last event that is proved, or known to differ. */
  #judgedId: number;

  constructor(options: AuditorOptions) {
    this.#options = options;
    this.#place = options.begin;
    this.#judgedId = options.begin?.lastId ?? 0;
  }

  unsigned({ firstId, lastId }: Head, count: number): void {
    const what = `history.heads has ${count} heads that none of the keys signed`;
    this.#differences.push({ from: firstId, to: lastId, what });
  }

  async run(witnesses: readonly Witness[]): Promise<Audit> {
    const { lastId } = this.#options;
    const sizes = new Set(witnesses.map(({ head }) => head.size));
    const waiting = [...witnesses];
    while (this.#place?.lastId !== lastId) {
      const places = await this.#grow(sizes);
      if (places.length === 0) break;
      this.#pass(places, waiting);
      this.#options.onProgress?.(this.#place?.lastId ?? 0);
    }
    const [missing] = waiting.toReversed();
    if (missing !== undefined) this.#endsEarly(missing.head);
    return this.#result(witnesses.at(-1)?.head ?? null);
  }

  /** Takes from `waiting` the heads that these places reach. Ends at a difference, to grow again from what was signed. */
  #pass(places: readonly TreePlace[], waiting: Witness[]): void {
    for (const place of places) {
      this.#place = place;
      for (
        let next = waiting[0];
        next !== undefined && next.head.size <= place.tree.size;
        next = waiting[0]
      ) {
        waiting.shift();
        this.#compare(next, place);
      }
      if (this.#place !== place) return;
    }
  }

  async #grow(sizes: ReadonlySet<number>): Promise<readonly TreePlace[]> {
    try {
      return await growTree(this.#options.source, { from: this.#place, upToId: this.#options.lastId, sizes });
    } catch (error) {
      if (!(error instanceof DataFolderError)) throw error;
      const from = (error.lastGoodEventId ?? this.#judgedId) + 1;
      this.#differ(from, this.#options.lastId, `${error.problem} (${error.file})`);
      return [];
    }
  }

  /** Goes on from the tree that was signed, so that the next head tells of the frames between them alone. */
  #compare({ head, place: signed }: Witness, found: TreePlace): void {
    const isSame =
      found.tree.size === head.size && rootOf(found.tree).equals(head.root) && found.lastId === head.lastId;
    if (!isSame) {
      const time = new Date(head.at).toISOString();
      this.#differ(this.#judgedId + 1, head.lastId, `not what was signed at ${time}`);
      if (signed !== null && found.tree.size === head.size) this.#place = { ...found, tree: signed.tree };
    }
    this.#judgedId = Math.max(this.#judgedId, head.lastId);
  }

  #differ(from: number, to: number, what: string): void {
    this.#differences.push({ from: Math.min(from, to), to, what });
  }

  #endsEarly({ lastId, at }: Head): void {
    const end = this.#place?.lastId ?? 0;
    const what = `missing: the journal ends with event ${end}, and a head of ${new Date(at).toISOString()} stands for events up to ${lastId}`;
    this.#differ(Math.min(end + 1, lastId), lastId, what);
  }

  #result(newest: Head | null): Audit {
    assert(this.#place !== null, 'an audit reads at least one frame');
    const { begin } = this.#options;
    const { lastId, tree } = this.#place;
    const firstId = begin === null ? this.#place.firstId : begin.lastId + 1;
    const signed = newest === null ? null : { lastId: newest.lastId, at: newest.at };
    const frames = tree.size - (begin?.tree.size ?? 0);
    return { differences: this.#differences, signed, firstId, lastId, frames, root: rootOf(tree) };
  }
}

/** A head that the auditor has kept. Throws where it is none, or none of the keys signed it. */
export function keptHead(note: string, keys: readonly PublicKey[]): Head {
  const head = parseHead(note);
  if (head === null) throw new OperationError('unsound', 'This is no signed head.');
  if (keys.some((key) => key.signed(note))) return head;
  throw new OperationError('unsound', 'None of the keys signed this head.');
}
