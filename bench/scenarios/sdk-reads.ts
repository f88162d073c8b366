/**
 * The requests that SDKs repeat: the flags of a client token, in each form in which they are sent, and the evaluated flags of
 * one user after another; beside a bare server that sends the same bytes. Measured in processor time of the servers.
 */
import { inParallel, rawGet, request } from '../lib/load/client.ts';
import { runClosedLoop } from '../lib/load/closed-loop.ts';
import { type Request, UNIQUE } from '../lib/load/operation.ts';
import type { BenchRun, Measurement, Scenario, Target } from '../lib/measurement.ts';
import { cpuMicrosOf } from '../lib/servers/cpu-time.ts';
import { dataFolderOf, FLAG_ENVIRONMENT, flagName } from '../lib/servers/data-set.ts';
import { type LimitProcess, startLimitProcess } from '../lib/servers/limit-process.ts';
import { type ServerProcess, startServerProcess } from '../lib/servers/server-process.ts';
import { median } from '../lib/statistics.ts';

/** The number of flags for which Unleash publishes figures of Edge. */
const FLAGS_MAX = 350;
const CONNECTIONS = 64;
const USERS = 1_000;

/** A run that is shorter than a step of the clock counts as one step. */
const MICROS_MIN = 10_000;

export interface Read {
  readonly what: string;
  /** Sent in turn. */
  readonly requests: readonly Request[];
}

export const sdkReads: Scenario = {
  name: 'sdk-reads',
  title: 'Reads by SDKs',
  async run(bench) {
    const flags = Math.min(FLAGS_MAX, bench.effort.flags);
    const server = await startServerProcess(await dataFolderOf(bench, { flags, projects: 1, events: 0 }));
    try {
      await inParallel(
        Array.from({ length: flags }, (_, at) => flagName(at)),
        (name) => {
          const path = `/projects/default/features/${name}/environments/${FLAG_ENVIRONMENT}/on`;
          return request(server.target, { method: 'POST', path });
        },
      );
      const measurements: Measurement[] = [];
      for (const read of await readsOf(server.target)) {
        const values = await besideLimit(bench, server, read);
        bench.say(
          `${read.what}: ${values.micros.toFixed(1)} µs, ${(values.share * 100).toFixed(0)} % of the limit`,
        );
        measurements.push({ table: 'sdk-reads', what: read.what, at: flags, values });
      }
      return measurements;
    } finally {
      await server.kill();
    }
  },
};

export async function readsOf(target: Target): Promise<Read[]> {
  const identity: Request = {
    ...{ method: 'GET', surface: '/api/client', path: '/features' },
    headers: { authorization: await secretOf(target, 'client'), 'unleash-client-spec': '5.2.0' },
  };
  const gzip: Request = { ...identity, headers: { ...identity.headers, 'accept-encoding': 'gzip' } };
  const { headers } = await rawGet(target, gzip);
  const etag = headers[headers.indexOf('etag') + 1] ?? '';
  const known: Request = { ...gzip, headers: { ...gzip.headers, 'if-none-match': etag } };
  const authorization = await secretOf(target, 'frontend');
  const evaluatedFor = (user: string): Request => {
    const path = `?userId=user-${user}&country=AT`;
    return { method: 'GET', surface: '/api/frontend', path, headers: { authorization } };
  };
  const users = Array.from({ length: USERS }, (_, user) => evaluatedFor(String(user)));
  return [
    { what: 'features, not modified', requests: [known] },
    { what: 'features, gzip', requests: [gzip] },
    { what: 'features, identity', requests: [identity] },
    { what: 'frontend, 1,000 users in turn', requests: users },
    { what: 'frontend, each user once', requests: [evaluatedFor(UNIQUE)] },
  ];
}

export async function secretOf(target: Target, type: 'client' | 'frontend'): Promise<string> {
  const body = { tokenName: `bench ${type}`, type, environment: FLAG_ENVIRONMENT };
  const made = await request(target, { method: 'POST', path: '/api-tokens', body });
  return (JSON.parse(made.body.toString()) as { readonly secret: string }).secret;
}

async function besideLimit(bench: BenchRun, server: ServerProcess, { requests }: Read) {
  const sample = await rawGet(server.target, requests[0] as Request);
  const limit = await startLimitProcess('bare', { response: sample, folder: bench.folder });
  try {
    const micros = async (measured: ServerProcess | LimitProcess): Promise<number> => {
      const { target } = measured;
      const before = cpuMicrosOf(measured);
      const seconds = bench.effort.runSeconds;
      const load = {
        target,
        operation: { requests },
        connections: CONNECTIONS,
        seconds,
        folder: bench.folder,
      };
      const run = await runClosedLoop(load);
      return Math.max(cpuMicrosOf(measured) - before, MICROS_MIN) / run.requests;
    };
    // Once each for nothing: a server compiles what it runs often.
    await micros(server);
    await micros(limit);
    const pairs: { readonly ours: number; readonly theirs: number }[] = [];
    for (let round = 0; round < bench.effort.roundsForGoals; round += 1) {
      pairs.push({ ours: await micros(server), theirs: await micros(limit) });
    }
    const ours = median(pairs.map((pair) => pair.ours));
    return {
      micros: ours,
      limitMicros: median(pairs.map(({ theirs }) => theirs)),
      share: median(pairs.map((pair) => pair.theirs / pair.ours)),
      perCpuSecond: 1e6 / ours,
    };
  } finally {
    await limit.stop();
  }
}
