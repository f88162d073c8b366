/**
 * How many bytes the flags of each project take in each environment as SDKs get them, kept up to date with every change, so that
 * the size of a document is known before it is built. Derived, so it is in no snapshot: a flag that a start left undecoded
 * counts from the moment when it is decoded. Archived flags count nothing.
 */
import type { Flag, FlagEnvironment } from '../flags/flag.ts';
import type { Segment } from '../flags/segment.ts';
import { environmentBytes, metadataBytes, segmentBytes, strategyBytes } from '../flags/served-size.ts';
import type { Strategy } from '../flags/strategy.ts';

/** Stands for all projects; no project has this id. */
const ALL = '*';

/** What flags have in an environment beside their metadata. */
interface Share {
  /** Without segments. */
  bytes: number;
  /** Id of a segment → number of strategies that refer to it. */
  readonly segments: Map<number, number>;
}

interface Scope {
  /** Of all flags, which are in the document of each environment. */
  metadata: number;
  readonly shares: Map<string, Share>;
}

/** Larger ones are measured once and remembered: to measure a flag of 128 KiB takes 0.3 ms, and a change of many has 1,000. */
const SMALL_BYTES_MAX = 4 * 1024;

type Environments = readonly FlagEnvironment[];
const NO_ENVIRONMENTS: Environments = [];

export class ServedBytes {
  readonly #scopes = new Map<string, Scope>();
  /** Bytes in each of the environments. */
  readonly #large = new WeakMap<Environments, readonly number[]>();

  /** `before` is null for a flag that is new, `after` for one that is gone. */
  replace(before: Flag | null, after: Flag | null): void {
    const old = before?.archivedAt === null ? before : null;
    const fresh = after?.archivedAt === null ? after : null;
    if (old === fresh) return;
    if (old === null || fresh === null || old.project !== fresh.project) {
      if (old !== null) this.#exchange(old.project, old, null);
      if (fresh !== null) this.#exchange(fresh.project, null, fresh);
    } else this.#exchange(fresh.project, old, fresh);
  }

  /** To be called where nothing but switches changed. */
  switched(before: Flag, after: Flag): void {
    const known = this.#large.get(before.environments);
    if (known !== undefined) this.#large.set(after.environments, known);
  }

  /** All flags of the project lose what they have in the environment. */
  dropEnvironment(project: string, environment: string): void {
    const share = this.#scopes.get(project)?.shares.get(environment);
    if (share === undefined) return;
    for (const [id, count] of [...share.segments]) this.#count(project, environment, id, -count);
    this.#add(project, environment, -share.bytes);
    this.#scopes.get(project)?.shares.delete(environment);
  }

  /** Bytes of the flags in the document of the environment, segments inlined. */
  documentBytes(
    segments: ReadonlyMap<number, Segment>,
    environment: string,
    projects: readonly string[] | typeof ALL,
  ): number {
    let bytes = 0;
    for (const project of projects === ALL ? [ALL] : projects) {
      const scope = this.#scopes.get(project);
      if (scope === undefined) continue;
      const share = scope.shares.get(environment);
      bytes += scope.metadata + (share?.bytes ?? 0);
      for (const [id, count] of share?.segments ?? []) bytes += count * sizeOf(segments.get(id));
    }
    return bytes;
  }

  /** Numbers of strategies in the project that refer to the segment, by environment. */
  *segmentUses(
    project: string | typeof ALL,
    id: number,
  ): Generator<readonly [environment: string, count: number]> {
    for (const [environment, { segments }] of this.#scopes.get(project)?.shares ?? []) {
      const count = segments.get(id);
      if (count !== undefined) yield [environment, count];
    }
  }

  /** Bytes of what the flag has in each of its environments, without segments. */
  sizesOf(environments: Environments): readonly number[] {
    return (
      this.#large.get(environments) ?? this.#remembered(environments, environments.map(environmentBytes))
    );
  }

  /** It has no flags any more. */
  dropProject(project: string): void {
    this.#scopes.delete(project);
  }

  clear(): void {
    this.#scopes.clear();
  }

