/**
 * Damage to a folder that was closed cleanly: bits flipped, ranges zeroed, files cut or taken away, frames dropped,
 * doubled, swapped, or brought back from an earlier time. The next start refuses, or has the whole state; never a
 * smaller one, or another, that looks valid.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { sectionsHash, snapshotSections } from '../../src/actors/state/world-snapshot.ts';
import { openStore, type Store } from '../../src/actors/store.ts';
import { DataFolderError, dataFolder } from '../../src/persistence/disk/data-folder.ts';
import { toLoggedEvent } from '../../src/persistence/event-log/logged-event.ts';
import { frameEnd, type RawFrame, sealFrame } from '../../src/persistence/journal/frame-format.ts';
import { SEGMENT_SUFFIX } from '../../src/persistence/journal/segment.ts';
import { inlineLogReader } from '../support/inline-log-reader.ts';
import type { MemoryFileSystem } from '../support/memory-file-system.ts';
import { pick } from '../support/random-values.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { framesIn } from '../support/segment-bytes.ts';
import { FOLDER } from './folder.ts';
import type { Tally } from './tally.ts';
import type { Witness } from './witness.ts';

interface Site {
  readonly disk: MemoryFileSystem;
  readonly path: string;
  readonly bytes: Buffer;
  readonly random: SeededRandom;
  /** None in a file that is no segment. */
  readonly frames: readonly RawFrame[];
}

/** Gives what the file holds afterwards; null: it is gone. */
type Damage = (site: Site) => Buffer | null;

const DAMAGES: Readonly<Record<string, Damage>> = {
  'flip a bit': ({ bytes, random }) => {
    const at = random.below(bytes.length);
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << random.below(8)), at);
    return bytes;
  },
  'zero a range': ({ bytes, random }) => {
    const at = random.below(bytes.length);
    return bytes.fill(0, at, Math.min(bytes.length, at + 1 + random.below(600)));
  },
  'cut the file': ({ bytes, random }) => bytes.subarray(0, random.below(bytes.length)),
  'take the file away': () => null,
  'drop a frame': ({ bytes, frames, random }) => {
    const frame = pick(random, frames);
    return Buffer.concat([bytes.subarray(0, frame.offset), bytes.subarray(frameEnd(frame))]);
  },
  'double a frame': ({ bytes, frames, random }) => {
    const frame = pick(random, frames);
    return Buffer.concat([bytes.subarray(0, frameEnd(frame)), bytes.subarray(frame.offset)]);
  },
  'swap two frames': ({ bytes, frames, random }) => {
    const second = 1 + random.below(frames.length - 1);
    const [a, b] = [frames[second - 1], frames[second]] as [RawFrame, RawFrame];
    const swapped = [bytes.subarray(b.offset, frameEnd(b)), bytes.subarray(a.offset, frameEnd(a))];
    return Buffer.concat([bytes.subarray(0, a.offset), ...swapped, bytes.subarray(frameEnd(b))]);
  },
  // What a disk does that lost a write to a place that had held another frame: whole, in order, and not the one.
  'bring back a stale frame': ({ bytes, frames, random }) => {
    const frame = pick(random, frames);
    const payloadAt = frame.offset + frame.headerBytes;
    const letterAt = anyLetter(bytes.subarray(payloadAt, frameEnd(frame)), random);
    bytes.writeUInt8(bytes.readUInt8(payloadAt + letterAt) ^ 1, payloadAt + letterAt);
    sealFrame(bytes, frame.offset, frame);
    return bytes;
  },
};

/** The place of a letter that has another one beside it in the alphabet: texts stay texts. */
function anyLetter(payload: Buffer, random: SeededRandom): number {
  const places = [...payload.keys()].filter((at) => /[b-y]/.test(String.fromCharCode(payload.readUInt8(at))));
  return pick(random, places);
}

export interface AfterDamage {
  readonly random: SeededRandom;
  readonly witness: Witness;
  readonly tally: Tally;
  readonly trace: (line: string) => void;
}

