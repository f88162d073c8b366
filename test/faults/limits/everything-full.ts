/**
 * A state that fills its budget, and then all kinds of readers at once: documents, deltas, streams, evaluations, lists and searches, of
 * which most are never read. The server lives, stays within the memory that docs/limits.md adds up to, refuses no more than that page
 * says, and serves a caller of its own beside them. The readers are a process of their own, since what is measured is the server:
 *
 *   node --import tsx test/faults/limits/everything-full.ts   ten minutes; ends with 1 where the server misses what is promised
 */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { FEATURES } from '../../support/interface.ts';
import {
  ADMIN_TOKEN,
  type Call,
  caller,
  residentBytes,
  type ServerProcess,
  spawnServer,
  temporaryFolder,
} from '../../support/server.ts';
import { LOADER } from '../../support/source.ts';

export interface EverythingFullOptions {
  /** Size of V8's old space, in MiB. */
  readonly heapMib: number;
  /** Queries of their own that show all flags, each with a stream that nobody reads. */
  readonly filters: number;
  /** Further streams in each round, without a filter. */
  readonly streams: number;
  /** Readers of each kind of response, none of whom reads it; each asks again once he is disconnected. */
  readonly unread: number;
  readonly rounds: number;
  /** Friendly reads of a round, or more where streams take longer to begin. */
  readonly reads: number;
}

/** The long form: ten minutes, and as many streams as a server takes. */
export const EVERYTHING: EverythingFullOptions = {
  heapMib: 512,
  filters: 100,
  streams: 1_000,
  unread: 20,
  rounds: 10,
  reads: 1_800,
};

const SEMI_SPACE_MIB = 16;

/** The most that V8's young objects take. */
export const YOUNG_MIB = 3 * SEMI_SPACE_MIB;

/** Milliseconds. */
export const FRIENDLY_P99_MAX = 50;
export const PROCESS_BYTES_MAX = 768 * 2 ** 20;

export interface EverythingFullResult {
  readonly flags: number;
  readonly mostBytes: number;
  readonly served: number;
  /** Streams that were opened, and those of a filter for which there was no room. */
  readonly opened: number;
  readonly withoutRoom: number;
  /** Refusals of streams that had to wait for too long, as on a busy machine; each was asked for again. */
  readonly late: number;
  /** Streams that were refused although docs/limits.md says nothing of it. */
  readonly refused: number;
  /** Responses to the other readers. */
  readonly answered: number;
  readonly slowestP50Ms: number;
  readonly slowestP99Ms: number;
  readonly slowestMs: number;
}

/** All flags begin with each beginning of it. */
const PREFIX = 'p'.repeat(80);

const DESCRIPTION = 'd'.repeat(9_000);

const PAUSE_MS = 25;

/** Ten thousand applications have more than one token, and what one owes is not for others to pay. */
const FLEET_TOKENS = 50;

/** Creations under way while the state is filled. */
const FILLING_AT_ONCE = 16;

/** Returns the number of flags. Once a document is full, older flags are archived: it shows them no more, and the state has them. */
async function fillUp({ call }: ServerProcess): Promise<number> {
  let [count, made, archived] = [0, 0, 1];
  let isFull = false;
  const fill = async (): Promise<void> => {
    while (!isFull) {
      count += 1;
      const body = { name: `${PREFIX}${count}`, description: DESCRIPTION };
      const { status } = await call('POST', FEATURES, body);
      if (status === 201) made += 1;
      if (status === 413) {
        archived += 1;
        await call('DELETE', `${FEATURES}/${PREFIX}${archived}`);
      } else assert(status === 201 || status === 507, `${status}`);
      isFull ||= status === 507;
    }
  };
  await Promise.all(Array.from({ length: FILLING_AT_ONCE }, fill));
  return made;
}

async function tokenFor({ call }: ServerProcess, type: string): Promise<string> {
  const body = { tokenName: 'reader', type, environment: 'development', projects: ['*'] };
  const created = await call('POST', '/api-tokens', body);
  assert.equal(created.status, 201);
  return created.body.secret;
}

