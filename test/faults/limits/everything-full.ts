/**
 * A state that fills its budget, and then all kinds of readers at once: documents, deltas, streams, evaluations, lists and searches, of
 * which many are never read. The server lives, stays within the memory that docs/limits.md adds up to, and serves others.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { FEATURES } from '../../support/interface.ts';
import {
  ADMIN_TOKEN,
  residentBytes,
  type ServerProcess,
  spawnServer,
  temporaryFolder,
} from '../../support/server.ts';

export interface EverythingFullOptions {
  /** Of V8's old space, in MiB. */
  readonly heapMib: number;
  /** Streams that nobody reads, each of a query of its own that shows all flags. */
  readonly filters: number;
  /** Streams without a filter. */
  readonly streams: number;
  /** How often each kind of response is asked for and not read. */
  readonly unread: number;
  readonly rounds: number;
}

export interface EverythingFullResult {
  readonly flags: number;
  readonly mostBytes: number;
  readonly served: number;
  readonly opened: number;
  readonly slowestP99Ms: number;
}

/** All flags begin with each beginning of it. */
const PREFIX = 'p'.repeat(80);

const DESCRIPTION = 'd'.repeat(9_000);

/** Friendly reads of a round, or more where streams take longer to begin. */
const READS_EACH_ROUND = 40;

/** Creations under way while the state is filled. */
const FILLING_AT_ONCE = 16;

class Readers {
  readonly #sockets: Socket[] = [];
  readonly #server: ServerProcess;

  constructor(server: ServerProcess) {
    this.#server = server;
  }

  /** Sends a request and reads no more than the beginning of its response, whose status it returns; null where there was none. */
  async askAndIgnore(path: string, token: string): Promise<number | null> {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(this.#server.origin).port) });
    this.#sockets.push(socket);
    socket.on('error', () => undefined);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\nAuthorization: ${token}\r\n\r\n`);
    const head = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => null)]);
    socket.pause();
    return head === null ? null : Number(/^HTTP\/1\.1 (\d+)/.exec(String(head[0]))?.[1]);
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

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

/** What readers ask for, each narrowed differently with each number. */
function pathsOf(
  number: number,
): readonly (readonly [path: string, kind: 'client' | 'frontend' | 'admin'])[] {
  const narrowed = `namePrefix=${PREFIX.slice(0, 1 + (number % PREFIX.length))}`;
  return [
    [`/api/client/features?${narrowed}`, 'client'],
    [`/api/client/delta?${narrowed}`, 'client'],
    ['/api/client/features', 'client'],
    ['/api/client/delta', 'client'],
    [`/api/frontend?userId=${number}`, 'frontend'],
    [`/api/admin${FEATURES}`, 'admin'],
    ['/api/admin/projects/default', 'admin'],
    [`/api/admin/search/features?query=${number}&limit=100`, 'admin'],
  ];
}

export async function fillEverything(options: EverythingFullOptions): Promise<EverythingFullResult> {
  const folder = temporaryFolder();
  const server = await spawnServer(folder, {
    NODE_OPTIONS: `--max-old-space-size=${options.heapMib} --max-semi-space-size=16`,
  });
  const readers = new Readers(server);
  try {
    const tokens = await Promise.all([1, 2].map(() => tokenFor(server, 'client')));
    const frontend = await tokenFor(server, 'frontend');
    const flags = await fillUp(server);
    let [opened, served, mostBytes] = [0, 0, 0];
    const holds: number[] = [];
    const look = (): void => {
      assert.equal(server.child.exitCode ?? server.child.signalCode, null, server.output().slice(-2_000));
      mostBytes = Math.max(mostBytes, residentBytes(server));
    };
    for (let round = 0; round < options.rounds; round += 1) {
      const asked: Promise<number | null>[] = [];
      for (let number = 0; number < options.filters; number += 1) {
        const query = number < PREFIX.length ? PREFIX.slice(0, number + 1) : `${PREFIX}&tag=simple:${number}`;
        asked.push(readers.askAndIgnore(`/api/client/streaming?namePrefix=${query}`, tokens[number % 2]!));
      }
      for (let number = 0; number < options.streams; number += 1)
        asked.push(readers.askAndIgnore('/api/client/streaming', tokens[0]!));
      const unread: Promise<number | null>[] = [];
      for (let number = 0; number < options.unread; number += 1) {
        for (const [path, kind] of pathsOf(number)) {
          const token = { client: tokens[number % 2]!, frontend, admin: ADMIN_TOKEN }[kind];
          unread.push(readers.askAndIgnore(path, token));
        }
      }
      let areAnswered = false;
      const answers = Promise.all(asked).then((all) => {
        areAnswered = true;
        return all;
      });
      for (let time = 0; time < READS_EACH_ROUND || !areAnswered; time += 1) {
        const begunAt = performance.now();
        const { status } = await server.call('GET', `${FEATURES}/${PREFIX}1`);
        holds.push(performance.now() - begunAt);
        assert.equal(status, 200);
        served += 1;
        look();
        await pause(25);
      }
      const statuses = await answers;
      opened += statuses.filter((status) => status === 200).length;
      look();
    }
    holds.sort((a, b) => a - b);
    return {
      flags,
      mostBytes,
      served,
      opened,
      slowestP99Ms: Math.round(holds[Math.floor(holds.length * 0.99)]!),
    };
  } finally {
    readers.close();
    await server.kill();
    rmSync(folder, { recursive: true });
  }
}
