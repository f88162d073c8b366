/**
 * Content that nobody has written, under right checksums: frames and records are decoded, changed, and sealed again. A start takes such a folder or refuses it in the words of a damaged one; it never fails by itself. Where frames
 * were changed, it takes exactly what a replay from nothing takes, with the same state.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { Packr } from 'msgpackr/pack';
import { loaderOf } from '../../src/actors/state/state-loader.ts';
import { stateHash } from '../../src/actors/state/world-snapshot.ts';
import { unpack } from '../../src/persistence/codec/message-pack.ts';
import { DataFolderError, dataFolder } from '../../src/persistence/disk/data-folder.ts';
import { FRAME_BYTES_MAX } from '../../src/persistence/journal/frame.ts';
import {
  FRAME_FORMAT,
  FRAME_HEADER_BYTES,
  frameEnd,
  sealFrame,
} from '../../src/persistence/journal/frame-format.ts';
import { SEGMENT_HEADER_BYTES } from '../../src/persistence/journal/segment.ts';
import { recover } from '../../src/persistence/recovery/recovery.ts';
import {
  BLOCK_HEADER_BYTES,
  BLOCK_KINDS,
  readBlockHeader,
  SNAPSHOT_HEADER_BYTES,
  sealBlock,
} from '../../src/persistence/snapshots/snapshot-format.ts';
import { FOLDER, openTestEngine, settle } from '../support/engine.ts';
import type { MemoryFileSystem } from '../support/memory-file-system.ts';
import { CommandSource } from '../support/random-commands.ts';
import { type SeededRandom, seededRandom } from '../support/seeded-random.ts';

const { journal: JOURNAL, snapshots: SNAPSHOTS } = dataFolder(FOLDER);

/** Writes also what the server's own codec refuses to write. */
const packr = new Packr({ useRecords: false, variableMapSize: true });

const KINDS = ['frames', 'records'] as const;
type Kind = (typeof KINDS)[number];

export type SealedCounts = Record<Kind | 'taken' | 'refused' | 'otherState', number>;

/** Values that a program may trip over. */
const HOSTILE: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 53), 1e308, Number.NaN, -0],
  ...['', '__proto__', 'constructor', 'toString', '\ud800', 'x'.repeat(3_000), 'default', 'flag-0'],
  ...[[], {}, [[]], { length: 2 ** 31 }, new Uint8Array(3), new Map([['__proto__', 1]])],
  nested(100),
  nested(300),
  Array.from({ length: 3_000 }, (_, at) => at),
];

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let at = 0; at < depth; at += 1) value = [value];
  return value;
}

const isContainer = (value: unknown): value is Record<string, unknown> | unknown[] =>
  typeof value === 'object' && value !== null && !(value instanceof Uint8Array) && !(value instanceof Map);

/** Changes a value somewhere, in place; what it returns stands in its place. */
function changed(value: unknown, random: SeededRandom): unknown {
  if (!isContainer(value) || random.below(12) === 0) return other(value, random);
  const keys = Object.keys(value);
  if (keys.length === 0) return other(value, random);
  const key = keys[random.below(keys.length)]!;
  const parent = value as Record<string, unknown>;
  const choice = random.below(10);
  if (choice === 0 && Array.isArray(value)) value.splice(Number(key), 1);
  else if (choice === 0) delete parent[key];
  else if (choice === 1 && Array.isArray(value)) value.push(value[Number(key)]);
  else if (choice === 1) parent[`${key}x`] = parent[key];
  else if (choice === 2) parent[key] = parent[keys[random.below(keys.length)]!];
  else parent[key] = changed(parent[key], random);
  return value;
}

function other(value: unknown, random: SeededRandom): unknown {
  if (typeof value === 'number' && random.below(2) === 0) return value + random.below(5) - 2;
  if (typeof value === 'string' && random.below(2) === 0) return `${value}${random.below(10)}`;
  return HOSTILE[random.below(HOSTILE.length)];
}

/** A MessagePack value changed by what it holds, or by its bytes. */
export function changedBytes(bytes: Buffer, random: SeededRandom): Buffer {
  if (random.below(3) > 0) return Buffer.from(packr.pack(changed(unpack(bytes), random)));
  const copy = Buffer.from(bytes);
  for (let left = 1 + random.below(3); left > 0 && copy.length > 0; left -= 1)
    copy[random.below(copy.length)] = random.below(4) === 0 ? 0xdd + random.below(3) : random.below(256);
  if (random.below(8) === 0) return copy.subarray(0, random.below(copy.length + 1));
  return copy;
}

