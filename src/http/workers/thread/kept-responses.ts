/**
 * What an HTTP worker keeps: responses of the main thread that it may give again, and the callers that it may give them to. Everything here
 * is good for as long as the change marks are what they were when it was asked for (../change-marks.ts).
 *
 * A caller is known by the header that it sends, and only for a while: then the main thread is asked again, and so hears which
 * tokens are in use. A token that is deleted or that expires is refused from that moment on, because its caller is not known any more,
 * and the main thread decides.
 */
import { namesTag } from '../../dispatch/conditional.ts';
import { type TaggedResponse, taggedAgain } from '../../dispatch/json-response.ts';
import type { HttpResponse, KeepTerms, TransportRequestHead } from '../../transport/transport.ts';
import { type ChangeMarks, SUBJECTS, subjectOfFlag, subjectOfProject } from '../change-marks.ts';
import { bodyIn, FLAG_FIELDS, type FlagBlock } from '../parcel.ts';
import type { KeptRoute } from '../worker-figures.ts';

/** Of what one worker keeps: 100,000 flags of a kilobyte, or a few dozen large documents. What was kept first gives way. */
export const KEPT_BYTES_MAX = 256 * 1024 * 1024;

/** What is larger is asked for each time. */
export const KEPT_BODY_BYTES_MAX = 16 * 1024 * 1024;

/** An entry beside its body and its key: objects, headers, the map's own memory. */
const ENTRY_BYTES = 900;

/** Callers that are known at once; many more than a service has tokens. Protects memory. */
export const CALLERS_MAX = 5_000;

/** The main thread shows in steps of a minute when a token was used last. */
const CALLER_MS = 30_000;

/** What a request may be answered with, and until when; made before the main thread is asked. */
export interface Wish extends Subjects {
  readonly route: KeptRoute;
  readonly key: string;
  readonly authorization: string;
  /** As they were when the request came. */
  readonly mark: number;
  readonly wideMark: number;
  readonly accessMark: number;
}

/** What it shows, by name and together with everything of its kind. */
interface Subjects {
  readonly subject: number;
  readonly wideSubject: number;
}

interface Kept extends Pick<KeepTerms, 'untilMs'>, Subjects {
  readonly route: KeptRoute;
  readonly mark: number;
  readonly wideMark: number;
  /** Null until a flag of a block is asked for. */
  response: TaggedResponse | null;
  /** Without what its block takes. */
  readonly bytes: number;
  readonly inBlock: PlaceInBlock | null;
}

interface PlaceInBlock {
  readonly etag: string;
  readonly begin: number;
  readonly end: number;
  readonly block: KeptBlock;
}

/** Takes its memory as long as one of its flags is kept. */
interface KeptBlock {
  readonly bytes: SharedArrayBuffer;
  keptCount: number;
}

interface KnownCaller extends Omit<KeepTerms, 'untilMs'> {
  readonly accessMark: number;
  /** By the monotonic clock. */
  readonly askedAgainMs: number;
}

export interface Given {
  readonly route: KeptRoute;
  readonly response: HttpResponse;
}

export interface KeptResponsesOptions {
  readonly marks: ChangeMarks;
  /** What stands before every path. */
  readonly basePath: string;
  /** Milliseconds since 1970. */
  now(): number;
  monotonicMs(): number;
  readonly bytesMax?: number;
}

export class KeptResponses {
  readonly #options: KeptResponsesOptions;
  readonly #marks: ChangeMarks;
  readonly #bytesMax: number;
  readonly #projects: string;
  readonly #documents: string;
  readonly #kept = new Map<string, Kept>();
  readonly #callers = new Map<string, KnownCaller>();
  /** The last caller, because comparing is faster than looking up. */
  #lastAuthorization = '';
  #lastCaller: KnownCaller | null = null;
  #bytes = 0;

  constructor(options: KeptResponsesOptions) {
    this.#options = options;
    this.#marks = options.marks;
    this.#bytesMax = options.bytesMax ?? KEPT_BYTES_MAX;
    this.#projects = `${options.basePath}/api/admin/projects/`;
    this.#documents = `${options.basePath}/api/client/features`;
  }

