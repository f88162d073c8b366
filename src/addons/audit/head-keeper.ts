/**
 * Signs what the journal holds. The writer of the journal hands over each batch that is durable, which carries the
 * chain of hashes on; a second after a change its newest link is signed. No change waits for it.
 *
 * A start reads the journal behind the newest head first, which after an upgrade is all of it. A journal that contradicts its heads,
 * because it begins or ends elsewhere or has another frame, gets no further head: the server goes on, and says so.
 */
import assert from 'node:assert/strict';
import type { JournalObserver, ObservedJournal } from '../../actors/journal-observer.ts';
import { DataFolderError, dataFolder } from '../../persistence/disk/data-folder.ts';
import type { DurableFrames } from '../../persistence/journal/batch.ts';
import type { Boundary } from '../../persistence/journal/frame.ts';
import { FRAME_FORMAT } from '../../persistence/journal/frame-format.ts';
import { readLogHistory } from '../../persistence/journal/log-history.ts';
import { auditFolder, contradictionIn } from './audit.ts';
import { type ChainPlace, type Following, followChain, NOWHERE, type Place } from './chain-reading.ts';
import { cutOf, eachHead, HeadsFile, placeOf } from './heads-file.ts';
import { HistoryChain } from './history-chain.ts';
import type { HeadSigner } from './signed-head.ts';

/** Changes within this time share a head. */
const HEAD_DELAY_MS = 1_000;

/** A disk that is full, or that fails, is not asked, and written about in the log, more often. */
const RETRY_DELAY_MS = 60_000;

/** Read and hashed in some 3 ms, without a pause. */
const FRAMES_AT_ONCE = 1_000;

/** A stop reads so much of what is not signed yet; the next start goes on. */
const STEPS_AT_STOP_MAX = 64;

/** The newest signed head, as it is shown. */
export interface HeadView {
  readonly note: string;
  readonly lastId: number;
  /** ISO 8601. */
  readonly at: string;
  /** The key that verifies it. */
  readonly key: string;
}

export interface HeadStatus {
  readonly newest: HeadView | null;
  /** Why no further head is signed; null where nothing speaks against it. */
  readonly problem: string | null;
}

/** So many events lie at least between two heads that are left in the file; a difference is known to lie between them. */
const STRIDE_EVENTS = 1_000;

interface ChainEnd {
  readonly chain: HistoryChain;
  readonly place: Place;
}

/** Taken at once: the chain goes on while a head is written. */
const signable = ({ chain, place }: ChainEnd): ChainPlace => ({ ...place, link: chain.link });

export class HeadKeeper implements HeadStatus, JournalObserver {
  readonly #journal: ObservedJournal;
  readonly #signer: HeadSigner;
  #file: HeadsFile | null = null;
  /** The end of the journal, and the chain up to there; null until the journal was read. */
  #end: ChainEnd | null = null;
  /** The newest end of a block at which a head is to be left in the file, and the last event of the one before. */
  #blockEnd: ChainPlace | null = null;
  #strideId = 0;
  #problem: string | null = null;
  #round: Promise<unknown> | null = null;
  #cancel: (() => void) | null = null;
  #hasFailed = false;
  #isStopped = false;

  constructor(journal: ObservedJournal, signer: HeadSigner) {
    this.#journal = journal;
    this.#signer = signer;
  }

