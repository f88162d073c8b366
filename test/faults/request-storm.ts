/**
 * A thousand clients who ask the same surface in the same moment, as after the start of a proxy in front: the event loop takes their
 * requests and responses in rounds, with turns between them. Evaluations are for a context of each client's own.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { FEATURES } from '../support/interface.ts';
import { ADMIN_TOKEN, type ServerProcess, spawnServer, temporaryFolder } from '../support/server.ts';
import { LOAD_PROBE, longestTurn } from './server-probe.ts';

const FLAGS = 300;
export const STORM_CLIENTS = 1_000;
const CLIENT_TOKEN = '*:development.client-of-the-storm';
const FRONTEND_TOKEN = '*:development.frontend-of-the-storm';

const posted = (path: string, body: object): string => {
  const json = JSON.stringify(body);
  return `POST ${path} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n#\r\n\r\n${json}`;
};
const asked = (path: string): string => `GET ${path} HTTP/1.1\r\n#\r\n\r\n`;

/** Requests by their surface; `#` stands for the headers that all have. */
const SURFACES: Readonly<Record<string, { readonly token: string; request(at: number): string }>> = {
  document: {
    token: CLIENT_TOKEN,
    request: (at) => asked(`/api/client/features?namePrefix=flag-${at % 100}`),
  },
  frontend: { token: FRONTEND_TOKEN, request: (at) => asked(`/api/frontend?userId=${at}`) },
  OFREP: {
    token: FRONTEND_TOKEN,
    request: (at) => posted('/ofrep/v1/evaluate/flags', { context: { targetingKey: `user-${at}` } }),
  },
  list: { token: ADMIN_TOKEN, request: () => asked(`/api/admin${FEATURES}`) },
  search: { token: ADMIN_TOKEN, request: (at) => asked(`/api/admin/search/features?query=flag-${at % 100}`) },
};

export interface StormResult {
  readonly requests: number;
  /** With 503, because so many of their kind waited already. */
  readonly refused: number;
  /** The slowest turn in the processor's time, in milliseconds. */
  readonly slowestTurnMs: number;
  readonly slowestSurface: string;
  readonly turns: Readonly<Record<string, number>>;
}

export async function raiseStorms({ clients }: { readonly clients: number }): Promise<StormResult> {
  const folder = temporaryFolder();
  const probeFile = join(folder, 'probe.json');
  const server = await spawnServer(join(folder, 'data'), {
    NODE_OPTIONS: LOAD_PROBE,
    PROBE_FILE: probeFile,
    INIT_CLIENT_API_TOKENS: CLIENT_TOKEN,
    INIT_FRONTEND_API_TOKENS: FRONTEND_TOKEN,
  });
  try {
    await fill(server);
    const turns: Record<string, number> = {};
    let refused = 0;
    for (const [name, { token, request }] of Object.entries(SURFACES)) {
      await longestTurn(server, probeFile);
      refused += await storm(server, clients, (at) =>
        request(at).replace('#', `Host: storm\r\nConnection: close\r\nAuthorization: ${token}`),
      );
      turns[name] = (await longestTurn(server, probeFile)).loopBusyMostMs;
    }
    const [slowestSurface = '', slowestTurnMs = 0] =
      Object.entries(turns).sort(([, a], [, b]) => b - a)[0] ?? [];
    return { requests: clients * Object.keys(turns).length, refused, slowestTurnMs, slowestSurface, turns };
  } finally {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill({ call }: ServerProcess): Promise<void> {
  for (let at = 0; at < FLAGS; at += 1) {
    const name = `flag-${at}`;
    assert.equal((await call('POST', FEATURES, { name })).status, 201);
    const place = `${FEATURES}/${name}/environments/development`;
    const parameters = { rollout: '50', stickiness: 'default', groupId: name };
    const strategy = { name: 'flexibleRollout', parameters };
    assert.equal((await call('POST', `${place}/strategies`, strategy)).status, 200);
    assert.equal((await call('POST', `${place}/on`)).status, 200);
  }
}

/** Resolves with how many were refused. */
async function storm(
  { origin }: ServerProcess,
  clients: number,
  requestOf: (at: number) => string,
): Promise<number> {
  const port = Number(new URL(origin).port);
  const sockets: Socket[] = [];
  for (let at = 0; at < clients; at += 1) {
    const socket = connect({ host: '127.0.0.1', port });
    sockets.push(socket);
    await once(socket, 'connect');
  }
  const statuses = await Promise.all(sockets.map((socket, at) => statusOf(socket, requestOf(at))));
  for (const status of statuses) assert(['200', '503'].includes(status), status);
  return statuses.filter((status) => status === '503').length;
}

async function statusOf(socket: Socket, request: string): Promise<string> {
  socket.write(request);
  let head = '';
  for await (const bytes of socket as AsyncIterable<Buffer>)
    if (head.length < 20) head += bytes.toString('latin1');
  return head.slice(9, 12);
}
