/**
 * Bytes of the flags of each project in each environment, as SDKs get them: JSON with its escapes, texts for parameters. Kept up to date
 * with every change, so that the size of a document is known before it is built, and never fewer than SDKs get: fields that are left out
 * where they are empty count all the same, and so do disabled strategies, because enabling one must not fail. Derived, so it is in no
 * snapshot. Archived flags count nothing.
 */
import type { Flag } from '../flags/flag.ts';
import { exchanged, type Strategy } from '../flags/strategy.ts';
import { jsonGrowth, jsonSize } from '../json/json.ts';
import type { Segment } from '../kinds/segment.ts';
import { type Edit, PersistentMap } from '../value/persistent-map.ts';

/**
 * Bytes of the flags in one document for SDKs. A document takes three times its size while it is made: as texts, as blocks and as
 * a body. The largest real ones take a twentieth of it.
 */
export const SDK_DOCUMENT_BYTES_MAX = 32 * 2 ** 20;

/** The key of the sums over all projects; no project has this id. */
const ALL = '*';

/** Names of the fields around those that are measured, with numbers and booleans of their greatest length. */
const FLAG_FRAME =
  '{"name":,"type":,"enabled":false,"project":,"stale":false,"impressionData":false,"description":,"strategies":[],"variants":[],"dependencies":},'
    .length;
const MEASURED = ['name', 'type', 'project', 'description', 'dependencies'] as const;
/** A number of its greatest length in place of one, and fields that SDKs do not get. */
const STRATEGY_FRAME = '-9007199254740991'.length - '"id":,"disabled":,'.length;
const SEGMENT_FRAME = '{"id":9007199254740991,"name":,"constraints":},'.length;
/** Quotes around a parameter. */
const QUOTES = 2;

/** Bytes that flags have in an environment beside their metadata. */
interface Share {
  /** The strategies and variants, without the segments they refer to. */
  readonly bytes: number;
  /** Id of a segment → number of strategies that refer to it. */
  readonly segments: PersistentMap<number, number>;
}

const NO_SHARE: Share = { bytes: 0, segments: PersistentMap.empty() };
const NOTHING: readonly never[] = [];

export class ServedBytes {
  /** By project, or ALL: bytes of the metadata of all flags, which the document of each environment has. */
  #metadata: PersistentMap<string, number>;
  /** By project, or ALL, and environment. */
  #shares: PersistentMap<string, Share>;

  constructor(before: ServedBytes | null = null) {
    this.#metadata = before === null ? PersistentMap.empty() : before.#metadata;
    this.#shares = before === null ? PersistentMap.empty() : before.#shares;
  }

  /** The bytes after a change of a flag. `before` is null for a new flag, `after` for a removed one. */
  replaced(before: Flag | null, after: Flag | null, edit: Edit = {}): ServedBytes {
    const old = before?.archivedAt === null ? before : null;
    const fresh = after?.archivedAt === null ? after : null;
    if (old === fresh) return this;
    const next = new ServedBytes(this);
    if (old === null || fresh === null || old.project !== fresh.project) {
      if (old !== null) next.#exchange(old.project, [old, null], edit);
      if (fresh !== null) next.#exchange(fresh.project, [null, fresh], edit);
    } else next.#exchange(fresh.project, [old, fresh], edit);
    return next.#metadata === this.#metadata && next.#shares === this.#shares ? this : next;
  }

  /** The bytes when all flags of the project have lost what they have in the environment. */
  withoutEnvironment(project: string, environment: string, edit: Edit): ServedBytes {
    const { bytes, segments } = this.#share(project, environment);
    const next = new ServedBytes(this);
    for (const [id, count] of segments)
      next.#add([project, environment], edit, { segment: id, count: -count });
    next.#add([project, environment], edit, { bytes: -bytes });
    return next;
  }

  /** Bytes of the flags in the document of the environment, segments inlined. */
  documentBytes(
    segments: ReadonlyMap<number, Segment>,
    environment: string,
    projects: readonly string[] | typeof ALL,
  ): number {
    let sum = 0;
    for (const project of projects === ALL ? [ALL] : projects) {
      const share = this.#share(project, environment);
      sum += this.metadataBytes(project) + share.bytes;
      for (const [id, count] of share.segments) sum += count * inlinedBytes(segments, [id]);
    }
    return sum;
  }

  /** Bytes of the names, types, descriptions and dependencies of the project's flags. */
  metadataBytes(project: string): number {
    return this.#metadata.get(project) ?? 0;
  }

  /** Whether the flags of all projects have as many bytes in the environment, segments aside, as they had. */
  isAsBefore(before: ServedBytes, environment: string): boolean {
    const isSame = this.#share(ALL, environment) === before.#share(ALL, environment);
    return isSame && this.metadataBytes(ALL) === before.metadataBytes(ALL);
  }

