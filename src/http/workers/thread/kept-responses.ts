/**
 * What an HTTP worker keeps: responses of the main thread that it may give again, and the callers that it may give them to. Everything here
 * is good for as long as the change marks are what they were when it was asked for (../change-marks.ts).
 *
 * A caller is known by the header that it sends, and only for a while: then the main thread is asked again, and so hears which
 * tokens are in use. A token that is deleted or that expires is refused from that moment on, because its caller is not known any more,
 * and the main thread decides.
 */
import { namesTag } from '../../dispatch/conditional.ts';
import { TaggedResponse, taggedAgain } from '../../dispatch/json-response.ts';
import { SeenBefore } from '../../dispatch/seen-before.ts';
import { ResponseHeaders } from '../../transport/response-headers.ts';
import type { HttpResponse, KeepTerms, TransportRequest } from '../../transport/transport.ts';
import { type ChangeMarks, SUBJECTS, subjectOfFlag, subjectOfProject } from '../change-marks.ts';
import { bodyIn, FLAG_FIELDS, type FlagBlock } from '../parcel.ts';
import { type KeptRoute, keptRoute } from '../worker-figures.ts';
import { type Bounded, KeptStore, SharedMemory } from './kept-store.ts';

/** Of what one worker keeps: 100,000 flags of a kilobyte, or a few dozen large documents. What was kept first gives way. */
export const KEPT_BYTES_MAX = 256 * 1024 * 1024;

/**
 * Of evaluations, beside the rest: 50,000 contexts that come to few lists. Contexts are made up by whoever has a token that pages show, and must
 * not drive out what others ask for.
 */
export const EVALUATIONS_BYTES_MAX = 64 * 1024 * 1024;

/** What is larger is asked for each time. */
export const KEPT_BODY_BYTES_MAX = 16 * 1024 * 1024;

/** Of a context as it was sent, with its path. A longer one is rare, and is evaluated each time. */
export const CONTEXT_LENGTH_MAX = 2_000;

/** An entry beside its body and its key: objects, headers, the map's own memory. */
const ENTRY_BYTES = 900;

/** Callers that are known at once; many more than a service has tokens. Protects memory. */
export const CALLERS_MAX = 5_000;

/** The main thread shows in steps of a minute when a token was used last. */
const CALLER_MS = 30_000;

/** What a request may be answered with, and until when; made before the main thread is asked. */
export interface Wish extends Place {
  readonly authorization: string;
  /** As they were when the request came. */
  readonly mark: number;
  readonly wideMark: number;
  readonly accessMark: number;
}

/** Where a response is kept, and what it shows: by name, and together with everything of its kind. */
interface Place {
  readonly route: KeptRoute;
  readonly key: string;
  readonly subject: number;
  readonly wideSubject: number;
}

interface Kept extends Bounded, Pick<KeepTerms, 'untilMs'>, Omit<Place, 'key'> {
  readonly mark: number;
  readonly wideMark: number;
  /** Null until a flag of a block is asked for. */
  response: TaggedResponse | null;
  readonly inBlock: PlaceInBlock | null;
}

interface PlaceInBlock {
  readonly etag: string;
  readonly begin: number;
  readonly end: number;
  readonly bytes: SharedArrayBuffer;
}

/** A list that several contexts come to. */
class SharedList extends SharedMemory {
  readonly key: string;
  readonly response: TaggedResponse;

  constructor(key: string, offered: Offered, release: () => void) {
    super(offered.body.byteLength, release);
    this.key = key;
    this.response = copied(offered);
  }
}

/** As the main thread offers it; the tag is empty where there is none. */
export interface Offered {
  readonly etag: string;
  readonly headers: string;
  readonly body: Uint8Array;
}

interface KnownCaller extends Omit<KeepTerms, 'untilMs'> {
  readonly accessMark: number;
  /** By the monotonic clock. */
  readonly askedAgainMs: number;
}

