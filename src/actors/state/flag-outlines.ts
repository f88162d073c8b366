/**
 * Outlines: the values that a start needs of the flags in a block of a snapshot while they are not decoded, a column for each
 * field. Names, projects, revisions and authors are those of the records; memory and references are derived from them, may
 * be counted otherwise by a later build, and are corrected when a flag is decoded (packed-flags.ts).
 */
import assert from 'node:assert/strict';
import type { Flag } from '../../domain/flags/flag.ts';
import { referenceUses } from '../../domain/state/references.ts';
import { recordSize } from '../../domain/state/state-memory.ts';

/** A record of the section `flags`. */
export interface FlagSnapshotRecord {
  readonly flag: Flag;
  readonly revision: number;
  /** Absent in snapshots that are older than the field. */
  readonly createdBy?: number | null;
}

export interface FlagOutline {
  readonly name: string;
  readonly project: string;
  readonly revision: number;
  readonly createdBy: number | null;
  /** Memory that the flag takes. */
  readonly bytes: number;
  /** References as `referenceUses` lists them. */
  readonly references: readonly string[];
  /** Names of the environments in which the flag is enabled; null for one that is archived. */
  readonly enabledIn: readonly string[] | null;
}

/** All lists are as long as the block has flags, but for `projects`, `references` and `enabledIn`, which hold what they refer to once. */
interface OutlineColumns {
  readonly names: readonly string[];
  readonly revisions: readonly number[];
  readonly createdBy: readonly (number | null)[];
  readonly memoryBytes: readonly number[];
  readonly projects: readonly string[];
  readonly projectAt: readonly number[];
  readonly references: readonly (readonly string[])[];
  readonly referencesAt: readonly number[];
  readonly enabledIn: readonly (readonly string[] | null)[];
  readonly enabledInAt: readonly number[];
}

export function outlineOf({ flag, revision, createdBy = null }: FlagSnapshotRecord): FlagOutline {
  return {
    name: flag.name,
    project: flag.project,
    revision,
    createdBy,
    bytes: recordSize(flag),
    references: referenceUses(flag),
    enabledIn:
      flag.archivedAt === null
        ? flag.environments.filter(({ enabled }) => enabled).map(({ name }) => name)
        : null,
  };
}

/** The outline of a block, as it is written. */
export function outlinesOf(records: readonly unknown[]): OutlineColumns {
  const outlines = (records as readonly FlagSnapshotRecord[]).map(outlineOf);
  const projects = new Places<string>();
  const references = new Places<readonly string[]>();
  const enabledIn = new Places<readonly string[] | null>();
  const columns: OutlineColumns = {
    names: outlines.map(({ name }) => name),
    revisions: outlines.map(({ revision }) => revision),
    createdBy: outlines.map(({ createdBy }) => createdBy),
    memoryBytes: outlines.map(({ bytes }) => bytes),
    projectAt: outlines.map(({ project }) => projects.of(project)),
    projects: projects.all,
    referencesAt: outlines.map((outline) => references.of(outline.references)),
    references: references.all,
    enabledInAt: outlines.map((outline) => enabledIn.of(outline.enabledIn)),
    enabledIn: enabledIn.all,
  };
  assert(projects.all.length <= outlines.length, 'a flag is in one project');
  return columns;
}

/** Numbers different things in the order in which they come. */
class Places<T> {
  readonly #places = new Map<string, number>();
  readonly all: T[] = [];

  of(value: T): number {
    // Names may hold any character that could stand between them.
    const key = JSON.stringify(value);
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.all.push(value) - 1;
      this.#places.set(key, place);
      assert(this.#places.size === this.all.length, 'each number stands for one thing');
    }
    return place;
  }
}

/** Flags of one project that refer to the same. */
export interface OutlinedUses {
  readonly project: string;
  readonly references: readonly string[];
  count: number;
}

/** The outlines of the flags in a block, as they were read. */
export class FlagOutlines {
  readonly #columns: OutlineColumns;

  private constructor(columns: OutlineColumns) {
    this.#columns = columns;
  }

  /** Null for anything else than what `outlinesOf` makes of `count` flags, such as what a later build makes. */
  static of(written: unknown, count: number): FlagOutlines | null {
    const columns = written as OutlineColumns;
    return isOutline(columns, count) ? new FlagOutlines(columns) : null;
  }

  at(at: number): FlagOutline {
    const { names, revisions, createdBy, memoryBytes } = this.#columns;
    const { projects, projectAt, references, referencesAt, enabledIn, enabledInAt } = this.#columns;
    assert(at >= 0 && at < names.length, 'a block has an outline of each of its flags');
    return {
      name: names[at]!,
      project: projects[projectAt[at]!]!,
      revision: revisions[at]!,
      createdBy: createdBy[at]!,
      bytes: memoryBytes[at]!,
      references: references[referencesAt[at]!]!,
      enabledIn: enabledIn[enabledInAt[at]!]!,
    };
  }

  /** Whether they are those of these flags in these revisions. */
  areOf(records: readonly FlagSnapshotRecord[]): boolean {
    const { names, revisions, createdBy, projects, projectAt } = this.#columns;
    return (
      records.length === names.length &&
      records.every(
        (record, at) =>
          record.revision === revisions[at] &&
          record.flag.name === names[at] &&
          record.flag.project === projects[projectAt[at]!] &&
          (record.createdBy ?? null) === createdBy[at],
      )
    );
  }

  /** Counts the references of the flags: most flags of a block refer to the same. */
  uses(): Iterable<OutlinedUses> {
    const { projects, projectAt, references, referencesAt } = this.#columns;
    const uses = new Map<number, OutlinedUses>();
    for (let at = 0; at < projectAt.length; at += 1) {
      const key = projectAt[at]! * references.length + referencesAt[at]!;
      const known = uses.get(key);
      if (known !== undefined) known.count += 1;
      else
        uses.set(key, {
          project: projects[projectAt[at]!]!,
          references: references[referencesAt[at]!]!,
          count: 1,
        });
    }
    return uses.values();
  }
}

function isOutline(columns: OutlineColumns, count: number): boolean {
  if (typeof columns !== 'object' || columns === null) return false;
  const { names, revisions, createdBy, memoryBytes } = columns;
  const { projects, projectAt, references, referencesAt, enabledIn, enabledInAt } = columns;
  const isPlaceIn = (list: readonly unknown[]) => (at: unknown) =>
    isInteger(at) && at >= 0 && at < list.length;
  return (
    isListOf(projects, isText) &&
    isListOf(references, (keys) => isListOf(keys, isText)) &&
    isListOf(enabledIn, (names) => names === null || isListOf(names, isText)) &&
    [names, revisions, createdBy, memoryBytes, projectAt, referencesAt, enabledInAt].every(
      (list) => Array.isArray(list) && list.length === count,
    ) &&
    names.every(isText) &&
    revisions.every(isInteger) &&
    createdBy.every((id) => id === null || isInteger(id)) &&
    memoryBytes.every(isInteger) &&
    projectAt.every(isPlaceIn(projects)) &&
    referencesAt.every(isPlaceIn(references)) &&
    enabledInAt.every(isPlaceIn(enabledIn))
  );
}

const isText = (value: unknown): value is string => typeof value === 'string';

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);

const isListOf = (value: unknown, isOne: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isOne);

/** Whether both are of one record; what is derived from it may differ. */
export const isSameRecord = (one: FlagOutline, other: FlagOutline): boolean =>
  one.name === other.name &&
  one.project === other.project &&
  one.revision === other.revision &&
  one.createdBy === other.createdBy &&
  one.enabledIn?.join(' ') === other.enabledIn?.join(' ');
