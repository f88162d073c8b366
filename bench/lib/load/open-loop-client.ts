/**
 * The process that sends requests on time (open-loop.ts says what that means). It looks at the clock in every turn of
 * its event loop and never sleeps: a timer could be a millisecond late, which is longer than most answers take.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { quantile } from '../statistics.ts';
import type { Latencies, OpenLoopPlan, SchedulePlan } from './open-loop.ts';
import { fillUnique, parseRequestFile } from './operation.ts';
import { ResponseReader } from './response-reader.ts';

/** After so long behind the last request, what is unanswered counts as lost. */
const PATIENCE_MS = 20_000;

class Connection {
  readonly #socket: Socket;
  readonly #free: Connection[];
  readonly #latencies: number[];
  #dueAt = 0;
  #isEnded = false;

  constructor(socket: Socket, free: Connection[], latencies: number[]) {
    this.#socket = socket;
    this.#free = free;
    this.#latencies = latencies;
    const reader = new ResponseReader((status) => this.#responded(status));
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => reader.push(chunk));
    socket.on('close', () =>
      assert(this.#dueAt === 0 || this.#isEnded, 'the server closed a connection before it answered'),
    );
  }

  send(raw: string, dueAt: number): void {
    this.#dueAt = dueAt;
    this.#socket.write(raw);
  }

  end(): void {
    this.#isEnded = true;
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

/** Requests that are due at fixed times. */
class Schedule {
  readonly #requests: readonly string[];
  readonly #perSecond: number;
  readonly #uniqueBase: number;
  readonly #total: number;
  readonly #connections: readonly Connection[];
  readonly #free: Connection[];
  readonly latencies: number[];
  #sent = 0;

  private constructor(plan: SchedulePlan, seconds: number, connected: Connected) {
    this.#requests = parseRequestFile(readFileSync(plan.requestFile));
    this.#perSecond = plan.perSecond;
    this.#uniqueBase = plan.uniqueBase;
    this.#total = Math.max(1, Math.round(plan.perSecond * seconds));
    this.#connections = [...connected.free];
    this.#free = connected.free;
    this.latencies = connected.latencies;
  }

  static async open(plan: SchedulePlan, { seconds, host, port }: OpenLoopPlan): Promise<Schedule> {
    return new Schedule(plan, seconds, await connectTo({ host, port, connections: plan.connections }));
  }

  get isOver(): boolean {
    return this.latencies.length >= this.#total;
  }

  sendDue(startedAt: number): void {
    const now = performance.now();
    const dueAt = (number: number): number => startedAt + (number * 1000) / this.#perSecond;
    const left = this.#total - this.latencies.length;
    assert(now < dueAt(this.#total) + PATIENCE_MS, `${left} requests were never answered`);
    while (this.#sent < this.#total && dueAt(this.#sent) <= now) {
      // In turn, so that none is silent for so long that the server closes it.
      const connection = this.#free.shift();
      if (connection === undefined) break;
      const raw = this.#requests[this.#sent % this.#requests.length] ?? '';
      connection.send(fillUnique(raw, this.#uniqueBase + this.#sent), dueAt(this.#sent));
      this.#sent += 1;
    }
  }

  end(): void {
    for (const connection of this.#connections) connection.end();
  }
}

async function run(plan: OpenLoopPlan): Promise<Latencies> {
  const measured = await Schedule.open(plan, plan);
  const besides = plan.besides === null ? null : await Schedule.open(plan.besides, plan);
  const startedAt = performance.now();
  while (!measured.isOver) {
    besides?.sendDue(startedAt);
    measured.sendDue(startedAt);
    await nextTurn();
  }
  measured.end();
  besides?.end();
  const { latencies } = measured;
  const [p50 = 0, p99 = 0, p999 = 0, max = 0] = [0.5, 0.99, 0.999, 1].map((q) => quantile(latencies, q));
  return { p50, p99, p999, max };
}

interface Connected {
  readonly free: Connection[];
  readonly latencies: number[];
}

async function connectTo({
  host,
  port,
  connections,
}: {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
}): Promise<Connected> {
  const free: Connection[] = [];
  const latencies: number[] = [];
  const open = async (): Promise<Connection> => {
    const socket = connect(port, host);
    await once(socket, 'connect');
    return new Connection(socket, free, latencies);
  };
  free.push(...(await Promise.all(Array.from({ length: connections }, open))));
  return { free, latencies };
}

process.stdout.write(JSON.stringify(await run(JSON.parse(process.argv[2] ?? '') as OpenLoopPlan)));
