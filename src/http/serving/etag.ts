/**
 * ETags: revisions, which are event ids, with the name that the history had at that event (lineage.ts). They cost no
 * hashing, survive restarts, and are the same on every node.
 */
import { createHash } from 'node:crypto';
import type { FlagRecord } from '../../domain/state/flag-record.ts';
import { locateFlag, locateFlagAnywhere } from '../../domain/state/locate.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { ProjectState, World } from '../../domain/state/world.ts';
import { BodyPieces } from '../transport/response.ts';
import type { Params } from './params.ts';
import type { Locate } from './route.ts';

/** The tag, in quotes, of the newest event that the flag's JSON shows and of the history that it belongs to. */
function flagEtag(world: World, project: ProjectState, record: FlagRecord): string {
  return etagOf(world, Math.max(record.revision, environmentsRevision(world, project)));
}

/**
 * For a time at which flags were seen in use, which no event has; 0 for never. `firstCount`: of first times that a flag's JSON
 * depends on, which reviving the flag takes away. `hour`: what its JSON shows of the running hour.
 */
export function seenTag(
  atMs: number,
  firstCount = 0,
  hour: ReadonlyMap<string, CountedUse> = NOTHING_COUNTED,
): string {
  if (atMs === 0 && hour.size === 0) return '';
  return `-s${atMs.toString(36)}${firstCount === 0 ? '' : `z${firstCount}`}${hourTag(hour)}`;
}

interface CountedUse {
  readonly yes: number;
  readonly no: number;
}

const NOTHING_COUNTED: ReadonlyMap<string, CountedUse> = new Map();

/** Counts only grow within an hour, so their sums distinguish its states; the time of use distinguishes hours. */
function hourTag(hour: ReadonlyMap<string, CountedUse>): string {
  if (hour.size === 0) return '';
  let [yesSum, noSum] = [0, 0];
  for (const { yes, no } of hour.values()) {
    yesSum += yes;
    noSum += no;
  }
  return `y${yesSum.toString(36)}n${noSum.toString(36)}`;
}

/** A strong tag distinguishes codings. */
export function tagOfCoding(etag: string, coding: string): string {
  return `${etag.slice(0, -1)}:${coding}"`;
}

function withoutCoding(etag: string): string {
  return etag.replace(/:(?:gzip|br)"$/, '"');
}

/** The mark in the tag of a flag for users who have it as a favorite. */
export const FAVORITE_TAG = '-f';

/** For a flag that requests wait to change, as of the newest event about any of them. */
export const pendingTag = (revision: number): string => `-c${revision}`;

/** The tag of the flag itself, without times of use, requests, favorites and coding, which are no reason to refuse a change. */
export function ofFlagItself(etag: string): string {
  return withoutCoding(etag).replace(/^("[0-9]+)(?:-s[0-9a-z]+)?(?:-c[0-9]+)?(?:-f)?-/, '$1-');
}

/** The ETag, in quotes. `tag` distinguishes all that a path can show at one revision. */
export function etagOf({ lineage }: World, revision: number, tag = ''): string {
  return `"${revision}${tag}-${lineage.nameAt(revision)}"`;
}

/**
 * The tag, in quotes, of a response about something without a revision. The first part stands for the record in the
 * state, which `If-Match` pins; the second for the bytes, which may show figures counted elsewhere.
 */
export function recordEtag(record: object, body: Buffer | BodyPieces): string {
  return `"${digestOf(JSON.stringify(record))}-${digestOf(body)}"`;
}

/** Whether the tag is one of the record as it is now. */
function namesRecord(etag: string, record: object): boolean {
  return etag.startsWith(`"${digestOf(JSON.stringify(record))}-`);
}

function digestOf(content: string | Buffer | BodyPieces): string {
  const hash = createHash('sha256');
  for (const piece of content instanceof BodyPieces ? content : [content]) hash.update(piece);
  return hash.digest('hex').slice(0, 24);
}

/** The newest event that any flag's JSON in the project shows besides those about the flag itself. */
export function environmentsRevision(world: World, project: ProjectState): number {
  return Math.max(project.environmentsRevision, world.directory.environmentsRevision);
}

// Conditional requests (RFC 9110 §13). ETags are revisions: event ids with the name of their history, so they cost no
// hashing, survive restarts, and are strong: equal tags mean equal bytes.

/** Whether the header If-None-Match names the tag. The comparison is weak, as the RFC requires. */
export function namesTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false;
  if (ifNoneMatch === etag) return true;
  return isAny(ifNoneMatch) || tagsIn(ifNoneMatch).some((tag) => tag === etag || tag === `W/${etag}`);
}

/**
 * The precondition of a write to the flag in the path: `If-Match` names the flag as the client read it. Undefined
 * when the request has none, or when the route is not about a flag. The comparison is strong: weak tags never match.
 */
export function flagPrecondition(
  ifMatch: string,
  params: Params,
): ((world: World) => Refusal | null) | undefined {
  const name = params.featureName ?? params.child;
  if (ifMatch === '' || name === undefined) return undefined;
  const tags = tagsIn(ifMatch).map(ofFlagItself);
  return (world) => {
    const located =
      params.projectId === undefined
        ? locateFlagAnywhere(world, name)
        : locateFlag(world, params.projectId, name);
    if (located.refused) return located;
    const etag = flagEtag(world, located.project, located.record);
    if (isAny(ifMatch) || tags.includes(etag)) return null;
    const message = `The flag "${name}" has changed: its ETag is ${etag}, not ${ifMatch.slice(0, 100)}. Read it again.`;
    return refuse('PreconditionFailedError', message);
  };
}

/** Checks `If-Match` of a write to anything but a flag. */
export function recordPrecondition(
  ifMatch: string,
  params: Params,
  pinned: Locate<object> | undefined,
): ((world: World) => Refusal | null) | undefined {
  if (ifMatch === '' || pinned === undefined) return undefined;
  const tags = tagsIn(ifMatch);
  return (world) => {
    const record = pinned(world, params);
    if (isRefusal(record)) return record;
    if (isAny(ifMatch) || tags.some((tag) => namesRecord(tag, record))) return null;
    const message = `This has changed since its ETag was ${ifMatch.slice(0, 100)}. Read it again.`;
    return refuse('PreconditionFailedError', message);
  };
}

/** `*` stands for any tag, alone and not in a list. */
const isAny = (header: string): boolean => header.trim() === '*';

function tagsIn(header: string): string[] {
  return header.split(',').map((tag) => tag.trim());
}
