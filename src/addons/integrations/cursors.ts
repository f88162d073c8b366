/**
 * A file of the data folder beside the journal: the cursor of each integration, and its last deliveries, which people look at. They are
 * written after each delivery, before the next attempt, and not synced: a killed process repeats what was under way, a power cut some
 * more, and neither loses anything.
 *
 *   512 bytes                     FLCURSR2, zeros
 *   51,712 bytes an integration   a sector for its cursor, and one for each of its last 100 deliveries, with the cursor behind it
 *
 *   a sector: 512 bytes           4 CRC-32 of length and text, 2 length of the text (little-endian), text of JSON, zeros
 *
 * Its cursor is that of the newest of these sectors: one write keeps a delivery and the cursor, since each write takes time from the
 * thread that serves requests. A power cut leaves the old sector or the new one. A sector of zeros holds nothing; the place of an integration whose first sector does
 * not hold a cursor is free. The first cursor in a place is synced, since a lost one could not be told from one that never was.
 */
import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import { type FileSystem, isMissing, type OpenFile } from '../../persistence/disk/file-system.ts';
import { writeFully, writeFullyDurably } from '../../persistence/disk/write-fully.ts';
import type { DeliveryState } from './providers/attempt.ts';

export interface Cursor {
  /** The last event that was delivered or that the integration does not want. */
  readonly eventId: number;
  readonly failingSinceMs: number | null;
}

export type Cursors = ReadonlyMap<number, Cursor>;

/** A delivery as it is listed. */
export interface DeliveryRow {
  /** Grows with each of the integration. */
  readonly id: number;
  readonly atMs: number;
  readonly state: DeliveryState;
  /** Cut where it is too long to be kept. */
  readonly reason: string;
  /** 0 for a test; null where it is about no one event. */
  readonly eventId: number | null;
}

export type NewRow = Omit<DeliveryRow, 'id'>;

/** Deliveries that are listed of an integration. */
export const ROWS_MAX = 100;

/** A place that keeps cursors and the last deliveries. */
export interface CursorStore {
  /** The cursors, and whether all of them are there: one that is missing belongs to a new integration. Rejects where they cannot be read now. */
  load(): Promise<{ readonly cursors: Cursors; readonly isWhole: boolean }>;
  /** Takes the cursor of one integration; null forgets it. False where another node has taken over. Rejects where it is not kept. */
  save(id: number, cursor: Cursor | null, row?: NewRow): Promise<boolean>;
  /** Takes a delivery that does not move the cursor. */
  addRow(id: number, cursor: Cursor, row: NewRow): Promise<unknown>;
  /** The last deliveries, newest first. */
  rows(id: number): Promise<readonly DeliveryRow[]>;
  close(): Promise<void>;
}

const SECTOR_BYTES = 512;
const TEXT_AT = 6;
const PLACE_BYTES = SECTOR_BYTES * (1 + ROWS_MAX);
const ZEROS = Buffer.alloc(SECTOR_BYTES);
const MAGIC = Buffer.concat([Buffer.from('FLCURSR2')], SECTOR_BYTES);

/** Protects memory from a file that something else wrote. */
const PLACES_MAX = 1_000;

export class CursorFile implements CursorStore {
  readonly #fs: FileSystem;
  readonly #folder: string;
  readonly #path: string;
  #file: OpenFile | null = null;
  /** By integration, as the ids of their newest rows, those that are known. */
  readonly #places = new Map<number, number>();
  readonly #rowIds = new Map<number, number>();
  readonly #free: number[] = [];
  #placeCount = 0;
  #working: Promise<unknown> = Promise.resolve();

  constructor(fs: FileSystem, folder: string, path: string) {
    this.#fs = fs;
    this.#folder = folder;
    this.#path = path;
  }

  async load(): Promise<{ readonly cursors: Cursors; readonly isWhole: boolean }> {
    await this.close();
    this.#places.clear();
    this.#rowIds.clear();
    this.#free.length = 0;
    let isWhole = await this.#open();
    const file = this.#opened;
    this.#placeCount = Math.min(PLACES_MAX, Math.ceil(((await file.size()) - SECTOR_BYTES) / PLACE_BYTES));
    const cursors = new Map<number, Cursor>();
    for (let index = 0; index < this.#placeCount; index += 1) {
      const place = placeAt(index);
      const bytes = await read(file, place, PLACE_BYTES);
      const cursor = sectorIn<CursorSector>(bytes.subarray(0, SECTOR_BYTES));
      if (cursor === 'damaged') isWhole = false;
      if (cursor === null || cursor === 'damaged') {
        this.#free.push(place);
        continue;
      }
      const { integration, eventId, failingSinceMs, rowId } = cursor;
      const [newest] = rowsIn(bytes.subarray(SECTOR_BYTES));
      this.#places.set(integration, place);
      this.#rowIds.set(integration, Math.max(rowId, newest?.id ?? 0));
      const isOlder = newest !== undefined && newest.id > rowId;
      cursors.set(integration, isOlder ? newest.cursor : { eventId, failingSinceMs });
    }
    return { cursors, isWhole };
  }