  #exchange(project: string, [before, after]: readonly [Flag | null, Flag | null], edit: Edit): void {
    const bytes = metadataGrowth(before, after);
    if (bytes !== 0)
      for (const id of [project, ALL])
        this.#metadata = this.#metadata.with(id, this.metadataBytes(id) + bytes, edit);
    const [old, fresh] = [before?.environments ?? NOTHING, after?.environments ?? NOTHING];
    if (old === fresh) return;
    for (const one of fresh) {
      const known = old.find(({ name }) => name === one.name);
      if (known === one) continue;
      this.#grow([project, one.name], edit, {
        bytes: jsonGrowth(known?.variants ?? NOTHING, one.variants),
        strategies: [known?.strategies ?? NOTHING, one.strategies],
      });
    }
    for (const one of old) {
      if (fresh.some(({ name }) => name === one.name)) continue;
      const bytes = jsonGrowth(one.variants, NOTHING);
      this.#grow([project, one.name], edit, { bytes, strategies: [one.strategies, NOTHING] });
    }
  }

  #grow(
    place: Place,
    edit: Edit,
    { bytes, strategies: [before, after] }: { readonly bytes: number; readonly strategies: Exchange },
  ): void {
    const [gone, come] = exchanged(before, after);
    let growth = bytes + jsonGrowth(before, after);
    for (const one of gone) growth -= renderedGrowth(one);
    for (const one of come) growth += renderedGrowth(one);
    if (growth !== 0) this.#add(place, edit, { bytes: growth });
    for (const { segments } of gone)
      for (const segment of segments) this.#add(place, edit, { segment, count: -1 });
    for (const { segments } of come)
      for (const segment of segments) this.#add(place, edit, { segment, count: 1 });
  }

  #share(project: string, environment: string): Share {
    return this.#shares.get(`${project} ${environment}`) ?? NO_SHARE;
  }

  #add(
    [project, environment]: Place,
    edit: Edit,
    { bytes = 0, segment, count = 0 }: { bytes?: number; segment?: number; count?: number },
  ): void {
    for (const id of [project, ALL]) {
      const before = this.#share(id, environment);
      let { segments } = before;
      if (segment !== undefined) {
        const sum = (segments.get(segment) ?? 0) + count;
        segments = sum === 0 ? segments.without(segment, edit) : segments.with(segment, sum, edit);
      }
      const share = { bytes: before.bytes + bytes, segments };
      const key = `${id} ${environment}`;
      this.#shares =
        share.bytes === 0 && segments.size === 0
          ? this.#shares.without(key, edit)
          : this.#shares.with(key, share, edit);
    }
  }
}

type Place = readonly [project: string, environment: string];
type Exchange = readonly [before: readonly Strategy[], after: readonly Strategy[]];

/** Bytes of the segments in each strategy that refers to them, where segments are inlined. One that does not exist is not sent. */
export function inlinedBytes(segments: ReadonlyMap<number, Segment>, ids: readonly number[]): number {
  let sum = 0;
  for (const id of ids) {
    const segment = segments.get(id);
    if (segment === undefined) continue;
    let bytes = segmentSizes.get(segment);
    if (bytes === undefined) {
      bytes = SEGMENT_FRAME + jsonSize(segment.name) + jsonSize(segment.constraints);
      segmentSizes.set(segment, bytes);
    }
    sum += bytes;
  }
  return sum;
}

const segmentSizes = new WeakMap<Segment, number>();

/** By how many bytes the metadata grows. Most changes touch one of its fields, or none. */
function metadataGrowth(before: Flag | null, after: Flag | null): number {
  let growth = (after === null ? 0 : FLAG_FRAME) - (before === null ? 0 : FLAG_FRAME);
  for (const field of MEASURED) {
    const was = before?.[field];
    const is = after?.[field];
    if (was === is) continue;
    if (before !== null) growth -= jsonSize(was);
    if (after !== null) growth += jsonSize(is);
  }
  return growth;
}

/** By how many bytes SDKs get more than the strategy as it is kept: without its id, and with parameters as texts. */
function renderedGrowth({ id, disabled, sortOrder, parameters }: Strategy): number {
  let bytes = STRATEGY_FRAME - jsonSize(id) - jsonSize(disabled) - jsonSize(sortOrder);
  for (const key in parameters) {
    const value = parameters[key]!;
    const isStructure = typeof value === 'object' && value !== null;
    bytes += isStructure ? jsonSize(JSON.stringify(value)) - jsonSize(value) : QUOTES;
  }
  return bytes;
}

/** The refusal of a document that would be too large, and what can be done. */
export function documentTooLarge(bytes: number, environment: string): string {
  return `the flags that applications get in the environment "${environment}" would take ${mebibytes(bytes)} MiB, their segments inlined; a document may take ${mebibytes(SDK_DOCUMENT_BYTES_MAX)} MiB. Archive flags that are not used, make others smaller, or give applications tokens for fewer projects.`;
}

const mebibytes = (bytes: number): string => (Math.ceil((bytes * 10) / 2 ** 20) / 10).toFixed(1);
