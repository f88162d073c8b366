/**
 * Change marks: counters in memory that all threads share, by which a thread knows at once, without a message, that what it keeps
 * may show something old.
 *
 * The protocol
 * - Whoever asks the main thread for something that it may keep reads the mark of its subject *before* it asks.
 * - The main thread raises the marks of all that a change concerns when the change is durable, before any response to it leaves.
 * - What is kept may be given as long as the mark is what was read.
 *
 * So whatever was made before a change, even when it arrives after it, has a mark from before; and a kept response never shows what
 * a crash could take back, because the main thread gave it only when all that it shows was durable (invariants 4 and 12). A mark that
 * was raised in vain costs one more question to the main thread, and nothing else.
 */

import { textHash } from '../dispatch/text-hash.ts';

/** A counter for each subject; the names of flags and projects share the places behind the fixed ones by their hash. */
export const SUBJECTS = {
  /** What concerns all flags. */
  flags: 0,
  /** Who may call, and what they may do. */
  access: 1,
  /** What any document for SDKs shows. */
  documents: 2,
  /** What the lists of all projects show. */
  lists: 3,
} as const;

const FIRST_NAMED = 16;

/** 4 MiB, shared by all threads. Of 100,000 flags, one in ten shares its place with another, and is asked for more often than need be. */
const NAMED_PLACES = 2 ** 20;

export class ChangeMarks {
  /** To be given to other threads. */
  readonly memory: SharedArrayBuffer;
  readonly #marks: Int32Array;

  constructor(memory = new SharedArrayBuffer((FIRST_NAMED + NAMED_PLACES) * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#marks = new Int32Array(memory);
  }

  /** A mark comes round after four thousand million changes of its subject. */
  read(subject: number): number {
    return Atomics.load(this.#marks, subject);
  }

  raise(subject: number): void {
    Atomics.add(this.#marks, subject, 1);
  }

  /** What is kept of nothing can be given any more. */
  raiseAll(): void {
    for (const subject of Object.values(SUBJECTS)) this.raise(subject);
  }
}

/** The subject of one flag: its mark is raised with those of the few flags in the same place. */
export function subjectOfFlag(name: string): number {
  return subjectNamed(name);
}

/** What the lists of one project show: in the same places, but not in that of the flag of that name. */
export function subjectOfProject(id: string): number {
  return subjectNamed(id, 0x050c5d1f);
}

function subjectNamed(name: string, seed?: number): number {
  return FIRST_NAMED + (textHash(name, seed) % NAMED_PLACES);
}
