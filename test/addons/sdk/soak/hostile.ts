/**
 * Callers who mean harm, as a process of their own: `node --import tsx test/addons/sdk/soak/hostile.ts`, with HOSTILE_TARGET as
 * JSON. Each attack goes on, over and over, until the process is killed; a server that is down is tried again. Once a second
 * one line of JSON says how many answers came so far, by attack and status.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** The people who attack, and their target. Member: root role Viewer with the role Member in the project. Viewer: the root role only. */
export interface HostileTarget {
  readonly origin: string;
  readonly project: string;
  /** A flag in the project, about 1 MB large, all of it strategies in `development`. */
  readonly flag: string;
  /** The id of a strategy of one of them. */
  readonly strategyId: string;
  /** The last event of making all of this. */
  readonly eventId: number;
  readonly member: string;
  readonly viewer: string;
  readonly client: string;
  readonly frontend: string;
}

interface Attack {
  readonly name: string;
  /** Loops that run it at the same time. */
  readonly loops: number;
  run(target: HostileTarget): Promise<number | string>;
}

interface Request {
  readonly method?: string;
  readonly path: string;
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The requester goes away after this time. */
  readonly abandonMs?: number;
}

const ABANDONED = 'abandoned';
const HELD = 'held';

async function ask(target: HostileTarget, request: Request): Promise<number | string> {
  const { method = request.body === undefined ? 'GET' : 'POST', path, token, headers = {} } = request;
  try {
    const response = await fetch(`${target.origin}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: token }),
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      signal: AbortSignal.timeout(request.abandonMs ?? 30_000),
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    });
    await response.arrayBuffer();
    return response.status;
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') return ABANDONED;
    throw error;
  }
}

/** Sends these bytes, reads nothing, and goes away after a while. */
async function hold(target: HostileTarget, bytes: string | Buffer, holdMs: number): Promise<string> {
  const { hostname, port } = new URL(target.origin);
  const socket: Socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(bytes);
  await delay(holdMs);
  socket.destroy();
  return HELD;
}

const head = (line: string, token: string, ...headers: readonly string[]): string =>
  [`${line} HTTP/1.1`, 'Host: hostile', `Authorization: ${token}`, ...headers, '', ''].join('\r\n');

const features = ({ project }: HostileTarget): string => `/api/admin/projects/${project}/features`;

const MANY_WRONG_ITEMS = Array.from({ length: 150_000 }, () => 1);
const LONG_TEXT = 'x'.repeat(900_000);
const MANY_PROPERTIES = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`p${at}`, `${at}`]));

const ATTACKS: readonly Attack[] = [
  {
    name: 'patches of a large strategy, each with a fresh idempotency key',
    loops: 2,
    run: (target) =>
      ask(target, {
        method: 'PATCH',
        path: `${features(target)}/${target.flag}/environments/development/strategies/${target.strategyId}`,
        token: target.member,
        headers: { 'idempotency-key': randomUUID() },
        body: [{ op: 'replace', path: '/title', value: randomUUID() }],
      }),
  },
  {
    name: 'clones of a large flag',
    loops: 2,
    run: (target) =>
      ask(target, {
        path: `${features(target)}/${target.flag}/clone`,
        token: target.member,
        body: { name: `clone-${randomUUID()}` },
      }),
  },
  {
    name: 'large descriptions',
    loops: 1,
    run: (target) =>
      ask(target, {
        path: features(target),
        token: target.member,
        body: { name: randomUUID(), description: LONG_TEXT },
      }),
  },
  {
    name: 'wrong items by the thousand',
    loops: 1,
    run: (target) =>
      ask(target, {
        method: 'PUT',
        path: `${features(target)}/${target.flag}/variants`,
        token: target.member,
        body: MANY_WRONG_ITEMS,
      }),
  },
  {
    name: 'dry runs of a rollback',
    loops: 1,
    run: (target) =>
      ask(target, {
        path: `${features(target)}/${target.flag}/rollback?dryRun=true`,
        token: target.member,
        body: { eventId: target.eventId },
      }),
  },
  {
    name: 'readings of the past, abandoned',
    loops: 4,
    run: (target) =>
      ask(target, {
        path: `${features(target)}/${target.flag}?at=${target.eventId}`,
        token: target.viewer,
        abandonMs: 20,
      }),
  },
  {
    name: 'searches of all texts',
    loops: 2,
    run: (target) =>
      ask(target, { path: '/api/admin/events/search', token: target.viewer, body: { query: randomUUID() } }),
  },
  {
    name: 'event lists that nobody reads',
    loops: 8,
    run: (target) => hold(target, head('GET /api/admin/events', target.viewer), 2_000),
  },
  {
    name: 'bodies that are never finished',
    loops: 20,
    run: (target) => {
      const line = head(`POST ${features(target)}`, target.member, 'Content-Length: 1000000');
      return hold(target, line + LONG_TEXT, 2_000);
    },
  },
  {
    name: 'the metrics page',
    loops: 2,
    run: (target) => ask(target, { path: '/internal-backstage/prometheus' }),
  },
  {
    name: 'guessed tokens',
    loops: 2,
    run: (target) =>
      ask(target, { path: '/api/admin/projects', token: `*:*.${randomBytes(16).toString('hex')}` }),
  },
  {
    name: 'streams that nobody reads',
    loops: 10,
    run: (target) => hold(target, head('GET /api/client/streaming', target.client), 3_000),
  },
  {
    name: 'reports of names at random',
    loops: 2,
    run: (target) =>
      ask(target, { path: '/api/frontend/client/metrics', token: target.frontend, body: randomReport() }),
  },
  {
    name: 'evaluations with large contexts',
    loops: 2,
    run: (target) =>
      ask(target, {
        path: '/api/frontend',
        token: target.frontend,
        body: { context: { userId: randomUUID(), properties: MANY_PROPERTIES } },
      }),
  },
  {
    name: 'playground with many contexts',
    loops: 1,
    run: (target) =>
      ask(target, {
        path: '/api/admin/playground/advanced',
        token: target.viewer,
        body: {
          projects: '*',
          environments: ['development', 'production'],
          context: { appName: 'hostile', userId: Array.from({ length: 50 }, (_, at) => at).join(',') },
        },
      }),
  },
  {
    name: 'nonsense in place of requests',
    loops: 4,
    run: (target) => hold(target, randomBytes(2_000), 100),
  },
];

function randomReport(): object {
  const toggles = Array.from({ length: 100 }, () => [randomUUID(), { yes: 1, no: 1, variants: {} }]);
  const now = new Date().toISOString();
  return {
    appName: randomUUID(),
    instanceId: randomUUID(),
    bucket: { start: now, stop: now, toggles: Object.fromEntries(toggles) },
  };
}

/** Answers so far: attack, then status or what became of the request. */
export type HostileTally = Record<string, Record<string, number>>;

async function attackForever(attack: Attack, target: HostileTarget, tally: HostileTally): Promise<never> {
  for (;;) {
    const outcome = await attack.run(target).catch(async () => {
      await delay(100);
      return 'down';
    });
    tally[attack.name] ??= {};
    const counts = tally[attack.name]!;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
}

if (process.env.HOSTILE_TARGET !== undefined) {
  // They would have machines of their own: what is measured is the server, and not who gets a core of this one.
  setPriority(constants.priority.PRIORITY_LOW);
  const target = JSON.parse(process.env.HOSTILE_TARGET) as HostileTarget;
  const tally: HostileTally = {};
  for (const attack of ATTACKS) {
    for (let loop = 0; loop < attack.loops; loop += 1) void attackForever(attack, target, tally);
  }
  setInterval(() => process.stdout.write(`${JSON.stringify(tally)}\n`), 1_000);
}
