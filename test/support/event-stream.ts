/** Reads a response that stays open: server-sent events, one after the other. */
import assert from 'node:assert/strict';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { closedAfter, type Test } from './server.ts';

export interface SentEvent {
  /** `message` where the stream gives none. */
  readonly event: string;
  readonly id: string;
  /** Parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: events of every shape.
  readonly data: any;
}

export interface OpenedStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The next event; rejects when the stream ends before it. */
  next(): Promise<SentEvent>;
  /** Resolves when the server ends the stream; events that were not taken are forgotten. */
  readonly ended: Promise<void>;
  /** Comments so far. */
  readonly comments: readonly string[];
  /** Resolves with the next comment. */
  comment(): Promise<void>;
  /** Stops reading, as a client does that hangs, and leaves the connection open. */
  pause(): void;
  close(): void;
}

export interface StreamOptions {
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Opens `path` at the server; resolves with the head of the response. */
export function openStream(
  origin: string,
  path: string,
  { token = null, headers = {} }: StreamOptions = {},
): Promise<OpenedStream> {
  const authorization = token === null ? {} : { authorization: token };
  const sent = request(`${origin}${path}`, {
    headers: { accept: 'text/event-stream', ...authorization, ...headers },
    agent: false,
  });
  return new Promise((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (response) => resolve(reading(sent, response)));
    sent.end();
  });
}

interface Reader {
  resolve(event: SentEvent): void;
  reject(error: Error): void;
}

function reading(sent: ClientRequest, response: IncomingMessage): OpenedStream {
  const events: SentEvent[] = [];
  const comments: string[] = [];
  const readers: Reader[] = [];
  let onComment = (): void => undefined;
  let rest = '';
  let isOver = false;
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parsed(block, comments);
      if (block.startsWith(':')) onComment();
      const reader = event === null ? undefined : readers.shift();
      if (event !== null && reader === undefined) events.push(event);
      else if (event !== null) reader?.resolve(event);
    }
  });
  const over = new Error('the stream ended');
  const ended = new Promise<void>((resolve) => {
    response.on('error', () => undefined);
    response.on('close', () => {
      isOver = true;
      for (const reader of readers.splice(0)) reader.reject(over);
      resolve();
    });
  });
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    ended,
    comments,
    async next() {
      const event = events.shift();
      if (event !== undefined) return event;
      if (isOver) throw over;
      return new Promise((resolve, reject) => readers.push({ resolve, reject }));
    },
    comment: () =>
      new Promise((resolve) => {
        onComment = resolve;
      }),
    pause: () => void response.pause(),
    close: () => void sent.destroy(),
  };
}

/** Null for a block of comments. */
function parsed(block: string, comments: string[]): SentEvent | null {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    if (line.startsWith(':')) {
      comments.push(line.slice(1).trim());
      continue;
    }
    const [, name = '', value = ''] = /^([a-z]+): (.*)$/.exec(line) ?? assert.fail(`no field: ${line}`);
    fields.set(name, value);
  }
  const data = fields.get('data');
  if (data === undefined) return null;
  return { event: fields.get('event') ?? 'message', id: fields.get('id') ?? '', data: JSON.parse(data) };
}

/** A stream that is open until the end of a test. */
export const streamFor = async (t: Test, ...options: Parameters<typeof openStream>): Promise<OpenedStream> =>
  closedAfter(t, await openStream(...options));
