/**
 * Signs what the journal holds (persistence/proof/): a second after a change, and not before the head of the change before is
 * made, the thread of the log reader adds what is durable to the tree, and its root is signed. No change waits for it.
 *
 * After an upgrade the first round is over all of the journal that is kept. A journal that contradicts its newest head, because
 * it ends before it or has another frame there, gets no further head: the server goes on, and says so.
 */
import assert from 'node:assert/strict';
import { DataFolderError } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import type { LogReader } from '../persistence/event-log/log-reader.ts';
import type { Timer } from '../persistence/journal/mark-keeper.ts';
import { eachHead, forgetHeads, HeadsFile } from '../persistence/proof/heads-file.ts';
import { rootOf } from '../persistence/proof/merkle-tree.ts';
import type { Head, HeadSigner } from '../persistence/proof/signed-head.ts';
import type { TreePlace } from '../persistence/proof/tree-growth.ts';
import { TrustedKeys } from '../persistence/proof/trusted-keys.ts';

/** Changes within this time share a head. */
const HEAD_DELAY_MS = 1_000;

/** A disk that is full, or that fails, is not asked, and written about in the log, more often. */
const RETRY_DELAY_MS = 60_000;

export interface HeadKeeperOptions {
  readonly fs: FileSystem;
  /** The data folder, and the journal's folder in it. */
  readonly folder: string;
  readonly journal: string;
  readonly logReader: Pick<LogReader, 'grow'>;
  readonly signer: HeadSigner;
  /** The id of the history, once it is known. */
  readonly history: () => Promise<string | null>;
  readonly log: {
    warn(details: object, message: string): void;
    error(details: object, message: string): void;
  };
  readonly timer: Timer;
  /** The oldest event that is kept. */
  firstId(): number;
  /** The last event on disk, and the checksum of its frame. */
  durable(): { readonly id: number; readonly chain: number };
  /** Milliseconds since 1970. */
  now(): number;
  /** Told of each head. */
  onSigned?(head: HeadView): void;
}

export interface HeadChecking {
  /** Whether one of these events is declared lost. */
  isLost(fromId: number, toId: number): Promise<boolean>;
  /** Awaited between heads. */
  pause(): Promise<void>;
}

/** The newest head, as it is told. */
export interface HeadView {
  readonly note: string;
  readonly lastId: number;
  readonly at: number;
  /** The key that verifies it. */
  readonly key: string;
}

/** A head as JSON shows it. */
export const shownHead = ({ at, ...head }: HeadView): object => ({ ...head, at: new Date(at).toISOString() });

export class HeadKeeper {
  readonly #options: HeadKeeperOptions;
  #file: HeadsFile | null = null;
  #problem: string | null = null;
  #round: Promise<void> | null = null;
  #cancel: (() => void) | null = null;
  #hasFailed = false;
  #isStopped = false;

  constructor(options: HeadKeeperOptions) {
    this.#options = options;
  }

  get newest(): HeadView | null {
    const newest = this.#file?.newest ?? null;
    if (newest === null) return null;
    const { note, head } = newest;
    return { note, lastId: head.lastId, at: head.at, key: this.#options.signer.publicKey.text };
  }

  /** Why no further head is signed; null where nothing speaks against it. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Has a head signed soon. */
  noticed(): void {
    if (this.#cancel !== null || this.#round !== null || this.#isStopped || this.#problem !== null) return;
    this.#cancel = this.#options.timer(this.#hasFailed ? RETRY_DELAY_MS : HEAD_DELAY_MS, () => {
      this.#cancel = null;
      this.#begin();
    });
  }

  /** Signs what the start has found. */
  start(): void {
    this.#begin();
  }

  /**
   * Grows the tree again from each head to the next one, over a journal that has no damage: it has to have the roots that were signed.
   * Tells of the first one that it has not, where no event before it `isLost`, as a repair has declared.
   */
  async check({ isLost, pause }: HeadChecking): Promise<void> {
    const { fs, folder, signer } = this.#options;
    const trusted = await TrustedKeys.read(fs, folder, [signer.publicKey]);
    let before: TreePlace | null = null;
    for await (const { head, place, note } of eachHead(fs, folder)) {
      await pause();
      if (this.#isStopped || this.#problem !== null || head.lastId > this.#options.durable().id) return;
      const { firstId } = this.#options;
      const isKept = before === null ? head.firstId === firstId() : before.lastId >= firstId() - 1;
      const from: number = (before?.lastId ?? head.firstId - 1) + 1;
      const isRight = !isKept || !trusted.signed(note) || (await this.#hasRoot(before, head));
      if (!isRight && from >= firstId() && !(await isLost(from, head.lastId))) {
        const time = new Date(head.at).toISOString();
        return this.#contradicted(
          `the events from ${from} to ${head.lastId} are not what was signed at ${time}.`,
        );
      }
      before = place;
    }
  }

  async #hasRoot(from: TreePlace | null, { lastId: upToId, size, root }: Head): Promise<boolean> {
    const { logReader, journal: folder } = this.#options;
    let place = from;
    try {
      while (place?.tree.size !== size) {
        const places: readonly TreePlace[] = await logReader.grow({
          folder,
          from: place,
          upToId,
          upToSize: size,
        });
        if (places.length === 0) return false;
        place = places.at(-1)!;
      }
      return rootOf(place.tree).equals(root);
    } catch (error) {
      // The journal was read before, and was whole: where it is not the one that was signed, no frame stands at the place.
      if (error instanceof DataFolderError) return false;
      throw error;
    }
  }

