/**
 * Lists of results as JSON. A flag can come to few results, each of which is an object that stays: its JSON is made once, with a
 * digest, so that the tag of a list costs the hashing of a few bytes for each flag.
 */
import { createHash } from 'node:crypto';
import { type TaggedResponse, taggedResponse } from '../dispatch/json-response.ts';

interface Block {
  readonly json: string;
  /** 132 bits, in Base64. */
  readonly digest: string;
}

export class JsonLists<T extends object> {
  readonly #field: string;
  readonly #view: (item: T) => unknown;
  readonly #blocks = new WeakMap<T, Block>();

  /** Bodies are objects with the list in `field`; `view` gives an item as it is sent. */
  constructor(field: string, view: (item: T) => unknown) {
    this.#field = field;
    this.#view = view;
  }

  /** `items` in the order in which they are sent, followed by further fields, as JSON with a comma before each. */
  response(items: readonly T[], furtherFields = ''): TaggedResponse {
    let list = '';
    let digests = '';
    for (const item of items) {
      const { json, digest } = this.#blockOf(item);
      list += list === '' ? json : `,${json}`;
      digests += digest;
    }
    const etag = `"${digestOf(digests + furtherFields)}"`;
    return taggedResponse(etag, `{"${this.#field}":[${list}]${furtherFields}}`);
  }

  #blockOf(item: T): Block {
    let block = this.#blocks.get(item);
    if (block === undefined) {
      const json = JSON.stringify(this.#view(item));
      block = { json, digest: digestOf(json) };
      this.#blocks.set(item, block);
    }
    return block;
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
