/** What clients are told whose requests the engine of a worker refuses: the same as the main thread would say. */
import { errorOfTransport, errorResponse } from '../../dispatch/errors.ts';
import { surfaceBelow } from '../../dispatch/surface.ts';
import { givenRequestId } from '../../logging/request-identity.ts';
import { type CrossOrigin, crossOriginOf } from '../../serving/cross-origin.ts';
import type { HttpResponse, TransportRequestHead } from '../../transport/transport.ts';
import { ERROR_SHAPES, type SurfaceOutline } from '../error-shapes.ts';
import type { Refused } from './main-link.ts';

export class WordedRefusals {
  readonly #basePath: string;
  #surfaces: readonly SurfaceOutline[] = [];
  #crossOrigin: CrossOrigin = crossOriginOf([]);

  constructor(basePath: string) {
    this.#basePath = basePath;
  }

  /** From now on: until then, the server starts. */
  know(surfaces: readonly SurfaceOutline[], origins: readonly string[]): void {
    this.#surfaces = surfaces;
    this.#crossOrigin = crossOriginOf(origins);
  }

  /** What pages of other origins may read, with the headers that tell them so. */
  readable(head: TransportRequestHead, response: HttpResponse): HttpResponse {
    return this.#crossOrigin.allow(head, response);
  }

  response({ status, reason, head, errorId }: Refused): HttpResponse {
    const surface = head === null ? undefined : surfaceBelow(this.#surfaces, this.#basePath, head.path);
    const shape = ERROR_SHAPES[surface?.errors ?? 'common'];
    const plain = errorResponse(errorOfTransport(status, reason), { shape, id: errorId, params: null });
    const requestId = (head === null ? '' : givenRequestId(head)) || errorId;
    const response = { ...plain, headers: plain.headers.with('x-request-id', requestId) };
    return head !== null && surface?.isForPages === true ? this.#crossOrigin.allow(head, response) : response;
  }
}
