/**
 * Friendly and hostile clients together against a server with little memory, which is killed again and again. Friendly clients measure how long they wait, and know
 * what was acknowledged to them: all of it has to be there after each start, and each start has to succeed.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LOAD_PROBE, PROBE_BOUNDS, type ProbeReading } from '../../../faults/server-probe.ts';
import { type SeededRandom, seededRandom } from '../../../support/seeded-random.ts';
import {
  type Call,
  ROOT_FOLDER,
  residentBytes,
  type ServerProcess,
  spawnServer,
  temporaryFolder,
} from '../../../support/server.ts';
import { nodeArguments } from '../../../support/source.ts';
import { FriendlyClient } from './friendly.ts';
import type { HostileTally, HostileTarget } from './hostile.ts';

export const FRIENDLY_CLIENTS = 8;
const HEAP_MIB = 512;
const CLIENT_TOKEN = 'default:development.friendly-client';
const HOSTILE_CLIENT_TOKEN = 'default:development.hostile-client';
const FRONTEND_TOKEN = 'default:development.friendly-frontend';
const PROJECT = 'hostile';
/** Hostile clients use none of them. */
const FRIENDLY_ROUTES = [
  'PUT /api/admin/projects/:projectId/features/:featureName',
  'DELETE /api/admin/projects/:projectId/features/:featureName',
  'POST /api/admin/projects/:projectId/features/:featureName/environments/:environment/on',
  'POST /api/admin/projects/:projectId/features/:featureName/environments/:environment/off',
  'GET /api/admin/projects/:projectId/features',
  'GET /api/client/features',
];

/** So many nearly fill a flag. */
const LARGE_STRATEGIES = 4;

export interface SoakOptions {
  readonly seconds: number;
  /** Each is followed by a start on the same folder. */
  readonly kills: number;
  readonly seed: number;
  /** Told once for each life of the server. */
  readonly say?: (line: string) => void;
}

export interface SoakResult {
  readonly kills: number;
  /** Writes of friendly clients, none of them lost. */
  readonly acknowledged: number;
  /** Requests of friendly clients, answered 429, 503 or 507. */
  readonly refused: number;
  readonly friendlyRequests: number;
  /** The latency as the clients see it. They share the cores with the server and with those who attack. */
  readonly friendlyP99MsMost: number;
  /** The latency in the server, from the arrival of a request to its response, of routes that only friendly clients use. */
  readonly friendlyServerP99MsMost: number;
  /** How late the server's event loop was, for 1 in 100 looks at it. */
  readonly loopDelayP99MsMost: number;
  /** The share of the time that the server's main thread could have run and had no core, in percent. */
  readonly waitedForCorePercentMost: number;
  readonly hostileRequests: number;
  readonly residentBytes: number;
}

/** `hostile` is what became of every attack, for a person to read. */
export interface SoakReport extends SoakResult {
  readonly hostile: HostileTally;
}

export async function soak({
  seconds,
  kills,
  seed,
  say = () => undefined,
}: SoakOptions): Promise<SoakReport> {
  const run = new SoakRun(seededRandom(seed), say);
  try {
    await run.prepare();
    for (let life = 0; life <= kills; life += 1) {
      await run.live(seconds / (kills + 1), { endsByKill: life < kills });
    }
    return await run.end();
  } catch (cause) {
    const output = run.server?.output().slice(-2_000);
    throw new Error(`seed ${seed}, in ${run.folder}: ${cause}\n${output}`, { cause });
  } finally {
    run.stop();
  }
}

class SoakRun {
  readonly folder = temporaryFolder();
  server: ServerProcess | null = null;
  readonly #random: SeededRandom;
  readonly #clients: FriendlyClient[];
  readonly #latenciesMs: number[] = [];
  readonly #say: (line: string) => void;
  readonly #probeFolder = temporaryFolder();
  /** Counts for PROBE_BOUNDS, and one for what is above them. */
  readonly #serverTimes = new Array<number>(PROBE_BOUNDS.length + 1).fill(0);
  #loopDelayP99Ms = 0;
  #waitedPercent = 0;
  readonly #tally: HostileTally = {};
  #target: HostileTarget | null = null;
  #friendlyToken = '';
  #hostile: ChildProcess | null = null;
  #kills = 0;
  #residentBytes = 0;

  constructor(random: SeededRandom, say: (line: string) => void) {
    this.#random = random;
    this.#say = say;
    this.#clients = Array.from({ length: FRIENDLY_CLIENTS }, (_, index) => new FriendlyClient(index));
  }

