/** Calls of the Unleash Admin API, and of the one for SDKs, as an Unleash and a Flagstaff understand them. */

/** The most bytes of one response; the largest list of a server with tens of thousands of flags stays below it. */
const RESPONSE_BYTES_MAX = 256 * 1024 * 1024;

const TIMEOUT_MS = 60_000;

/** Retries of one request. Unleash 8 takes 15 searches a minute, and each finds 100 archived flags. */
const WAITS_MAX = 10;
/** Seconds, regardless of what a server asks for. */
const WAIT_MAX = 60;

export interface AdminClientOptions {
  /** The server's address with its base path: `https://flags.example.com/unleash`. */
  readonly url: string;
  readonly token: string;
  /** `admin` unless it is given. */
  readonly surface?: 'admin' | 'client';
}

/** The server's refusal of a request. The message is the server's own where it has one. */
export class AdminCallError extends Error {
  override readonly name = 'AdminCallError';
  /** 0 when there was no response. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export class AdminClient {
  readonly #base: string;
  readonly #token: string;

  constructor({ url, token, surface = 'admin' }: AdminClientOptions) {
    this.#base = `${url.replace(/\/+$/, '').replace(/\/api(?:\/admin)?$/, '')}/api/${surface}`;
    this.#token = token;
  }

  get(path: string): Promise<unknown> {
    return this.call('GET', path);
  }

  /** The first number of the version that the server tells, such as 8; null where it tells none. */
  async majorVersion(): Promise<number | null> {
    const sent = await this.get('/ui-config');
    const version = typeof sent === 'object' && sent !== null && 'version' in sent ? sent.version : null;
    const major = Number.parseInt(String(version), 10);
    return Number.isInteger(major) ? major : null;
  }

  /**
   * For what a version or an edition lacks: null where the server knows no such path and `mayLack` holds, or its edition has no licence for
   * it. Anything else that keeps it from being read is an error, because what is not read would be missing afterwards, without a word.
   */
  async getIfThere(path: string, mayLack: boolean): Promise<unknown> {
    try {
      return await this.get(path);
    } catch (error) {
      if (error instanceof AdminCallError && (error.status === 402 || (mayLack && error.status === 404)))
        return null;
      throw error;
    }
  }

  /** Resolves with the parsed body, null for none. Throws `AdminCallError`. */
  async call(method: string, path: string, body?: unknown): Promise<unknown> {
    const url = `${this.#base}${path}`;
    const response = await this.#sentInTime(method, url, body);
    const text = await textOf(response);
    if (!response.ok)
      throw new AdminCallError(response.status, `${method} ${path}: ${response.status} ${messageOf(text)}`);
    if (text === '') return null;
    try {
      return JSON.parse(text);
    } catch {
      throw new AdminCallError(
        response.status,
        `${method} ${url} did not answer with JSON; is ${this.#base} the address of an Unleash server?`,
      );
    }
  }

  /** The lines of a response that may go on without end, but for empty ones. Throws `AdminCallError`, also where the connection is lost. */
  async *lines(path: string): AsyncGenerator<string> {
    const response = await this.#sent('GET', `${this.#base}${path}`, undefined, null);
    if (!response.ok)
      throw new AdminCallError(
        response.status,
        `GET ${path}: ${response.status} ${messageOf(await textOf(response))}`,
      );
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for await (const chunk of response.body ?? []) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        if (rest.length > RESPONSE_BYTES_MAX) throw new Error('a line is too long');
        yield* lines.filter((line) => line !== '');
      }
    } catch (error) {
      throw new AdminCallError(0, `GET ${path} was cut off: ${reasonOf(error)}`);
    }
  }

  /** Sends the request again, changes included, while the server answers 429: it has not looked at such a request. */
  async #sentInTime(method: string, url: string, body: unknown): Promise<Response> {
    for (let waits = 0; ; waits += 1) {
      const response = await this.#sent(method, url, body);
      const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
      if (response.status !== 429 || Number.isNaN(seconds) || waits === WAITS_MAX) return response;
      await response.body?.cancel();
      await new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(seconds, 0), WAIT_MAX) * 1000));
    }
  }

  /** A read is sent twice if need be: a server may close an idle connection just when it is used again. */
  async #sent(
    method: string,
    url: string,
    body: unknown,
    timeoutMs: number | null = TIMEOUT_MS,
  ): Promise<Response> {
    for (let isAgain = method !== 'GET'; ; isAgain = true) {
      try {
        return await fetch(url, {
          method,
          headers: {
            authorization: this.#token,
            accept: 'application/json',
            'content-type': 'application/json',
            // Segments come as a list, once, and not in each strategy.
            'unleash-client-spec': '5.2.0',
          },
          body: body === undefined ? null : JSON.stringify(body),
          redirect: 'error',
          signal: timeoutMs === null ? null : AbortSignal.timeout(timeoutMs),
        });
      } catch (error) {
        if (isAgain || isTimeout(error))
          throw new AdminCallError(0, `${method} ${url} got no response: ${reasonOf(error)}`);
      }
    }
  }
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > RESPONSE_BYTES_MAX)
      throw new AdminCallError(response.status, `${response.url} sent more than ${RESPONSE_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError';

/** Returns the message of the cause, because fetch itself says only "fetch failed". */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message;
}

/** Servers of this interface explain a refusal in `message`, and each point of it in `details`. */
function messageOf(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body !== 'object' || body === null) return text.slice(0, 300);
    const details = 'details' in body && Array.isArray(body.details) ? body.details : [];
    const said = details.flatMap((one: unknown) =>
      typeof one === 'object' && one !== null && 'message' in one ? [String(one.message)] : [],
    );
    if (said.length > 0) return said.slice(0, 3).join(' ');
    return 'message' in body ? String(body.message) : text.slice(0, 300);
  } catch {
    return text.slice(0, 300);
  }
}
