/**
 * How many bytes the flags of each project take in each environment as SDKs get them, kept up to date with every change, so that
 * the size of a document is known before it is built. Derived, so it is in no snapshot. Archived flags count nothing.
 */
import type { Flag, FlagEnvironment } from '../flags/flag.ts';
import type { Strategy } from '../flags/strategy.ts';
import type { Variant } from '../flags/variant.ts';
import { jsonGrowth, jsonSize } from '../json/json.ts';
import type { Segment } from '../kinds/segment.ts';
import { type Edit, PersistentMap } from '../value/persistent-map.ts';
import {
  environmentBytes,
  metadataBytes,
  metadataGrowth,
  NO_DEPENDENCIES,
  segmentBytes,
  strategiesGrowth,
} from './served-size.ts';

/** The key of the sums over all projects; no project has this id. */
const ALL = '*';

/** Bytes that flags have in an environment beside their metadata. */
interface Share {
  /** The strategies and variants, without the segments they refer to. */
  readonly bytes: number;
  /** Id of a segment → number of strategies that refer to it. */
  readonly segments: PersistentMap<number, number>;
}

interface Scope {
  /** Bytes of the metadata of all flags, which the document of each environment has. */
  readonly metadata: number;
  /** Bytes of the dependencies, which are among them. */
  readonly dependencies: number;
  readonly shares: PersistentMap<string, Share>;
}

/** Larger ones are measured once and remembered: to measure a flag of 128 KiB takes 0.3 ms, and a change of many has 1,000. */
const SMALL_BYTES_MAX = 4 * 1024;

/** A change by more than that may have made a flag large. */
const NOTED_BYTES_MIN = SMALL_BYTES_MAX / 8;

type Environments = readonly FlagEnvironment[];
const NO_ENVIRONMENTS: Environments = [];
const NO_STRATEGIES: readonly Strategy[] = [];
const NO_VARIANTS: readonly Variant[] = [];

export class ServedBytes {
  #scopes = PersistentMap.empty<string, Scope>();
  #edit: Edit = {};

  /** The bytes after a change of a flag. `before` is null for a flag that is new, `after` for one that is gone. */
  replaced(before: Flag | null, after: Flag | null, edit: Edit = {}): ServedBytes {
    const old = before?.archivedAt === null ? before : null;
    const fresh = after?.archivedAt === null ? after : null;
    if (old === fresh) return this;
    const next = this.#next(edit);
    if (old === null || fresh === null || old.project !== fresh.project) {
      if (old !== null) next.#exchange(old.project, old, null);
      if (fresh !== null) next.#exchange(fresh.project, null, fresh);
    } else next.#exchange(fresh.project, old, fresh);
    return next;
  }

  /** The bytes when all flags of the project have lost what they have in the environment. */
  withoutEnvironment(project: string, environment: string, edit: Edit): ServedBytes {
    const share = this.#scopes.get(project)?.shares.get(environment);
    if (share === undefined) return this;
    const next = this.#next(edit);
    for (const [id, count] of share.segments) next.#count(project, environment, id, -count);
    next.#add(project, environment, -share.bytes);
    const scope = next.#scope(project);
    next.#setScope(project, { ...scope, shares: scope.shares.without(environment, edit) });
    return next;
  }