/** A caller who does nothing but read a flag: what others owe is not his. */
async function friendOf({ call, origin }: ServerProcess): Promise<Call> {
  const user = await call('POST', '/user-admin', { username: 'friend', rootRole: 3 });
  const body = { description: 'friendly', expiresAt: '2999-01-01T00:00:00.000Z' };
  const { status, body: token } = await call('POST', `/user-admin/${user.body.id}/tokens`, body);
  assert.equal(status, 201);
  const asAdmin = caller(origin);
  return (method, path) => asAdmin(method, path, undefined, { token: token.secret });
}

export async function fillEverything(options: EverythingFullOptions): Promise<EverythingFullResult> {
  const folder = temporaryFolder();
  const server = await spawnServer(folder, {
    NODE_OPTIONS: `--max-old-space-size=${options.heapMib} --max-semi-space-size=${SEMI_SPACE_MIB}`,
  });
  const end = new AbortController();
  try {
    const [clients, fleet] = await Promise.all(
      [2, FLEET_TOKENS].map((count) =>
        Promise.all(Array.from({ length: count }, () => tokenFor(server, 'client'))),
      ),
    );
    const frontend = await tokenFor(server, 'frontend');
    const friend = await friendOf(server);
    const flags = await fillUp(server);
    const target: Target = { origin: server.origin, clients: clients!, fleet: fleet!, frontend, ...options };
    const readers = fork(fileURLToPath(import.meta.url), [], {
      execArgv: [...LOADER],
      env: { ...process.env, EVERYTHING_FULL_TARGET: JSON.stringify(target) },
      signal: end.signal,
    }).on('error', () => undefined);
    let [served, mostBytes] = [0, 0];
    const holds: number[] = [];
    for (let round = 0; round < options.rounds; round += 1) {
      let hasOpened = false;
      readers.send('open');
      const opened = once(readers, 'message').then(() => {
        hasOpened = true;
      });
      for (let time = 0; time < options.reads || !hasOpened; time += 1) {
        const begunAt = performance.now();
        const { status } = await friend('GET', `${FEATURES}/${PREFIX}1`);
        holds.push(performance.now() - begunAt);
        assert.equal(status, 200);
        served += 1;
        assert.equal(server.child.exitCode ?? server.child.signalCode, null);
        assert.equal(readers.exitCode, null, 'the readers go on');
        mostBytes = Math.max(mostBytes, residentBytes(server));
        await pause(PAUSE_MS);
      }
      await opened;
    }
    readers.send('tell');
    const [tally] = (await once(readers, 'message')) as [Tally];
    holds.sort((a, b) => a - b);
    const slowest = (share: number): number => Math.round(holds[Math.floor((holds.length - 1) * share)]!);
    return {
      ...{ flags, mostBytes, served },
      ...tally,
      ...{ slowestP50Ms: slowest(0.5), slowestP99Ms: slowest(0.99), slowestMs: slowest(1) },
    };
  } catch (cause) {
    // A connection that breaks says nothing of a server that has ended.
    const { exitCode, signalCode } = server.child;
    const state = exitCode ?? signalCode ?? 'it runs';
    throw new Error(`${String(cause)}; the server: ${state}, ${server.output().slice(-2_000)}`, { cause });
  } finally {
    end.abort();
    await server.kill();
    rmSync(folder, { recursive: true });
  }
}

/** Checks the promises of the long form. */
export function checkEverything({ slowestP99Ms, mostBytes, refused }: EverythingFullResult): void {
  assert.equal(refused, 0, 'streams are refused only where docs/limits.md says so');
  assert(mostBytes <= PROCESS_BYTES_MAX, `${mostBytes} bytes`);
  assert(slowestP99Ms <= FRIENDLY_P99_MAX, `a friendly read takes ${slowestP99Ms} ms`);
}

// The readers.

interface Target extends Pick<EverythingFullOptions, 'filters' | 'streams' | 'unread'> {
  readonly origin: string;
  readonly clients: readonly string[];
  /** Tokens of the streams without a filter. */
  readonly fleet: readonly string[];
  readonly frontend: string;
}