  async prepare(): Promise<void> {
    const { call, origin } = await this.#start();
    // Who prepares, who is friendly and who is hostile are three callers, and share no account of the event loop.
    this.#friendlyToken = (await addPerson(call, 'friendly', 1)).token;
    const friendly = asPerson(call, this.#friendlyToken);
    for (const client of this.#clients) await client.prepare(friendly);
    this.#target = { ...(await prepareTarget(call)), origin };
  }

  async #start(): Promise<ServerProcess> {
    this.server = await spawnServer(this.folder, {
      // The second as `npm start` does.
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB} --max-semi-space-size=16 ${LOAD_PROBE}`,
      PROBE_FILE: this.#probeFile,
      INIT_CLIENT_API_TOKENS: `${CLIENT_TOKEN},${HOSTILE_CLIENT_TOKEN}`,
      INIT_FRONTEND_API_TOKENS: FRONTEND_TOKEN,
    });
    return this.server;
  }

  /** Everybody at work for so long, and until each friendly client had a change acknowledged; the kill finds them at it. */
  async live(seconds: number, { endsByKill }: { readonly endsByKill: boolean }): Promise<void> {
    const { server } = this;
    assert(server !== null && this.#target !== null, 'the server was started');
    this.#attack({ ...this.#target, origin: server.origin });
    let isOver = false;
    const coreBefore = coreTimes(server);
    const working = this.#clients.map((client) => this.#work(client, server, () => isOver));
    const served = this.#clients.map((client) => client.served());
    await Promise.race([Promise.all([delay(seconds * 1_000), ...served]), Promise.all(working)]);
    this.#residentBytes = Math.max(this.#residentBytes, residentBytes(server));
    this.#look(coreBefore, coreTimes(server));
    isOver = true;
    if (!endsByKill) return void (await Promise.all(working));
    await server.kill();
    await Promise.all(working);
    this.#kills += 1;
    await this.#check();
  }

  get #probeFile(): string {
    return join(this.#probeFolder, 'probe.json');
  }

  /** Looks at what the probe has written, and how long the main thread waited for a core. */
  #look(before: CoreTimes, now: CoreTimes): void {
    const { routes, loopDelayP99Ms } = JSON.parse(readFileSync(this.#probeFile, 'utf8')) as ProbeReading;
    for (const route of FRIENDLY_ROUTES) {
      for (const [at, count] of (routes[route] ?? []).entries()) this.#serverTimes[at]! += count;
    }
    this.#loopDelayP99Ms = Math.max(this.#loopDelayP99Ms, loopDelayP99Ms);
    const waited = (100 * (now.waitedMs - before.waitedMs)) / (now.atMs - before.atMs);
    this.#waitedPercent = Math.max(this.#waitedPercent, waited);
    const mib = Math.round(this.#residentBytes / 2 ** 20);
    this.#say(
      `life ${this.#kills + 1}: p99 ${this.#p99Ms()} ms, in the server up to ${this.#serverP99Ms()} ms; loop delay p99 ${loopDelayP99Ms.toFixed(1)} ms; waited for a core ${waited.toFixed(0)} %; ${this.#latenciesMs.length} requests; at most ${mib} MiB`,
    );
  }

  #p99Ms(): number {
    const sorted = this.#latenciesMs.toSorted((a, b) => a - b);
    return Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0);
  }

