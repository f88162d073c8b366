/**
 * Rebuilds the state at any event from the nearest good snapshot before it and the journal from there. It only reads,
 * even while a server is running.
 *
 * Nobody ever saw a part of a change with several events, which is one frame. So an event in its middle stands for no
 * state and is refused. Taking the end instead would keep what an operator who names the event before an accident
 * wants to remove, and taking the beginning would lose what another operator wants to keep.
 */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { loaderOf, replayFrame } from '../actors/state/state-loader.ts';
import type { World } from '../domain/state/world.ts';
import { dataFolder } from '../persistence/disk/data-folder.ts';
import { type FileSystem, unlessMissing } from '../persistence/disk/file-system.ts';
import { type Boundary, lastEventId } from '../persistence/journal/frame.ts';
import { segmentFileName } from '../persistence/journal/segment.ts';
import { type JournalSource, listSegments } from '../persistence/journal/segment-file.ts';
import { loadSnapshot } from '../persistence/recovery/recovery-survey.ts';
import { attempt } from '../persistence/recovery/replay.ts';
import { listSnapshots, type SnapshotFile } from '../persistence/snapshots/snapshot-files.ts';
import type { SnapshotHeader } from '../persistence/snapshots/snapshot-format.ts';
import { readJournal } from './journal-reading.ts';
import { OperationError } from './operation-error.ts';

export interface StateProgress {
  readonly phase: 'load' | 'replay';
  /** Bytes loaded, or events replayed. */
  readonly done: number;
  /** Null where it is not known. */
  readonly total: number | null;
}

export interface StateAtOptions {
  readonly fs: FileSystem;
  readonly folder: string;
  /** The event whose state is requested. */
  readonly upTo: number;
  /** The snapshot to begin with; null for the first event. When absent, the nearest good snapshot is used. */
  readonly startFrom?: SnapshotFile | null;
  onProgress?(progress: StateProgress): void;
}

/** Events between two calls of `onProgress`: often enough for a bar, too rare to cost anything. */
const EVENTS_PER_PROGRESS = 1_000;

export class StateAt {
  readonly #loader = loaderOf();
  readonly #options: StateAtOptions;
  readonly #source: JournalSource;
  lastId = 0;
  lastAt = 0;
  /** Checksum of the last frame: what a snapshot of this state has to carry. */
  chain = 0;
  /** The boundary up to which the journal was read; null before the first frame. */
  boundary: Boundary | null = null;
  snapshot: SnapshotFile | null = null;
  replayedEvents = 0;
  #changeFirstId = 0;
  /** The last event that was replayed; 0 before the first. */
  #replayedId = 0;

  private constructor(options: StateAtOptions) {
    this.#options = options;
    this.#source = { fs: options.fs, folder: dataFolder(options.folder).journal };
  }

  /** Written in place by `advance`. */
  get world(): World {
    return this.#loader.world;
  }

  static async open(options: StateAtOptions): Promise<StateAt> {
    const state = new StateAt(options);
    if (options.startFrom === undefined) await state.#loadFirstGood(await state.#nearest());
    else if (options.startFrom !== null) await state.#loadFirstGood([options.startFrom]);
    await state.advance(options.upTo);
    return state;
  }

