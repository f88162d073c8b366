/**
 * Changes of the state that can be taken back and made again, for a server that decides on a state of which a part may never have
 * happened (src/actors/undecided.ts). Each container of the state says, while a change is recorded, how to undo what it does.
 *
 * The recording is a variable of this module, and not a parameter, because every container of the state would have to carry it
 * through every call for the one caller who needs it. It is set only within one synchronous step. Where nothing is recorded, as in
 * every server that stands alone, a container finds null and goes on.
 */
import assert from 'node:assert/strict';

/** One change of one container. Steps are undone in the opposite order, and made again in theirs. */
export interface Step {
  undo(): void;
  redo(): void;
}

/** The steps of one change. */
export class Recording {
  readonly steps: Step[] = [];
  /** Containers that a step restores as a whole: what else happens to them needs no undoing of its own. */
  restored: Set<object> | null = null;
  #isDone = true;

  get isDone(): boolean {
    return this.#isDone;
  }

  /** Whether it takes a time in proportion to the size of some container to undo it. */
  get isDear(): boolean {
    return this.restored !== null;
  }

  undo(): void {
    assert(this.#isDone && open === null, 'what is undone was done, and is not recorded');
    for (let at = this.steps.length - 1; at >= 0; at -= 1) this.steps[at]!.undo();
    this.#isDone = false;
  }

  redo(): void {
    assert(!this.#isDone && open === null, 'what is made again was undone, and is not recorded');
    for (const step of this.steps) step.redo();
    this.#isDone = true;
  }
}

let open: Recording | null = null;

export const isRecording = (): boolean => open !== null;

/** Records all that `run` changes. */
export function record(recording: Recording, run: () => void): void {
  assert(open === null, 'one change is recorded at a time');
  open = recording;
  try {
    run();
  } finally {
    open = null;
  }
}

/** For what a reader may do at any time, and what therefore is no part of a change: such as decoding a flag. */
export function unrecorded<T>(run: () => T): T {
  const before = open;
  open = null;
  try {
    return run();
  } finally {
    open = before;
  }
}

export function addStep(step: Step): void {
  open?.steps.push(step);
}

/** A step that is undone as it is made: by exchanging values. */
export function addSwap(swap: () => void): void {
  open?.steps.push({ undo: swap, redo: swap });
}

/** A step of two functions, which are no properties where they are written: the compiler would give each its name, each time. */
export function addPair(undo: () => void, redo: () => void): void {
  open?.steps.push({ undo, redo });
}

/** True for the first call with this container in a change; false where nothing is recorded. */
export function isFirstRestored(container: object): boolean {
  if (open === null || open.restored?.has(container) === true) return false;
  open.restored ??= new Set();
  open.restored.add(container);
  return true;
}

export const isRestored = (container: object): boolean => open?.restored?.has(container) === true;

/** Records the present values of fields, to be called before they change. */
export function keepFields<T extends object>(holder: T, names: readonly (keyof T)[]): void {
  if (open === null) return;
  const others = names.map((name) => holder[name]);
  addSwap(() => {
    for (let at = 0; at < names.length; at += 1) {
      const name = names[at]!;
      const now = holder[name];
      holder[name] = others[at]!;
      others[at] = now;
    }
  });
}

/** `map.set`. */
export function setEntry<K, V>(map: Map<K, V>, key: K, value: V): void {
  if (open !== null) {
    const had = map.has(key);
    const before = map.get(key) as V;
    addPair(
      () => void (had ? map.set(key, before) : map.delete(key)),
      () => void map.set(key, value),
    );
  }
  map.set(key, value);
}

/** `map.delete` in a map whose order nobody sees. */
export function deleteEntry<K, V>(map: Map<K, V>, key: K): void {
  const value = map.get(key);
  if (value !== undefined)
    addStep({ undo: () => void map.set(key, value), redo: () => void map.delete(key) });
  map.delete(key);
}

/** `map.delete` in a map whose order is part of the state. */
export function deleteInOrder<K, V>(map: Map<K, V>, key: K): void {
  if (open !== null && map.has(key)) {
    if (isFirstRestored(map)) {
      const before = new Map(map);
      open.steps.push({ undo: () => refill(map, before), redo: () => undefined });
    }
    open.steps.push({ undo: () => undefined, redo: () => void map.delete(key) });
  }
  map.delete(key);
}

export function refill<K, V>(map: Map<K, V>, entries: Iterable<readonly [K, V]>): void {
  map.clear();
  for (const [key, value] of entries) map.set(key, value);
}
