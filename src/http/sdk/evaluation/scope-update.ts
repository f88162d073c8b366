/**
 * From an evaluator to the next one, step by step: what is gone from the shelves that changed leaves it, what stands on them now is
 * compiled and put in, and then the columns are made by which lists are evaluated.
 */
import type { Evaluator } from '../../../domain/evaluation/evaluator.ts';
import { compileSegment, type SegmentSource } from '../../../domain/evaluation/segment-test.ts';
import type { Flag } from '../../../domain/flags/flag.ts';
import type { ShelvedFlags } from '../../../domain/state/flag-record.ts';
import type { ProjectState } from '../../../domain/state/world.ts';

/** What is looked at of a project, as it was at one moment. */
export interface SeenProject {
  readonly revision: number;
  readonly shelves: readonly ShelvedFlags[];
}

type SeenProjects = ReadonlyMap<ProjectState, SeenProject>;

export interface ScopeUpdateOptions {
  /** Has the flags of before, and becomes the next evaluator. */
  readonly evaluator: Evaluator;
  readonly before: SeenProjects;
  readonly after: SeenProjects;
  /** Segments, which may not be compiled yet. */
  readonly segments: ReadonlyMap<number, SegmentSource>;
}

export class ScopeUpdate {
  readonly evaluator: Evaluator;
  readonly #steps: Iterator<void>;

  constructor(options: ScopeUpdateOptions) {
    this.evaluator = options.evaluator;
    this.#steps = stepsOf(options);
  }

  /** Does one more step, which looks at a shelf of flags or a block of them at most. True when there is no other. */
  advance(): boolean {
    return this.#steps.next().done === true;
  }
}

function* stepsOf({ evaluator, before, after, segments }: ScopeUpdateOptions): Generator<void, void> {
  for (const segment of segments.values()) {
    compileSegment(segment);
    yield;
  }
  const changes = [...changesOf(before, after)];
  // What is gone goes first: a flag may have left one shelf or project for another.
  for (const { known, next } of changes) {
    for (let at = sameNames(known, next); at < known.length; at += 1) evaluator.delete(known[at]!.name);
    yield;
  }
  for (const { known, next } of changes) {
    for (let at = 0; at < next.length; at += 1) {
      if (next[at] === known[at]) continue;
      evaluator.set(next[at]!);
      yield;
    }
  }
  for (const block of evaluator.blocks) {
    if (block.hasColumns) continue;
    void block.columns;
    yield;
  }
}

/** The flags of a shelf before and after. */
interface ShelfChange {
  readonly known: readonly Flag[];
  readonly next: readonly Flag[];
}

function* changesOf(before: SeenProjects, after: SeenProjects): Generator<ShelfChange, void> {
  for (const [project, seen] of after) {
    const known = before.get(project);
    if (known !== seen) yield* changedShelves(known?.shelves ?? [], seen.shelves);
  }
  for (const [project, { shelves }] of before) if (!after.has(project)) yield* changedShelves(shelves, []);
}

function* changedShelves(
  before: readonly ShelvedFlags[],
  after: readonly ShelvedFlags[],
): Generator<ShelfChange, void> {
  let at = 0;
  // Nearly all stand where they stood.
  while (at < after.length && before[at]?.shelf === after[at]!.shelf) {
    if (before[at] !== after[at]) yield { known: before[at]!.flags, next: after[at]!.flags };
    at += 1;
  }
  const others = new Map(before.slice(at).map((shelved) => [shelved.shelf, shelved]));
  for (const next of after.slice(at)) {
    const known = others.get(next.shelf);
    others.delete(next.shelf);
    if (known !== next) yield { known: known?.flags ?? [], next: next.flags };
  }
  for (const { flags } of others.values()) yield { known: flags, next: [] };
}

/** How many flags in a row, from the first on, still stand where they stood: the same ones, or as they have become. */
function sameNames(known: readonly Flag[], next: readonly Flag[]): number {
  const end = Math.min(known.length, next.length);
  let at = 0;
  while (at < end && (known[at] === next[at] || known[at]!.name === next[at]!.name)) at += 1;
  return at;
}
