/**
 * Compresses off the main thread, one body at a time: the pool that does it also writes the journal, and must never be
 * full of compressing. What a client waits for goes before what only saves bytes later.
 */
import { promisify } from 'node:util';
import { brotliCompress, constants, deflateRaw, gzip } from 'node:zlib';
import Negotiator from 'negotiator';

export type Coding = 'gzip' | 'br';

/** `part`: bytes that can stand behind others of their kind (read-path.ts). */
export type Format = Coding | 'part';

/** `fast`: a client waits. `thorough`: a third smaller, and several times as long. */
export type Effort = 'fast' | 'thorough';

/** Bodies that clients may wait for. Beyond it they get theirs uncompressed, at once. */
const WAITING_MAX = 64;

/** Bytes of all bodies that wait: each is held until its turn, also where its readers have left. */
export const COMPRESSING_BYTES_MAX = 16 * 1024 * 1024;

/** Bodies that wait for being made smaller. Beyond it they stay as they are. */
const THOROUGH_WAITING_MAX = 64;

const LEVELS: Readonly<Record<Format, Readonly<Record<Effort, number>>>> = {
  gzip: { fast: 1, thorough: 6 },
  br: { fast: 1, thorough: 5 },
  part: { fast: 1, thorough: 6 },
};

const gzipBody = promisify(gzip);
const brotliBody = promisify(brotliCompress);
const deflatePart = promisify(deflateRaw);

export interface CompressionJob {
  readonly body: Uint8Array;
  readonly coding: Format;
  readonly effort: Effort;
  /** Called in its turn; false: it is dropped. */
  isWanted(): boolean;
}

interface QueuedJob extends CompressionJob {
  /** Null for a dropped job. */
  resolve(compressed: Buffer | null): void;
  reject(error: unknown): void;
}

export class Compressor {
  readonly #queues: Readonly<Record<Effort, QueuedJob[]>> = { fast: [], thorough: [] };
  #isBusy = false;
  #waitingBytes = 0;

  /** Null where too much waits already, or where the body was not wanted any more in its turn. */
  async compress(job: CompressionJob): Promise<Buffer | null> {
    const queue = this.#queues[job.effort];
    if (queue.length >= (job.effort === 'fast' ? WAITING_MAX : THOROUGH_WAITING_MAX)) return null;
    const waitingBytes = this.#waitingBytes + job.body.byteLength;
    if (this.#isBusy && waitingBytes > COMPRESSING_BYTES_MAX) return null;
    this.#waitingBytes = waitingBytes;
    const done = new Promise<Buffer | null>((resolve, reject) => queue.push({ ...job, resolve, reject }));
    if (!this.#isBusy) void this.#work();
    return done;
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    let job = this.#next();
    while (job !== undefined) {
      this.#waitingBytes -= job.body.byteLength;
      try {
        job.resolve(job.isWanted() ? await compressed(job) : null);
      } catch (error) {
        job.reject(error);
      }
      job = this.#next();
    }
    this.#isBusy = false;
  }

  #next(): QueuedJob | undefined {
    return this.#queues.fast.shift() ?? this.#queues.thorough.shift();
  }
}

function compressed({ body, coding, effort }: CompressionJob): Promise<Buffer> {
  const level = LEVELS[coding][effort];
  if (coding === 'gzip') return gzipBody(body, { level });
  if (coding === 'part') return deflatePart(body, { level, finishFlush: constants.Z_FULL_FLUSH });
  return brotliBody(body, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: level,
      [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
    },
  });
}

// The content coding that a client prefers.

/** Codings in the order in which the server likes them. */
const CODINGS = ['br', 'gzip', 'identity'] as const;

type ContentCoding = (typeof CODINGS)[number];

/** Headers whose coding is cached. Every SDK sends the same one in each request; there are few SDKs. */
const CACHED_MAX = 256;
const CACHED_LENGTH_MAX = 200;
const codings = new Map<string, ContentCoding>();
/** The last of them. Comparing with it is faster than looking it up. */
let lastHeader = '';
let lastCoding: ContentCoding = 'identity';

/** The coding that an Accept-Encoding header prefers; the first one named, of several with the same weight. */
export function preferredCoding(acceptEncoding: string): ContentCoding {
  if (acceptEncoding === '') return 'identity';
  if (acceptEncoding === lastHeader) return lastCoding;
  const cached = codings.get(acceptEncoding);
  const coding = cached ?? likedBest(acceptEncoding, CODINGS);
  if (acceptEncoding.length > CACHED_LENGTH_MAX) return coding;
  if (cached === undefined) {
    if (codings.size >= CACHED_MAX) codings.clear();
    codings.set(acceptEncoding, coding);
  }
  lastHeader = acceptEncoding;
  lastCoding = coding;
  return coding;
}

/** Whether a client that likes another coding best takes gzip too. */
function takesGzip(acceptEncoding: string): boolean {
  return likedBest(acceptEncoding, ['gzip', 'identity']) === 'gzip';
}

/** Whether a body in pieces is compressed for the client, which is done as gzip alone. */
export const takesPiecesCompressed = (acceptEncoding: string): boolean =>
  preferredCoding(acceptEncoding) !== 'identity' && takesGzip(acceptEncoding);

function likedBest(acceptEncoding: string, codings: readonly ContentCoding[]): ContentCoding {
  const liked = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings([...codings]);
  return codings.find((one) => one === liked[0]) ?? 'identity';
}