  /** Whether there was a file, and one that can be used. */
  async #open(): Promise<boolean> {
    try {
      this.#file = await this.#fs.open(this.#path, 'write');
      if ((await read(this.#file, 0, SECTOR_BYTES)).equals(MAGIC)) return true;
      await this.#file.truncate(0);
    } catch (error) {
      if (!isMissing(error)) throw error;
      this.#file = await this.#fs.open(this.#path, 'create');
    }
    await writeFullyDurably(this.#file, MAGIC, 0);
    await this.#fs.syncFolder(this.#folder);
    return false;
  }

  save(id: number, cursor: Cursor | null, row?: NewRow): Promise<boolean> {
    return this.#inOrder(async () => {
      if (cursor === null) await this.#forget(id);
      else await this.#save(id, cursor, row);
      return true;
    });
  }

  addRow(id: number, cursor: Cursor, row: NewRow): Promise<unknown> {
    return this.#inOrder(async () => this.#places.has(id) && this.#save(id, cursor, row));
  }

  /** One at a time: two writes of a sector must not change places, and a read sees what was written before it. */
  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#working.then(work);
    this.#working = done.catch(() => undefined);
    return done;
  }

  async #forget(id: number): Promise<void> {
    const place = this.#places.get(id);
    if (place === undefined) return;
    this.#places.delete(id);
    this.#rowIds.delete(id);
    await writeFully(this.#opened, ZEROS, place);
    this.#free.push(place);
  }

  async #save(integration: number, cursor: Cursor, row: NewRow | undefined): Promise<void> {
    assert(integration > 0 && cursor.eventId >= 0, 'integrations and events have ids');
    const place = this.#places.get(integration) ?? (await this.#saveFirst(integration, cursor));
    const rowId = this.#rowIds.get(integration) ?? 0;
    if (row === undefined)
      return writeFully(this.#opened, cursorSector({ integration, rowId, ...cursor }), place);
    const id = rowId + 1;
    const at = place + SECTOR_BYTES * (1 + (id % ROWS_MAX));
    await writeFully(this.#opened, rowSector({ ...row, id, cursor }), at);
    this.#rowIds.set(integration, id);
  }

  async #saveFirst(integration: number, cursor: Cursor): Promise<number> {
    const place = this.#free.pop() ?? placeAt(this.#placeCount++);
    try {
      // Wipes the deliveries of an integration that had the place before: a repair may bring its id back, and their cursors would count.
      const bytes = Buffer.concat([cursorSector({ integration, rowId: 0, ...cursor })], PLACE_BYTES);
      await writeFullyDurably(this.#opened, bytes, place);
      this.#places.set(integration, place);
      return place;
    } catch (error) {
      this.#free.push(place);
      throw error;
    }
  }

  rows(integration: number): Promise<readonly DeliveryRow[]> {
    return this.#inOrder(async () => {
      const place = this.#places.get(integration);
      if (place === undefined) return [];
      const bytes = await read(this.#opened, place + SECTOR_BYTES, PLACE_BYTES - SECTOR_BYTES);
      return rowsIn(bytes).map(({ cursor: _, ...row }) => row);
    });
  }

  get #opened(): OpenFile {
    assert(this.#file !== null, 'the file of cursors is open');
    return this.#file;
  }

  async close(): Promise<void> {
    await this.#working;
    await this.#file?.close();
    this.#file = null;
  }
}

/** Bytes that the file does not have are zeros. */
async function read(file: OpenFile, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  await file.read(bytes, 0, length, position);
  return bytes;
}

const placeAt = (index: number): number => SECTOR_BYTES + index * PLACE_BYTES;

/** `rowId` is that of the newest row when it was written. */
type CursorSector = Cursor & { readonly integration: number; readonly rowId: number };
type RowSector = DeliveryRow & { readonly cursor: Cursor };

/** Newest first. */
const rowsIn = (bytes: Buffer): readonly RowSector[] =>
  Array.from({ length: ROWS_MAX }, (_, at) =>
    sectorIn<RowSector>(bytes.subarray(at * SECTOR_BYTES, (at + 1) * SECTOR_BYTES)),
  )
    .filter((row) => row !== null && row !== 'damaged')
    .toSorted((a, b) => b.id - a.id);

/** Null where it is too long. */
function sectorOf(value: CursorSector | RowSector): Buffer | null {
  const text = Buffer.from(JSON.stringify(value));
  if (text.length > SECTOR_BYTES - TEXT_AT) return null;
  const sector = Buffer.alloc(SECTOR_BYTES);
  sector.writeUInt16LE(text.length, 4);
  text.copy(sector, TEXT_AT);
  sector.writeUInt32LE(crc32(sector.subarray(4, TEXT_AT + text.length)));
  return sector;
}

function cursorSector(value: CursorSector): Buffer {
  const sector = sectorOf(value);
  assert(sector !== null, 'four numbers fit into a sector');
  return sector;
}

const rowSector = (row: RowSector): Buffer =>
  sectorOf(row) ?? rowSector({ ...row, reason: row.reason.slice(0, row.reason.length >> 1) });

function sectorIn<T extends CursorSector | RowSector>(sector: Buffer): T | 'damaged' | null {
  if (sector.equals(ZEROS)) return null;
  const end = TEXT_AT + sector.readUInt16LE(4);
  if (sector.readUInt32LE() !== crc32(sector.subarray(4, end))) return 'damaged';
  return JSON.parse(sector.toString('utf8', TEXT_AT, end)) as T;
}
