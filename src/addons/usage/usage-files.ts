/**
 * The files of what is reported: which there are, when they are written, and in which order. Each is written whole, so saves are rare, and
 * the rarer the more they write.
 */
import assert from 'node:assert/strict';
import type { Applications } from './applications.ts';
import { SIDES, type Side } from './reports.ts';
import type { SavedTable } from './saved-table.ts';
import type { UsageFolder } from './usage-folder.ts';
import { DAY_MS, floorTo, type PeriodId, type UsageTable } from './usage-table.ts';

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

const SEEN_FILE = 'seen';
const SIGN_INS_FILE = 'sign-ins';

/** Up to which position of the stream of the cluster the other files have counted. */
const POSITION_FILE = 'position';

export interface UsageFilesOptions {
  readonly folder: UsageFolder;
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
  readonly applications: Applications;
}

/** Everything that is saved. */
interface UsageParts {
  readonly sides: Readonly<Record<Side, SideUsage>>;
  readonly signIns: SavedTable;
  readonly seen: SavedTable;
}

export class UsageFiles {
  readonly #options: UsageFilesOptions;
  readonly #parts: UsageParts;
  /** Whether a save waits for its time. */
  #isScheduled = false;
  /** The last save that was asked for; each waits for the one before. */
  #saving: Promise<void> = Promise.resolve();
  #savedAtMs = Number.NEGATIVE_INFINITY;
  /** Up to which position of the stream of a cluster all is counted, and as far as it is saved. */
  position = 0;
  #savedPosition = 0;
  /** After which the next save may come. */
  #pauseMs = SAVE_INTERVAL_MS;

  constructor(options: UsageFilesOptions, parts: UsageParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** Calls back with each row that earlier starts saved. */
  async read(load: (source: UsageSource, row: readonly unknown[]) => void): Promise<void> {
    assert(this.#savedAtMs === Number.NEGATIVE_INFINITY, 'nothing is saved before the files are read');
    const { folder } = this.#options;
    const names = await folder.names();
    const known = new Set(names);
    if (known.has(POSITION_FILE))
      await folder.read(POSITION_FILE, ([position]) => {
        if (Number.isSafeInteger(position)) this.position = position as number;
      });
    this.#savedPosition = this.position;
    for (const name of names) {
      const source = sourceOf(name);
      if (source === null) continue;
      // A day was folded of these hours, and then the process ended before they were deleted.
      if (source.kind === 'period' && isFolded(source, known)) await folder.remove(name);
      else await folder.read(name, (row) => load(source, row));
    }
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
    const { signIns, seen } = this.#parts;
    this.#savedAtMs = now();
    if (!hasRoom()) return this.changed();
    const writtenBefore = folder.writtenBytes;
    try {
      // First: a crash in between loses reports of the last minute, and counts none twice.
      await this.#savePosition();
      for (const side of SIDES) await this.#saveSide(side);
      await this.#saveRows(SIGN_INS_FILE, signIns);
      // Last, so that a flag whose counts are saved has been seen there too.
      await this.#saveRows(SEEN_FILE, seen);
    } catch (error) {
      onFault(error);
      this.changed();
    }
    const written = folder.writtenBytes - writtenBefore;
    assert(written >= 0, 'the bytes that were written are only added up');
    if (written > 0)
      this.#pauseMs = Math.max(SAVE_INTERVAL_MS, Math.ceil((written * 1000) / SAVED_BYTES_A_SECOND));
  }

  async #savePosition(): Promise<void> {
    const { position } = this;
    if (position === this.#savedPosition) return;
    await this.#options.folder.write(POSITION_FILE, [[position]]);
    this.#savedPosition = position;
  }

  /** Saves the rows in a file of their own, if they changed; again later where that fails. */
  async #saveRows(name: string, source: SavedTable): Promise<void> {
    if (!source.takeChanged()) return;
    await this.#options.folder.write(name, source.rows()).catch((error: unknown) => {
      source.saveAgain();
      throw error;
    });
  }

  async #saveSide(side: Side): Promise<void> {
    const { folder, now } = this.#options;
    const { applications, counts } = this.#parts.sides[side];
    applications.advance(now());
    await this.#saveRows(`${side}-applications`, applications);
    counts.advance(now());
    const changes = counts.takeChanges();
    try {
      for (const id of changes.changed) await folder.write(periodName(side, id), counts.rows(id));
      const written = new Set(changes.changed.map((id) => periodName(side, id)));
      for (const id of changes.removed) {
        const name = periodName(side, id);
        if (!written.has(name)) await folder.remove(name);
      }
    } catch (error) {
      counts.saveAgain(changes);
      throw error;
    }
  }
}

/** The kind of the rows of a file. */
export type UsageSource =
  | { readonly kind: 'seen' }
  | { readonly kind: 'sign-ins' }
  | { readonly kind: 'applications'; readonly side: Side }
  | { readonly kind: 'period'; readonly side: Side; readonly period: PeriodId };

const FILE_PATTERN = /^(backend|frontend)-(?:(applications)|(hour|day)-([0-9]{1,15}))$/;

/** By the start in milliseconds since 1970. */
function periodName(side: Side, { kind, startMs }: PeriodId): string {
  return `${side}-${kind}-${startMs}`;
}

/** Returns what a file of this name holds; null for a file of another program. */
function sourceOf(name: string): UsageSource | null {
  if (name === SEEN_FILE) return { kind: 'seen' };
  if (name === SIGN_INS_FILE) return { kind: 'sign-ins' };
  const [, side, applications, kind, start] = FILE_PATTERN.exec(name) ?? [];
  if (side === undefined) return null;
  const found = side as Side;
  if (applications !== undefined) return { kind: 'applications', side: found };
  return { kind: 'period', side: found, period: { kind: kind as PeriodId['kind'], startMs: Number(start) } };
}

function isFolded({ side, period }: UsageSource & { kind: 'period' }, names: ReadonlySet<string>): boolean {
  const day: PeriodId = { kind: 'day', startMs: floorTo(period.startMs, DAY_MS) };
  return period.kind === 'hour' && names.has(periodName(side, day));
}
