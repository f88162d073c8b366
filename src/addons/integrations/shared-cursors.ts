/**
 * The cursors of a cluster: a table that the nodes share, and that the leader replaces after each delivery. A replacement names the
 * revision that it is made of, so a node which was deposed while it stood still cannot take cursors back; a leader begins with one,
 * which ends the turn of the node before it.
 *
 * Each cursor is also in the file of the node, for when it runs alone.
 */
import type { SharedValue } from '../../host/addon.ts';
import type { Cursor, CursorStore, Cursors, DeliveryRow, NewRow } from './cursors.ts';

interface Table {
  /** The leadership that wrote it. */
  readonly run: string;
  readonly rows: readonly (readonly [id: number, eventId: number, failingSinceMs: number | null])[];
}

export interface SharedCursorsOptions {
  readonly file: CursorStore;
  readonly shared: SharedValue;
  /** A name that no other leadership has. */
  newRun(): string;
}

export class SharedCursors implements CursorStore {
  readonly #options: SharedCursorsOptions;
  readonly #table = new Map<number, Cursor>();
  #run = '';
  /** The revision that the next write replaces; null where it is not known whether the last write was taken. */
  #revision: number | null = 0;
  /** The write under way, and the one behind it, which takes all cursors that come meanwhile. */
  #writing: Promise<boolean> = Promise.resolve(true);
  #next: Promise<boolean> | null = null;

  constructor(options: SharedCursorsOptions) {
    this.#options = options;
  }

  async load(): Promise<{ readonly cursors: Cursors; readonly isWhole: boolean }> {
    const { file, shared, newRun } = this.#options;
    const own = await file.load();
    const value = await shared.read();
    const cursors = value === null ? own.cursors : cursorsIn(value.bytes);
    this.#run = newRun();
    this.#revision = value?.revision ?? 0;
    this.#table.clear();
    for (const id of own.cursors.keys()) if (!cursors.has(id)) await file.save(id, null);
    for (const [id, cursor] of cursors) {
      this.#table.set(id, cursor);
      if (value !== null) await file.save(id, cursor);
    }
    if (!(await this.#write())) throw new Error('another node has begun to send to integrations');
    return { cursors, isWhole: value !== null || own.isWhole };
  }

  async save(id: number, cursor: Cursor | null, row?: NewRow): Promise<boolean> {
    if (cursor === null) this.#table.delete(id);
    else this.#table.set(id, cursor);
    await this.#options.file.save(id, cursor, row);
    this.#next ??= this.#writing.then(() => {
      this.#next = null;
      return this.#write();
    });
    const written = this.#next;
    this.#writing = written.catch(() => true);
    return written;
  }

  /** Deliveries are those of this node. */
  addRow(id: number, cursor: Cursor, row: NewRow): Promise<unknown> {
    return this.#options.file.addRow(id, cursor, row);
  }

  rows(id: number): Promise<readonly DeliveryRow[]> {
    return this.#options.file.rows(id);
  }

  async #write(): Promise<boolean> {
    const { shared } = this.#options;
    const rows = [...this.#table].map(
      ([id, { eventId, failingSinceMs }]) => [id, eventId, failingSinceMs] as const,
    );
    const table: Table = { run: this.#run, rows };
    const revision = this.#revision ?? (await this.#revisionOfOwn());
    if (revision === null) return false;
    this.#revision = null;
    const written = await shared.write(Buffer.from(JSON.stringify(table)), revision);
    this.#revision = written;
    return written !== null;
  }

  /** The revision after a write whose outcome is not known; null where another leadership has written. */
  async #revisionOfOwn(): Promise<number | null> {
    const value = await this.#options.shared.read();
    if (value === null) return 0;
    return tableIn(value.bytes).run === this.#run ? value.revision : null;
  }

  close(): Promise<void> {
    return this.#options.file.close();
  }
}

const tableIn = (bytes: Buffer): Table => JSON.parse(bytes.toString()) as Table;

const cursorsIn = (bytes: Buffer): Cursors =>
  new Map(tableIn(bytes).rows.map(([id, eventId, failingSinceMs]) => [id, { eventId, failingSinceMs }]));
