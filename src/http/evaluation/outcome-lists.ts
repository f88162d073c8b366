/**
 * Lists of outcomes as JSON. A flag can come to few outcomes, each of which is an object that stays: its bytes are made once, with a
 * digest, so that a list costs copying them. Its tag is the sum of the digests, in four lanes of 32 bits: each name stands in a list
 * once and lists are sorted by name, so that the sum tells lists apart as well as a hash of all digests would, as long as nobody
 * makes up flags to get two lists of one sum. Whoever can do that decides anyway what clients get. Tags depend on what is sent
 * and on nothing else: they survive restarts, and are the same on every node.
 */
import { createHash } from 'node:crypto';
import type { Outcome, OutcomeForm, RenderedOutcome } from '../../domain/evaluation/outcome.ts';
import { type TaggedResponse, taggedResponse } from '../dispatch/json-response.ts';
import { BodyPieces } from '../transport/response-body.ts';

const COMMA_BYTES = 1;

/** For the tag of one list: used only within one call. */
const sum = new Int32Array(4);
const sumBytes = Buffer.from(sum.buffer);

export interface OutcomeListsOptions {
  /** Of the object that a body is, in which the list is. */
  readonly field: string;
  /** Where each outcome keeps its bytes. */
  readonly form: OutcomeForm;
  /** An outcome as it is sent. */
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

  /** `outcomes` in the order in which they are sent, followed by further fields, as JSON with a comma before each. */
  response(outcomes: readonly Outcome[], furtherFields = ''): TaggedResponse {
    const pieces: Uint8Array[] = [this.#start];
    const { form } = this.#options;
    const end = this.#endOf(furtherFields);
    let byteLength = this.#start.byteLength + end.bytes.byteLength;
    let { digest0, digest1, digest2, digest3 } = end;
    for (const outcome of outcomes) {
      const rendered = outcome.rendered[form] ?? this.#render(outcome);
      const bytes = pieces.length === 1 ? rendered.bytes.subarray(COMMA_BYTES) : rendered.bytes;
      pieces.push(bytes);
      byteLength += bytes.byteLength;
      digest0 = (digest0 + rendered.digest0) | 0;
      digest1 = (digest1 + rendered.digest1) | 0;
      digest2 = (digest2 + rendered.digest2) | 0;
      digest3 = (digest3 + rendered.digest3) | 0;
    }
    pieces.push(end.bytes);
    sum[0] = digest0;
    sum[1] = digest1;
    sum[2] = digest2;
    sum[3] = digest3;
    return taggedResponse(`"${sumBytes.toString('base64url')}"`, new BodyPieces(pieces, byteLength));
  }

  /** What follows the outcomes: mostly the same as the last time. */
  #endOf(furtherFields: string): RenderedOutcome {
    if (this.#end === null || furtherFields !== this.#endFields) {
      this.#end = rendered(`]${furtherFields}}`);
      this.#endFields = furtherFields;
    }
    return this.#end;
  }

  #render(outcome: Outcome): RenderedOutcome {
    const { form, view } = this.#options;
    const made = rendered(`,${JSON.stringify(view(outcome))}`);
    outcome.rendered[form] = made;
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
