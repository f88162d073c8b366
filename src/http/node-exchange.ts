/**
 * One request and its answer on node:http.
 *
 * Node's parser frames requests strictly, skips what was not read of a body, and answers pipelined requests in
 * order; what is left to do here are the limits and deadlines, in step with the other engine.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BodyBudget } from './body-collector.ts';
import { BodyCollector } from './body-collector.ts';
import type { DeadlineQueue } from './deadlines.ts';
import { DeadlineEntry } from './deadlines.ts';
import type { Fault } from './received-request.ts';
import {
  BODY_TOO_LARGE,
  HANDLER_FAILED,
  NO_ANSWER,
  ReceivedRequest,
  TOO_SLOW,
  UNKNOWN_VERSION,
} from './received-request.ts';
import { refusal, sendableReply } from './refusal.ts';
import { bytesOf, isBodiless } from './reply-headers.ts';
import type { Reply, TransportOptions, TransportResponse } from './transport.ts';
import type { TransportLimits } from './transport-limits.ts';

/** What all exchanges of a server share. */
export interface NodeServer extends Pick<TransportOptions, 'handle' | 'refuse' | 'log'> {
  readonly limits: TransportLimits;
  readonly bodies: BodyBudget;
  /** Requests being received or handled. */
  readonly requests: DeadlineQueue;
  /** Answers that the client has not made room for yet. */
  readonly replies: DeadlineQueue;
  draining: boolean;
}

export class NodeExchange extends DeadlineEntry implements TransportResponse {
  aborted = false;
  /** The answer said that it ends the connection: nothing that came behind this request may run. */
  isLast = false;
  readonly #server: NodeServer;
  readonly #message: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #request: ReceivedRequest;
  #isAnswered = false;
  /** What follows on the connection cannot be trusted, or is not wanted. */
  #mustClose = false;
  /** Set while the body is arriving. */
  #body: BodyCollector | null = null;

  readonly #waitsForContinue: boolean;

  /** The head has arrived; whatever comes before it on the connection, its deadline runs from here. */
  constructor(server: NodeServer, message: IncomingMessage, res: ServerResponse, waitsForContinue: boolean) {
    super();
    this.#server = server;
    this.#message = message;
    this.#res = res;
    this.#waitsForContinue = waitsForContinue;
    this.#request = receiveHead(message);
    res.once('finish', () => this.queue?.leave(this));
    server.requests.enter(this);
  }

  /** Its turn has come: all requests before it on the connection have been answered. */
  begin(): void {
    if (this.#isAnswered || this.aborted) return;
    const { limits } = this.#server;
    const fault = this.#request.judge(limits.targetBytesMax);
    if (fault !== null) this.#refuse(fault, true);
    else if (this.#request.contentLength > limits.bodyBytesMax)
      this.#refuse(BODY_TOO_LARGE, this.#waitsForContinue);
    else if (this.#request.expectsBody) this.#receiveBody();
    else this.#handle();
  }

  send(reply: Reply): void {
    if (this.#isAnswered) {
      const { path } = this.#request;
      this.#server.log.warn({ path, status: reply.status }, 'A second answer to one request was ignored.');
      return;
    }
    this.#isAnswered = true;
    if (this.aborted) return;
    this.#server.replies.enter(this);
    this.#write(sendableReply(this.#server, reply));
  }

  expire(): void {
    if (this.#isAnswered) this.#message.socket.destroy();
    else if (this.#body === null) this.#refuse(NO_ANSWER, false);
    else this.#refuse(TOO_SLOW, true);
  }

  /** The parser found the rest of the connection malformed. */
  cutOff(fault: Fault): void {
    if (this.#body !== null) this.#refuse(fault, true);
    // This request was whole and may have been acted on: what is wrong came after it.
    else this.#message.socket.destroy();
  }

  /** The connection is gone. */
  disconnect(): void {
    this.aborted = true;
    this.queue?.leave(this);
    this.#forgetBody();
  }

  #forgetBody(): void {
    this.#body?.discard();
    this.#body = null;
  }

  #handle(): void {
    try {
      const outcome: unknown = this.#server.handle(this.#request, this);
      // The type says void, but an async function fits it, and its rejection would end the process.
      if (outcome instanceof Promise) outcome.catch((error: unknown) => this.#fail(error));
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#server.log.error({ err: error, path: this.#request.path }, 'A request handler failed.');
    this.#refuse(HANDLER_FAILED, false);
  }

  #receiveBody(): void {
    const { limits, bodies } = this.#server;
    this.#body = new BodyCollector(limits.bodyBytesMax, bodies);
    this.#message.on('data', (piece: Buffer) => {
      const fault = this.#body?.add(piece) ?? null;
      if (fault !== null) this.#refuse(fault, false);
    });
    this.#message.once('end', () => this.#complete());
    if (this.#waitsForContinue) this.#res.writeContinue();
  }

  #complete(): void {
    if (this.#body === null) return;
    this.#request.body = this.#body.take();
    this.#body = null;
    this.#handle();
  }

  #refuse(fault: Fault, mustClose: boolean): void {
    this.#forgetBody();
    if (this.#isAnswered || this.aborted) return;
    this.#mustClose ||= mustClose;
    this.send(refusal(this.#server, fault));
  }

  #write(reply: Reply): void {
    const bytes = bytesOf(reply.body);
    const headers = [...reply.headers];
    if (!isBodiless(reply.status)) headers.push('content-length', String(bytes.byteLength));
    this.isLast = this.#mustClose || this.#server.draining || this.#request.wantsClose;
    if (this.isLast) headers.push('connection', 'close');
    this.#res.writeHead(reply.status, headers);
    if (isBodiless(reply.status) || this.#request.method === 'HEAD') this.#res.end();
    else this.#res.end(bytes);
  }
}

function receiveHead(message: IncomingMessage): ReceivedRequest {
  const target = message.url ?? '';
  const question = target.indexOf('?');
  const path = question === -1 ? target : target.slice(0, question);
  const query = question === -1 ? '' : target.slice(question + 1);
  const request = new ReceivedRequest(message.method ?? '', path, query);
  // The parser lets 2.0 and 0.9 pass as well.
  if (message.httpVersionMajor !== 1) request.fault = UNKNOWN_VERSION;
  const { rawHeaders } = message;
  for (let i = 0; i < rawHeaders.length; i += 2)
    request.addHeader(rawHeaders[i]!.toLowerCase(), rawHeaders[i + 1]!);
  return request;
}