  /** The bound below which 99 of 100 are. */
  #serverP99Ms(): number {
    const total = sum(this.#serverTimes);
    let below = 0;
    const at = this.#serverTimes.findIndex((count) => {
      below += count;
      return below >= total * 0.99;
    });
    return PROBE_BOUNDS[at] ?? Number.POSITIVE_INFINITY;
  }

  async #work(client: FriendlyClient, server: ServerProcess, isOver: () => boolean): Promise<void> {
    const friendly = { ...server, call: asPerson(server.call, this.#friendlyToken) };
    while (!isOver()) {
      try {
        this.#latenciesMs.push(await client.act(friendly, CLIENT_TOKEN, this.#random));
      } catch (error) {
        if (!isOver()) throw error;
      }
      await delay(5);
    }
  }

  #attack(target: HostileTarget): void {
    this.#hostile?.kill('SIGKILL');
    const child = spawn(process.execPath, nodeArguments('test/addons/sdk/soak/hostile.ts'), {
      cwd: ROOT_FOLDER,
      env: { PATH: process.env.PATH, HOSTILE_TARGET: JSON.stringify(target) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#hostile = child;
    let last: HostileTally = {};
    readLines(child, (line) => {
      last = JSON.parse(line) as HostileTally;
    });
    child.once('exit', () => addTally(this.#tally, last));
  }

  async #check(): Promise<void> {
    const { call } = await this.#start();
    for (const client of this.#clients) await client.check(call);
  }

  async end(): Promise<SoakReport> {
    await this.#endAttack();
    assert.equal(await this.server?.terminate(), 0, 'the server stops cleanly');
    await this.#check();
    assert.equal(await this.server?.terminate(), 0, 'the server stops cleanly');
    // Kept when something was lost.
    rmSync(this.folder, { recursive: true });
    rmSync(this.#probeFolder, { recursive: true });
    return {
      kills: this.#kills,
      acknowledged: sum(this.#clients.map((client) => client.acknowledged)),
      refused: sum(this.#clients.map((client) => client.refused)),
      friendlyRequests: this.#latenciesMs.length,
      friendlyP99MsMost: this.#p99Ms(),
      friendlyServerP99MsMost: this.#serverP99Ms(),
      loopDelayP99MsMost: Math.round(this.#loopDelayP99Ms),
      waitedForCorePercentMost: Math.round(this.#waitedPercent),
      hostileRequests: sum(Object.values(this.#tally).flatMap((counts) => Object.values(counts))),
      residentBytes: this.#residentBytes,
      hostile: this.#tally,
    };
  }

  async #endAttack(): Promise<void> {
    const child = this.#hostile;
    if (child === null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    this.#hostile = null;
  }

  stop(): void {
    this.#hostile?.kill('SIGKILL');
    this.server?.child.kill('SIGKILL');
  }
}

/** The project, the flag and the people of the attacks. */
async function prepareTarget(call: Call): Promise<Omit<HostileTarget, 'origin'>> {
  const flag = 'large';
  const features = `/projects/${PROJECT}/features`;
  await made(call('POST', '/projects', { id: PROJECT, name: PROJECT }));
  await made(call('POST', features, { name: flag }));
  const strategies = `${features}/${flag}/environments/development/strategies`;
  const { body: strategy } = await made(call('POST', strategies, largeStrategy()));
  for (let more = 0; more < LARGE_STRATEGIES - 1; more += 1)
    await made(call('POST', strategies, largeStrategy()));
  const viewer = await addPerson(call, 'viewer');
  const member = await addPerson(call, 'member');
  await made(call('POST', `/projects/${PROJECT}/users/${member.id}/roles/5`));
  const { body: newest } = await call('POST', '/events/search', { limit: 1 });
  return {
    project: PROJECT,
    flag,
    strategyId: strategy.id,
    eventId: newest.events[0].id,
    member: member.token,
    viewer: viewer.token,
    client: HOSTILE_CLIENT_TOKEN,
    frontend: FRONTEND_TOKEN,
  };
}

async function made(answer: ReturnType<Call>): ReturnType<Call> {
  const response = await answer;
  assert([200, 201].includes(response.status), `${response.status} ${JSON.stringify(response.body)}`);
  return response;
}

/** The same as `call`, with another token. */
function asPerson(call: Call, token: string): Call {
  return (method, path, body, options) => call(method, path, body, { ...options, token });
}

async function addPerson(call: Call, username: string, rootRole = 3): Promise<{ id: number; token: string }> {
  const { body: user } = await made(call('POST', '/user-admin', { username, rootRole }));
  const { body: token } = await made(
    call('POST', `/user-admin/${user.id}/tokens`, {
      description: 'soak',
      expiresAt: '2999-01-01T00:00:00.000Z',
    }),
  );
  return { id: user.id, token: token.secret };
}

/** About 120 KB: nearly the most that a strategy may take. */
function largeStrategy(): object {
  const values = Array.from({ length: 250 }, (_, at) => `${at}`.padStart(12, 'v'));
  const constraints = Array.from({ length: 7 }, (_, at) => ({
    contextName: `field-${at}`,
    operator: 'IN',
    values,
  }));
  return { name: 'default', constraints };
}

function readLines(child: ChildProcess, each: (line: string) => void): void {
  let rest = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) each(line);
  });
}

function addTally(into: HostileTally, more: HostileTally): void {
  for (const [attack, counts] of Object.entries(more)) {
    into[attack] ??= {};
    for (const [outcome, count] of Object.entries(counts)) {
      into[attack][outcome] = (into[attack][outcome] ?? 0) + count;
    }
  }
}

interface CoreTimes {
  readonly atMs: number;
  /** Milliseconds of the main thread, so far: ready to run, without a core. */
  readonly waitedMs: number;
}

function coreTimes({ child }: ServerProcess): CoreTimes {
  const schedule = readFileSync(`/proc/${child.pid}/task/${child.pid}/schedstat`, 'utf8');
  return { atMs: performance.now(), waitedMs: Number(schedule.split(' ')[1]) / 1e6 };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
