/**
 * How many bytes the flags of each project take in each environment as SDKs get them, kept up to date with every change, so that
 * the size of a document is known before it is built. Derived, so it is in no snapshot. Archived flags count nothing.
 */
import type { Flag, FlagEnvironment } from '../flags/flag.ts';
import type { Strategy } from '../flags/strategy.ts';
import type { Variant } from '../flags/variant.ts';
import { jsonGrowth, jsonSize } from '../json/json.ts';
import type { Segment } from '../kinds/segment.ts';
import { addStep, deleteEntry, isRecording, unrecorded } from './reversible.ts';
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
  bytes: number;
  /** Id of a segment → number of strategies that refer to it. */
  readonly segments: Map<number, number>;
}

interface Scope {
  /** Bytes of the metadata of all flags, which the document of each environment has. */
  metadata: number;
  /** Bytes of the dependencies, which are among them. */
  dependencies: number;
  readonly shares: Map<string, Share>;
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
    let share = unrecorded(() => this.#takeShare(project, environment));
    addStep({
      undo: () => this.#giveBack(project, environment, share),
      // A flag that was decoded meanwhile has its bytes in it too.
      redo: () => {
        share = this.#takeShare(project, environment);
      },
    });
  }

  #takeShare(project: string, environment: string): Share | undefined {
    const share = this.#scopes.get(project)?.shares.get(environment);
    if (share === undefined) return undefined;
    const taken = { bytes: share.bytes, segments: new Map(share.segments) };
    for (const [id, count] of taken.segments) this.#count(project, environment, id, -count);
    this.#add(project, environment, -taken.bytes);
    this.#scopes.get(project)?.shares.delete(environment);
    return taken;
  }

  #giveBack(project: string, environment: string, share: Share | undefined): void {
    if (share === undefined) return;
    for (const [id, count] of share.segments) this.#count(project, environment, id, count);
    this.#add(project, environment, share.bytes);
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

  /** Bytes of what the flag has in each of its environments, without segments. */
  sizesOf(environments: Environments): readonly number[] {
    return (
      this.#large.get(environments) ?? this.#remembered(environments, environments.map(environmentBytes))
    );
  }

  /** It has no flags any more. */
  dropProject(project: string): void {
    deleteEntry(this.#scopes, project);
  }

  clear(): void {
    this.#scopes.clear();
  }

  #exchange(project: string, before: Flag | null, after: Flag | null): void {
    this.#addMetadata(project, metadataChange(before, after), dependenciesChange(before, after));
    if (before === null || after === null) {
      const sign = after === null ? -1 : 1;
      const environments = (after ?? before)?.environments ?? NO_ENVIRONMENTS;
      const sizes = this.sizesOf(environments);
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
    const sizesBefore = this.#large.get(old);
    const sizes: number[] = [];
    let grownMost = 0;
    for (const one of fresh) {
      const at = placeOf(old, one.name);
      const grown = this.#exchangeShare(project, old[at] ?? null, one);
      grownMost = Math.max(grownMost, grown);
      if (sizesBefore !== undefined) sizes.push((sizesBefore[at] ?? 0) + grown);
    }
    for (const one of old) if (placeOf(fresh, one.name) === -1) this.#exchangeShare(project, one, null);
    if (sizesBefore !== undefined) this.#large.set(fresh, sizes);
    else if (grownMost > NOTED_BYTES_MIN) this.sizesOf(fresh);
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

  #remembered(environments: Environments, sizes: readonly number[]): readonly number[] {
    if (sizes.reduce((sum, size) => sum + size, 0) > SMALL_BYTES_MAX) this.#large.set(environments, sizes);
    return sizes;
  }

  #addMetadata(project: string, bytes: number, dependencies: number): void {
    if (bytes === 0 && dependencies === 0) return;
    const add = (sign: 1 | -1): void => {
      for (const id of [project, ALL]) {
        const scope = this.#scope(id);
        scope.metadata += sign * bytes;
        scope.dependencies += sign * dependencies;
      }
    };
    add(1);
    if (isRecording()) addStep({ undo: () => add(-1), redo: () => add(1) });
  }

  #add(project: string, environment: string, bytes: number): void {
    const add = (more: number): void => {
      for (const id of [project, ALL]) this.#share(id, environment).bytes += more;
    };
    add(bytes);
    if (isRecording()) addStep({ undo: () => add(-bytes), redo: () => add(bytes) });
  }

  #count(project: string, environment: string, segment: number, change: number): void {
    this.#changeCount(project, environment, segment, change);
    if (!isRecording()) return;
    addStep({
      undo: () => this.#changeCount(project, environment, segment, -change),
      redo: () => this.#changeCount(project, environment, segment, change),
    });
  }

  #changeCount(project: string, environment: string, segment: number, change: number): void {
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
      scope = { metadata: 0, dependencies: 0, shares: new Map() };
      this.#scopes.set(project, scope);
    }
    return scope;
  }
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
