/** The flags of a project: by name, and in the order of their creation, in chunks of up to 128. Immutable. */
import { type Flag, withoutEnvironment } from '../flags/flag.ts';
import { type Chunk, type Edit, PersistentMap } from '../value/persistent-map.ts';
import type { Slot } from '../value/projection.ts';
import type { FlagRecord } from './flag-record.ts';
import { growthOf } from './state-memory.ts';

/** Neighbouring flags. What is made of them is kept, and made anew only where one of them changed. */
export type FlagChunk = Chunk<string, FlagRecord>;

/** A project has few environments: a list of them is copied in no time. */
type Counts = readonly { readonly name: string; readonly count: number }[];

export class ProjectFlags {
  readonly #records: PersistentMap<string, FlagRecord>;
  /** Flags that are not archived. */
  readonly activeCount: number;
  /** By environment: flags that are enabled there and not archived. */
  readonly #enabledCounts: Counts;

  private constructor(
    records: PersistentMap<string, FlagRecord>,
    activeCount: number,
    enabledCounts: Counts,
  ) {
    this.#records = records;
    this.activeCount = activeCount;
    this.#enabledCounts = enabledCounts;
  }

  static none(): ProjectFlags {
    return new ProjectFlags(PersistentMap.empty(), 0, []);
  }

  get size(): number {
    return this.#records.size;
  }

  /** For what surfaces derive from all flags of the project. */
  get slot(): Slot {
    return this.#records.slot;
  }

  /** All flags, archived ones included. */
  get chunks(): readonly FlagChunk[] {
    return this.#records.chunks;
  }

  get(name: string): FlagRecord | undefined {
    return this.#records.get(name);
  }

  has(name: string): boolean {
    return this.#records.has(name);
  }

  /** Names in the order of creation, as are `values` and the pairs. */
  keys(): Generator<string, undefined> {
    return this.#records.keys();
  }

  values(): Generator<FlagRecord, undefined> {
    return this.#records.values();
  }

  [Symbol.iterator](): Generator<[string, FlagRecord], undefined> {
    return this.#records.entries();
  }

  /** Flags that an environment still serves: enabled in it and not archived. */
  enabledCount(environment: string): number {
    return this.#enabledCounts.find(({ name }) => name === environment)?.count ?? 0;
  }

  /** `before`: the record of the same name; null for a flag that is new. */
  with(record: FlagRecord, before: FlagRecord | null, edit: Edit): ProjectFlags {
    const records = this.#records.with(record.flag.name, record, edit);
    return this.#counted(records, before?.flag ?? null, record.flag);
  }

  without({ flag }: FlagRecord, edit: Edit): ProjectFlags {
    return this.#counted(this.#records.without(flag.name, edit), flag, null);
  }

  /** All flags lose what they have in the environment, in which none is enabled that is not archived; with by how many bytes they grow. */
  withoutEnvironment(environment: string, revision: number): readonly [ProjectFlags, number] {
    let bytes = 0;
    const records = this.#records.map((record) => {
      const { flag } = record;
      const left = withoutEnvironment(flag, environment);
      if (left === flag) return record;
      const growth = growthOf(flag.environments, left.environments);
      bytes += growth;
      return record.changed({ flag: left, revision, growth });
    });
    const counts = this.#enabledCounts.filter(({ name }) => name !== environment);
    return [new ProjectFlags(records, this.activeCount, counts), bytes];
  }

  #counted(
    records: PersistentMap<string, FlagRecord>,
    before: Flag | null,
    after: Flag | null,
  ): ProjectFlags {
    const old = before?.archivedAt === null ? before : null;
    const fresh = after?.archivedAt === null ? after : null;
    const activeCount = this.activeCount + Number(fresh !== null) - Number(old !== null);
    let counts = this.#enabledCounts;
    if (old?.environments !== fresh?.environments) {
      for (const { name, enabled } of old?.environments ?? [])
        if (enabled && !isEnabled(fresh, name)) counts = withCount(counts, name, -1);
      for (const { name, enabled } of fresh?.environments ?? [])
        if (enabled && !isEnabled(old, name)) counts = withCount(counts, name, 1);
    }
    return new ProjectFlags(records, activeCount, counts);
  }
}

const isEnabled = (flag: Flag | null, environment: string): boolean =>
  flag?.environments.some(({ name, enabled }) => enabled && name === environment) === true;

function withCount(counts: Counts, environment: string, change: 1 | -1): Counts {
  const at = counts.findIndex(({ name }) => name === environment);
  const changed = { name: environment, count: (counts[at]?.count ?? 0) + change };
  return at === -1 ? [...counts, changed] : counts.with(at, changed);
}