  /** Signs what is left, as far as one growth goes, and closes the file. The journal is durable to its end. */
  async close(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    await this.#round;
    assert(this.#round === null, 'no round is under way when the last head is signed');
    await this.#attempt(() => this.#step());
    await this.#file?.close();
  }

  #begin(): void {
    assert(this.#round === null, 'one round is under way at a time');
    assert(!this.#isStopped, 'no round begins once the file is closed');
    const { id } = this.#options.durable();
    this.#round = this.#attempt(async () => {
      // What is recorded meanwhile waits for the next round; else a busy server would sign all the time.
      while (!this.#isStopped && (this.newest?.lastId ?? 0) < id && (await this.#step()));
    }).then(() => {
      this.#round = null;
      // Changes came meanwhile, the round failed, or the history has no id yet.
      if (this.newest?.lastId !== this.#options.durable().id) this.noticed();
    });
  }

  /** A fault of the disk, or of the thread, costs a head and nothing else: the next round tries again. */
  async #attempt(work: () => Promise<unknown>): Promise<void> {
    if (this.#problem !== null) return;
    try {
      await work();
      this.#hasFailed = false;
    } catch (error) {
      this.#hasFailed = true;
      if (error instanceof DataFolderError) return this.#contradicted(error.message);
      if (this.#isStopped) return;
      // Operators: look at `err`
      this.#options.log.error({ err: error }, 'The history could not be signed; it is tried again');
    }
  }

  /** Goes on by one growth; false when there is nothing more to sign. */
  async #step(): Promise<boolean> {
    const { logReader, journal, history: readHistory } = this.#options;
    const durable = this.#options.durable();
    const history = await readHistory();
    if (history === null || durable.id === 0) return false;
    const file = await this.#opened();
    const from = file.newest?.place ?? null;
    if (this.#problem !== null || from?.lastId === durable.id) return false;
    const places = await logReader.grow({ folder: journal, from, upToId: durable.id });
    for (const place of places) await this.#sign(file, place, history);
    return places.length > 0;
  }

  async #opened(): Promise<HeadsFile> {
    if (this.#file !== null) return this.#file;
    const { fs, folder, signer, log } = this.#options;
    await forgetHeads(fs, folder, this.#options.firstId());
    const file = await HeadsFile.open(fs, folder);
    const isForeign = file.newest !== null && !signer.publicKey.signed(file.newest.note);
    if (isForeign || file.isDamaged) {
      await file.setAside();
      // Operators: nothing, if you copied the folder or changed [the key](docs/audit.md#keys); else find out who did
      log.warn(
        { key: signer.publicKey.text },
        'Another key signed the heads of this folder, or they are damaged; they were set aside, and all history is signed anew',
      );
    }
    assert(this.#file === null, 'the file of heads is opened once');
    this.#file = file;
    const problem = contradiction(file.newest?.place ?? null, this.#options.durable());
    if (problem !== null) this.#contradicted(problem);
    else if (this.newest !== null) this.#options.onSigned?.(this.newest);
    return file;
  }

  #contradicted(problem: string): void {
    this.#problem = `History is not signed any more: ${problem}`;
    // Operators, of "History is not signed any more: …": run `flagstaff verify` and `flagstaff audit verify`; then see [what a difference means](docs/audit.md#what-a-difference-means)
    this.#options.log.error({}, this.#problem);
  }

  async #sign(file: HeadsFile, place: TreePlace, history: string): Promise<void> {
    const { signer, now, onSigned } = this.#options;
    const { tree, firstId, lastId } = place;
    assert(lastId >= (file.newest?.head.lastId ?? 0), 'a head covers what the head before it covers');
    assert(lastId <= this.#options.durable().id, 'only what is durable is signed');
    const head: Head = { history, size: tree.size, root: rootOf(tree), firstId, lastId, at: now() };
    await file.append(head, signer.sign(head), place);
    if (this.newest !== null) onSigned?.(this.newest);
  }
}

function contradiction(
  place: TreePlace | null,
  durable: { readonly id: number; readonly chain: number },
): string | null {
  if (place === null || place.lastId < durable.id) return null;
  if (place.lastId === durable.id && place.boundary.chain === durable.chain) return null;
  const found =
    place.lastId === durable.id
      ? `event ${durable.id} differs`
      : `it ends with event ${durable.id}, and the head with ${place.lastId}`;
  return `the journal contradicts its newest signed head: ${found}.`;
}