  /** Of all that is kept; never above the limit. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What the request gets, if that is known; null: the main thread has to say. */
  find(request: TransportRequestHead): Given | null {
    const { method, path, query } = request;
    if (method !== 'GET') return null;
    const authorization = request.header('authorization');
    const caller = this.#callerOf(authorization);
    if (caller === null) return null;
    const isDocument = path === this.#documents;
    if (!isDocument && (query !== '' || !caller.readsAll)) return null;
    const kept = this.#current(isDocument ? documentKey(request, authorization) : keyOf(request));
    if (kept === null || asksForMore(request, authorization)) return null;
    const { route } = kept;
    const response = responseOf(kept);
    const isKnown = namesTag(request.header('if-none-match'), response.etag);
    return { route, response: isKnown ? response.notModified : response };
  }

  /** What is to be known before the main thread is asked, so that its response can be kept; null where it cannot. */
  wishFor(request: TransportRequestHead): Wish | null {
    if (request.method !== 'GET') return null;
    const authorization = request.header('authorization');
    if (asksForMore(request, authorization)) return null;
    const found = this.#subjectOf(request, authorization);
    if (found === null) return null;
    const marks = this.#marks;
    return {
      ...found,
      authorization,
      mark: marks.read(found.subject),
      wideMark: marks.read(found.wideSubject),
      accessMark: marks.read(SUBJECTS.access),
    };
  }

