/**
 * An operation over HTTP, measured from all sides: throughput at several numbers of connections beside that of the
 * limit server, and latency at a fixed rate.
 */
import { runAutocannon } from './load/autocannon-load.ts';
import { request } from './load/client.ts';
import { runClosedLoop } from './load/closed-loop.ts';
import type { ClosedLoopRun } from './load/closed-loop-run.ts';
import { runOpenLoop } from './load/open-loop.ts';
import type { Operation, Request } from './load/operation.ts';
import type { BenchRun, Effort, Measurement, Scenario, Target } from './measurement.ts';
import { type PairedRuns, runPaired } from './paired.ts';
import { type DataSet, dataFolderOf } from './servers/data-set.ts';
import { type LimitProcess, startLimitProcess } from './servers/limit-process.ts';
import type { LimitKind } from './servers/limit-server.ts';
import { type ServerProcess, startServerProcess } from './servers/server-process.ts';

export interface HttpScenario {
  readonly name: string;
  readonly title: string;
  readonly limit: LimitKind;
  /** Numbers of connections that a goal is set for: measured in more rounds. */
  readonly goalConnections: readonly number[];
  /** The most connections, where the server refuses more. */
  readonly connectionsMax?: number;
  /** Requests before the measurement; fewer than usual where each takes long. */
  readonly warmUpRequests?: number;
  /** The contents of the server; absent: as many flags as the effort says. */
  readonly dataSet?: (effort: Effort) => DataSet;
  /** Makes the requests; `connections` is how many of them will be under way at once. */
  prepare(target: Target, load: { readonly flags: number; readonly connections: number }): Promise<Operation>;
  /** Measures what only this operation has to show, with server and limit running. */
  extra?(parts: ExtraParts): Promise<Measurement[]>;
}

export interface ExtraParts {
  readonly bench: BenchRun;
  readonly folder: string;
  readonly server: ServerProcess;
  readonly flags: number;
}

/** Enough for the compiler to have seen all of it; writes are more code. */
const WARM_UP_REQUESTS: Readonly<Record<LimitKind, number>> = { bare: 3_000, 'group-commit': 10_000 };

/** The share of the throughput at saturation: busy, and far from where queues grow. */
const OPEN_LOOP_SHARE = 0.3;
/** The rate that the client sends on time for certain. */
const OPEN_LOOP_PER_SECOND_MAX = 10_000;
const OPEN_LOOP_CONNECTIONS = 64;

/** With its `prepare`, for scenarios that run the same operation in other circumstances. */
export type OperationScenario = Scenario & Pick<HttpScenario, 'prepare'>;

export function httpScenario(scenario: HttpScenario): OperationScenario {
  return {
    name: scenario.name,
    title: scenario.title,
    prepare: scenario.prepare,
    run: (bench) => new HttpMeasuring(scenario, bench).run(),
  };
}

class HttpMeasuring {
  readonly #scenario: HttpScenario;
  readonly #bench: BenchRun;
  readonly #set: DataSet;

  constructor(scenario: HttpScenario, bench: BenchRun) {
    this.#scenario = scenario;
    this.#bench = bench;
    this.#set = scenario.dataSet?.(bench.effort) ?? { flags: bench.effort.flags, projects: 1, events: 0 };
  }