/** The payloads of a segment with one of them changed, under checksums and links of their own. */
function changeFrame(bytes: Buffer, random: SeededRandom): Buffer {
  const frames: Buffer[] = [];
  for (let at = SEGMENT_HEADER_BYTES; at < bytes.length; at = frameEnd(FRAME_FORMAT.readHeader(bytes, at)!))
    frames.push(bytes.subarray(at, frameEnd(FRAME_FORMAT.readHeader(bytes, at)!)));
  const target = random.below(frames.length);
  const head = bytes.subarray(0, SEGMENT_HEADER_BYTES);
  let previous = FRAME_FORMAT.readHeader(frames[0]!, 0)!.previous;
  let offset = head.length;
  const sealed = frames.map((frame, at) => {
    const { contentVersion, rules } = FRAME_FORMAT.readHeader(frame, 0)!;
    const own = frame.subarray(FRAME_HEADER_BYTES);
    const changedPayload = at === target ? changedBytes(own, random) : own;
    // No frame is empty: its length would be that of none.
    const payload = changedPayload.length === 0 ? own.subarray(0, 1) : changedPayload;
    const made = Buffer.concat([Buffer.alloc(FRAME_HEADER_BYTES), payload]);
    assert(payload.length <= FRAME_BYTES_MAX, 'a changed frame has room');
    const links = { payloadBytes: payload.length, previous, batchStart: offset, contentVersion, rules };
    previous = sealFrame(made, 0, links);
    offset += made.length;
    return made;
  });
  return Buffer.concat([head, ...sealed]);
}

/** A snapshot with a record or the head of a block changed. */
function changeSnapshot(bytes: Buffer, random: SeededRandom): Buffer {
  const blocks: Buffer[] = [];
  for (let at = SNAPSHOT_HEADER_BYTES; at < bytes.length; at += blocks.at(-1)!.length)
    blocks.push(
      bytes.subarray(at, at + BLOCK_HEADER_BYTES + readBlockHeader(bytes.subarray(at)).payloadBytes),
    );
  const wanted = blocks.flatMap((block, at) =>
    readBlockHeader(block).kind === BLOCK_KINDS.records ? [at] : [],
  );
  const target = wanted[random.below(wanted.length)]!;
  const parts: Buffer[] = [bytes.subarray(0, SNAPSHOT_HEADER_BYTES)];
  let checksum = crc32(parts[0]!);
  for (const [at, block] of blocks.entries()) {
    const { kind: own, count } = readBlockHeader(block);
    const payload = block.subarray(BLOCK_HEADER_BYTES);
    let made = payload;
    if (own === BLOCK_KINDS.end) {
      made = Buffer.alloc(4);
      made.writeUInt32LE(checksum);
    } else if (at === target) made = changedBytes(payload, random);
    const sealed = Buffer.concat([Buffer.alloc(BLOCK_HEADER_BYTES), made]);
    sealBlock(sealed, own, at === target && random.below(20) === 0 ? count + random.below(3) : count);
    checksum = crc32(sealed, checksum);
    parts.push(sealed);
  }
  return Buffer.concat(parts);
}

interface Base {
  /** Several segments, snapshots, and frames behind the newest one. */
  readonly disk: MemoryFileSystem;
  readonly stateHash: string;
}

const COMMANDS = 60;
const SEGMENT_BYTES = 12 * 1024;

async function baseFolder(random: SeededRandom): Promise<Base> {
  const commands = new CommandSource(random);
  const run = async (disk: MemoryFileSystem | null): Promise<MemoryFileSystem> => {
    const engine = await openTestEngine({ segmentBytes: SEGMENT_BYTES, ...(disk !== null && { disk }) });
    for (let left = COMMANDS; left > 0; left -= 1)
      await engine.execute(commands.next(engine.store.engine.world));
    if (disk !== null) return engine.disk.copy();
    engine.manual.runFreely();
    await engine.store.close();
    return engine.disk.copy();
  };
  const disk = await run(await run(null));
  return { disk, stateHash: (await replayed(disk))! };
}

/** The state of the journal alone; null where a replay from nothing is refused. */
async function replayed(disk: MemoryFileSystem): Promise<string | null> {
  const copy = disk.copy();
  for (const name of copy.namesIn(SNAPSHOTS)) copy.take(join(SNAPSHOTS, name));
  const loader = loaderOf();
  const log = { info: () => undefined, warn: () => undefined };
  try {
    await recover({ fs: copy, folder: FOLDER, loader, log });
    return stateHash(loader.world);
  } catch (error) {
    assertRefusal(error);
    return null;
  }
}

