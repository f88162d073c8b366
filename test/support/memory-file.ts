/**
 * The content of one simulated file, and what of it a power cut may take back.
 *
 * `content` is what reads see. `durable` is what the last sync confirmed. Between the two lie the changes since, in
 * order; a power cut keeps some of them, wholly or page by page.
 */
import type { SeededRandom } from './seeded-random.ts';

/** Bytes that disks and kernels write as a unit; a write across pages may survive in any part of them. */
const PAGE_BYTES = 512;

type Change =
  | { readonly kind: 'write'; readonly position: number; readonly bytes: Uint8Array }
  | { readonly kind: 'truncate'; readonly size: number };

/**
 * The fate of changes that were not synced: all kept, all lost, the first ones kept and the next one torn, any
 * pages of any of them kept, or one of these by chance.
 */
export type Survival = 'kept' | 'lost' | 'torn' | 'reordered' | 'any';

export class MemoryFile {
  #content = new GrowingBytes();
  #durable = new GrowingBytes();
  #changes: Change[] = [];

  get size(): number {
    return this.#content.size;
  }

  read(target: Uint8Array, targetOffset: number, length: number, position: number): number {
    const bytes = this.#content.slice(position, position + length);
    target.set(bytes, targetOffset);
    return bytes.length;
  }

  write(bytes: Uint8Array, position: number): void {
    // Not `slice`, which in a Buffer is a view: the caller's buffer is reused long before the power goes.
    const copy = new Uint8Array(bytes);
    this.#content.write(copy, position);
    this.#changes.push({ kind: 'write', position, bytes: copy });
  }

  truncate(size: number): void {
    this.#content.resize(size);
    this.#changes.push({ kind: 'truncate', size });
  }

  sync(): void {
    for (const change of this.#changes) apply(this.#durable, change);
    this.#changes = [];
  }

  /** A failed sync: readers still see the changes, but the kernel has marked the pages clean and forgets them. */
  forgetChanges(): void {
    this.#changes = [];
  }

  /** All that is readable now, as on a machine that lost nothing. */
  bytes(): Buffer {
    return Buffer.from(this.#content.slice(0, this.#content.size));
  }

  /** Replaces the content, synced: how tests damage a file. */
  replace(bytes: Uint8Array): void {
    this.#content = new GrowingBytes();
    this.#content.write(bytes, 0);
    this.#durable = this.#content.copy();
    this.#changes = [];
  }

  /** The file that a power cut leaves behind. */
  afterPowerCut(survival: Survival, random: SeededRandom): MemoryFile {
    const survivor = new MemoryFile();
    const bytes = this.#durable.copy();
    for (const change of survivingChanges(this.#changes, survival, random)) apply(bytes, change);
    survivor.#content = bytes;
    survivor.#durable = bytes.copy();
    return survivor;
  }
}

function apply(bytes: GrowingBytes, change: Change): void {
  if (change.kind === 'write') bytes.write(change.bytes, change.position);
  else bytes.resize(change.size);
}

const CHANCES: readonly Survival[] = ['kept', 'lost', 'torn', 'reordered'];

function survivingChanges(
  changes: readonly Change[],
  survival: Survival,
  random: SeededRandom,
): readonly Change[] {
  switch (survival) {
    case 'kept':
      return changes;
    case 'lost':
      return [];
    case 'torn':
      return tornAfterPrefix(changes, random);
    case 'reordered':
      return changes.flatMap((change) => anyPages(change, random));
    case 'any':
      return survivingChanges(changes, CHANCES[random.below(CHANCES.length)] ?? 'lost', random);
  }
}

function tornAfterPrefix(changes: readonly Change[], random: SeededRandom): readonly Change[] {
  const whole = random.below(changes.length + 1);
  const next = changes[whole];
  if (next === undefined || next.kind === 'truncate') return changes.slice(0, whole);
  const bytes = next.bytes.slice(0, random.below(next.bytes.length + 1));
  return [...changes.slice(0, whole), { ...next, bytes }];
}

function anyPages(change: Change, random: SeededRandom): readonly Change[] {
  if (change.kind === 'truncate') return random.chance(0.5) ? [change] : [];
  const pages: Change[] = [];
  const end = change.position + change.bytes.length;
  for (let position = change.position; position < end; ) {
    const next = Math.min(end, (Math.floor(position / PAGE_BYTES) + 1) * PAGE_BYTES);
    const bytes = change.bytes.slice(position - change.position, next - change.position);
    if (random.chance(0.5)) pages.push({ kind: 'write', position, bytes });
    position = next;
  }
  return pages;
}

/** Bytes that can be written at any position; a gap reads as zeros. */
class GrowingBytes {
  #bytes = new Uint8Array(256);
  size = 0;

  slice(start: number, end: number): Uint8Array {
    return this.#bytes.subarray(Math.min(start, this.size), Math.min(end, this.size));
  }

  write(bytes: Uint8Array, position: number): void {
    const end = position + bytes.length;
    if (end > this.size && bytes.length > 0) this.resize(end);
    this.#bytes.set(bytes, position);
  }

  resize(size: number): void {
    if (size > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(size, this.#bytes.length * 2));
      larger.set(this.#bytes.subarray(0, this.size));
      this.#bytes = larger;
    }
    if (size < this.size) this.#bytes.fill(0, size, this.size);
    this.size = size;
  }

  copy(): GrowingBytes {
    const copy = new GrowingBytes();
    copy.write(this.slice(0, this.size), 0);
    return copy;
  }
}
