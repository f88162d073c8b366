/**
 * The process that sends requests on time (open-loop.ts says what that means). It looks at the clock in every turn of
 * its event loop and never sleeps: a timer could be a millisecond late, which is longer than most answers take.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { quantile } from '../statistics.ts';
import type { Latencies, OpenLoopPlan } from './open-loop.ts';
import { fillUnique, parseRequestFile } from './operation.ts';
import { ResponseReader } from './response-reader.ts';

/** What is unanswered this long after the last request was due will not be answered in time for anybody. */
const PATIENCE_MS = 20_000;

class Connection {
  readonly #socket: Socket;
  readonly #free: Connection[];
  readonly #latencies: number[];
  #dueAt = 0;

  constructor(socket: Socket, free: Connection[], latencies: number[]) {
    this.#socket = socket;
    this.#free = free;
    this.#latencies = latencies;
    const reader = new ResponseReader((status) => this.#responded(status));
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => reader.push(chunk));
    socket.on('close', () => assert(this.#dueAt === 0, 'the server closed a connection before it answered'));
  }

  send(raw: string, dueAt: number): void {
    this.#dueAt = dueAt;
    this.#socket.write(raw);
  }

  end(): void {
    this.#socket.destroy();
  }

  #responded(status: number): void {
    assert(status < 300, `the server answered ${status}`);
    this.#latencies.push(performance.now() - this.#dueAt);
    this.#dueAt = 0;
    this.#free.push(this);
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function run(plan: OpenLoopPlan): Promise<Latencies> {
  const requests = parseRequestFile(readFileSync(plan.requestFile));
  const free: Connection[] = [];
  const latencies: number[] = [];
  const connections = await openConnections(plan, free, latencies);
  free.push(...connections);
  const total = Math.max(1, Math.round(plan.perSecond * plan.seconds));
  const startedAt = performance.now();
  const dueAt = (number: number): number => startedAt + (number * 1000) / plan.perSecond;
  let sent = 0;
  while (latencies.length < total) {
    const now = performance.now();
    assert(now < dueAt(total) + PATIENCE_MS, `${total - latencies.length} requests were never answered`);
    while (sent < total && dueAt(sent) <= now) {
      // In turn, so that none is silent for so long that the server closes it.
      const connection = free.shift();
      if (connection === undefined) break;
      connection.send(
        fillUnique(requests[sent % requests.length] ?? '', plan.uniqueBase + sent),
        dueAt(sent),
      );
      sent += 1;
    }
    await nextTurn();
  }
  for (const connection of connections) connection.end();
  const [p50 = 0, p99 = 0, p999 = 0, max = 0] = [0.5, 0.99, 0.999, 1].map((q) => quantile(latencies, q));
  return { p50, p99, p999, max };
}

async function openConnections(
  plan: OpenLoopPlan,
  free: Connection[],
  latencies: number[],
): Promise<Connection[]> {
  const open = async (): Promise<Connection> => {
    const socket = connect(plan.port, plan.host);
    await once(socket, 'connect');
    return new Connection(socket, free, latencies);
  };
  return Promise.all(Array.from({ length: plan.connections }, open));
}

process.stdout.write(JSON.stringify(await run(JSON.parse(process.argv[2] ?? '') as OpenLoopPlan)));
