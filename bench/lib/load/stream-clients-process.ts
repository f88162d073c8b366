/**
 * Many clients of the stream of changes, in one process: plain sockets, since what is measured is the server and not a client.
 * It opens streams when it is told to, counts how many have got their first event, and times a switch: from its response to the
 * first and to the last stream that hears of it.
 */
import { connect, type Socket } from 'node:net';

export interface StreamClientsPlan {
  readonly host: string;
  readonly port: number;
  /** The port to which switches are sent: another server than that of the streams where an edge stands between. */
  readonly adminPort: number;
  readonly token: string;
  readonly adminToken: string;
  /** `null`: connections that have had one response, and no stream. */
  readonly streamPath: string | null;
}

export type StreamClientsOrder =
  | { readonly kind: 'open'; readonly count: number }
  | { readonly kind: 'switch'; readonly path: string }
  | { readonly kind: 'cut' }
  | { readonly kind: 'count' };

export interface SwitchTimes {
  /** Milliseconds after the response; 0 for streams that heard of it before the response came. */
  readonly firstMs: number;
  readonly lastMs: number;
}

export type StreamClientsReport = SwitchTimes | number;

/** Connections under way at once while streams are opened. */
const OPENING_AT_ONCE = 64;

const UPDATE = 'event: unleash-updated';
/** An event ends with an empty line; in chunked framing, the end of its chunk follows, at once or with the next one. */
const END = /\n\n(?:\r\n)?$/;

const plan = JSON.parse(process.argv[2] ?? '') as StreamClientsPlan;
const sockets = new Set<Socket>();

/** Told of the time at which a stream has heard of a change. */
let onUpdate: (at: number) => void = () => undefined;

function get(path: string, token: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: ${plan.host}\r\nAuthorization: ${token}\r\n\r\n`;
}

function openOne(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(plan.port, plan.host);
    let head = '';
    let tail = '';
    let isReady = false;
    socket.on('connect', () => {
      socket.setNoDelay(true);
      socket.write(get(plan.streamPath ?? '/health', plan.token));
    });
    socket.on('error', reject);
    socket.on('close', () => {
      sockets.delete(socket);
      if (!isReady) reject(new Error('a connection was closed before its first response'));
    });
    socket.on('data', (chunk: Buffer) => {
      if (isReady) {
        if (chunk.includes(UPDATE)) onUpdate(performance.now());
      } else {
        head ||= chunk.subarray(0, 12).toString();
        if (head !== 'HTTP/1.1 200') reject(new Error(chunk.toString()));
        tail = (tail + chunk.subarray(-4).toString('latin1')).slice(-4);
        if (plan.streamPath !== null && !END.test(tail)) return;
        isReady = true;
        sockets.add(socket);
        resolve();
      }
    });
  });
}

async function open(count: number): Promise<number> {
  let left = count;
  const opener = async (): Promise<void> => {
    for (left -= 1; left >= 0; left -= 1) await openOne();
  };
  await Promise.all(Array.from({ length: Math.min(OPENING_AT_ONCE, count) }, opener));
  return sockets.size;
}

/** The connection on which switches are sent. */
let switching: Socket | null = null;

async function switchFlag(path: string): Promise<SwitchTimes> {
  switching ??= await connected();
  const socket = switching;
  let heardCount = 0;
  let firstAt = 0;
  let lastAt = 0;
  const allHeard = new Promise<void>((resolve) => {
    onUpdate = (at) => {
      if (heardCount === 0) firstAt = at;
      lastAt = at;
      heardCount += 1;
      if (heardCount === sockets.size) resolve();
    };
  });
  const responded = new Promise<number>((resolve, reject) => {
    socket.once('data', (chunk: Buffer) => {
      const at = performance.now();
      if (chunk.subarray(9, 12).toString() === '200') resolve(at);
      else reject(new Error(chunk.toString()));
    });
  });
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: ${plan.host}\r\nAuthorization: ${plan.adminToken}\r\nContent-Length: 0\r\n\r\n`,
  );
  const respondedAt = await responded;
  await allHeard;
  return { firstMs: Math.max(0, firstAt - respondedAt), lastMs: Math.max(0, lastAt - respondedAt) };
}

function connected(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(plan.adminPort, plan.host, () => resolve(socket.setNoDelay(true)));
    socket.once('error', reject);
  });
}

async function carriedOut(order: StreamClientsOrder): Promise<StreamClientsReport> {
  if (order.kind === 'open') return open(order.count);
  if (order.kind === 'switch') return switchFlag(order.path);
  if (order.kind === 'cut') {
    for (const socket of sockets) socket.resetAndDestroy();
    sockets.clear();
  }
  return sockets.size;
}

process.on('message', (order: StreamClientsOrder) => {
  carriedOut(order).then(
    (report) => process.send?.(report),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.send?.('ready');
