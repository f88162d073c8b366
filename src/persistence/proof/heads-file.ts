/**
 * The signed heads of a data folder, `history.heads`: where the tree stood after each thousand frames, at the end of each
 * segment, and at the end of the journal, as far back as events are kept. From any of them on the tree can be grown again without what lies before it.
 *
 * Format 1. Slots of 2048 bytes, each a JSON text, spaces and a newline. The last slot is written over by the next head, as
 * long as that is less than a thousand frames further: so the file has a slot for each thousand frames, however often a head
 * is signed. Nothing is synced. Heads can be made again from the journal; what must outlast a forger is a copy elsewhere.
 *
 *   {"version":1,"head":"flagstaff/…","place":[1204,1,281934,3051478442],"peaks":"…base64…","stays":true}
 *
 * `place`: the last event, then the segment by its first event, the offset in it and the checksum of the frame before. `peaks`:
 * all of them in one text, so that the largest tree has room beside the note of a handover; builds before the first release that
 * signs wrote a list of texts. All else is in the head. History: 1, the first.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { newerFormat, setAside } from '../disk/data-folder.ts';
import { type FileSystem, type OpenFile, readLeniently } from '../disk/file-system.ts';
import { replaceFile, writeFully } from '../disk/write-fully.ts';
import { SEGMENT_HEADER_BYTES } from '../journal/segment.ts';
import { HASH_BYTES, isTreeState, rootOf } from './merkle-tree.ts';
import { type Head, handoverOf, parseHead } from './signed-head.ts';
import { STRIDE_FRAMES, type TreePlace } from './tree-growth.ts';

const HEADS_FILE_NAME = 'history.heads';
const SLOT_BYTES = 2048;
const VERSION = 1;

/** Bounds the search for the newest head: a crash tears one slot, so a file that ends in more without a head is damaged. */
const SLOTS_SOUGHT_MAX = 1024;

export const headsPath = (root: string): string => join(root, HEADS_FILE_NAME);

export interface RecordedHead {
  readonly note: string;
  readonly head: Head;
  readonly place: TreePlace;
  /** Whether the next head leaves it. */
  readonly stays: boolean;
}

function encodeSlot({ note, place, stays }: RecordedHead): Buffer {
  const { lastId, boundary, tree } = place;
  const { segment, offset, chain } = boundary;
  const peaks = Buffer.concat(tree.peaks).toString('base64');
  const value = { version: VERSION, head: note, place: [lastId, segment, offset, chain], peaks, stays };
  const text = Buffer.from(JSON.stringify(value));
  assert(text.length < SLOT_BYTES, 'a head has room in its slot');
  const slot = Buffer.alloc(SLOT_BYTES, ' ');
  slot.set(text, 0);
  slot.write('\n', SLOT_BYTES - 1);
  return slot;
}

/** Null where the slot holds no head: torn by a crash, or damaged. */
function decodeSlot(bytes: Buffer, file: string): RecordedHead | null {
  const { version, head: note, place, peaks, stays } = jsonOf(bytes);
  if (typeof version === 'number' && version > VERSION)
    throw newerFormat('The list of signed heads', { file, offset: 0, version, known: VERSION });
  const head = typeof note === 'string' ? parseHead(note) : null;
  if (head === null || !areNumbers(place)) return null;
  const [lastId, segment, offset, chain] = place;
  const tree = { size: head.size, peaks: peaksOf(peaks) };
  if (lastId !== head.lastId || !isTreeState(tree) || !rootOf(tree).equals(head.root)) return null;
  const boundary = { segment, offset, chain };
  return {
    note: String(note),
    head,
    place: { firstId: head.firstId, lastId, boundary, tree },
    stays: stays === true,
  };
}

function peaksOf(value: unknown): readonly Buffer[] {
  if (Array.isArray(value)) return value.map((peak) => Buffer.from(String(peak), 'base64'));
  const bytes = Buffer.from(typeof value === 'string' ? value : '', 'base64');
  return Array.from({ length: Math.ceil(bytes.length / HASH_BYTES) }, (_, at) =>
    bytes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
  );
}

const areNumbers = (value: unknown): value is readonly [number, number, number, number] =>
  Array.isArray(value) && value.length === 4 && value.every((one) => Number.isSafeInteger(one) && one >= 0);

