/**
 * The requests that people and applications send most, beside another server of this interface: both are filled with the same flags over HTTP and
 * get the same requests, in alternating runs, while the other one idles.
 */
import { inParallel, rawGet, request } from '../lib/load/client.ts';
import { runClosedLoop } from '../lib/load/closed-loop.ts';
import type { ClosedLoopRun } from '../lib/load/closed-loop-run.ts';
import { type Operation, type Request, toggles, UNIQUE } from '../lib/load/operation.ts';
import type { BenchRun, Measurement, Scenario, Target } from '../lib/measurement.ts';
import { runPaired } from '../lib/paired.ts';
import { environmentPath, flagPath, flagsInTurn, PROJECT } from '../lib/paths.ts';
import { dataFolderOf, FLAG_ENVIRONMENT } from '../lib/servers/data-set.ts';
import { seedPeer } from '../lib/servers/seed-peer.ts';
import { startServerProcess } from '../lib/servers/server-process.ts';

const FLAGS_MAX = 350;
const CONNECTIONS_MAX = 64;
const USERS = 1_000;
/** The length of one run: a slower server has to show some hundreds of responses. */
const SECONDS = 3;
const ROUNDS = 3;

interface Asked {
  readonly what: string;
  operation(target: Target): Promise<Operation>;
}

export const PEER_SCENARIO_NAME = 'peer';

/** `peer` says in the title what it was measured beside. */
export const peerScenario = (peer: Target): Scenario => ({
  name: PEER_SCENARIO_NAME,
  title: `Beside ${peer.name}`,
  async run(bench) {
    const flags = Math.min(FLAGS_MAX, bench.effort.flags);
    const server = await startServerProcess(await dataFolderOf(bench, { flags: 0, projects: 1, events: 0 }));
    try {
      for (const target of [server.target, peer]) await fill(target, flags);
      const measurements: Measurement[] = [];
      for (const asked of operations(flags, Math.min(CONNECTIONS_MAX, bench.effort.connections[0] ?? 1)))
        measurements.push(await measured(bench, asked, [server.target, peer]));
      return measurements;
    } finally {
      await server.kill();
    }
  },
});

async function fill(target: Target, flags: number): Promise<void> {
  await seedPeer(target, flags);
  const numbers = Array.from({ length: flags }, (_, number) => number);
  await inParallel(numbers, (number) =>
    request(target, { method: 'POST', path: `${environmentPath(number)}/on` }),
  );
}

function operations(flags: number, connections: number): Asked[] {
  const turn = flagsInTurn({ flags, connections });
  const create: Request = { method: 'POST', path: `${PROJECT}/features`, body: { name: `made-${UNIQUE}` } };
  const constant =
    (...requests: readonly Request[]) =>
    async (): Promise<Operation> => ({ requests });
  return [
    { what: `SDK: ${flags} flags`, operation: async (target) => ({ requests: [await features(target)] }) },
    { what: `SDK: ${flags} flags, not modified`, operation: unmodified },
    { what: `page: flags of a user, 1,000 in turn`, operation: evaluated },
    { what: 'read a flag', operation: constant({ method: 'GET', path: flagPath(0) }) },
    { what: 'switch a flag', operation: constant(...toggles(turn.map(environmentPath))) },
    { what: 'create a flag', operation: withoutClientTokens({ requests: [create] }) },
  ];
}

async function features(target: Target): Promise<Request> {
  const authorization = await secretOf(target, 'client');
  return { method: 'GET', surface: '/api/client', path: '/features', headers: { authorization } };
}

async function unmodified(target: Target): Promise<Operation> {
  const asked = await features(target);
  const { headers } = await rawGet(target, asked);
  const etag = headers[headers.indexOf('etag') + 1] ?? '';
  return { requests: [{ ...asked, headers: { ...asked.headers, 'if-none-match': etag } }] };
}

async function evaluated(target: Target): Promise<Operation> {
  const authorization = await secretOf(target, 'frontend');
  const requests = Array.from({ length: USERS }, (_, user): Request => {
    const path = `?userId=user-${user}&properties[country]=AT`;
    return { method: 'GET', surface: '/api/frontend', path, headers: { authorization } };
  });
  return { requests };
}

/** The flags that are created would be more than one document for SDKs may hold, which is refused where a token reads it. */
const withoutClientTokens =
  (operation: Operation) =>
  async (target: Target): Promise<Operation> => {
    const listed = await request(target, { method: 'GET', path: '/api-tokens' });
    const { tokens } = JSON.parse(listed.body.toString()) as { readonly tokens: readonly ApiToken[] };
    for (const { secret } of tokens.filter(({ type }) => type === 'client' || type === 'backend'))
      await request(target, { method: 'DELETE', path: `/api-tokens/${encodeURIComponent(secret)}` });
    return operation;
  };

interface ApiToken {
  readonly secret: string;
  readonly type: string;
}

/** Unleash calls client tokens backend tokens since its version 7. */
async function secretOf(target: Target, type: 'client' | 'frontend'): Promise<string> {
  const body = {
    tokenName: `bench-${UNIQUE}`,
    type: type === 'client' ? 'backend' : type,
    environment: FLAG_ENVIRONMENT,
    projects: ['*'],
  };
  const made = await request(target, { method: 'POST', path: '/api-tokens', body });
  return (JSON.parse(made.body.toString()) as { readonly secret: string }).secret;
}

async function measured(
  bench: BenchRun,
  { what, operation }: Asked,
  [ours, theirs]: readonly [Target, Target],
): Promise<Measurement> {
  const { effort, folder } = bench;
  const connections = Math.min(CONNECTIONS_MAX, effort.connections[0] ?? 1);
  const seconds = effort.runSeconds === null ? null : SECONDS;
  const loop = async (target: Target): Promise<() => Promise<ClosedLoopRun>> => {
    const prepared = await operation(target);
    return () => runClosedLoop({ target, operation: prepared, connections, seconds, folder });
  };
  const [a, b] = [await loop(ours), await loop(theirs)];
  // Once each for nothing: a server compiles what it runs often.
  await a();
  await b();
  const paired = await runPaired(effort.runSeconds === null ? 1 : ROUNDS, a, b);
  const round = (run: ClosedLoopRun): string => Math.round(run.perSecond).toLocaleString('en');
  bench.say(
    `${what}: ${round(paired.ours)}/s beside ${round(paired.theirs)}/s, ${paired.share.toFixed(1)} ×`,
  );
  const values = {
    perSecond: paired.ours.perSecond,
    p50: paired.ours.p50,
    theirs: paired.theirs.perSecond,
    theirP50: paired.theirs.p50,
    share: paired.share,
  };
  return { table: 'peer', what, at: connections, values };
}