function assertRefusal(error: unknown): asserts error is DataFolderError {
  if (!(error instanceof DataFolderError)) throw error;
}

/** Milliseconds of the longest pause within something that the test waits for. */
const PAUSE_MS_MAX = 1_000;

/** Ends pauses at once; what is due in a while never is. */
function hastyTimer(delayMs: number, run: () => void): () => void {
  if (delayMs > PAUSE_MS_MAX) return () => undefined;
  const next = setImmediate(run);
  return () => clearImmediate(next);
}

/** The state that a server serves on this disk, when it has done all that a start leaves for later; null where it refuses. */
async function served(disk: MemoryFileSystem): Promise<string | null> {
  const options = { disk, segmentBytes: SEGMENT_BYTES, deferredBytesMin: 0, timer: hastyTimer };
  const engine = await openTestEngine(options).catch((error: unknown) => assertRefusal(error));
  if (engine === undefined) return null;
  const { store, manual, stops } = engine;
  manual.runFreely();
  await store.historyCheck.run();
  const hash = stops.length === 0 ? attempt(() => stateHash(store.engine.world)) : null;
  const { eventLog, durableId } = store.engine;
  const page = { limit: 20, offset: 0 };
  for (const query of [page, { ...page, project: 'default' }, { ...page, query: 'flag' }])
    if (stops.length === 0) await eventLog.search(query, durableId).catch(assertRefusal);
  await settle();
  for (const error of stops) assertRefusal(error);
  assert(hash !== null || stops.length > 0, 'a server that cannot read its state stops');
  if (hash !== null) await store.close();
  return hash;
}

/** Null where the state cannot be read; the server stops then, and says why. */
function attempt(read: () => string): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** So many changes are made to one folder. */
const CHANGES_PER_FOLDER = 250;

let folder: { readonly number: number; readonly base: Promise<Base> } | null = null;

function folderOf(number: number): Promise<Base> {
  if (folder?.number !== number) folder = { number, base: baseFolder(seededRandom(number)) };
  return folder.base;
}

interface Changes {
  readonly first: number;
  readonly count: number;
}

export async function changeSealed({ first, count }: Changes): Promise<SealedCounts> {
  const counts = { frames: 0, records: 0 };
  const outcomes = { taken: 0, refused: 0, otherState: 0 };
  for (let seed = first; seed < first + count; seed += 1) {
    const base = await folderOf(Math.floor(seed / CHANGES_PER_FOLDER));
    const random = seededRandom(seed);
    const kind = KINDS[random.below(KINDS.length)]!;
    counts[kind] += 1;
    try {
      outcomes[await tryChange(base, kind, random)] += 1;
    } catch (cause) {
      throw new Error(`change ${seed} of ${kind}: ${(cause as Error).message}`, { cause });
    }
  }
  return { ...counts, ...outcomes };
}

async function tryChange(
  { disk: whole, stateHash: own }: Base,
  kind: Kind,
  random: SeededRandom,
): Promise<'taken' | 'refused' | 'otherState'> {
  const disk = whole.copy();
  const change = (folder: string, suffix: string, by: (bytes: Buffer) => Buffer): void => {
    const names = disk.namesIn(folder).filter((name) => name.endsWith(suffix));
    const path = join(folder, kind === 'frames' ? names.at(-1)! : names[random.below(names.length)]!);
    disk.put(path, by(disk.bytesOf(path)));
  };
  if (kind === 'frames') {
    // The newest file, with which the journal ends: nothing but the mark and the snapshots say what was in it.
    disk.take(join(JOURNAL, 'durable.mark'));
    for (const name of disk.namesIn(SNAPSHOTS)) disk.take(join(SNAPSHOTS, name));
    change(JOURNAL, '.journal', (bytes) => changeFrame(bytes, random));
  } else change(SNAPSHOTS, '.snapshot', (bytes) => changeSnapshot(bytes, random));
  const alone = kind === 'frames' ? await replayed(disk) : own;
  const hash = await served(disk);
  if (kind === 'frames') assert.equal(hash, alone, 'a start and a replay from nothing agree');
  if (hash === null) return 'refused';
  return hash === alone ? 'taken' : 'otherState';
}