  /** Takes the main thread's word for it. The body must belong to nobody else. */
  keep(wish: Wish, response: TaggedResponse, terms: KeepTerms): void {
    const { authorization, key, route, subject, mark, wideSubject, wideMark, accessMark } = wish;
    const body = response.body as Uint8Array;
    if (body.byteLength > KEPT_BODY_BYTES_MAX) return;
    this.#callers.delete(authorization);
    this.#makeRoomForCaller();
    const { untilMs, expiresAt, readsAll } = terms;
    const askedAgainMs = this.#options.monotonicMs() + CALLER_MS;
    this.#callers.set(authorization, { expiresAt, readsAll, accessMark, askedAgainMs });
    this.#lastCaller = null;
    this.#forget(key);
    const bytes = ENTRY_BYTES + key.length + body.byteLength;
    this.#makeRoom(bytes);
    this.#kept.set(key, {
      route,
      subject,
      mark,
      wideSubject,
      wideMark,
      untilMs,
      response,
      bytes,
      inBlock: null,
    });
    this.#bytes += bytes;
  }

  /** Flags that the main thread sends because they stand beside one that some worker asked for. */
  keepBlock({ path, flagsMark, flags, bytes }: FlagBlock): void {
    const marks = this.#marks;
    if (marks.read(SUBJECTS.flags) !== flagsMark) return;
    const block: KeptBlock = { bytes, keptCount: 0 };
    let bytesMax = bytes.byteLength;
    for (let i = 0; i < flags.length; i += FLAG_FIELDS)
      bytesMax += ENTRY_BYTES + path.length + (flags[i] as string).length;
    if (bytesMax > this.#bytesMax) return;
    // Also what is the same: an older block would take its memory for a few flags.
    for (let i = 0; i < flags.length; i += FLAG_FIELDS) this.#forget(path + (flags[i] as string));
    this.#makeRoom(bytesMax);
    for (let i = 0; i < flags.length; i += FLAG_FIELDS) {
      const name = flags[i] as string;
      const [etag, mark, untilMs, begin, end] = flags.slice(i + 1, i + FLAG_FIELDS) as [
        string,
        number,
        number,
        number,
        number,
      ];
      const subject = subjectOfFlag(name);
      if (marks.read(subject) !== mark) continue;
      const key = path + name;
      const inBlock = { etag, begin, end, block };
      const ownBytes = ENTRY_BYTES + key.length;
      this.#kept.set(key, {
        route: 0,
        subject,
        mark,
        wideSubject: SUBJECTS.flags,
        wideMark: flagsMark,
        untilMs,
        response: null,
        bytes: ownBytes,
        inBlock,
      });
      this.#bytes += ownBytes;
      block.keptCount += 1;
    }
    if (block.keptCount > 0) this.#bytes += bytes.byteLength;
  }

  /** What was kept first gives way. */
  #makeRoom(bytes: number): void {
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes + bytes <= this.#bytesMax) break;
      this.#forget(oldest);
    }
  }

  #callerOf(authorization: string): KnownCaller | null {
    const caller =
      this.#lastCaller !== null && authorization === this.#lastAuthorization
        ? this.#lastCaller
        : this.#callers.get(authorization);
    if (caller === undefined) return null;
    const { now, monotonicMs } = this.#options;
    const isCurrent =
      caller.accessMark === this.#marks.read(SUBJECTS.access) &&
      monotonicMs() < caller.askedAgainMs &&
      now() < caller.expiresAt;
    if (!isCurrent) {
      this.#callers.delete(authorization);
      this.#lastCaller = null;
      return null;
    }
    this.#lastAuthorization = authorization;
    this.#lastCaller = caller;
    return caller;
  }

  #current(key: string): Kept | null {
    const kept = this.#kept.get(key);
    if (kept === undefined) return null;
    const marks = this.#marks;
    const isSame = marks.read(kept.subject) === kept.mark && marks.read(kept.wideSubject) === kept.wideMark;
    if (isSame && (kept.untilMs === Number.POSITIVE_INFINITY || this.#options.now() < kept.untilMs))
      return kept;
    this.#forget(key);
    return null;
  }

  #subjectOf(
    request: TransportRequestHead,
    authorization: string,
  ): Pick<Wish, 'route' | 'key' | 'subject' | 'wideSubject'> | null {
    const { path, query } = request;
    if (path === this.#documents) {
      const key = documentKey(request, authorization);
      return { route: 1, key, subject: SUBJECTS.documents, wideSubject: SUBJECTS.flags };
    }
    // A path that is written oddly has many forms.
    if (query !== '' || !path.startsWith(this.#projects) || path.includes('%')) return null;
    const [project, features, flag, more] = path.slice(this.#projects.length).split('/');
    if (project === '' || features === '' || flag === '' || more !== undefined) return null;
    const key = keyOf(request);
    if (features === undefined)
      return { route: 3, key, subject: subjectOfProject(project!), wideSubject: SUBJECTS.lists };
    if (features !== 'features') return null;
    return flag === undefined
      ? { route: 2, key, subject: subjectOfProject(project!), wideSubject: SUBJECTS.lists }
      : { route: 0, key, subject: subjectOfFlag(flag), wideSubject: SUBJECTS.flags };
  }

  #makeRoomForCaller(): void {
    if (this.#callers.size < CALLERS_MAX) return;
    for (const oldest of this.#callers.keys()) {
      this.#callers.delete(oldest);
      return;
    }
  }

  #forget(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#bytes -= kept.bytes;
    const block = kept.inBlock?.block;
    if (block === undefined) return;
    block.keptCount -= 1;
    if (block.keptCount === 0) this.#bytes -= block.bytes.byteLength;
  }
}

function responseOf(kept: Kept): TaggedResponse {
  if (kept.response !== null) return kept.response;
  const { etag, begin, end, block } = kept.inBlock!;
  kept.response = taggedAgain(etag, bodyIn(block.bytes, begin, end));
  return kept.response;
}

function keyOf(request: TransportRequestHead): string {
  const coding = request.header('accept-encoding');
  return coding === '' ? request.path : `${request.path}\n${coding}`;
}

/** All that a document depends on, beside what changes. */
function documentKey(request: TransportRequestHead, authorization: string): string {
  const { path, query } = request;
  const coding = request.header('accept-encoding');
  return [path, query, coding, request.header('unleash-client-spec'), authorization].join('\n');
}

/**
 * Whether the response depends on more than is looked at here: an event that it must show, in a cluster; a session in a cookie; an id
 * that it repeats.
 */
function asksForMore(request: TransportRequestHead, authorization: string): boolean {
  return (
    request.header('flagstaff-at-least') !== '' ||
    request.header('x-request-id') !== '' ||
    (authorization === '' && request.header('cookie') !== '')
  );
}
