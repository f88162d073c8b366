/**
 * One attempt to deliver a request: one connection to an address that was checked, without redirects, proxies or retries, within
 * 10 seconds and 64 KiB of response.
 *
 * The failure of an attempt is shown and logged. It holds nothing that was sent or received, since both may be secret.
 */
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { type Destination, DestinationError, type Destinations, destinationOf } from './addresses.ts';
import type { Attempt } from './providers/attempt.ts';
import type { OutgoingRequest, ReceivedResponse } from './providers/provider.ts';
import { retryAfterMs } from './schedule.ts';

/** From the look-up of the host to the end of the response: a receiver that sends slowly holds a connection no longer. */
export const ATTEMPT_MS_MAX = 10_000;

/** Bytes of a response that are read; the connection then ends. Its status counts. */
export const RESPONSE_BYTES_MAX = 64 * 1024;

export interface DeliveryOptions extends Destinations {
  /** For tests. */
  readonly attemptMsMax?: number;
}

/** Without the agents of the process, whose proxies environment variables can set. */
const AGENTS = { http: new HttpAgent({ keepAlive: false }), https: new HttpsAgent({ keepAlive: false }) };

/** Makes one attempt. Never rejects. */
export async function deliver(
  request: OutgoingRequest,
  attempt: number,
  { attemptMsMax = ATTEMPT_MS_MAX, ...destinations }: DeliveryOptions,
): Promise<Attempt> {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<Attempt>((resolve) => {
    timer = setTimeout(() => {
      resolve({ kind: 'failure', failure: `No complete response within ${attemptMsMax / 1000} s.` });
      abort.abort();
    }, attemptMsMax);
  });
  const { signal } = abort;
  const made = destinationOf(request.url, destinations, { attempt, signal })
    .then((destination) => send(request, destination, signal))
    .then((response): Attempt => ({ kind: 'response', response }))
    .catch((error: unknown): Attempt => ({ kind: 'failure', failure: failureText(error) }));
  const first = await Promise.race([made, timedOut]);
  clearTimeout(timer);
  return first;
}

function send(
  { method, headers, body }: OutgoingRequest,
  { url, host, address }: Destination,
  signal: AbortSignal,
): Promise<ReceivedResponse> {
  signal.throwIfAborted();
  const options = {
    hostname: address,
    port: url.port,
    path: `${url.pathname}${url.search}`,
    method,
    headers: { ...headers, host: url.host, 'content-length': Buffer.byteLength(body) },
    signal,
  };
  return new Promise((resolve, reject) => {
    // A numeric host has no name that TLS could ask for; its certificate has to name the address.
    const sent: ClientRequest =
      url.protocol === 'https:'
        ? httpsRequest({ ...options, agent: AGENTS.https, servername: isIP(host) === 0 ? host : '' })
        : httpRequest({ ...options, agent: AGENTS.http });
    sent
      .on('response', (response) => {
        bodyOf(response).then((text) => resolve(receivedOf(response, text)), reject);
      })
      .on('error', reject)
      .end(body);
  });
}

function receivedOf({ statusCode: status = 0, headers }: IncomingMessage, body: string): ReceivedResponse {
  const header = headers['retry-after'];
  if (header === undefined) return { status, body };
  return { status, body, retryAfterMs: retryAfterMs(header, Date.now()) };
}

/** The beginning of the body; the rest is not read. */
async function bodyOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    // Leaving the loop destroys the connection.
    if (bytes >= RESPONSE_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).subarray(0, RESPONSE_BYTES_MAX).toString();
}

/** A code such as ECONNREFUSED: messages of errors can hold what a receiver sent. */
const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

function failureText(error: unknown): string {
  if (error instanceof DestinationError) return error.message;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return CODE.test(code) ? `The connection failed (${code}).` : 'The connection failed.';
}
