/**
 * Lists of results as JSON. A flag can come to few results, each of which is an object that stays: its bytes are made once, with a
 * digest, so that a list costs copying them, and its tag the hashing of a few characters for each flag.
 */
import { createHash } from 'node:crypto';
import { type TaggedResponse, taggedResponse } from '../dispatch/json-response.ts';

interface Block {
  /** Its JSON in UTF-8, behind a comma. */
  readonly bytes: Uint8Array;
  /** 132 bits, in Base64. */
  readonly digest: string;
}

const COMMA_BYTES = 1;

export class JsonLists<T extends object> {
  readonly #start: Uint8Array;
  readonly #view: (item: T) => unknown;
  readonly #blocks = new WeakMap<T, Block>();

  /** Bodies are objects with the list in `field`; `view` gives an item as it is sent. */
  constructor(field: string, view: (item: T) => unknown) {
    this.#start = Buffer.from(`{"${field}":[`);
    this.#view = view;
  }

  /** `items` in the order in which they are sent, followed by further fields, as JSON with a comma before each. */
  response(items: readonly T[], furtherFields = ''): TaggedResponse {
    const parts: Uint8Array[] = [this.#start];
    let digests = '';
    for (const item of items) {
      const { bytes, digest } = this.#blockOf(item);
      parts.push(parts.length === 1 ? bytes.subarray(COMMA_BYTES) : bytes);
      digests += digest;
    }
    parts.push(Buffer.from(`]${furtherFields}}`));
    return taggedResponse(`"${digestOf(digests + furtherFields)}"`, Buffer.concat(parts));
  }

  #blockOf(item: T): Block {
    let block = this.#blocks.get(item);
    if (block === undefined) {
      const json = JSON.stringify(this.#view(item));
      block = { bytes: Buffer.from(`,${json}`), digest: digestOf(json) };
      this.#blocks.set(item, block);
    }
    return block;
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
