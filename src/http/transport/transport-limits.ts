/**
 * The resources that one client, or all clients together, may take. Each limit says what it protects.
 */
import { existsSync, readFileSync } from 'node:fs';

/**
 * Largest request line and headers together. Protects memory per connection while a head trickles in. Room for a
 * browser that drags a company's cookies along; uWebSockets' own default of 4 KiB has none.
 */
export const HEADER_BLOCK_BYTES_MAX = 16 * 1024;

/** Most header fields. uWebSockets has 100 slots, of which the request line and the end mark take one each. */
export const HEADERS_MAX = 98;

export interface TransportLimits {
  /** Largest body. Protects memory, and the event loop from long parsing: the largest document is a JSON patch. */
  readonly bodyBytesMax: number;
  /** Bytes of unfinished bodies, over all requests. Protects memory from many clients at once. */
  readonly bodiesBytesMax: number;
  /** Longest path and query. Protects matching and logs; no name here is longer than 100 characters. */
  readonly targetBytesMax: number;
  /** From the head to the response. Frees what slow senders hold, and ends requests that a handler forgot. */
  readonly requestDeadlineMs: number;
  /**
   * From the first byte of the response to the last. Frees what slow readers hold; long enough for a slow connection.
   */
  readonly responseDeadlineMs: number;
  /** Open streams. Leaves connections for requests. */
  readonly streamsMax: number;
  /** How long a stream's client may take nothing while something waits for it. uWebSockets has 10 s built in. */
  readonly streamStallMs: number;
  /** Bytes that may wait for a stream's client at a further write. Beyond them the client would hardly catch up. */
  readonly streamBufferBytesMax: number;
  /** Bytes of responses that clients have not read, over all of them; shared ones count once. Protects memory. */
  readonly unreadBytesMax: number;
  /** Milliseconds of work on requests and late responses in one turn of the event loop. Protects all others from a thousand that come at once. */
  readonly roundMs: number;
  /** Bytes of the requests that wait for their round. A thousand without bodies take some 2 MiB. */
  readonly waitingBytesMax: number;
  /** How long a connection may be silent before or between requests. uWebSockets has 10 s built in. */
  readonly idleMs: number;
  /**
   * Open connections. Protects the file descriptors that the journal needs. Without descriptors, accept busy-loops.
   */
  readonly connectionsMax: number;
}

export const STREAMS_MAX = 10_000;
/** More connections than this beside those of streams are a flood even where descriptors abound. */
export const CONNECTIONS_BESIDE_STREAMS_MAX = 2_000;
/** The share of all connections that streams may have where descriptors are few. */
const STREAMS_SHARE_MAX = 5 / 6;
/** Descriptors kept for the journal, snapshots, workers and what Node opens itself. */
export const DESCRIPTORS_RESERVED = 200;
/** With no more descriptors than are reserved, serve a few connections rather than none. */
const CONNECTIONS_MIN = 32;

/**
 * Built into uWebSockets.js, for which the deadlines of requests and responses hold besides: at so many bytes a second over each 10
 * seconds a body must come, and so long a reader may take nothing. The connection is closed without a response.
 */
export const UWS_BODY_BYTES_PER_SECOND_MIN = 16 * 1024;
export const UWS_READER_PAUSE_MS_MAX = 10_000;

/** Bytes of responses that clients have not read yet, over all connections. */
export const UNREAD_BYTES_MAX = 64 * 1024 * 1024;

export function resolveLimits(overrides: Partial<TransportLimits> = {}): TransportLimits {
  const { streamsMax = STREAMS_MAX } = overrides;
  const connectionsMax =
    overrides.connectionsMax ??
    connectionsWithin(descriptorLimit(), streamsMax + CONNECTIONS_BESIDE_STREAMS_MAX);
  return {
    bodyBytesMax: 1024 * 1024,
    bodiesBytesMax: 32 * 1024 * 1024,
    targetBytesMax: 8 * 1024,
    requestDeadlineMs: 30_000,
    responseDeadlineMs: 120_000,
    streamStallMs: 10_000,
    streamBufferBytesMax: 1024 * 1024,
    unreadBytesMax: UNREAD_BYTES_MAX,
    roundMs: 5,
    waitingBytesMax: 16 * 1024 * 1024,
    idleMs: 10_000,
    connectionsMax,
    ...overrides,
    streamsMax: Math.min(streamsMax, Math.floor(connectionsMax * STREAMS_SHARE_MAX)),
  };
}

export function connectionsWithin(descriptorsMax: number, connectionsMax: number): number {
  return Math.max(CONNECTIONS_MIN, Math.min(connectionsMax, descriptorsMax - DESCRIPTORS_RESERVED));
}

const KERNEL_LIMITS = '/proc/self/limits';

/** The soft limit on open files; infinite where it is unknown. Node has no call for it. Its report has it, and takes 25 ms. */
function descriptorLimit(): number {
  if (existsSync(KERNEL_LIMITS)) {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync(KERNEL_LIMITS, 'utf8'))?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  }
  const report: unknown = process.report.getReport();
  if (typeof report !== 'object' || report === null || !('userLimits' in report))
    return Number.POSITIVE_INFINITY;
  const { open_files: openFiles } = report.userLimits as { open_files?: { soft?: number | string } };
  return typeof openFiles?.soft === 'number' ? openFiles.soft : Number.POSITIVE_INFINITY;
}