export interface Given {
  readonly route: KeptRoute;
  readonly response: HttpResponse;
  /** Whether pages of other origins ask for it. */
  readonly isForPages: boolean;
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

const FLAG = keptRoute('GET /api/admin/projects/:projectId/features/:featureName');
const DOCUMENT = keptRoute('GET /api/client/features');
const FLAG_LIST = keptRoute('GET /api/admin/projects/:projectId/features');
const OVERVIEW = keptRoute('GET /api/admin/projects/:projectId');
const TOGGLES = keptRoute('GET /api/frontend');
const TOGGLES_BY_BODY = keptRoute('POST /api/frontend');
const EVALUATIONS = keptRoute('POST /ofrep/v1/evaluate/flags');
const EVALUATION = keptRoute('POST /ofrep/v1/evaluate/flags/:featureName');

const isEvaluation = (route: KeptRoute): boolean =>
  route === TOGGLES || route === TOGGLES_BY_BODY || route === EVALUATIONS || route === EVALUATION;

export class KeptResponses {
  readonly #options: KeptResponsesOptions;
  readonly #marks: ChangeMarks;
  readonly #projects: string;
  readonly #documents: string;
  readonly #toggles: string;
  readonly #evaluate: string;
  readonly #kept: KeptStore<Kept>;
  readonly #evaluations: KeptStore<Kept>;
  /** By who asked, and its tag. */
  readonly #lists = new Map<string, SharedList>();
  readonly #contexts = new SeenBefore();
  readonly #callers = new Map<string, KnownCaller>();
  /** The last caller, because comparing is faster than looking up. */
  #lastAuthorization = '';
  #lastCaller: KnownCaller | null = null;

  constructor(options: KeptResponsesOptions) {
    const { basePath, marks, bytesMax } = options;
    this.#options = options;
    this.#marks = marks;
    this.#kept = new KeptStore(bytesMax ?? KEPT_BYTES_MAX);
    this.#evaluations = new KeptStore(bytesMax ?? EVALUATIONS_BYTES_MAX);
    this.#projects = `${basePath}/api/admin/projects/`;
    this.#documents = `${basePath}/api/client/features`;
    this.#toggles = `${basePath}/api/frontend`;
    this.#evaluate = `${basePath}/ofrep/v1/evaluate/flags`;
  }

  /** Of all that is kept but evaluations. */
  get bytes(): number {
    return this.#kept.bytes;
  }

  get evaluationBytes(): number {
    return this.#evaluations.bytes;
  }

  /** What the request gets, if that is known; null: the main thread has to say. */
  find(request: TransportRequest): Given | null {
    const evaluation = this.#evaluationOf(request);
    if (request.method !== 'GET' && evaluation === null) return null;
    const authorization = request.header('authorization');
    const caller = this.#callerOf(authorization);
    if (caller === null) return null;
    const kept =
      evaluation === null
        ? this.#keptFor(request, authorization, caller)
        : this.#current(this.#evaluations, contextKey(request, authorization));
    if (kept === null || asksForMore(request, authorization)) return null;
    const { route } = kept;
    const response = responseOf(kept);
    return {
      route,
      response: isKnown(request, kept, response) ? response.notModified : response,
      isForPages: evaluation !== null,
    };
  }

  /** What is to be known before the main thread is asked, so that its response can be kept; null where it cannot. */
  wishFor(request: TransportRequest): Wish | null {
    const evaluation = this.#evaluationOf(request);
    if (request.method !== 'GET' && evaluation === null) return null;
    const authorization = request.header('authorization');
    if (asksForMore(request, authorization)) return null;
    const place =
      evaluation === null
        ? this.#placeOf(request, authorization)
        : this.#placeOfContext(request, authorization, evaluation);
    if (place === null) return null;
    const marks = this.#marks;
    return {
      ...place,
      authorization,
      mark: marks.read(place.subject),
      wideMark: marks.read(place.wideSubject),
      accessMark: marks.read(SUBJECTS.access),
    };
  }

