/**
 * Conditional requests (RFC 9110 §13). ETags are revisions: event ids with the name of their history, so they cost no
 * hashing, survive restarts, and are strong: equal tags mean equal bytes.
 */
import { locateFlag, locateFlagAnywhere } from '../../domain/state/locate.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import type { TransportRequest } from '../transport/transport.ts';
import { flagEtag, namesRecord, ofFlagItself } from './etag.ts';
import type { Params } from './params.ts';
import type { Locate } from './route.ts';

/** Whether the client has the response with this ETag. The comparison is weak, as the RFC requires. */
export function isNotModified(request: TransportRequest, etag: string): boolean {
  const ifNoneMatch = request.header('if-none-match');
  // A search is a POST. Its response has a tag, but 304 is only for what can be cached.
  return request.method !== 'POST' && namesTag(ifNoneMatch, etag);
}

/** Whether the header If-None-Match names the tag. */
export function namesTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false;
  if (ifNoneMatch === etag) return true;
  return tagsIn(ifNoneMatch).some((tag) => tag === '*' || tag === etag || tag === `W/${etag}`);
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
    if (tags.includes('*') || tags.includes(etag)) return null;
    const message = `The flag "${name}" has changed: its ETag is ${etag}, not ${ifMatch.slice(0, 100)}. Read it again.`;
    return refuse('PreconditionFailedError', message);
  };
}

/** The same of a write to what is no flag. */
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
    if (tags.some((tag) => tag === '*' || namesRecord(tag, record))) return null;
    const message = `This has changed since its ETag was ${ifMatch.slice(0, 100)}. Read it again.`;
    return refuse('PreconditionFailedError', message);
  };
}

function tagsIn(header: string): string[] {
  return header.split(',').map((tag) => tag.trim());
}