  get newest(): HeadView | null {
    const newest = this.#file?.newest ?? null;
    if (newest === null) return null;
    const { note, head } = newest;
    const at = new Date(head.at).toISOString();
    return { note, lastId: head.lastId, at, key: this.#signer.publicKey.text };
  }

  get problem(): string | null {
    return this.#problem;
  }

  /** Signs what the start has found. */
  start(): void {
    void this.#begin();
  }

  /** Carries the chain on over frames that have become durable, and has a head signed soon. */
  durable({ firstId, lastId, bytes, begin, end }: DurableFrames): void {
    if (this.#problem !== null) return;
    if (this.#end !== null) {
      const { chain, place } = this.#end;
      assert(place.lastId === firstId - 1, 'the chain goes on without a gap');
      chain.addAll(bytes, lastId, (id, offset) => {
        const before = offset === 0 ? begin.chain : FRAME_FORMAT.readHeader(bytes, offset)!.previous;
        this.#blockEnded(chain, id, { ...begin, offset: begin.offset + offset, chain: before });
      });
      this.#end = { chain, place: { lastId, boundary: end } };
    }
    this.#schedule();
  }

  #blockEnded({ link }: HistoryChain, lastId: number, boundary: Boundary): void {
    if (lastId - this.#strideId >= STRIDE_EVENTS) this.#blockEnd = { lastId, link, boundary };
  }

  /**
   * Signs that the events before this one are deleted, and those up to the end of a block. Resolves, when that is on disk, with whether it
   * is; without an end of a block behind them they have to stay. Rejects where heads contradict the journal.
   */
  beforeDeletion(firstId: number): Promise<boolean> {
    return this.#alone(async () => {
      const history = await this.#follow();
      if (this.#problem !== null) throw new Error(this.#problem);
      if (history === null) return true;
      const place = await this.#blockEndAt(firstId - 1);
      if (place !== null) await this.#cutAt(place, history);
      return place !== null;
    });
  }

  /** Holds all of the journal against its heads; what is damaged is for others to tell. */
  async check(): Promise<void> {
    const { fs, folder, pause, durable, log } = this.#journal;
    try {
      const audit = await auditFolder({
        ...{ fs, folder, kept: null, framesMax: FRAMES_AT_ONCE },
        key: this.#signer.publicKey,
        newestId: async () => durable().id,
        rest: async () => {
          await pause();
          if (this.#isStopped) throw new Error('The server is stopping');
        },
      });
      const contradiction = contradictionIn(audit);
      if (contradiction !== null && this.#problem === null) this.#contradicted(`${contradiction}.`);
    } catch (error) {
      if (this.#isStopped) return;
      // Operators: look at `err`
      log.error(
        { err: error },
        'The journal could not be held against its signed heads; it is tried again later',
      );
    }
  }

  /** Signs what is left, and closes the file. The journal is durable to its end. */
  async close(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    await this.#alone(() => this.#attempt());
    await this.#file?.close();
  }

  #schedule(): void {
    if (this.#cancel !== null || this.#round !== null || this.#isStopped || this.#problem !== null) return;
    this.#cancel = this.#journal.timer(this.#hasFailed ? RETRY_DELAY_MS : HEAD_DELAY_MS, () => {
      this.#cancel = null;
      void this.#begin();
    });
  }

  async #begin(): Promise<void> {
    await this.#alone(() => this.#attempt());
    // Changes came meanwhile, the round failed, or the history has no id yet.
    if (this.newest?.lastId !== this.#journal.durable().id) this.#schedule();
  }

  /** One round is under way at a time. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    while (this.#round !== null) await this.#round;
    const round = work();
    this.#round = round.catch(() => undefined);
    try {
      return await round;
    } finally {
      this.#round = null;
    }
  }

  /** A fault of the disk costs a head and nothing else: the next round tries again. */
  async #attempt(): Promise<void> {
    if (this.#problem !== null) return;
    try {
      const history = await this.#follow();
      if (history !== null && this.#end !== null) await this.#sign(signable(this.#end), history);
      this.#hasFailed = false;
    } catch (error) {
      this.#hasFailed = true;
      if (error instanceof DataFolderError) return this.#contradicted(error.message);
      // Operators: look at `err`
      this.#journal.log.error({ err: error }, 'The history could not be signed; it is tried again');
    }
  }

  /** Follows the chain to the end of the journal. Gives the id of the history; null where nothing can be signed. */
  async #follow(): Promise<string | null> {
    const { fs, folder, durable, pause } = this.#journal;
    const history = (await readLogHistory(fs, folder))?.id ?? null;
    if (history === null || durable().id === 0) return null;
    const { newest } = await this.#opened(history);
    if (this.#problem !== null) return null;
    if (this.#end !== null) return history;
    const begin = await this.#lastPlaceUpTo(durable().id);
    this.#strideId = begin.lastId;
    this.#blockEnd = null;
    const chain = new HistoryChain(begin.link);
    const onPlace = (lastId: number, boundary: Boundary): void => {
      if (chain.isBlockEndBefore(lastId + 1)) this.#blockEnded(chain, lastId, boundary);
      if (lastId === newest?.head.lastId && !chain.link.equals(newest.head.link))
        this.#contradicted(`event ${lastId}, or one before it, is not what was signed.`);
    };
    let place: Place = begin;
    for (let steps = 0; place.lastId < durable().id; steps += 1) {
      if (this.#isStopped && steps === STEPS_AT_STOP_MAX) return null;
      if (!this.#isStopped && steps > 0) await pause();
      place = await this.#step({ chain, from: place, upToId: durable().id, onPlace });
      if (this.#problem !== null) return null;
      await this.#sign(signable({ chain, place }), history);
    }
    this.#end = { chain, place };
    return history;
  }

  #step(following: Following): Promise<Place> {
    const { fs, folder } = this.#journal;
    const source = { fs, folder: dataFolder(folder).journal };
    return followChain(source, { ...following, framesMax: FRAMES_AT_ONCE });
  }

  async #opened(history: string): Promise<HeadsFile> {
    if (this.#file !== null) return this.#file;
    const { fs, folder, log, firstId } = this.#journal;
    const file = await HeadsFile.open(fs, folder);
    const isForeign = file.newest !== null && !this.#signer.publicKey.signed(file.newest.note);
    if (isForeign || file.isDamaged) {
      await file.setAside();
      // Operators: nothing, if you copied the folder or changed [the key](docs/audit.md#keys); else find out who did
      log.warn(
        { key: this.#signer.publicKey.text },
        'Another key signed the heads of this folder, or they are damaged; they were set aside, and all history is signed again',
      );
    }
    assert(this.#file === null, 'the file of heads is opened once');
    this.#file = file;
    if (file.newest === null && firstId() > 1)
      await this.#cutAt({ ...NOWHERE, lastId: firstId() - 1 }, history);
    const problem = await this.#contradiction(file);
    if (problem !== null) this.#contradicted(problem);
    else this.#notify();
    return file;
  }

  async #contradiction({ newest }: HeadsFile): Promise<string | null> {
    const { fs, folder, durable, firstId } = this.#journal;
    const { id, chain } = durable();
    if (newest === null) return null;
    const { lastId } = newest.head;
    const told = 'the journal contradicts its newest signed head';
    if (lastId > id) return `${told}: it ends with event ${id}, and the head with ${lastId}.`;
    if (lastId === id && newest.boundary !== null && newest.boundary.chain !== chain)
      return `${told}: event ${id} differs.`;
    const cutId = (await cutOf(fs, folder, this.#signer.publicKey))?.head.lastId ?? 0;
    if (firstId() <= cutId + 1) return null;
    return `the events from ${cutId + 1} to ${firstId() - 1} are missing, and no signed head says that they were deleted.`;
  }

  /** The last end of a block, up to an event, at which a head stands. */
  async #lastPlaceUpTo(id: number): Promise<ChainPlace> {
    const { fs, folder } = this.#journal;
    let place = NOWHERE;
    for await (const recorded of eachHead(fs, folder))
      if (recorded.endsBlock && recorded.head.lastId <= id && this.#signer.publicKey.signed(recorded.note))
        place = placeOf(recorded);
    return place;
  }

  /** The first end of a block at an event or behind it; null where none is. */
  async #blockEndAt(id: number): Promise<ChainPlace | null> {
    const { pause, durable } = this.#journal;
    const begin = await this.#lastPlaceUpTo(id);
    const chain = new HistoryChain(begin.link);
    let found = begin.lastId === id ? begin : null;
    const onPlace = (lastId: number, boundary: Boundary): void => {
      if (found === null && lastId >= id && chain.isBlockEndBefore(lastId + 1))
        found = { lastId, link: chain.link, boundary };
    };
    for (let from: Place = begin; found === null && from.lastId < durable().id; await pause())
      from = await this.#step({ chain, from, upToId: durable().id, onPlace });
    return found;
  }

  async #cutAt({ lastId, link, boundary }: ChainPlace, history: string): Promise<void> {
    assert(this.#file !== null, 'a journal that was followed has a file of heads');
    const head = { history, lastId, link, isCut: true, at: this.#journal.now() };
    await this.#file.cut({ note: this.#signer.sign(head), head, boundary, endsBlock: true });
  }

  async #sign(place: ChainPlace, history: string): Promise<void> {
    assert(place.lastId <= this.#journal.durable().id, 'only what is durable is signed');
    const blockEnd = this.#blockEnd;
    this.#blockEnd = null;
    if (blockEnd !== null && blockEnd.lastId >= (this.newest?.lastId ?? 0)) {
      await this.#append(blockEnd, history, true);
      this.#strideId = blockEnd.lastId;
    }
    if (place.lastId > (this.newest?.lastId ?? 0)) await this.#append(place, history, false);
    this.#notify();
  }

  async #append({ lastId, link, boundary }: ChainPlace, history: string, endsBlock: boolean): Promise<void> {
    assert(this.#file !== null, 'a journal that was followed has a file of heads');
    const head = { history, lastId, link, isCut: false, at: this.#journal.now() };
    await this.#file.append({ note: this.#signer.sign(head), head, boundary, endsBlock });
  }

  #notify(): void {
    const head = this.newest;
    if (head !== null) this.#journal.notify({ type: 'signed', id: head.lastId, data: { head } });
  }

  #contradicted(problem: string): void {
    this.#problem = `History is not signed any more: ${problem}`;
    this.#end = null;
    // Operators, of "History is not signed any more: …": run `flagstaff verify` and `flagstaff audit verify`; then see [what a difference means](docs/audit.md#what-a-difference-means)
    this.#journal.log.error({}, this.#problem);
  }
}
