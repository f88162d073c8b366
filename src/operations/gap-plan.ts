/**
 * Plans a journal that keeps every frame that can be read, with placeholders for those that cannot (declared-gap.ts). Each file keeps the
 * events that its name says, and each frame its place in it.
 *
 * There is no such plan where frames stand in each other's place, where the events before a file are unknown, and for frames of release
 * 0.1.0, which no placeholder can stand among.
 */
import { gapFrames } from '../persistence/journal/declared-gap.ts';
import type { FrameLink } from '../persistence/journal/frame-format.ts';
import { SEGMENT_HEADER_BYTES, SEGMENT_VERSION } from '../persistence/journal/segment.ts';
import { newestKnown } from './repair-plan.ts';
import type { FolderVerification, VerifiedSnapshot } from './verify-folder.ts';
import type { DeclaredGap, EventRange } from './verify-journal.ts';

/** Whole frames of a file, from one offset to another. */
export interface KeptPart {
  readonly kind: 'kept';
  readonly firstId: number;
  readonly lastId: number;
  readonly from: number;
  /** Null for the end of the file. */
  readonly to: number | null;
  /** The checksum of its last frame. */
  readonly chain: number;
}

export interface LostPart extends EventRange {
  readonly kind: 'lost';
  readonly offset: number;
  /** Null where nothing follows in the file. */
  readonly bytes: number | null;
  /** The checksum of the last frame that is lost, where anything names it. */
  readonly checksum: number | null;
  /** The time of the event before. */
  readonly at: number;
}

export interface SegmentPlan {
  readonly firstId: number;
  /** The checksum before its first frame, where it is known from the file itself. */
  readonly chain: number | null;
  readonly parts: readonly (KeptPart | LostPart)[];
}

export interface GapPlan {
  readonly segments: readonly SegmentPlan[];
  readonly lost: readonly EventRange[];
  readonly lastId: number;
  /** The newest snapshot that fits; null without one. */
  readonly base: VerifiedSnapshot | null;
  /** Snapshots that fit. */
  readonly snapshots: readonly VerifiedSnapshot[];
}

interface Portion extends KeptPart {
  /** The checksum before its first frame. */
  readonly chainBefore: number;
  readonly lastAt: number;
}

/**
 * The frames of a part that is lost, behind one with the checksum `chain`. They end at each snapshot too, so that a start finds the place.
 * Null where they do not fit into its bytes.
 */
export function placeholders(
  { from, to, checksum, at, bytes }: LostPart,
  snapshots: readonly VerifiedSnapshot[],
  chain: number,
): readonly FrameLink[] | null {
  const newest = snapshots.at(-1)?.id ?? 0;
  const parts = snapshots
    .filter(({ id }) => id >= from && id < to)
    .map(({ id, header }) => ({ toId: id, checksum: header?.chain ?? null, inState: true }));
  return gapFrames(
    { fromId: from, parts: [...parts, { toId: to, checksum, inState: to <= newest }], at, bytes },
    chain,
  );
}

/** Null where there is none. */
export function planGaps(verified: FolderVerification): GapPlan | null {
  const { journal, beginning } = verified;
  const [oldest] = journal.segments;
  if (oldest === undefined || journal.runs.length === 0 || hasOldFormat(verified)) return null;
  const first = beginning?.firstId ?? oldest;
  const files = oldest > first ? [first, ...journal.segments] : journal.segments;
  const segments: SegmentPlan[] = [];
  let before: Before = { lastId: first - 1, at: 0, chain: null };
  for (const [index, firstId] of files.entries()) {
    const planned = planSegment(verified, { firstId, nextId: files[index + 1] ?? null, before });
    if (planned === null) return null;
    before = planned.before;
    if (planned.parts.length > 0) segments.push({ firstId, chain: planned.chain, parts: planned.parts });
  }
  const lost = segments.flatMap(({ parts }) => parts.filter(({ kind }) => kind === 'lost')) as LostPart[];
  const snapshots = verified.snapshots.filter((snapshot) => fits(verified, snapshot));
  const base = snapshots.at(-1) ?? null;
  if (first > (base?.id ?? 0) + 1 || lost.some((part) => placeholders(part, snapshots, 0) === null))
    return null;
  return { segments, lost: joined(lost), lastId: before.lastId, base, snapshots };
}

const hasOldFormat = ({ journal }: FolderVerification): boolean =>
  [...journal.headers.values()].some(({ format }) => format.version !== SEGMENT_VERSION);

interface Before {
  readonly lastId: number;
  readonly at: number;
  /** The checksum of the frame; null where it is lost and nothing names it. */
  readonly chain: number | null;
}

interface Place {
  readonly firstId: number;
  /** The first event of the next file; null for the last one. */
  readonly nextId: number | null;
  readonly before: Before;
}

