/**
 * One body in each content coding that clients ask for, made once: compressed fast for the first client, and thoroughly a moment
 * later, if it is still what clients get.
 */
import { type Coding, type Compressor, preferredCoding } from '../../http/serving/compressor.ts';
import { type TaggedResponse, taggedResponse } from '../../http/serving/json-response.ts';

/** Smaller bodies fit into one packet as they are. */
const COMPRESSED_BYTES_MIN = 1024;

/** The largest body that is compressed thoroughly: larger ones would hold one of two cores for long. */
const THOROUGH_BYTES_MAX = 4 * 1024 * 1024;

/** A body that was replaced before that has cost nothing in vain. */
const THOROUGH_AFTER_MS = 1_000;

export interface BodyWorkshop {
  readonly compressor: Compressor;
  later(delayMs: number, callback: () => void): void;
}

export interface EncodedBodyOptions extends BodyWorkshop {
  /** Without quotes; tells this body apart from all others that the same request has got or will get. */
  readonly tag: string;
  readonly body: Buffer;
  /** True where all codings share one tag, because clients read it as a number. */
  readonly isTagOfAllCodings?: true;
  onResized(): void;
}

export class EncodedBody {
  readonly #options: EncodedBodyOptions;
  readonly #identity: TaggedResponse;
  readonly #compressed = new Map<Coding, TaggedResponse>();
  readonly #pending = new Map<Coding, Promise<TaggedResponse>>();
  #isRetired = false;

  constructor(options: EncodedBodyOptions) {
    this.#options = options;
    this.#identity = taggedResponse(`"${options.tag}"`, options.body);
  }

  /** Without quotes, and without the coding. */
  get tag(): string {
    return this.#options.tag;
  }

  get bytes(): number {
    let bytes = this.#options.body.byteLength;
    for (const { body } of this.#compressed.values()) bytes += (body as Uint8Array).byteLength;
    return bytes;
  }

  retire(): void {
    this.#isRetired = true;
  }

  response(acceptEncoding: string): TaggedResponse | Promise<TaggedResponse> {
    const coding = preferredCoding(acceptEncoding);
    if (coding === 'identity' || this.#options.body.byteLength < COMPRESSED_BYTES_MIN) return this.#identity;
    return this.#compressed.get(coding) ?? this.#pending.get(coding) ?? this.#compressFast(coding);
  }

  #compressFast(coding: Coding): Promise<TaggedResponse> {
    const { compressor, body, later } = this.#options;
    const pending = compressor
      .compress({ body, coding, effort: 'fast', isWanted: () => true })
      .then((compressed) => {
        if (compressed === null) return this.#identity;
        later(THOROUGH_AFTER_MS, () => this.#compressThoroughly(coding));
        return this.#keep(coding, compressed);
      })
      .finally(() => this.#pending.delete(coding));
    this.#pending.set(coding, pending);
    return pending;
  }

  #compressThoroughly(coding: Coding): void {
    const { compressor, body } = this.#options;
    if (this.#isRetired || body.byteLength > THOROUGH_BYTES_MAX) return;
    compressor.compress({ body, coding, effort: 'thorough', isWanted: () => !this.#isRetired }).then(
      (compressed) => {
        if (compressed !== null) this.#keep(coding, compressed);
      },
      // The fast one stays good; a fault of the compression shows where a client waits for one.
      () => undefined,
    );
  }

  /**
   * Each coding has a tag of its own, because a strong tag must tell codings apart. How hard a body was compressed is not
   * in it: a client must not fetch again what it has only because it has become smaller.
   */
  #keep(coding: Coding, compressed: Buffer): TaggedResponse {
    const { tag, isTagOfAllCodings } = this.#options;
    const response = taggedResponse(isTagOfAllCodings ? `"${tag}"` : `"${tag}:${coding}"`, compressed, [
      'content-encoding',
      coding,
    ]);
    this.#compressed.set(coding, response);
    this.#options.onResized();
    return response;
  }
}
