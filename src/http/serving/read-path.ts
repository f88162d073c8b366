/** Takes a checked request to its response or stream, which is sent when everything that it shows is durable (invariant 4). */
import { cacheOf } from '../../actors/cache.ts';
import type { Engine } from '../../actors/engine.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { HttpResponse, TransportRequest } from '../transport/transport.ts';
import { UNREAD_BYTES_MAX } from '../transport/transport-limits.ts';
import type { Call } from './call.ts';
import type { Coding } from './compressor.ts';
import { isNotModified } from './etag.ts';
import { TaggedResponse } from './json-response.ts';
import { ResponseCoder } from './response-coder.ts';
import type { ResponseSender } from './response-sender.ts';
import type { ReadResponse, ReadRoute, RequestContext, StreamOpening, StreamRoute } from './route.ts';

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
    const response = route.read(context, located);
    if (!(response instanceof Promise)) return this.#respond(call, response);
    response.then(
      (late) => this.#sender.guarded(call, () => this.#respond(call, late)),
      (error: unknown) => this.#sender.fail(call, error),
    );
  }

  #respond(call: Call, read: ReadResponse | Refusal): void {
    if (isRefusal(read)) return this.#sender.refuseSettled(call, read);
    if (read.revision <= this.#engine.durableId) this.#send(call, read);
    else this.#engine.whenDurable(read.revision, () => this.#send(call, read));
  }

  #send(call: Call, { response }: ReadResponse): void {
    const coding = call.surface?.compresses === true ? this.#codingOf(call, response) : 'identity';
    if (coding === 'identity') return this.#sendAs(call, response);
    if (response instanceof TaggedResponse) {
      const notModified = this.#coder.notModified(response, coding, call.request);
      if (notModified !== null) return this.#sender.send(call, notModified);
    }
    const coded = this.#coder.coded(response, coding);
    if (!(coded instanceof Promise)) return this.#sendAs(call, coded);
    coded.then(
      (late) => this.#sender.guarded(call, () => this.#sendAs(call, late)),
      (error: unknown) => this.#sender.fail(call, error),
    );
  }

  #codingOf({ request }: Call, response: HttpResponse): Coding | 'identity' {
    const acceptEncoding = request.header('accept-encoding');
    return acceptEncoding === '' ? 'identity' : this.#coder.codingOf(response, acceptEncoding);
  }

  #sendAs(call: Call, response: ReadResponse['response']): void {
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

/** The response, or 304 when the client has it already. */
function unlessKnown(response: HttpResponse | TaggedResponse, request: TransportRequest): HttpResponse {
  return response instanceof TaggedResponse && isNotModified(request, response.etag)
    ? response.notModified
    : response;
}

// Refuses a response that could not arrive: what its client has not read yet would be more than all clients together may leave
// unread, so the connection would be closed in its middle. A refusal before the first byte says what to ask for instead.

/** Bytes of one response, as it is sent. */
export const RESPONSE_BYTES_MAX = UNREAD_BYTES_MAX;

export function refuseTooLong({ body }: Pick<HttpResponse, 'body'>): Refusal | null {
  // A character takes three bytes at most, and most texts are short.
  if (body === null || (typeof body === 'string' && body.length * 3 <= RESPONSE_BYTES_MAX)) return null;
  const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
  if (bytes <= RESPONSE_BYTES_MAX) return null;
  return refuse(
    'PayloadTooLargeError',
    `The response has ${mebibytes(bytes)} MiB; at most ${mebibytes(RESPONSE_BYTES_MAX)} MiB are sent at once. Send Accept-Encoding: gzip, or ask for less: /api/admin/search/features lists flags in pages (offset and limit), and documents for SDKs are narrowed by project, namePrefix and tag.`,
  );
}

const mebibytes = (bytes: number): number => Math.ceil(bytes / 2 ** 20);
