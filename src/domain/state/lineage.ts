/**
 * The lineage: under which names the events of a history were recorded, one name for each start of the server that
 * wrote something. Every ETag carries the name that was in force at its revision.
 *
 * Event ids alone do not tell histories apart: a server started on a backup, on a restored folder or on an older copy
 * put back in place gives the same ids to other events, and a client from before would take a changed flag for the one
 * that it knows. So each start draws a random name, and its first frame records it. Two histories that part from each
 * other have different names from the event on at which they part. What they have in common keeps its names, on every
 * copy and on every node.
 *
 * Events of a release that recorded no names share one: a start derives it from the content, and the
 * first frame with a name records it as `before`.
 */

/** The part of a frame that names its events and all after it, until the next mark. */
export interface LineageMark {
  readonly name: string;
  /** The name of all events before; present where none of them has a recorded one. */
  readonly before?: string;
}

/** A name, and the id of the first event that has it. */
export interface LineageEntry {
  readonly from: number;
  readonly name: string;
}

/**
 * Distinct names: years of daily starts, in some 30 KB. Events before the oldest of them get its name. That
 * is safe, since a history with that name has all those events, and costs clients one more response in full.
 */
export const LINEAGE_NAMES_MAX = 1_000;

/** Names are eight hexadecimal digits. */
export const isLineageName = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{8}$/.test(value);

export class Lineage {
  /** By `from`, ascending. */
  readonly #entries: readonly LineageEntry[];
  readonly #isDerived: boolean;
  /** How often older revisions got another name: what was made of names before must be made again. */
  readonly renames: number;

  constructor(entries: readonly LineageEntry[] = [], isDerived = false, renames = 0) {
    this.#entries = entries;
    this.#isDerived = isDerived;
    this.renames = renames;
  }

  /** The recorded names of the history, oldest first. */
  get recorded(): readonly LineageEntry[] {
    return this.#isDerived ? [] : this.#entries;
  }

  /** The name in force at an event; empty before the first one. */
  nameAt(revision: number): string {
    const entry = this.#entries.findLast(({ from }) => from <= revision) ?? this.#entries[0];
    return entry?.name ?? '';
  }

  /** The lineage with a name for all events so far, where none was recorded. */
  derived(name: string): Lineage {
    return this.#entries.length > 0 ? this : new Lineage([{ from: 0, name }], true, this.renames);
  }

  /** The mark that the next frame is to record, so that `name` is in force from it on. */
  mark(name: string): LineageMark {
    return this.#isDerived ? { name, before: this.nameAt(0) } : { name };
  }

  /** The lineage with what the frame that begins with event `from` has recorded. */
  adopted(from: number, { name, before }: LineageMark, namesMax = LINEAGE_NAMES_MAX): Lineage {
    const isRenamed = before !== undefined && this.#entries.length > 0 && this.nameAt(0) !== before;
    const entries = before === undefined ? this.#entries : [{ from: 0, name: before }];
    const all = [...entries, { from, name }];
    const isFull = all.length > namesMax;
    return new Lineage(isFull ? all.slice(1) : all, false, this.renames + Number(isRenamed) + Number(isFull));
  }

  /** The lineage with one more of `recorded`, in their order. */
  restored(entry: LineageEntry): Lineage {
    return new Lineage([...this.#entries, entry], false, this.renames);
  }
}
