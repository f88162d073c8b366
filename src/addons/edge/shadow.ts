/**
 * Asks another server for a sample of the evaluations that the edge answers, and counts by flag where the two differ: proof, for as long
 * as one likes, before a move. The caller has its answer before the other server is asked, so that server can be slow or away.
 *
 * Evaluations that depend on chance differ by themselves; they are those without a `userId` and a `sessionId`.
 */
import { bytesOf } from '../../http/transport/response.ts';
import type { HttpResponse, TransportRequest } from '../../http/transport/transport.ts';
import type { UpstreamClient } from './upstream-client.ts';

/** Comparisons a second at most. */
export const COMPARED_A_SECOND_MAX = 5;

/** Flags whose differences are counted; further ones count under `others`. */
const FLAGS_MAX = 1_000;

/** Larger answers are not compared: parsing them would hold up others. */
export const COMPARED_BYTES_MAX = 256 * 1024;

export interface ShadowOptions {
  readonly client: UpstreamClient;
  readonly basePath: string;
  now(): number;
  onFault(error: unknown): void;
  /** Told of the first difference of each flag. */
  onDifference(flag: string): void;
}

export class Shadow {
  readonly #options: ShadowOptions;
  readonly differences = new Map<string, number>();
  #comparedCount = 0;
  #second = 0;
  #inSecond = 0;

  constructor(options: ShadowOptions) {
    this.#options = options;
  }

  get comparedCount(): number {
    return this.#comparedCount;
  }

  /** Told of each response of the edge. Never throws. */
  readonly note = (request: TransportRequest, response: HttpResponse): void => {
    if (!this.#isComparable(request, response) || !this.#hasRoom()) return;
    this.#compare(request, response).catch((error: unknown) => this.#options.onFault(error));
  };

  #isComparable({ method, path, query }: TransportRequest, { status, body }: HttpResponse): boolean {
    if (method !== 'GET' || status !== 200 || path !== `${this.#options.basePath}/api/frontend`) return false;
    if (!/(?:^|&)(?:userId|sessionId)=/.test(query) || body === null) return false;
    return (typeof body === 'string' ? body.length : body.byteLength) <= COMPARED_BYTES_MAX;
  }

  #hasRoom(): boolean {
    const second = Math.floor(this.#options.now() / 1000);
    if (second !== this.#second) [this.#second, this.#inSecond] = [second, 0];
    this.#inSecond += 1;
    return this.#inSecond <= COMPARED_A_SECOND_MAX;
  }

  async #compare(request: TransportRequest, { body }: HttpResponse): Promise<void> {
    const { client, onDifference } = this.#options;
    const ours = togglesIn(Buffer.from(bytesOf(body)).toString('utf8'));
    const answer = await client.get(`/api/frontend?${request.query}`, request.header('authorization'));
    if (answer.status !== 200) throw new Error(`the server in --shadow answered ${answer.status}`);
    const theirs = togglesIn(answer.body.toString());
    this.#comparedCount += 1;
    for (const name of new Set([...ours.keys(), ...theirs.keys()])) {
      if (ours.get(name) === theirs.get(name)) continue;
      const key = this.differences.has(name) || this.differences.size < FLAGS_MAX ? name : 'others';
      const before = this.differences.get(key) ?? 0;
      this.differences.set(key, before + 1);
      if (before === 0) onDifference(key);
    }
  }
}

/** By name: what a caller sees of a flag that is on. */
function togglesIn(body: string): ReadonlyMap<string, string> {
  const sent: unknown = JSON.parse(body);
  const toggles = typeof sent === 'object' && sent !== null && 'toggles' in sent ? sent.toggles : null;
  if (!Array.isArray(toggles)) throw new Error('the server in --shadow sent something else than flags');
  return new Map(
    toggles.map((one: { name: string; enabled: boolean; impressionData?: boolean; variant?: Variant }) => {
      const { name, enabled, impressionData = false, variant } = one;
      const seen = [enabled, impressionData, variant?.name, variant?.enabled, variant?.payload ?? null];
      return [name, JSON.stringify(seen)];
    }),
  );
}

interface Variant {
  readonly name: string;
  readonly enabled: boolean;
  readonly payload?: unknown;
}
