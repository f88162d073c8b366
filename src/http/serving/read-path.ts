/** From a checked request to what it reads, once or as a stream; sent when all that it shows is durable (invariant 4). */
import type { Engine } from '../../actors/engine.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { Coding } from '../coding/compressor.ts';
import { ResponseCoder } from '../coding/response-coder.ts';
import { readsAll } from '../dispatch/access.ts';
import { cacheOf } from '../dispatch/cache.ts';
import { isNotModified } from '../dispatch/conditional.ts';
import { TaggedResponse } from '../dispatch/json-response.ts';
import {
  FOR_ONE_REQUEST,
  type ReadResponse,
  type ReadRoute,
  type RequestContext,
  type StreamOpening,
  type StreamRoute,
} from '../dispatch/route.ts';
import type { HttpResponse, Neighbors, OfferedResponse, TransportRequest } from '../transport/transport.ts';
import type { Call } from './call.ts';
import { refuseTooLong } from './refuse-too-long.ts';
import type { ResponseSender } from './response-sender.ts';

/** What HTTP workers are told beside a response that they may keep. */
interface Keeping {
  untilMs: number;
  readonly neighbors: Neighbors | null;
}

export class ReadPath {
  readonly #engine: Engine;
  readonly #sender: ResponseSender;
  readonly #coder: ResponseCoder;

  constructor(engine: Engine, sender: ResponseSender) {
    this.#engine = engine;
    this.#sender = sender;
    this.#coder = new ResponseCoder(cacheOf(engine));
  }

  read(call: Call, route: ReadRoute, context: RequestContext<unknown>, located: unknown): void {
    // Asked for before anything is made: what is made later may be newer, but never older.
    const keeping = call.responder.keep === undefined ? null : keepingOf(route, context);
    const response = route.read(context, located);
    if (!(response instanceof Promise)) return this.#respond(call, keeping, response);
    response.then(
      (late) => this.#sender.guarded(call, () => this.#respond(call, keeping, late)),
      (error: unknown) => this.#sender.fail(call, error),
    );
  }

  #respond(call: Call, keeping: Keeping | null, read: ReadResponse | Refusal): void {
    if (isRefusal(read)) return this.#sender.refuseSettled(call, read);
    if (keeping !== null && read.validUntil !== undefined)
      keeping.untilMs = Math.min(keeping.untilMs, read.validUntil);
    if (read.revision <= this.#engine.durableId) this.#send(call, keeping, read);
    else this.#engine.whenDurable(read.revision, () => this.#send(call, keeping, read));
  }

  #send(call: Call, keeping: Keeping | null, { response, whole }: ReadResponse): void {
    if (keeping !== null && whole) offer(call, keeping, whole);
    const coding = call.surface?.compresses === true ? this.#codingOf(call, response) : 'identity';
    if (coding === 'identity') return this.#sendAs(call, keeping, response);
    if (response instanceof TaggedResponse) {
      const notModified = this.#coder.notModified(response, coding, call.request);
      if (notModified !== null) return this.#sender.send(call, notModified);
    }
    const coded = this.#coder.coded(response, coding);
    if (!(coded instanceof Promise)) return this.#sendAs(call, keeping, coded);
    coded.then(
      (late) => this.#sender.guarded(call, () => this.#sendAs(call, keeping, late)),
      (error: unknown) => this.#sender.fail(call, error),
    );
  }

  #codingOf({ request }: Call, response: HttpResponse): Coding | 'identity' {
    const acceptEncoding = request.header('accept-encoding');
    return acceptEncoding === '' ? 'identity' : this.#coder.codingOf(response, acceptEncoding);
  }

  #sendAs(call: Call, keeping: Keeping | null, response: ReadResponse['response']): void {
    if (keeping !== null) offer(call, keeping, response);
    const sent = unlessKnown(response, call.request);
    const refusal = refuseTooLong(sent);
    if (refusal === null) this.#sender.send(call, sent);
    else this.#sender.refuse(call, refusal);
  }

  stream(call: Call, opened: ReturnType<StreamRoute['open']>): void {
    if (isRefusal(opened)) return this.#sender.refuseSettled(call, opened);
    if (!(opened instanceof Promise)) {
      return this.#engine.whenDurable(opened.revision, () => this.#begin(call, opened));
    }
    opened.then(
      (late) => this.#sender.guarded(call, () => this.stream(call, late)),
      (error: unknown) => this.#sender.fail(call, error),
    );
  }

  #begin(call: Call, opened: StreamOpening): void {
    if (call.responder.isWanted) this.#sender.sendStream(call, opened);
  }
}

function keepingOf(route: ReadRoute, context: RequestContext<unknown>): Keeping | null {
  const untilMs = route.keptUntil?.(context) ?? null;
  return untilMs === null ? null : { untilMs, neighbors: route.neighbors?.(context) ?? null };
}

function offer(
  { responder, caller }: Call,
  { untilMs, neighbors }: Keeping,
  response: OfferedResponse,
): void {
  if (response.status !== 200 || untilMs === FOR_ONE_REQUEST || caller === null) return;
  const terms = { untilMs, expiresAt: caller.expiresAt, readsAll: readsAll(caller) };
  responder.keep?.(response, terms, neighbors);
}

/** The response, or 304 when the client has it already. */
function unlessKnown(response: HttpResponse | TaggedResponse, request: TransportRequest): HttpResponse {
  return response instanceof TaggedResponse && isNotModified(request, response.etag)
    ? response.notModified
    : response;
}
