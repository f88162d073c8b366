/**
 * The files of what is reported: which there are, when they are written, and in which order. Each is written whole, so saves are rare, and
 * the rarer the more they write.
 */
import assert from 'node:assert/strict';
import type { Applications } from './applications.ts';
import type { MinuteTable } from './minute-table.ts';
import { SIDES, type Side } from './reports.ts';
import type { RowFiles } from './row-files.ts';
import { SavedTable } from './saved-table.ts';
import { DAY_MS, floorTo, idOf, type PeriodId, type UsageTable } from './usage-table.ts';

/** A first change is saved after this time, so that a restart soon after it finds it. */
const SAVE_SOON_MS = 1_000;

/** Between two saves: half of what a crash may lose, since a save takes a while. */
export const SAVE_INTERVAL_MS = 30_000;

/**
 * A save is followed by a pause of a second for each so many bytes: files are written whole, and the tokens of pages are public, so
 * small reports on much in each period could cause writes of 138 GB a day. A failed sign-in saves a file too,
 * and refused tokens logged besides: both together stay below 1 GB in a day.
 */
export const SAVED_BYTES_A_SECOND = 8 * 1024;

export interface UsageFilesOptions {
  readonly folder: RowFiles;
  /** Milliseconds since 1970. */
  now(): number;
  /** Whether the disk has room to spare: nothing is saved while it has not. */
  hasRoom(): boolean;
  /** Told why something could not be read, or saved, which is tried again. */
  onFault(error: unknown): void;
  /** Calls back after so many milliseconds. Must not keep the process alive. */
  timer(delayMs: number, callback: () => void): void;
}

/** Usage reported by one side, servers or pages. */
export interface SideUsage {
  readonly counts: UsageTable;
  /** Not saved. */
  readonly minutes: MinuteTable;
  readonly applications: Applications;
}

/** Everything that is saved. */
interface UsageParts {
  readonly sides: Readonly<Record<Side, SideUsage>>;
  readonly signIns: SavedTable;
  readonly seen: SavedTable;
}

/** Up to which position of the stream of a cluster the other tables have counted. */
class Position extends SavedTable {
  #value = 0;

  get value(): number {
    return this.#value;
  }

  move(position: number): void {
    this.#value = position;
    this.isSaved = false;
  }

  *rows(): Generator<readonly unknown[]> {
    yield [this.#value];
  }

  load([position]: readonly unknown[]): void {
    if (Number.isSafeInteger(position)) this.#value = position as number;
  }
}

const PERIOD_PATTERN = /^(backend|frontend)-(hour|day)-([0-9]{1,15})$/;

export class UsageFiles {
  readonly #options: UsageFilesOptions;
  readonly #parts: UsageParts;
  readonly position = new Position();
  /** Names of its files. */
  readonly #names = new Set<string>();
  /** Whether a save waits for its time. */
  #isScheduled = false;
  /** The last save that was asked for; each waits for the one before. */
  #saving: Promise<void> = Promise.resolve();
  #savedAtMs = Number.NEGATIVE_INFINITY;
  /** After which the next save may come. */
  #pauseMs = SAVE_INTERVAL_MS;

  constructor(options: UsageFilesOptions, parts: UsageParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** Loads what earlier starts saved. */
  async read(): Promise<void> {
    assert(this.#savedAtMs === Number.NEGATIVE_INFINITY, 'nothing is saved before the files are read');
    const { folder } = this.#options;
    const names = await folder.names();
    const others = new Map(this.#tables());
    for (const name of names) {
      const [, side, kind, start] = PERIOD_PATTERN.exec(name) ?? [];
      const known = others.get(name);
      if (side === undefined && known === undefined) continue;
      this.#names.add(name);
      const id = { kind: kind as PeriodId['kind'], startMs: Number(start) };
      const day = idOf({ kind: 'day', startMs: floorTo(id.startMs, DAY_MS) });
      // A day was folded of these hours, and then the process ended before they were deleted.
      if (kind === 'hour' && names.includes(`${side}-${day}`)) continue;
      const table: SavedTable = known ?? this.#parts.sides[side as Side].counts.period(id);
      await folder.read(name, (row) => table.load(row));
    }
  }

  /** By the names of their files, in the order in which they are saved. */
  *#tables(): Generator<readonly [name: string, table: SavedTable]> {
    const { sides, signIns, seen } = this.#parts;
    // First: a crash in between loses reports of the last minute, and counts none twice.
    yield ['position', this.position];
    for (const side of SIDES) {
      const { applications, counts } = sides[side];
      yield [`${side}-applications`, applications];
      for (const period of counts.periods()) yield [`${side}-${idOf(period)}`, period];
    }
    yield ['sign-ins', signIns];
    // Last, so that a flag whose counts are saved has been seen there too.
    yield ['seen', seen];
  }

  /** Resolves when the save that is under way has ended. */
  get saved(): Promise<void> {
    return this.#saving;
  }

  /** Saves what changed; on disk when it resolves. Never rejects. */
  save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#save());
    return this.#saving;
  }

  /** Something changed, which is saved soon. */
  changed(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const sinceMs = this.#options.now() - this.#savedAtMs;
    const isQuiet = !(sinceMs >= 0 && sinceMs < this.#pauseMs);
    this.#options.timer(isQuiet ? SAVE_SOON_MS : this.#pauseMs - sinceMs, () => {
      this.#isScheduled = false;
      void this.save();
    });
  }

  async #save(): Promise<void> {
    const { now, hasRoom, onFault, folder } = this.#options;
    this.#savedAtMs = now();
    if (!hasRoom()) return this.changed();
    for (const { applications, counts } of Object.values(this.#parts.sides)) {
      applications.advance(now());
      counts.advance(now());
    }
    const writtenBefore = folder.writtenBytes;
    const tables = new Map(this.#tables());
    try {
      for (const [name, table] of tables) await this.#saveTable(name, table);
      for (const name of this.#names) {
        if (tables.has(name)) continue;
        await folder.remove(name);
        this.#names.delete(name);
      }
    } catch (error) {
      onFault(error);
      this.changed();
    }
    const written = folder.writtenBytes - writtenBefore;
    assert(written >= 0, 'the bytes that were written are only added up');
    if (written > 0)
      this.#pauseMs = Math.max(SAVE_INTERVAL_MS, Math.ceil((written * 1000) / SAVED_BYTES_A_SECOND));
  }

  /** Saves the rows in a file of their own, if they changed; again later where that fails. */
  async #saveTable(name: string, table: SavedTable): Promise<void> {
    if (!table.takeChanged()) return;
    this.#names.add(name);
    await this.#options.folder.write(name, table.rows()).catch((error: unknown) => {
      table.saveAgain();
      throw error;
    });
  }
}
