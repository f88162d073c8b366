/**
 * Values that a surface derives from each flag, such as its bytes in a response: made once per change, and gone with
 * the next one, because `apply` replaces the flag and drops those of the old one.
 *
 * One instance for each surface, or for each environment of a surface whose responses depend on the environment. The
 * values hang on the flag's record as a short list. A WeakMap from flags to values would leave the record alone, but
 * reading one out of 100,000 flags took four times as long, and each full garbage collection 50 ms longer.
 */

/** A flag's record. `apply` sets `projections` to null whenever it replaces the flag. */
export interface ProjectionHolder {
  projections: KeptProjection | null;
}

/** One value in the list. */
interface KeptProjection {
  readonly of: FlagProjection<unknown>;
  value: unknown;
  readonly next: KeptProjection | null;
}

export class FlagProjection<T> {
  /** The value derived from the current flag; undefined without one. */
  get(record: ProjectionHolder): T | undefined {
    // Only `set` of this very instance makes an entry with it, so the value is a T.
    return entryOf(record, this)?.value as T | undefined;
  }

  set(record: ProjectionHolder, value: T): void {
    const entry = entryOf(record, this);
    if (entry === null) record.projections = { of: this, value, next: record.projections };
    else entry.value = value;
  }

  drop(record: ProjectionHolder): void {
    const entry = entryOf(record, this);
    if (entry !== null) entry.value = undefined;
  }
}

function entryOf(record: ProjectionHolder, projection: FlagProjection<unknown>): KeptProjection | null {
  let entry = record.projections;
  while (entry !== null && entry.of !== projection) entry = entry.next;
  return entry;
}
