/**
 * Clients that ask for a large response and never read it: the server keeps one copy of the response, not one for each of
 * them, and goes on serving the others.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { FEATURES } from '../support/interface.ts';
import {
  ADMIN_TOKEN,
  residentBytes,
  type ServerProcess,
  spawnServer,
  temporaryFolder,
} from '../support/server.ts';

/** Flags that are as large together as a list of thousands of ordinary ones. */
const LARGE_FLAGS = Array.from({ length: 9 }, (_, at) => ({
  name: `large-${at}`,
  description: 'x'.repeat(100_000),
}));

/** Bytes of a response that the kernel takes before its reader has to: they are bytes that do not lie in the server's memory. */
const READER_BYTES_MAX = 128 * 1024;
/** For what answering so many takes besides: garbage not yet collected, connections. */
const SLACK_BYTES = 64 * 1024 * 1024;

export interface SlowReaderResult {
  readonly readers: number;
  readonly responseBytes: number;
  readonly grownBytes: number;
  readonly served: number;
}

export async function stallReaders({ readers }: { readonly readers: number }): Promise<SlowReaderResult> {
  const folder = temporaryFolder();
  const server = await spawnServer(folder, { DESCRIPTION_LENGTH_MAX: '100000' });
  const sockets: Socket[] = [];
  try {
    for (const flag of [...LARGE_FLAGS, { name: 'small' }]) {
      assert.equal((await server.call('POST', FEATURES, flag)).status, 201);
    }
    const responseBytes = JSON.stringify((await server.call('GET', FEATURES)).body).length;
    const before = residentBytes(server);
    for (let number = 0; number < readers; number += 1) sockets.push(await askAndIgnore(server));
    const served = await servedMeanwhile(server);
    const grownBytes = residentBytes(server) - before;
    const most = Math.min(responseBytes, READER_BYTES_MAX) * readers + SLACK_BYTES;
    assert(grownBytes < most, `${grownBytes} bytes more for ${readers} readers of ${responseBytes} bytes`);
    return { readers, responseBytes, grownBytes, served };
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.kill();
    rmSync(folder, { recursive: true });
  }
}

async function askAndIgnore({ origin }: ServerProcess): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(origin).port) });
  socket.on('error', () => undefined);
  const request = `GET /api/admin${FEATURES} HTTP/1.1\r\nHost: test\r\nAuthorization: ${ADMIN_TOKEN}\r\n\r\n`;
  socket.write(request);
  // Its beginning, so that the response is known to be on its way; and not a byte more.
  await once(socket, 'data');
  socket.pause();
  return socket;
}

async function servedMeanwhile(server: ServerProcess): Promise<number> {
  const reads = 100;
  for (let count = 0; count < reads; count += 1) {
    assert.equal((await server.call('GET', `${FEATURES}/small`)).status, 200);
  }
  return reads;
}