/** Null where its events are not those behind the ones before, or stand in each other's place. */
function planSegment(
  verified: FolderVerification,
  { firstId, nextId, before }: Place,
): (Omit<SegmentPlan, 'firstId'> & { readonly before: Before }) | null {
  const own = chainBefore(verified, firstId);
  if (before.lastId !== firstId - 1 || (own !== null && before.chain !== null && own !== before.chain))
    return null;
  const parts: (KeptPart | LostPart)[] = [];
  const beginning = own ?? before.chain;
  let { lastId, at } = before;
  let chain = beginning;
  let offset: number | null = SEGMENT_HEADER_BYTES;
  for (const portion of portionsOf(verified, firstId)) {
    if (offset === null || portion.firstId <= lastId || portion.from < offset) return null;
    const bytes: number = portion.from - offset;
    const { chainBefore: checksum } = portion;
    if (portion.firstId > lastId + 1)
      parts.push({ kind: 'lost', from: lastId + 1, to: portion.firstId - 1, offset, bytes, checksum, at });
    else if (bytes > 0 || (chain !== null && checksum !== chain)) return null;
    parts.push(portion);
    ({ lastId, lastAt: at, to: offset, chain } = portion);
  }
  const newest = newestKnown(verified);
  const endId = nextId === null ? newest : nextId - 1;
  if (lastId > endId || (lastId < endId && offset === null)) return null;
  if (lastId < endId && offset !== null) {
    const checksum = nextId === null ? knownChain(verified, newest) : chainBefore(verified, nextId);
    parts.push({ kind: 'lost', from: lastId + 1, to: endId, offset, bytes: null, checksum, at });
    chain = checksum;
  }
  return { chain: beginning, parts, before: { lastId: endId, at, chain } };
}

/** The frames of runs that lie in this file, in order. */
function portionsOf({ journal }: FolderVerification, segment: number): readonly Portion[] {
  const next = journal.segments.find((id) => id > segment) ?? 0;
  const chainAt = (firstId: number): number => journal.headers.get(firstId)?.chain ?? 0;
  return journal.runs
    .filter(({ start, end }) => start.segment <= segment && segment <= end.segment)
    .map(({ start, end, firstId, lastId, lastAt }) => ({
      kind: 'kept',
      lastAt,
      // A run that goes on in another file does so behind a header that is whole.
      ...(start.segment === segment
        ? { firstId, from: start.offset, chainBefore: start.chain }
        : { firstId: segment, from: SEGMENT_HEADER_BYTES, chainBefore: chainAt(segment) }),
      ...(end.segment === segment
        ? { lastId, to: end.offset, chain: end.chain }
        : { lastId: next - 1, to: null, chain: chainAt(next) }),
    }));
}

/** The checksum of the frame that ends with an event, as the mark, a signed head or a snapshot knows it. */
function knownChain({ mark, signed, snapshots }: FolderVerification, id: number): number | null {
  if (mark?.lastId === id) return mark.chain;
  if (signed?.lastId === id) return signed.chain;
  return snapshots.find((snapshot) => snapshot.id === id)?.header?.chain ?? null;
}

/** The checksum of the frame before this file, as its first frame, its header or the record of the beginning says it. */
function chainBefore(verified: FolderVerification, firstId: number): number | null {
  const { journal, beginning } = verified;
  const [first] = portionsOf(verified, firstId);
  if (first?.from === SEGMENT_HEADER_BYTES && first.firstId === firstId) return first.chainBefore;
  const header = journal.headers.get(firstId);
  if (header?.firstId === firstId) return header.chain;
  return beginning?.firstId === firstId ? beginning.chain : null;
}

/** Whether the snapshot is of this history: it ends with a frame that is here, or with one that is lost, or before all of them. */
export function fits({ journal }: FolderVerification, { header, id }: VerifiedSnapshot): boolean {
  if (header === null) return false;
  const isKept = journal.runs.some(({ firstId, lastId }) => firstId <= id && id <= lastId);
  return !isKept || journal.checksums.get(id) === header.chain;
}

function joined(ranges: readonly EventRange[]): readonly EventRange[] {
  const all: EventRange[] = [];
  for (const { from, to } of ranges) {
    const last = all.at(-1);
    if (last?.to === from - 1) all.splice(-1, 1, { from: last.from, to });
    else all.push({ from, to });
  }
  return all;
}

/** The gaps that a plan declares, apart by whether the state has their changes. */
export function gapsOf({ lost, base }: GapPlan): readonly DeclaredGap[] {
  const newest = base?.id ?? 0;
  return lost.flatMap(({ from, to }) => [
    ...(from <= newest ? [{ from, to: Math.min(to, newest), inState: true }] : []),
    ...(to > newest ? [{ from: Math.max(from, newest + 1), to, inState: false }] : []),
  ]);
}
