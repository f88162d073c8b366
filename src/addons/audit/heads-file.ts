/**
 * The signed heads of a data folder, `history.heads`, by their last events: one for about each thousand events, which stands at the end of a
 * block so that the chain can be followed from it, and the newest one.
 *
 * Format 1. Slots of 1024 bytes, each a JSON text, spaces and a newline. The newest head is written over by the next one: so the file has a
 * slot for each thousand events, however often a head is signed. A cut is the first head, and leaves
 * out what lies before it. Appended heads are not synced. They can be made again from the journal; what must outlast a forger is
 * a copy elsewhere.
 *
 *   {"version":1,"head":"flagstaff/…","boundary":[1204,281934,3051478442],"endsBlock":false}
 *
 * `boundary`: where the next frame begins, as the first event of its segment, the offset in it and the checksum of the frame before. What
 * stands beside the head saves reading, and proves nothing. History: 1, the first.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { newerFormat, setAside } from '../../persistence/disk/data-folder.ts';
import { type FileSystem, type OpenFile, readLeniently } from '../../persistence/disk/file-system.ts';
import { replaceFile, writeFully } from '../../persistence/disk/write-fully.ts';
import type { Boundary } from '../../persistence/journal/frame.ts';
import { SEGMENT_HEADER_BYTES } from '../../persistence/journal/segment.ts';
import type { ChainPlace } from './chain-reading.ts';
import { type Head, type PublicKey, parseHead } from './signed-head.ts';

export const HEADS_FILE_NAME = 'history.heads';
const SLOT_BYTES = 1024;
const VERSION = 1;

/** Bounds the search for the newest head: a crash tears one slot, so a file that ends in more without a head is damaged. */
const SLOTS_SOUGHT_MAX = 1024;

export const headsPath = (root: string): string => join(root, HEADS_FILE_NAME);

export interface RecordedHead {
  readonly note: string;
  readonly head: Head;
  readonly boundary: Boundary | null;
  /** Whether the next frame begins a block. */
  readonly endsBlock: boolean;
}

export const placeOf = ({ head: { lastId, link }, boundary }: RecordedHead): ChainPlace => ({
  ...{ lastId, link, boundary },
});

function encodeSlot({ note, boundary, endsBlock }: RecordedHead): Buffer {
  const at = boundary === null ? null : [boundary.segment, boundary.offset, boundary.chain];
  const text = Buffer.from(JSON.stringify({ version: VERSION, head: note, boundary: at, endsBlock }));
  assert(text.length < SLOT_BYTES, 'a head has room in its slot');
  const slot = Buffer.alloc(SLOT_BYTES, ' ');
  slot.set(text, 0);
  slot.write('\n', SLOT_BYTES - 1);
  return slot;
}

/** Null where the slot holds no head: torn by a crash, or damaged. */
function decodeSlot(bytes: Buffer, file: string): RecordedHead | null {
  const { version, head: note, boundary, endsBlock } = jsonOf(bytes);
  if (typeof version === 'number' && version > VERSION)
    throw newerFormat('The list of signed heads', { file, offset: 0, version, known: VERSION });
  const head = typeof note === 'string' ? parseHead(note) : null;
  if (head === null) return null;
  return { note: String(note), head, boundary: boundaryOf(boundary), endsBlock: endsBlock === true };
}

function boundaryOf(value: unknown): Boundary | null {
  const [segment, offset, chain] = Array.isArray(value) ? (value as unknown[]) : [];
  if (!isCount(segment) || !isCount(offset) || !isCount(chain) || offset < SEGMENT_HEADER_BYTES) return null;
  return { segment, offset, chain };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

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

/** The cut that the key has signed; null where no events are said to be deleted. */
export async function cutOf(fs: FileSystem, root: string, key: PublicKey): Promise<RecordedHead | null> {
  for await (const first of eachHead(fs, root))
    return first.head.isCut && key.signed(first.note) ? first : null;
  return null;
}

/** Writes heads from one folder into another or the same one, without those for which `changed` gives null. On disk when it resolves. */
export async function rewriteHeads(
  fs: FileSystem,
  { from, to, first }: { readonly from: string; readonly to: string; readonly first?: RecordedHead },
  changed: (head: RecordedHead) => RecordedHead | null,
): Promise<void> {
  async function* slots(): AsyncGenerator<Buffer> {
    if (first !== undefined) yield encodeSlot(first);
    for await (const head of eachHead(fs, from)) {
      const kept = changed(head);
      if (kept !== null) yield encodeSlot(kept);
    }
  }
  await replaceFile(fs, headsPath(to), slots(), { durable: true });
}

/** Appends heads, one at a time. */
export class HeadsFile {
  readonly #fs: FileSystem;
  readonly #root: string;
  readonly #path: string;
  #file: OpenFile | null;
  #slots = 0;
  #newest: RecordedHead | null = null;
  #isDamaged = false;

  private constructor(fs: FileSystem, root: string, file: OpenFile | null) {
    this.#fs = fs;
    this.#root = root;
    this.#path = headsPath(root);
    this.#file = file;
  }

  static async open(fs: FileSystem, root: string): Promise<HeadsFile> {
    const path = headsPath(root);
    const file = (await fs.exists(path)) ? await fs.open(path, 'write') : null;
    const heads = new HeadsFile(fs, root, file);
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
  }

  async append(record: RecordedHead): Promise<void> {
    const slot = this.#newest === null || this.#newest.endsBlock ? this.#slots : this.#slots - 1;
    this.#file ??= await this.#fs.open(this.#path, 'create');
    await writeFully(this.#file, encodeSlot(record), slot * SLOT_BYTES);
    this.#slots = slot + 1;
    this.#newest = record;
  }

  /** Leaves out what lies before the cut. On disk when it resolves. */
  async cut(cut: RecordedHead): Promise<void> {
    assert(cut.head.isCut, 'a cut is signed as one');
    const [fs, root] = [this.#fs, this.#root];
    await rewriteHeads(fs, { from: root, to: root, first: cut }, (recorded) =>
      recorded.head.lastId > cut.head.lastId ? recorded : null,
    );
    await this.close();
    this.#file = await fs.open(this.#path, 'write');
    this.#newest = null;
    await this.#findNewest();
  }

  /** Gives the file a name that no file has yet, and starts over. */
  async setAside(): Promise<void> {
    await this.close();
    await setAside(this.#fs, this.#path);
    this.#slots = 0;
    this.#newest = null;
    this.#isDamaged = false;
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = null;
  }
}