  /** The bytes when the project has no flags any more. */
  withoutProject(project: string, edit: Edit): ServedBytes {
    const next = this.#next(edit);
    next.#scopes = this.#scopes.without(project, edit);
    return next;
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

  /** Bytes of what so many flags of the project, all that are not archived, have in each list: their names, types and descriptions. */
  listedBytes(project: string, flagCount: number): number {
    const scope = this.#scopes.get(project);
    return scope === undefined ? 0 : scope.metadata - scope.dependencies - flagCount * jsonSize(project);
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

  #next(edit: Edit): ServedBytes {
    const next = new ServedBytes();
    next.#scopes = this.#scopes;
    next.#edit = edit;
    return next;
  }

  #exchange(project: string, before: Flag | null, after: Flag | null): void {
    this.#addMetadata(project, metadataChange(before, after), dependenciesChange(before, after));
    if (before === null || after === null) {
      const sign = after === null ? -1 : 1;
      const environments = (after ?? before)?.environments ?? NO_ENVIRONMENTS;
      const sizes = servedSizes(environments);
      for (const [at, { name, strategies }] of environments.entries())
        this.#change(project, name, {
          bytes: sign * sizes[at]!,
          gone: after === null ? strategies : NO_STRATEGIES,
          come: after === null ? NO_STRATEGIES : strategies,
        });
      return;
    }
    const [old, fresh] = [before.environments, after.environments];
    if (old === fresh) return;
    const sizesBefore = large.get(old);
    const sizes: number[] = [];
    let grownMost = 0;
    for (const one of fresh) {
      const at = placeOf(old, one.name);
      const grown = this.#exchangeShare(project, old[at] ?? null, one);
      grownMost = Math.max(grownMost, grown);
      if (sizesBefore !== undefined) sizes.push((sizesBefore[at] ?? 0) + grown);
    }
    for (const one of old) if (placeOf(fresh, one.name) === -1) this.#exchangeShare(project, one, null);
    if (sizesBefore !== undefined) large.set(fresh, sizes);
    else if (grownMost > NOTED_BYTES_MIN) servedSizes(fresh);
  }

  /** By how many bytes the environment of a flag has grown. */
  #exchangeShare(project: string, before: FlagEnvironment | null, after: FlagEnvironment | null): number {
    const name = (after ?? before)?.name;
    if (before === after || name === undefined) return 0;
    const [gone, come] = [
      exchanged(before?.strategies ?? NO_STRATEGIES, after?.strategies ?? NO_STRATEGIES),
      exchanged(after?.strategies ?? NO_STRATEGIES, before?.strategies ?? NO_STRATEGIES),
    ];
    const variants = jsonGrowth(before?.variants ?? NO_VARIANTS, after?.variants ?? NO_VARIANTS);
    const bytes = variants + strategiesGrowth(gone, come);
    this.#change(project, name, { bytes, gone, come });
    return bytes;
  }

  /** Adds bytes, and counts the segments of strategies that go and come, in one environment of a project. */
  #change(
    project: string,
    environment: string,
    {
      bytes,
      gone,
      come,
    }: Readonly<Record<'gone' | 'come', readonly Strategy[]>> & { readonly bytes: number },
  ): void {
    if (bytes !== 0) this.#add(project, environment, bytes);
    for (const { segments } of gone) for (const id of segments) this.#count(project, environment, id, -1);
    for (const { segments } of come) for (const id of segments) this.#count(project, environment, id, 1);
  }

  #addMetadata(project: string, bytes: number, dependencies: number): void {
    if (bytes === 0 && dependencies === 0) return;
    for (const id of [project, ALL]) {
      const scope = this.#scope(id);
      const sums = { metadata: scope.metadata + bytes, dependencies: scope.dependencies + dependencies };
      this.#setScope(id, { ...scope, ...sums });
    }
  }

  #add(project: string, environment: string, bytes: number): void {
    for (const id of [project, ALL]) {
      const share = this.#share(id, environment);
      this.#setShare(id, environment, { ...share, bytes: share.bytes + bytes });
    }
  }

  #count(project: string, environment: string, segment: number, change: number): void {
    for (const id of [project, ALL]) {
      const share = this.#share(id, environment);
      const count = (share.segments.get(segment) ?? 0) + change;
      const segments =
        count === 0
          ? share.segments.without(segment, this.#edit)
          : share.segments.with(segment, count, this.#edit);
      this.#setShare(id, environment, { ...share, segments });
    }
  }

  #share(project: string, environment: string): Share {
    return this.#scope(project).shares.get(environment) ?? { bytes: 0, segments: PersistentMap.empty() };
  }

  #setShare(project: string, environment: string, share: Share): void {
    const scope = this.#scope(project);
    this.#setScope(project, { ...scope, shares: scope.shares.with(environment, share, this.#edit) });
  }

  #scope(project: string): Scope {
    return this.#scopes.get(project) ?? { metadata: 0, dependencies: 0, shares: PersistentMap.empty() };
  }

  #setScope(project: string, scope: Scope): void {
    this.#scopes = this.#scopes.with(project, scope, this.#edit);
  }
}

/** Bytes in each of the environments, of large flags. */
const large = new WeakMap<Environments, readonly number[]>();

/** Bytes of what the flag has in each of its environments, without segments. */
export function servedSizes(environments: Environments): readonly number[] {
  const known = large.get(environments);
  if (known !== undefined) return known;
  const sizes = environments.map(environmentBytes);
  if (sizes.reduce((sum, size) => sum + size, 0) > SMALL_BYTES_MAX) large.set(environments, sizes);
  return sizes;
}

/** To be called where nothing but switches changed. */
export function keepServedSizes(before: Environments, after: Environments): void {
  const known = large.get(before);
  if (known !== undefined) large.set(after, known);
}

/** A strategy whose segment does not exist is sent to nobody. */
const sizeOf = (segment: Segment | undefined): number => (segment === undefined ? 0 : segmentBytes(segment));

const placeOf = (environments: Environments, name: string): number =>
  environments.findIndex((one) => one.name === name);

function metadataChange(before: Flag | null, after: Flag | null): number {
  if (before !== null && after !== null) return metadataGrowth(before, after);
  return (after === null ? 0 : metadataBytes(after)) - (before === null ? 0 : metadataBytes(before));
}

const dependenciesChange = (before: Flag | null, after: Flag | null): number =>
  jsonGrowth(before?.dependencies ?? NO_DEPENDENCIES, after?.dependencies ?? NO_DEPENDENCIES);

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
