/** The flags of a project: by name, and in the order of their creation, in chunks of up to 128. Immutable. */
import { type Chunk, type Edit, PersistentMap } from '../value/persistent-map.ts';
import type { Slot } from '../value/projection.ts';
import type { FlagRecord } from './flag-record.ts';

/** Neighbouring flags. What is made of them is cached until one of them changes. */
export type FlagChunk = Chunk<string, FlagRecord>;

/** Sums over the flags in one environment. */
interface Share {
  readonly name: string;
  /** Flags that are enabled there and not archived. */
  readonly enabledCount: number;
  /** Memory of what all flags have there, archived ones included. */
  readonly bytes: number;
}

export class ProjectFlags {
  readonly #records: PersistentMap<string, FlagRecord>;
  /** Flags that are not archived. */
  readonly activeCount: number;
  /** A project has few environments: a list of them is copied in no time. */
  readonly #shares: readonly Share[];

  private constructor(
    records: PersistentMap<string, FlagRecord>,
    activeCount: number,
    shares: readonly Share[],
  ) {
    this.#records = records;
    this.activeCount = activeCount;
    this.#shares = shares;
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
    return this.#shares.find(({ name }) => name === environment)?.enabledCount ?? 0;
  }

  /** `before`: the record of the same name; null for a flag that is new. */
  with(record: FlagRecord, before: FlagRecord | null, edit: Edit): ProjectFlags {
    const records = this.#records.with(record.flag.name, record, edit);
    return this.#counted(records, before, record);
  }

  without(record: FlagRecord, edit: Edit): ProjectFlags {
    return this.#counted(this.#records.without(record.flag.name, edit), record, null);
  }

  /**
   * All flags lose what they have in the environment, in which none is enabled that is not archived; with by how many bytes they grow.
   * Each does when a flag of its chunk is next looked at, so that a hundred thousand take no longer than one.
   */
  withoutEnvironment(environment: string, revision: number): readonly [ProjectFlags, number] {
    const lost = this.#shares.find(({ name }) => name === environment);
    if (lost === undefined) return [this, 0];
    const records = this.#records.map((record) => record.without(environment, revision));
    const shares = this.#shares.filter((one) => one !== lost);
    return [new ProjectFlags(records, this.activeCount, shares), -lost.bytes];
  }

  #counted(
    records: PersistentMap<string, FlagRecord>,
    before: FlagRecord | null,
    after: FlagRecord | null,
  ): ProjectFlags {
    const activeCount = this.activeCount + isActive(after) - isActive(before);
    const isSame =
      before?.flag.environments === after?.flag.environments &&
      before?.flag.archivedAt === after?.flag.archivedAt;
    let shares = this.#shares;
    if (!isSame) {
      if (before !== null) shares = withShares(shares, before, -1);
      if (after !== null) shares = withShares(shares, after, 1);
    }
    return new ProjectFlags(records, activeCount, shares);
  }
}

const isActive = (record: FlagRecord | null): 0 | 1 => (record?.flag.archivedAt === null ? 1 : 0);

function withShares(shares: readonly Share[], { flag, environmentBytes }: FlagRecord, sign: 1 | -1): Share[] {
  const next = shares.slice();
  for (let at = 0; at < environmentBytes.length; at += 1) {
    const { name, enabled } = flag.environments[at]!;
    const counted = enabled && flag.archivedAt === null ? sign : 0;
    let place = 0;
    while (place < next.length && next[place]!.name !== name) place += 1;
    const known = next[place] ?? { enabledCount: 0, bytes: 0 };
    const bytes = known.bytes + sign * environmentBytes[at]!;
    next[place] = { name, enabledCount: known.enabledCount + counted, bytes };
  }
  return next;
}