  /** Continues to a later event. */
  async advance(upTo: number): Promise<void> {
    if (upTo <= this.lastId) return;
    await this.#refuseHole();
    const total = upTo - this.lastId;
    const end = await readJournal(this.#source, {
      afterId: this.lastId,
      visit: ({ frame, raw, segment }) => {
        if (this.replayedEvents === 0 && this.snapshot !== null) this.#checkChain(raw.previous);
        assert(frame.id > this.#replayedId, `event ${frame.id} is newer than the state`);
        const file = join(this.#source.folder, segmentFileName(segment));
        const place = { file, offset: raw.offset, lastGoodEventId: frame.id - 1 };
        attempt(() => replayFrame(this.#loader.world, frame), place, `event ${frame.id}`);
        this.#changeFirstId = frame.id;
        this.#replayedId = lastEventId(frame);
        this.lastAt = frame.at;
        const before = this.replayedEvents;
        this.replayedEvents += frame.events.length;
        if (crosses(before, this.replayedEvents)) this.#report('replay', this.replayedEvents, total);
        return this.#replayedId < upTo;
      },
    });
    assert(this.#replayedId <= end.lastId, 'the reading ends with the last event that was replayed');
    this.lastId = end.lastId;
    if (end.boundary !== null) {
      this.boundary = end.boundary;
      this.chain = end.boundary.chain;
    }
    if (this.lastId === upTo) return;
    if (this.lastId > upTo) throw inTheMiddle(upTo, this.#changeFirstId, this.lastId);
    throw new OperationError('missing', `There is no event ${upTo} yet: the newest is ${this.lastId}.`);
  }

  /** Refuses a journal that begins after this state: the events in between are gone. */
  async #refuseHole(): Promise<void> {
    const [firstId] = await listSegments(this.#source);
    if (firstId === undefined || firstId <= this.lastId + 1) return;
    const oldest = await this.#oldestState(firstId);
    const hint = oldest === null ? '' : ` The oldest state that can be had is that of event ${oldest}.`;
    throw new OperationError(
      'missing',
      `The events from ${this.lastId + 1} to ${firstId - 1} are no longer kept, so that state cannot be rebuilt.${hint}`,
    );
  }

  async #oldestState(firstId: number): Promise<number | null> {
    const snapshots = await this.#snapshots();
    return snapshots.find(({ id }) => id >= firstId - 1)?.id ?? null;
  }

  async #snapshots(): Promise<readonly SnapshotFile[]> {
    const { fs, folder } = this.#options;
    return listSnapshots(fs, dataFolder(folder).snapshots);
  }

  /** Snapshots that are not newer than the requested event, newest first. */
  async #nearest(): Promise<readonly SnapshotFile[]> {
    const { upTo } = this.#options;
    return (await this.#snapshots()).filter(({ id }) => id <= upTo).toReversed();
  }

  async #loadFirstGood(candidates: readonly SnapshotFile[]): Promise<void> {
    for (const file of candidates) {
      const header = await this.#load(file);
      if (header === null) continue;
      this.snapshot = file;
      this.lastId = header.id;
      this.lastAt = header.at;
      this.chain = header.chain;
      return;
    }
    this.#loader.reset();
  }

  /** Null when the file is bad for any reason, or was removed meanwhile: an older one, or none, is used instead. */
  async #load(file: SnapshotFile): Promise<SnapshotHeader | null> {
    const onProgress = (done: number, total: number): void => this.#report('load', done, total);
    const loading = loadSnapshot(this.#options.fs, file, this.#loader, onProgress);
    const reading = await unlessMissing(loading, null);
    return reading?.problem === null ? reading.header : null;
  }

  #checkChain(previous: number): void {
    if (previous === this.chain || this.snapshot === null) return;
    const { id, path } = this.snapshot;
    throw new OperationError(
      'unsound',
      `The snapshot ${path} and the journal do not belong together: event ${id} differs between them.`,
    );
  }

  #report(phase: StateProgress['phase'], done: number, total: number | null): void {
    this.#options.onProgress?.({ phase, done, total });
  }
}

function inTheMiddle(id: number, from: number, to: number): OperationError {
  const change = `Event ${id} belongs to a change that recorded the events ${from} to ${to} as a whole`;
  const ways =
    from === 1 ? `use ${to}` : `use ${from - 1} for the state before it, or ${to} for the state after it`;
  return new OperationError('missing', `${change}: ${ways}.`);
}

const crosses = (before: number, after: number): boolean =>
  Math.floor(before / EVENTS_PER_PROGRESS) !== Math.floor(after / EVENTS_PER_PROGRESS);