/** Empty where the text is none of ours. */
function jsonOf(bytes: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** So many slots are read at once, and are in memory at most: a journal of ten million events has ten thousand. */
const SLOTS_AT_ONCE = 64;

/** The heads of a data folder, oldest first; slots that hold none are passed over. None where there is no file. */
export async function* eachHead(fs: FileSystem, root: string): AsyncGenerator<RecordedHead> {
  const path = headsPath(root);
  if (!(await fs.exists(path))) return;
  const file = await fs.open(path, 'read');
  try {
    const slots = Math.floor((await file.size()) / SLOT_BYTES);
    for (let slot = 0; slot < slots; slot += SLOTS_AT_ONCE)
      yield* await readSlots(file, { from: slot, to: Math.min(slots, slot + SLOTS_AT_ONCE) }, path);
  } finally {
    await file.close();
  }
}

async function readSlots(
  file: OpenFile,
  { from, to }: { readonly from: number; readonly to: number },
  path: string,
): Promise<readonly RecordedHead[]> {
  const bytes = Buffer.alloc((to - from) * SLOT_BYTES);
  const { count } = await readLeniently(file, bytes, bytes.length, from * SLOT_BYTES);
  const heads: RecordedHead[] = [];
  for (let end = SLOT_BYTES; end <= count; end += SLOT_BYTES) {
    const head = decodeSlot(bytes.subarray(end - SLOT_BYTES, end), path);
    if (head !== null) heads.push(head);
  }
  return heads;
}

const readSlot = async (file: OpenFile, slot: number, path: string): Promise<RecordedHead | null> =>
  (await readSlots(file, { from: slot, to: slot + 1 }, path))[0] ?? null;

interface HeadsCopy {
  /** The data folders. */
  readonly from: string;
  readonly to: string;
  readonly lastId: number;
  /** Takes a head or leaves it out; takes all unless given. */
  wants?(head: RecordedHead): boolean;
}

/** Writes the heads of another folder, as far as they are about events up to `lastId`. */
export async function copyHeads(
  fs: FileSystem,
  { from, to, lastId, wants = () => true }: HeadsCopy,
): Promise<void> {
  if (!(await fs.exists(headsPath(from)))) return;
  const slots = slotsOf(eachHead(fs, from), (head) => head.place.lastId <= lastId && wants(head));
  await replaceFile(fs, headsPath(to), slots, { durable: true });
}

async function* slotsOf(
  heads: AsyncIterable<RecordedHead>,
  isWanted: (head: RecordedHead) => boolean,
): AsyncGenerator<Buffer> {
  for await (const head of heads) if (isWanted(head)) yield encodeSlot(head);
}

/**
 * Leaves out the heads from before the oldest event that retention has kept, but for the one right before it, and for those
 * in which one key hands over to another.
 */
export async function forgetHeads(fs: FileSystem, root: string, firstId: number): Promise<void> {
  const isWanted = ({ place, note }: RecordedHead): boolean =>
    place.lastId >= firstId - 1 || handoverOf(note) !== null;
  for await (const head of eachHead(fs, root)) {
    if (!isWanted(head)) {
      const slots = slotsOf(eachHead(fs, root), isWanted);
      return replaceFile(fs, headsPath(root), slots, { durable: false });
    }
    if (head.place.lastId >= firstId - 1) return;
  }
}

/** Appends heads, one at a time. */
export class HeadsFile {
  readonly #fs: FileSystem;
  readonly #path: string;
  #file: OpenFile | null;
  #slots = 0;
  #newest: RecordedHead | null = null;
  /** The size of the tree at the last head that stays. */
  #stayingSize = 0;
  #isDamaged = false;

  private constructor(fs: FileSystem, path: string, file: OpenFile | null) {
    this.#fs = fs;
    this.#path = path;
    this.#file = file;
  }

  static async open(fs: FileSystem, root: string): Promise<HeadsFile> {
    const path = headsPath(root);
    const file = (await fs.exists(path)) ? await fs.open(path, 'write') : null;
    const heads = new HeadsFile(fs, path, file);
    await heads.#findNewest();
    return heads;
  }

  /** The newest head that can be read; null when there is none. */
  get newest(): RecordedHead | null {
    return this.#newest;
  }

  /** Whether no head is where the newest one would be, though something is. */
  get isDamaged(): boolean {
    return this.#isDamaged;
  }

  async #findNewest(): Promise<void> {
    if (this.#file === null) return;
    this.#slots = Math.floor((await this.#file.size()) / SLOT_BYTES);
    const sought = Math.max(0, this.#slots - SLOTS_SOUGHT_MAX);
    while (this.#slots > sought && this.#newest === null) {
      this.#newest = await readSlot(this.#file, this.#slots - 1, this.#path);
      if (this.#newest === null) this.#slots -= 1;
      this.#isDamaged = this.#newest === null;
    }
    const before = this.#newest?.stays === false && this.#slots > 1 ? this.#slots - 2 : this.#slots - 1;
    const staying = before >= 0 ? await readSlot(this.#file, before, this.#path) : null;
    this.#stayingSize = staying?.stays === true ? staying.head.size : 0;
  }

  async append(head: Head, note: string, place: TreePlace): Promise<void> {
    assert(
      head.size === place.tree.size && head.lastId === place.lastId,
      'a head is about the tree at its place',
    );
    const stays =
      head.size - this.#stayingSize >= STRIDE_FRAMES ||
      place.boundary.offset === SEGMENT_HEADER_BYTES ||
      handoverOf(note) !== null;
    const record = { note, head, place, stays };
    const slot = this.#newest?.stays === false ? this.#slots - 1 : this.#slots;
    this.#file ??= await this.#fs.open(this.#path, 'create');
    await writeFully(this.#file, encodeSlot(record), slot * SLOT_BYTES);
    this.#slots = slot + 1;
    this.#newest = record;
    if (stays) this.#stayingSize = head.size;
  }

  /** Resolves when what was appended is on disk. */
  async sync(): Promise<void> {
    await this.#file?.datasync();
  }

  /** Gives the file a name that no file has yet, and begins anew. */
  async setAside(): Promise<void> {
    await this.close();
    await setAside(this.#fs, this.#path);
    this.#slots = 0;
    this.#newest = null;
    this.#stayingSize = 0;
    this.#isDamaged = false;
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = null;
  }
}