/** Damages a copy of the disk in one way and starts on it. */
export async function damageAndReopen(disk: MemoryFileSystem, around: AfterDamage): Promise<void> {
  const { random, tally, trace } = around;
  const copy = disk.copy();
  const site = anySite(copy, random);
  const possible = Object.keys(DAMAGES).filter((name) => isPossible(name, site));
  const name = pick(random, possible);
  trace(`damage: ${name} of ${site.path}`);
  const bytes = DAMAGES[name]?.(site) ?? null;
  if (bytes === null) copy.take(site.path);
  else copy.put(site.path, bytes);
  const { store, isFoundLater } = await reopen(copy, random.chance(0.5));
  if (isFoundLater && store !== null) {
    tally.damagesFoundLater += 1;
    compareState(store, around.witness);
    await assert.rejects(recognizeAll(store, around.witness), DataFolderError, 'no damaged event is shown');
  } else if (store === null) tally.damagesRefused += 1;
  else {
    tally.damagesHarmless += 1;
    await compare(store, around.witness);
  }
}

function anySite(disk: MemoryFileSystem, random: SeededRandom): Site {
  const { journal, snapshots } = dataFolder(FOLDER);
  const paths = [journal, snapshots].flatMap((folder) =>
    disk.namesIn(folder).map((name) => join(folder, name)),
  );
  // Segments are where damage hurts: the rest can be made again from them.
  const segments = paths.filter((path) => path.endsWith(SEGMENT_SUFFIX));
  const path = pick(random, random.chance(0.6) ? segments : paths);
  const bytes = Buffer.from(disk.bytesOf(path));
  return { disk, path, bytes, random, frames: path.endsWith(SEGMENT_SUFFIX) ? framesIn(bytes) : [] };
}

function isPossible(name: string, { frames, bytes }: Site): boolean {
  if (name === 'swap two frames') return frames.length >= 2;
  if (name === 'take the file away') return true;
  return name.endsWith('frame') ? frames.length >= 1 : bytes.length > 0;
}

interface Reopened {
  /** Null when the folder is refused. */
  readonly store: Store | null;
  /** By the check of old history, which the start was allowed to leave unread. */
  readonly isFoundLater: boolean;
}

async function reopen(disk: MemoryFileSystem, mayDefer: boolean): Promise<Reopened> {
  const found: Error[] = [];
  const store = await startOn(disk, mayDefer, found);
  await store?.historyCheck.run();
  if (store === null) return { store, isFoundLater: false };
  assert(found.length === 0, found[0]);
  return { store, isFoundLater: store.historyCheck.damages.length > 0 };
}

/** Null when the start refuses. */
async function startOn(disk: MemoryFileSystem, mayDefer: boolean, found: Error[]): Promise<Store | null> {
  try {
    return await openStore({
      fs: disk,
      folder: FOLDER,
      clock: { now: () => 0, monotonic: () => 0, defer: (turn) => setImmediate(turn) },
      timer: (_, run) => {
        const turn = setImmediate(run);
        return () => clearImmediate(turn);
      },
      newId: () => '',
      newName: () => '00000000',
      logReader: inlineLogReader(disk),
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      stop: (error) => void found.push(error),
      reserveBytes: 0,
      ...(mayDefer && { deferredBytesMin: 0 }),
    });
  } catch (error) {
    if (error instanceof DataFolderError) return null;
    throw error;
  }
}

async function compare(store: Store, witness: Witness): Promise<void> {
  compareState(store, witness);
  await recognizeAll(store, witness);
}

function compareState({ engine }: Store, witness: Witness): void {
  const last = witness.applied.at(-1);
  assert(last !== undefined && last.state !== null, 'the calm life has left a state');
  assert.equal(engine.lastId, last.lastId, 'damage never passes for an end');
  assert.equal(
    sectionsHash(snapshotSections(engine.world)),
    sectionsHash(last.state),
    'nor for another state',
  );
}

async function recognizeAll({ engine }: Store, witness: Witness): Promise<void> {
  const walk = { from: engine.eventLog.firstId, to: engine.durableId };
  if (walk.from === 0 || walk.from > walk.to) return;
  for await (const { frame, id } of engine.eventLog.iterate(walk))
    witness.recognizes(toLoggedEvent(frame, id));
}
