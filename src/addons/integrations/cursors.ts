/**
 * The cursor of each integration, in a file of the data folder beside the journal. A cursor is written after each delivery, before the
 * next attempt, and not synced: a killed process repeats what was under way, a power cut some more, and neither loses anything.
 *
 *   32 bytes         FLCURSR1, zeros
 *   32 bytes a slot  4 id of the integration, 4 zeros, 8 last event that was delivered or passed over, 8 milliseconds since 1970 since
 *                    when deliveries fail (0: they do not), 4 zeros, 4 CRC-32 of the 28 bytes before (integers and doubles little-endian)
 *
 * A slot lies within a sector, so a power cut leaves the old or the new one. A slot of zeros is free. The first cursor in a slot is
 * synced, since a lost one could not be told from one that never was.
 */
import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import { type FileSystem, isMissing, type OpenFile } from '../../persistence/disk/file-system.ts';
import { writeFully, writeFullyDurably } from '../../persistence/disk/write-fully.ts';

export interface Cursor {
  /** The last event that was delivered or that the integration does not want. */
  readonly eventId: number;
  readonly failingSinceMs: number | null;
}

export type Cursors = ReadonlyMap<number, Cursor>;

/** A place that keeps cursors. */
export interface CursorStore {
  /** The cursors, and whether all of them are there: one that is missing belongs to a new integration. Rejects where they cannot be read now. */
  load(): Promise<{ readonly cursors: Cursors; readonly isWhole: boolean }>;
  /** Takes the cursor of one integration; null forgets it. False where another node has taken over. Rejects where it is not kept. */
  save(id: number, cursor: Cursor | null): Promise<boolean>;
  close(): Promise<void>;
}

const SLOT_BYTES = 32;
const CRC_AT = 28;
const MAGIC = Buffer.concat([Buffer.from('FLCURSR1')], SLOT_BYTES);

/** Protects memory from a file that something else wrote. */
const SLOTS_MAX = 65_536;

export class CursorFile implements CursorStore {
  readonly #fs: FileSystem;
  readonly #folder: string;
  readonly #path: string;
  #file: OpenFile | null = null;
  /** Places of slots, by integration. */
  readonly #slots = new Map<number, number>();
  readonly #free: number[] = [];
  #slotCount = 0;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(fs: FileSystem, folder: string, path: string) {
    this.#fs = fs;
    this.#folder = folder;
    this.#path = path;
  }

  async load(): Promise<{ readonly cursors: Cursors; readonly isWhole: boolean }> {
    await this.close();
    const found = await this.#open();
    this.#slots.clear();
    this.#free.length = 0;
    this.#slotCount = 0;
    const cursors = new Map<number, Cursor>();
    let isWhole = found !== null;
    const bytes = found ?? MAGIC;
    for (let at = SLOT_BYTES; at + SLOT_BYTES <= bytes.length; at += SLOT_BYTES) {
      const slot = readSlot(bytes.subarray(at, at + SLOT_BYTES));
      this.#slotCount += 1;
      if (slot === 'damaged') isWhole = false;
      if (slot === null || slot === 'damaged') {
        this.#free.push(at);
        continue;
      }
      this.#slots.set(slot.id, at);
      cursors.set(slot.id, slot.cursor);
    }
    return { cursors, isWhole };
  }

  /** The file's bytes; null where there was none, or none that can be used. */
  async #open(): Promise<Buffer | null> {
    try {
      const file = await this.#fs.open(this.#path, 'write');
      this.#file = file;
      const size = Math.min(await file.size(), SLOT_BYTES * SLOTS_MAX);
      const bytes = Buffer.alloc(size);
      const read = bytes.subarray(0, await file.read(bytes, 0, size, 0));
      if (read.subarray(0, SLOT_BYTES).equals(MAGIC)) return read;
      await file.truncate(0);
    } catch (error) {
      if (!isMissing(error)) throw error;
      this.#file = await this.#fs.open(this.#path, 'create');
    }
    await writeFullyDurably(this.#file, MAGIC, 0);
    await this.#fs.syncFolder(this.#folder);
    return null;
  }

  /** One at a time: two writes of a slot must not change places. */
  save(id: number, cursor: Cursor | null): Promise<boolean> {
    const saved = this.#writing.then(() => this.#save(id, cursor));
    this.#writing = saved.catch(() => undefined);
    return saved;
  }

  async #save(id: number, cursor: Cursor | null): Promise<true> {
    const file = this.#file;
    assert(file !== null, 'the file of cursors is open');
    const at = this.#slots.get(id);
    if (cursor === null) {
      if (at === undefined) return true;
      this.#slots.delete(id);
      await writeFully(file, Buffer.alloc(SLOT_BYTES), at);
      this.#free.push(at);
    } else if (at === undefined) await this.#saveFirst(file, id, cursor);
    else await writeFully(file, slotOf(id, cursor), at);
    return true;
  }

  async #saveFirst(file: OpenFile, id: number, cursor: Cursor): Promise<void> {
    const place = this.#free.pop() ?? SLOT_BYTES * (1 + this.#slotCount++);
    try {
      await writeFullyDurably(file, slotOf(id, cursor), place);
      this.#slots.set(id, place);
    } catch (error) {
      this.#free.push(place);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#file?.close();
    this.#file = null;
  }
}

function slotOf(id: number, { eventId, failingSinceMs }: Cursor): Buffer {
  assert(id > 0 && eventId >= 0, 'integrations and events have ids');
  const slot = Buffer.alloc(SLOT_BYTES);
  slot.writeUInt32LE(id, 0);
  slot.writeDoubleLE(eventId, 8);
  slot.writeDoubleLE(failingSinceMs ?? 0, 16);
  slot.writeUInt32LE(crc32(slot.subarray(0, CRC_AT)), CRC_AT);
  return slot;
}

function readSlot(slot: Buffer): { readonly id: number; readonly cursor: Cursor } | 'damaged' | null {
  if (slot.every((byte) => byte === 0)) return null;
  if (slot.readUInt32LE(CRC_AT) !== crc32(slot.subarray(0, CRC_AT))) return 'damaged';
  const since = slot.readDoubleLE(16);
  return {
    id: slot.readUInt32LE(0),
    cursor: { eventId: slot.readDoubleLE(8), failingSinceMs: since === 0 ? null : since },
  };
}
