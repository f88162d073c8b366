/**
 * All that a query shows at one moment, as one event for clients that have nothing yet, or too little. Its bytes are made
 * once, in parts that many streams can wait with by reference.
 */
import { type BodyWorkshop, EncodedBody } from '../client-flags/encoded-body.ts';
import { inSlices } from '../dispatch/slices.ts';
import type { QueryContent } from './query-content.ts';

/** Flags encoded in one go: some 100 KB. */
const FLAGS_A_PART = 128;

/** Parts that are made at once; more, in slices. */
const PARTS_AT_ONCE = 16;

/** Around the events of a response. */
export const EVENTS_HEAD = Buffer.from('{"events":[');
export const EVENTS_TAIL = Buffer.from(']}');

export interface BodyOptions extends BodyWorkshop {
  /** Told when the body takes more bytes than before. */
  onResized(): void;
}

export class Hydration {
  /** Of the newest event that it shows. */
  readonly id: number;
  /** Of all parts together. */
  readonly #characters: number;
  readonly #segments: readonly string[];
  /** Not encoded yet. */
  #flags: readonly string[];
  #parts: Buffer[] = [];
  #encoding: Promise<void> | null = null;
  #body: EncodedBody | null = null;
  #isRetired = false;

  constructor(id: number, { flags, segments }: Pick<QueryContent, 'flags' | 'segments'>) {
    this.id = id;
    this.#flags = flags;
    this.#segments = segments;
    this.#characters = [...flags, ...segments].reduce((sum, { length }) => sum + length, 0);
  }

  /** An estimate of the memory that it takes: parts and body share theirs. */
  get bytes(): number {
    return this.#body?.bytes ?? this.#characters;
  }

  /** The body of a response with nothing but this event, whose tag is the id. */
  body(options: BodyOptions): EncodedBody | Promise<EncodedBody> {
    if (this.#body !== null) return this.#body;
    const parts = this.parts();
    if (parts instanceof Promise) return parts.then((made) => this.#body ?? this.#joined(made, options));
    return this.#joined(parts, options);
  }

  /** No further clients get it: nothing more is made of it. */
  retire(): void {
    this.#isRetired = true;
    this.#body?.retire();
  }

  #joined(parts: readonly Buffer[], options: BodyOptions): EncodedBody {
    const whole = Buffer.concat([EVENTS_HEAD, ...parts, EVENTS_TAIL]);
    let at = EVENTS_HEAD.byteLength;
    this.#parts = parts.map(({ byteLength }) => {
      at += byteLength;
      return whole.subarray(at - byteLength, at);
    });
    const body = new EncodedBody({ ...options, tag: String(this.id), body: whole, isTagOfAllCodings: true });
    if (this.#isRetired) body.retire();
    this.#body = body;
    options.onResized();
    return body;
  }

  /** One JSON object in all. */
  parts(): readonly Buffer[] | Promise<readonly Buffer[]> {
    if (this.#encoding !== null) return this.#encoding.then(() => this.#parts);
    if (this.#parts.length > 0) return this.#parts;
    const advance = this.#encoder();
    if (this.#flags.length > FLAGS_A_PART * PARTS_AT_ONCE) {
      this.#encoding = inSlices(advance).then(() => {
        this.#encoding = null;
      });
      return this.#encoding.then(() => this.#parts);
    }
    while (!advance());
    return this.#parts;
  }

  /** Makes one part with each call; true with the last one. */
  #encoder(): () => boolean {
    const flags = this.#flags;
    let at = 0;
    return () => {
      const some = flags.slice(at, at + FLAGS_A_PART).join(',');
      const head = at === 0 ? `{"type":"hydration","eventId":${this.id},"features":[` : ',';
      at += FLAGS_A_PART;
      const isLast = at >= flags.length;
      const tail = isLast ? `],"segments":[${this.#segments.join(',')}]}` : '';
      this.#parts.push(Buffer.from(head + some + tail));
      if (isLast) this.#flags = [];
      return isLast;
    };
  }
}
