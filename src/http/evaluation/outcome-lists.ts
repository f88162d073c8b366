/**
 * Lists of outcomes as JSON. A flag can come to few outcomes, each of which is an object that stays: its bytes are made once, with a
 * digest, so that a list costs copying them, and its tag the hashing of 16 bytes for each flag. Tags depend on what is sent and on
 * nothing else: they survive restarts, and are the same on every node.
 */
import { createHash } from 'node:crypto';
import type { Outcome, OutcomeForm, RenderedOutcome } from '../../domain/evaluation/outcome.ts';
import { type TaggedResponse, taggedResponse } from '../dispatch/json-response.ts';
import { BodyPieces } from '../transport/response-body.ts';

/** Numbers of 32 bits. */
const DIGEST_LENGTH = 4;

/** Characters of a tag: 132 bits in Base64. */
const TAG_LENGTH = 22;

const COMMA_BYTES = 1;

/** For the digests of one list of up to so many outcomes: used only within one call. */
const digests = new Int32Array(2_000 * DIGEST_LENGTH);

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

  constructor(options: OutcomeListsOptions) {
    this.#options = options;
    this.#start = Buffer.from(`{"${options.field}":[`);
  }

  /** `outcomes` in the order in which they are sent, followed by further fields, as JSON with a comma before each. */
  response(outcomes: readonly Outcome[], furtherFields = ''): TaggedResponse {
    const pieces: Uint8Array[] = [this.#start];
    const hash = createHash('sha256');
    let byteLength = this.#start.byteLength;
    let at = 0;
    for (const outcome of outcomes) {
      const rendered = outcome.rendered[this.#options.form] ?? this.#render(outcome);
      const bytes = pieces.length === 1 ? rendered.bytes.subarray(COMMA_BYTES) : rendered.bytes;
      pieces.push(bytes);
      byteLength += bytes.byteLength;
      if (at === digests.length) {
        hash.update(digests);
        at = 0;
      }
      // Not by `set`, which takes ten times as long for so few.
      digests[at] = rendered.digest0;
      digests[at + 1] = rendered.digest1;
      digests[at + 2] = rendered.digest2;
      digests[at + 3] = rendered.digest3;
      at += DIGEST_LENGTH;
    }
    const end = Buffer.from(`]${furtherFields}}`);
    pieces.push(end);
    const tag = hash.update(digests.subarray(0, at)).update(end).digest('base64url');
    return taggedResponse(
      `"${tag.slice(0, TAG_LENGTH)}"`,
      new BodyPieces(pieces, byteLength + end.byteLength),
    );
  }

  #render(outcome: Outcome): RenderedOutcome {
    const { form, view } = this.#options;
    const bytes = Buffer.from(`,${JSON.stringify(view(outcome))}`);
    const digest = createHash('sha256').update(bytes).digest();
    const [digest0, digest1, digest2, digest3] = [0, 4, 8, 12].map((at) => digest.readInt32LE(at));
    const rendered = { bytes, digest0, digest1, digest2, digest3 } as RenderedOutcome;
    outcome.rendered[form] = rendered;
    return rendered;
  }
}