  /** Takes the main thread's word for it. Copies the body: otherwise the whole parcel would be kept with it. */
  keep(wish: Wish, offered: Offered, terms: KeepTerms): void {
    const { authorization, key, route, subject, mark, wideSubject, wideMark, accessMark } = wish;
    const { byteLength } = offered.body;
    if (byteLength > KEPT_BODY_BYTES_MAX) return;
    this.#callers.delete(authorization);
    this.#makeRoomForCaller();
    const { untilMs, expiresAt, readsAll } = terms;
    const askedAgainMs = this.#options.monotonicMs() + CALLER_MS;
    this.#callers.set(authorization, { expiresAt, readsAll, accessMark, askedAgainMs });
    this.#lastCaller = null;
    const shared = isEvaluation(route) && offered.etag !== '' ? this.#listOf(wish, offered) : null;
    (isEvaluation(route) ? this.#evaluations : this.#kept).set(key, {
      ...{ route, subject, mark, wideSubject, wideMark, untilMs, inBlock: null },
      response: shared?.response ?? copied(offered),
      bytes: ENTRY_BYTES + key.length + (shared === null ? byteLength : 0),
      shared,
    });
    if (shared !== null && shared.users > 0) this.#lists.set(shared.key, shared);
  }

  /** The same for all contexts that come to it. */
  #listOf({ route, authorization }: Wish, offered: Offered): SharedList {
    const key = `${route}\n${offered.etag}\n${authorization}`;
    return this.#lists.get(key) ?? new SharedList(key, offered, () => this.#lists.delete(key));
  }

  /** Flags that the main thread sends because they stand beside one that some worker asked for. */
  keepBlock({ path, flagsMark, flags, bytes }: FlagBlock): void {
    const marks = this.#marks;
    if (marks.read(SUBJECTS.flags) !== flagsMark) return;
    let bytesMax = bytes.byteLength;
    for (let i = 0; i < flags.length; i += FLAG_FIELDS)
      bytesMax += ENTRY_BYTES + path.length + (flags[i] as string).length;
    if (!this.#kept.takes(bytesMax)) return;
    // Also what is the same: an older block would take its memory for a few flags.
    for (let i = 0; i < flags.length; i += FLAG_FIELDS) this.#kept.delete(path + (flags[i] as string));
    const shared = new SharedMemory(bytes.byteLength);
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
      this.#kept.set(key, {
        route: FLAG,
        subject,
        mark,
        wideSubject: SUBJECTS.flags,
        wideMark: flagsMark,
        untilMs,
        response: null,
        bytes: ENTRY_BYTES + key.length,
        inBlock: { etag, begin, end, bytes },
        shared,
      });
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

  #keptFor(request: TransportRequest, authorization: string, { readsAll }: KnownCaller): Kept | null {
    const { path, query } = request;
    if (path === this.#documents) return this.#current(this.#kept, documentKey(request, authorization));
    return query === '' && readsAll ? this.#current(this.#kept, keyOf(request)) : null;
  }

  #current(store: KeptStore<Kept>, key: string): Kept | null {
    const kept = store.get(key);
    if (kept === undefined) return null;
    const marks = this.#marks;
    const isSame = marks.read(kept.subject) === kept.mark && marks.read(kept.wideSubject) === kept.wideMark;
    if (isSame && (kept.untilMs === Number.POSITIVE_INFINITY || this.#options.now() < kept.untilMs))
      return kept;
    store.delete(key);
    return null;
  }

  /** The route of an evaluation that asks for little enough to be kept; null for anything else. */
  #evaluationOf({ method, path, query, body }: TransportRequest): KeptRoute | null {
    const route = this.#evaluationAt(method, path);
    if (route === null || path.length + query.length + body.byteLength > CONTEXT_LENGTH_MAX) return null;
    return route;
  }

  #evaluationAt(method: string, path: string): KeptRoute | null {
    if (method === 'GET') return path === this.#toggles ? TOGGLES : null;
    if (method !== 'POST') return null;
    if (path === this.#toggles) return TOGGLES_BY_BODY;
    if (!path.startsWith(this.#evaluate)) return null;
    return path.length === this.#evaluate.length ? EVALUATIONS : EVALUATION;
  }

  /**
   * Null for a context of a known caller that comes for the first time. What unknown callers ask for is not noted, because anybody could
   * fill the places of others; it is kept if the main thread knows them.
   */
  #placeOfContext(request: TransportRequest, authorization: string, route: KeptRoute): Place | null {
    const key = contextKey(request, authorization);
    if (this.#callerOf(authorization) !== null && !this.#contexts.has(key)) return null;
    return { route, key, subject: SUBJECTS.documents, wideSubject: SUBJECTS.flags };
  }

  #placeOf(request: TransportRequest, authorization: string): Place | null {
    const { path, query } = request;
    if (path === this.#documents) {
      const key = documentKey(request, authorization);
      return { route: DOCUMENT, key, subject: SUBJECTS.documents, wideSubject: SUBJECTS.flags };
    }
    // A path that is written oddly has many forms.
    if (query !== '' || !path.startsWith(this.#projects) || path.includes('%')) return null;
    const [project, features, flag, more] = path.slice(this.#projects.length).split('/');
    if (project === '' || features === '' || flag === '' || more !== undefined) return null;
    const key = keyOf(request);
    if (features === undefined)
      return { route: OVERVIEW, key, subject: subjectOfProject(project!), wideSubject: SUBJECTS.lists };
    if (features !== 'features') return null;
    return flag === undefined
      ? { route: FLAG_LIST, key, subject: subjectOfProject(project!), wideSubject: SUBJECTS.lists }
      : { route: FLAG, key, subject: subjectOfFlag(flag), wideSubject: SUBJECTS.flags };
  }

  #makeRoomForCaller(): void {
    if (this.#callers.size < CALLERS_MAX) return;
    for (const oldest of this.#callers.keys()) {
      this.#callers.delete(oldest);
      return;
    }
  }
}

function copied({ etag, headers, body }: Offered): TaggedResponse {
  return new TaggedResponse(etag, new Uint8Array(body), ResponseHeaders.ofLines(headers));
}

function responseOf(kept: Kept): TaggedResponse {
  if (kept.response !== null) return kept.response;
  const { etag, begin, end, bytes } = kept.inBlock!;
  kept.response = taggedAgain(etag, bodyIn(bytes, begin, end));
  return kept.response;
}

/** As the main thread sees it: of what is asked for by POST, lists of evaluations alone are polled. */
function isKnown(request: TransportRequest, { route }: Kept, { etag }: TaggedResponse): boolean {
  if (route === TOGGLES_BY_BODY || route === EVALUATION) return false;
  return namesTag(request.header('if-none-match'), etag);
}

function keyOf(request: TransportRequest): string {
  const coding = request.header('accept-encoding');
  return coding === '' ? request.path : `${request.path}\n${coding}`;
}

/** All that a document depends on, beside what changes. */
function documentKey(request: TransportRequest, authorization: string): string {
  const { path, query } = request;
  const coding = request.header('accept-encoding');
  return [path, query, coding, request.header('unleash-client-spec'), authorization].join('\n');
}

/** All that an evaluation depends on, beside what changes. */
function contextKey(request: TransportRequest, authorization: string): string {
  const { method, path, query, body } = request;
  const [type, coding] = [request.header('content-type'), request.header('content-encoding')];
  const sent = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  return [method, path, query, type, coding, authorization, sent].join('\n');
}

/**
 * Whether the response depends on more than is looked at here: an event that it must show, in a cluster; a session in a cookie; an id
 * that it repeats.
 */
function asksForMore(request: TransportRequest, authorization: string): boolean {
  return (
    request.header('flagstaff-at-least') !== '' ||
    request.header('x-request-id') !== '' ||
    (authorization === '' && request.header('cookie') !== '')
  );
}
