/** The format of server-sent events (WHATWG HTML, section 9.2). Data is JSON in one line, which has no line ends. */
import { ResponseHeaders } from '../transport/response.ts';

/** Nobody on the way may keep it, or collect it before passing it on; nginx reads the last one. */
export const EVENT_STREAM_HEADERS = ResponseHeaders.of(
  ...['content-type', 'text/event-stream'],
  ...['cache-control', 'no-cache'],
  ...['x-content-type-options', 'nosniff'],
  ...['x-accel-buffering', 'no'],
);

/** A comment, which clients ignore: it shows that the connection is alive. */
export const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');

/** Everything of an event before its data. `name` is null for an event without one. */
export function eventHead(name: string | null, id: number): string {
  return `${name === null ? '' : `event: ${name}\n`}id: ${id}\ndata: `;
}

export const EVENT_END = '\n\n';