  #exchange(project: string, before: Flag | null, after: Flag | null): void {
    const metadata = (flag: Flag | null): number => (flag === null ? 0 : metadataBytes(flag));
    this.#addMetadata(project, metadata(after) - metadata(before));
    const [old, fresh] = [before?.environments ?? NO_ENVIRONMENTS, after?.environments ?? NO_ENVIRONMENTS];
    if (old === fresh) return;
    const oldSizes = this.sizesOf(old);
    const freshSizes = this.#large.get(fresh) ?? this.#remembered(fresh, sizesAfter(old, oldSizes, fresh));
    for (const [at, one] of old.entries())
      if (!fresh.includes(one)) this.#exchangeShare(project, one, -oldSizes[at]!, fresh);
    for (const [at, one] of fresh.entries())
      if (!old.includes(one)) this.#exchangeShare(project, one, freshSizes[at]!, old);
  }

  /** Adds an environment that comes, or takes out one that goes, whose `bytes` are negative. Strategies that `others` have there too stay counted. */
  #exchangeShare(project: string, environment: FlagEnvironment, bytes: number, others: Environments): void {
    const { name, strategies } = environment;
    this.#add(project, name, bytes);
    const other = others.find((one) => one.name === name)?.strategies ?? [];
    for (const { segments } of exchanged(strategies, other))
      for (const id of segments) this.#count(project, name, id, bytes < 0 ? -1 : 1);
  }

  #remembered(environments: Environments, sizes: readonly number[]): readonly number[] {
    if (sizes.reduce((sum, size) => sum + size, 0) > SMALL_BYTES_MAX) this.#large.set(environments, sizes);
    return sizes;
  }

  #addMetadata(project: string, bytes: number): void {
    for (const id of [project, ALL]) this.#scope(id).metadata += bytes;
  }

  #add(project: string, environment: string, bytes: number): void {
    for (const id of [project, ALL]) this.#share(id, environment).bytes += bytes;
  }

  #count(project: string, environment: string, segment: number, change: number): void {
    for (const id of [project, ALL]) {
      const { segments } = this.#share(id, environment);
      const count = (segments.get(segment) ?? 0) + change;
      if (count === 0) segments.delete(segment);
      else segments.set(segment, count);
    }
  }

  #share(project: string, environment: string): Share {
    const { shares } = this.#scope(project);
    let share = shares.get(environment);
    if (share === undefined) {
      share = { bytes: 0, segments: new Map() };
      shares.set(environment, share);
    }
    return share;
  }

  #scope(project: string): Scope {
    let scope = this.#scopes.get(project);
    if (scope === undefined) {
      scope = { metadata: 0, shares: new Map() };
      this.#scopes.set(project, scope);
    }
    return scope;
  }
}

/** A strategy whose segment does not exist is sent to nobody. */
const sizeOf = (segment: Segment | undefined): number => (segment === undefined ? 0 : segmentBytes(segment));

/** Bytes of `fresh`, of which most is what it was in `old`. */
function sizesAfter(old: Environments, oldSizes: readonly number[], fresh: Environments): number[] {
  return fresh.map((environment) => {
    const at = old.findIndex(({ name }) => name === environment.name);
    const before = old[at];
    if (before === undefined || before.variants !== environment.variants)
      return environmentBytes(environment);
    let bytes = oldSizes[at]!;
    for (const gone of exchanged(before.strategies, environment.strategies)) bytes -= strategyBytes(gone);
    for (const come of exchanged(environment.strategies, before.strategies)) bytes += strategyBytes(come);
    return bytes;
  });
}

/** Strategies of `list` but for those that both lists have at their start and end. */
function exchanged(list: readonly Strategy[], other: readonly Strategy[]): readonly Strategy[] {
  if (list === other) return [];
  const shorter = Math.min(list.length, other.length);
  let start = 0;
  while (start < shorter && list[start] === other[start]) start += 1;
  let end = 0;
  while (end < shorter - start && list.at(-1 - end) === other.at(-1 - end)) end += 1;
  return list.slice(start, list.length - end);
}