type Tally = Pick<EverythingFullResult, 'opened' | 'withoutRoom' | 'late' | 'refused' | 'answered'>;

/** Requests of a reader, each narrowed differently with each number. */
function requestsOf(number: number, { clients, frontend }: Target): readonly (readonly [string, string])[] {
  const narrowed = `namePrefix=${PREFIX.slice(0, 1 + (number % PREFIX.length))}`;
  const client = clients[number % clients.length]!;
  return [
    [`/api/client/features?${narrowed}`, client],
    [`/api/client/delta?${narrowed}`, client],
    ['/api/client/features', client],
    ['/api/client/delta', client],
    [`/api/frontend?userId=${number}`, frontend],
    [`/api/admin${FEATURES}`, ADMIN_TOKEN],
    ['/api/admin/projects/default', ADMIN_TOKEN],
    [`/api/admin/search/features?query=${number}&limit=100`, ADMIN_TOKEN],
  ];
}

/** Sends a request and reads no more than the beginning of its response; null where there was none. */
async function askAndIgnore(origin: string, path: string, token: string): Promise<[Socket, string | null]> {
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\nAuthorization: ${token}\r\n\r\n`);
  const head = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => null)]);
  socket.pause();
  return [socket, head === null ? null : String(head[0])];
}

async function readForever(
  target: Target,
  number: number,
  at: number,
  tally: { answered: number },
): Promise<never> {
  for (;;) {
    const [path, token] = requestsOf(number, target)[at]!;
    const [socket, head] = await askAndIgnore(target.origin, path, token);
    if (head !== null) tally.answered += 1;
    // A reader that is paused is not told of the end of its connection.
    await pause(READER_PAUSE_MS);
    socket.destroy();
  }
}

/** Between two streams, which each begin with all flags: applications do not start by the thousand in one second. */
const STREAM_PAUSE_MS = 50;

/** Longer than uWebSockets.js waits for a reader that takes nothing. */
const READER_PAUSE_MS = 12_000;

async function startReaders(target: Target): Promise<void> {
  // They would have machines of their own.
  setPriority(constants.priority.PRIORITY_LOW);
  const tally = { opened: 0, withoutRoom: 0, late: 0, refused: 0, answered: 0 };
  const open = async (query: string, token: string): Promise<void> => {
    const [, head] = await askAndIgnore(target.origin, `/api/client/streaming${query}`, token);
    if (head?.startsWith('HTTP/1.1 200') === true) tally.opened += 1;
    else if (query !== '' && head !== null && /as far as memory allows/.test(head)) tally.withoutRoom += 1;
    else if (head !== null && /took too long to answer/.test(head)) {
      tally.late += 1;
      // SDKs ask again.
      return open(query, token);
    } else tally.refused += 1;
  };
  let isFirst = true;
  process.on('message', async (message) => {
    if (message === 'tell') return process.send?.(tally);
    const opening: Promise<void>[] = [];
    for (let number = 0; isFirst && number < target.filters; number += 1) {
      const query = number < PREFIX.length ? PREFIX.slice(0, number + 1) : `${PREFIX}&tag=simple:${number}`;
      opening.push(open(`?namePrefix=${query}`, target.clients[number % 2]!));
    }
    for (let number = 0; isFirst && number < target.unread; number += 1)
      for (const at of requestsOf(number, target).keys()) void readForever(target, number, at, tally);
    isFirst = false;
    for (let number = 0; number < target.streams; number += 1) {
      opening.push(open('', target.fleet[number % target.fleet.length]!));
      await pause(STREAM_PAUSE_MS);
    }
    await Promise.all(opening);
    return process.send?.(tally);
  });
}

const { EVERYTHING_FULL_TARGET } = process.env;
if (EVERYTHING_FULL_TARGET !== undefined) await startReaders(JSON.parse(EVERYTHING_FULL_TARGET));
else if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const result = await fillEverything(EVERYTHING);
  console.log(result);
  checkEverything(result);
}
