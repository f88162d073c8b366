/**
 * Lists of outcomes as JSON. A flag can come to few outcomes, each of which is an object that stays: its bytes are made once, with a
 * digest, so that a list costs copying them. Its tag is the sum of the digests, in four lanes of 32 bits: each name stands in a list
 * once and lists are sorted by name, so that the sum tells lists apart as well as a hash of all digests would, as long as nobody
 * makes up flags to get two lists of one sum, which takes the right to decide what clients get anyway. Tags depend only on what is
 * sent: they survive restarts, and are the same on every node.
 *
 * A list is put together some outcomes at a time. A long one is joined into large pieces as it grows, so that nothing is left to do at
 * once for all of it.
 */
import { createHash } from 'node:crypto';
import { type TaggedResponse, taggedResponse } from '../../http/serving/json-response.ts';
import { BodyPieces } from '../../http/transport/response.ts';
import type { Outcome, OutcomeForm, RenderedOutcome } from './evaluation/outcome.ts';
import type { Renderings } from './evaluation/renderings.ts';

const COMMA_BYTES = 1;

/** Bytes of outcomes that are made in one step, which takes some milliseconds. One alone may have more: its variant's payload. */
const MADE_BYTES_MAX = 256 * 1024;

/** Pieces of so many bytes together become one. Shorter lists are left in pieces, which are kept beside the flags anyway. */
const JOINED_BYTES = 256 * 1024;

export interface OutcomeListsOptions {
  /** The field that holds the list in the object that a body is. */
  readonly field: string;
  /** The form in which each outcome caches its bytes. */
  readonly form: OutcomeForm;
  view(outcome: Outcome): unknown;
}

export class OutcomeLists {
  readonly #options: OutcomeListsOptions;
  readonly #start: Uint8Array;
  #end: RenderedOutcome | null = null;
  #endFields = '';

  constructor(options: OutcomeListsOptions) {
    this.#options = options;
    this.#start = Buffer.from(`{"${options.field}":[`);
  }

  /** An empty list. It is followed by further fields, as JSON with a comma before each. `renderings` counts what is made for it. */
  begin(renderings: Renderings, furtherFields = ''): OutcomeList {
    const end = this.#endOf(furtherFields);
    return new OutcomeList({ ...this.#options, start: this.#start, end, renderings });
  }

  /** The bytes after the outcomes, mostly the same as the last time. */
  #endOf(furtherFields: string): RenderedOutcome {
    if (this.#end === null || furtherFields !== this.#endFields) {
      this.#end = rendered(`]${furtherFields}}`);
      this.#endFields = furtherFields;
    }
    return this.#end;
  }
}

interface OutcomeListOptions extends OutcomeListsOptions {
  readonly start: Uint8Array;
  readonly end: RenderedOutcome;
  readonly renderings: Renderings;
}

export class OutcomeList {
  readonly #options: OutcomeListOptions;
  readonly #end: RenderedOutcome;
  /** Pieces that have been joined; `#pieces` has the others. */
  readonly #joined: Uint8Array[] = [];
  #pieces: Uint8Array[];
  #piecesBytes: number;
  #byteLength = 0;
  #isEmpty = true;
  readonly #sum: Int32Array;

  constructor(options: OutcomeListOptions) {
    const { start, end } = options;
    this.#options = options;
    this.#end = end;
    this.#pieces = [start];
    this.#piecesBytes = start.byteLength;
    this.#sum = Int32Array.of(end.digest0, end.digest1, end.digest2, end.digest3);
  }

  /** Adds outcomes, in the order in which they are sent, from that position on. Returns the position up to which there was time. */
  add(outcomes: readonly Outcome[], from: number): number {
    const { form } = this.#options;
    const pieces = this.#pieces;
    const sum = this.#sum;
    let [at, madeBytes, bytes] = [from, 0, 0];
    let [digest0, digest1, digest2, digest3] = [sum[0]!, sum[1]!, sum[2]!, sum[3]!];
    for (; at < outcomes.length && madeBytes < MADE_BYTES_MAX; at += 1) {
      let rendered = outcomes[at]!.rendered[form];
      if (rendered === null) {
        rendered = this.#render(outcomes[at]!);
        madeBytes += rendered.bytes.byteLength;
      }
      pieces.push(rendered.bytes);
      bytes += rendered.bytes.byteLength;
      digest0 = (digest0 + rendered.digest0) | 0;
      digest1 = (digest1 + rendered.digest1) | 0;
      digest2 = (digest2 + rendered.digest2) | 0;
      digest3 = (digest3 + rendered.digest3) | 0;
    }
    sum[0] = digest0;
    sum[1] = digest1;
    sum[2] = digest2;
    sum[3] = digest3;
    this.#piecesBytes += bytes;
    if (this.#isEmpty && bytes > 0) this.#dropFirstComma();
    if (this.#piecesBytes >= JOINED_BYTES) this.#join();
    return at;
  }

  #dropFirstComma(): void {
    this.#isEmpty = false;
    this.#pieces[1] = this.#pieces[1]!.subarray(COMMA_BYTES);
    this.#piecesBytes -= COMMA_BYTES;
  }

  end(): TaggedResponse {
    const { bytes } = this.#end;
    this.#pieces.push(bytes);
    this.#piecesBytes += bytes.byteLength;
    if (this.#joined.length > 0) this.#join();
    const body =
      this.#joined.length > 0
        ? new BodyPieces(this.#joined, this.#byteLength)
        : new BodyPieces(this.#pieces, this.#piecesBytes);
    return taggedResponse(`"${Buffer.from(this.#sum.buffer).toString('base64url')}"`, body);
  }

  #join(): void {
    this.#joined.push(Buffer.concat(this.#pieces, this.#piecesBytes));
    this.#byteLength += this.#piecesBytes;
    this.#pieces = [];
    this.#piecesBytes = 0;
  }

  #render(outcome: Outcome): RenderedOutcome {
    const { form, view, renderings } = this.#options;
    const made = rendered(`,${JSON.stringify(view(outcome))}`);
    outcome.rendered[form] = made;
    renderings.set(made, outcome);
    return made;
  }
}

function rendered(text: string): RenderedOutcome {
  const bytes = Buffer.from(text);
  const digest = createHash('sha256').update(bytes).digest();
  return {
    bytes,
    digest0: digest.readInt32LE(0),
    digest1: digest.readInt32LE(4),
    digest2: digest.readInt32LE(8),
    digest3: digest.readInt32LE(12),
  };
}