  async run(): Promise<Measurement[]> {
    const folder = await dataFolderOf(this.#bench, this.#set);
    const server = await startServerProcess(folder);
    try {
      return [
        ...(await this.#besideLimit(server)),
        ...((await this.#scenario.extra?.({ bench: this.#bench, folder, server, flags: this.#set.flags })) ??
          []),
      ];
    } finally {
      await server.kill();
    }
  }

  async #besideLimit({ target }: ServerProcess): Promise<Measurement[]> {
    const { limit: kind, name } = this.#scenario;
    const sample = (await this.#prepare(target, 1)).requests[0] as Request;
    const response = await request(target, sample);
    const limit = await startLimitProcess(kind, { response, folder: this.#bench.folder });
    try {
      await this.#warmUp(target, target);
      await this.#warmUp(limit.target, target);
      const measurements: Measurement[] = [];
      for (const connections of this.#connections) {
        const paired = await this.#pair(target, limit.target, connections);
        this.#tell(`${name}, ${connections} connections`, paired);
        measurements.push(this.#measured(connections, paired));
      }
      const perSecond = measurements[0]?.values['perSecond'] ?? 0;
      return [...measurements, await this.#latencies(target, limit, perSecond * OPEN_LOOP_SHARE)];
    } finally {
      await limit.stop();
    }
  }

  get #connections(): readonly number[] {
    const { connectionsMax = Number.POSITIVE_INFINITY } = this.#scenario;
    return [...new Set(this.#bench.effort.connections.map((count) => Math.min(count, connectionsMax)))];
  }

  #measured(at: number, { ours, theirs, share }: PairedRuns): Measurement {
    const values = {
      perSecond: ours.perSecond,
      p50: ours.p50,
      p99: ours.p99,
      theirs: theirs.perSecond,
      theirP50: theirs.p50,
      share,
    };
    return { table: 'http', what: this.#scenario.name, at, values };
  }

  /** Unmeasured: the compiler has seen what is about to be measured, and the server has been asked each request once. */
  async #warmUp(target: Target, preparedFor: Target): Promise<void> {
    const connections = this.#connections[0] ?? 1;
    const operation = await this.#prepare(preparedFor, connections);
    const each = target === preparedFor ? operation.requests.length : 0;
    const { limit, warmUpRequests = WARM_UP_REQUESTS[limit] } = this.#scenario;
    const requests = this.#bench.effort.runSeconds === null ? connections : Math.max(warmUpRequests, each);
    await runAutocannon({ target, operation, connections, requests });
  }

  async #pair(target: Target, other: Target, connections: number): Promise<PairedRuns> {
    const { roundsForGoals, rounds } = this.#bench.effort;
    // The limit knows no flags: it is sent what was prepared for the server.
    return runPaired(
      this.#scenario.goalConnections.includes(connections) ? roundsForGoals : rounds,
      () => this.#closedLoop(target, connections, target),
      () => this.#closedLoop(other, connections, target),
    );
  }

  async #closedLoop(target: Target, connections: number, preparedFor: Target): Promise<ClosedLoopRun> {
    const operation = await this.#prepare(preparedFor, connections);
    const seconds = this.#bench.effort.runSeconds;
    return runClosedLoop({ target, operation, connections, seconds, folder: this.#bench.folder });
  }

  readonly #prepared = new Map<string, Promise<Operation>>();

  #prepare(target: Target, connections: number): Promise<Operation> {
    const key = `${target.origin} ${connections}`;
    const known = this.#prepared.get(key);
    if (known !== undefined) return known;
    const preparing = this.#scenario.prepare(target, { flags: this.#set.flags, connections });
    this.#prepared.set(key, preparing);
    return preparing;
  }

  async #latencies(target: Target, limit: LimitProcess, wished: number): Promise<Measurement> {
    const { effort, folder } = this.#bench;
    const connections = Math.min(
      this.#scenario.connectionsMax ?? OPEN_LOOP_CONNECTIONS,
      OPEN_LOOP_CONNECTIONS,
    );
    const perSecond = Math.max(1, Math.floor(Math.min(wished, OPEN_LOOP_PER_SECOND_MAX)));
    const operation = await this.#prepare(target, connections);
    const load = { operation, connections, perSecond, seconds: effort.openLoopSeconds, folder };
    const ours = await runOpenLoop({ ...load, target });
    const theirs = await runOpenLoop({ ...load, target: limit.target });
    this.#bench.say(
      `${this.#scenario.name}, ${perSecond}/s: p50 ${ours.p50.toFixed(2)} ms, p99 ${ours.p99.toFixed(2)} ms`,
    );
    const { p50, p99, p999 } = ours;
    const values = {
      perSecond,
      p50,
      p99,
      p999,
      limitP50: theirs.p50,
      limitP99: theirs.p99,
      limitP999: theirs.p999,
    };
    return { table: 'latency', what: this.#scenario.name, at: null, values };
  }

  #tell(what: string, { ours, theirs, share }: PairedRuns): void {
    const [a, b] = [ours, theirs].map((run) => Math.round(run.perSecond).toLocaleString('en'));
    this.#bench.say(`${what}: ${a}/s of ${b}/s, ${Math.round(share * 100)} %`);
  }
}
