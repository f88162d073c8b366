/**
 * The front of an edge: leads each request to the mirror that serves its token. Nearly all tokens are known, and cost one look into a map;
 * one that is not waits for the upstream's word, with its body, within a bound. What needs no token, and what no token helps, is responded
 * to by a state without flags, the fallback.
 */
import { isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import { secretIn } from '../../http/serving/access.ts';
import { AT_LEAST_HEADER } from '../../http/serving/cluster.ts';
import type { Api } from '../../http/serving/dispatcher.ts';
import type {
  RequestHandler,
  Responder,
  TransportRequest,
  TransportRequestHead,
} from '../../http/transport/transport.ts';
import type { FedMirror, Mirrors } from './mirrors.ts';
import { Quota } from './quota.ts';
import type { Tokens } from './tokens.ts';

/** Bytes of the bodies of requests whose tokens are not known. Protects memory. */
export const WAITING_BODIES_BYTES_MAX = 16 * 1024 * 1024;

/** Requests that wait for the upstream's word, or for the first flags. */
export const WAITING_REQUESTS_MAX = 2_000;

/** Tokens of one question of an edge behind this one. */
const ASKED_MAX = 500;

const refusal = (message: string): Refusal => refuse('ServiceUnavailableError', message);

const UPSTREAM_AWAY = refusal(
  'The upstream does not respond, and this edge does not know the token; ask again in a moment.',
);
const TOO_MANY = refusal('Too many requests wait for the upstream at the moment; ask again in a moment.');
const UNCOVERED = refusal(
  'This edge has no flags for the token: give it, with --tokens or by a request, one client token of the same environment that covers the same projects.',
);
const FULL = refusal(
  'This edge has no room for the flags of another token; start another edge, or give it more memory.',
);
const NO_FLAGS = refusal('The upstream has not sent the flags of the token yet; ask again in a moment.');

export interface EdgeRouterOptions {
  readonly fallback: Api;
  readonly mirrors: Mirrors;
  readonly tokens: Tokens;
  readonly basePath: string;
  readonly tokenHeader: string;
  readonly firstFlagsTimeoutMs: number;
}

export class EdgeRouter {
  readonly #options: EdgeRouterOptions;
  readonly #validatePath: string;
  readonly #waiting = new Quota(WAITING_REQUESTS_MAX);
  readonly #waitingBodies = new Quota(WAITING_BODIES_BYTES_MAX);

  constructor(options: EdgeRouterOptions) {
    this.#options = options;
    this.#validatePath = `${options.basePath}/edge/validate`;
  }

  get waitingCount(): number {
    return this.#waiting.taken;
  }

  readonly handle: RequestHandler = (received, responder) => {
    const { fallback, tokenHeader, mirrors } = this.#options;
    const request = withTokenHeader(received, tokenHeader);
    if (request.path === this.#validatePath) return this.#validate(request, responder);
    const secret = secretIn(request.header('authorization'));
    if (secret === null) return fallback.handle(request, responder);
    const fed = mirrors.of(secret);
    if (fed?.served.mirror.isFilled === true) return this.#serve(fed, request, responder);
    if (this.#options.tokens.known(secret) === 'invalid') return fallback.handle(request, responder);
    this.#wait(request, responder, () => this.#assigned(secret, request.remoteAddress()));
  };

  /** The client that a body counts for: all new tokens together, because what each is good for is not known yet. */
  readonly admit = (given: TransportRequestHead): string | null => {
    const { fallback, mirrors, tokens, tokenHeader } = this.#options;
    const head = withTokenHeader(given, tokenHeader);
    const secret = secretIn(head.header('authorization'));
    if (secret === null) return fallback.admit(head);
    const fed = mirrors.of(secret);
    if (fed !== undefined) return fed.served.api.admit(head);
    return tokens.known(secret) !== 'invalid' && this.#waiting.has(head.remoteAddress()) ? '' : null;
  };

  #serve(fed: FedMirror, request: TransportRequest, responder: Responder): void {
    const eventId = request.header(AT_LEAST_HEADER);
    if (eventId === '') return fed.served.api.handle(request, responder);
    const goOn = (late: Refusal | null): void => {
      if (late === null) fed.served.api.handle(request, responder);
      else fed.served.api.refuseEarly(request, responder, late);
    };
    const waiting = { bytes: request.body.byteLength, isKnown: true };
    const reached = fed.served.atLeast.check(eventId, waiting, goOn);
    if (reached !== undefined) goOn(reached);
  }

  /** The mirror of the token, or why it has none; null for a token that is not valid. */
  async #assigned(secret: string, address: string): Promise<FedMirror | Refusal | null> {
    const { tokens, mirrors, firstFlagsTimeoutMs } = this.#options;
    const verdict = await tokens.find(secret, address);
    if (verdict === 'unknown') return UPSTREAM_AWAY;
    if (verdict === 'too-many') return TOO_MANY;
    const token = tokens.get(secret);
    if (token === undefined) return null;
    const fed = mirrors.assign(token);
    if (fed === 'uncovered') return UNCOVERED;
    if (fed === 'full') return FULL;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, firstFlagsTimeoutMs);
    });
    await Promise.race([fed.served.mirror.filled, late]);
    clearTimeout(timer);
    return fed.served.mirror.isFilled ? fed : NO_FLAGS;
  }

  #wait(
    request: TransportRequest,
    responder: Responder,
    find: () => Promise<FedMirror | Refusal | null>,
  ): void {
    const { fallback } = this.#options;
    const address = request.remoteAddress();
    const leave = this.#waiting.take(address);
    const dropBody = leave === null ? null : this.#waitingBodies.take(address, request.body.byteLength);
    if (leave === null || dropBody === null) {
      leave?.();
      return fallback.refuseEarly(request, responder, TOO_MANY);
    }
    const found = find().finally(() => {
      leave();
      dropBody();
    });
    found.then(
      (mirror) => {
        if (!responder.isWanted) return;
        if (mirror === null) fallback.handle(request, responder);
        else if (isRefusal(mirror)) fallback.refuseEarly(request, responder, mirror);
        else this.#serve(mirror, request, responder);
      },
      () => responder.isWanted && fallback.refuseEarly(request, responder, NO_FLAGS),
    );
  }

  /** Asks the upstream for what this edge does not know; the fallback, which knows all valid tokens, then responds. */
  #validate(request: TransportRequest, responder: Responder): void {
    const { tokens } = this.#options;
    const unknown = tokensIn(request).filter((secret) => tokens.known(secret) === null);
    if (unknown.length === 0) return this.#options.fallback.handle(request, responder);
    this.#wait(request, responder, async () => {
      const verdicts = await Promise.all(
        unknown.map((secret) => tokens.find(secret, request.remoteAddress())),
      );
      if (verdicts.includes('unknown')) return UPSTREAM_AWAY;
      return verdicts.includes('too-many') ? TOO_MANY : null;
    });
  }
}

function tokensIn({ body }: TransportRequest): readonly string[] {
  try {
    const sent: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    if (typeof sent !== 'object' || sent === null || !('tokens' in sent) || !Array.isArray(sent.tokens))
      return [];
    return sent.tokens.slice(0, ASKED_MAX).filter((one): one is string => typeof one === 'string');
  } catch {
    // The fallback says what is wrong with it.
    return [];
  }
}

/** Has the request read its token from a header of another name. */
function withTokenHeader<R extends TransportRequestHead>(request: R, tokenHeader: string): R {
  if (tokenHeader === 'authorization') return request;
  const header = request.header.bind(request);
  return Object.assign(request, {
    header: (name: string) => header(name === 'authorization' ? tokenHeader : name),
  });
}
