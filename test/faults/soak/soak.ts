/**
 * Friendly and hostile clients together against a server with little memory, which is killed again and again:
 * `node --import tsx test/faults/soak/soak.ts --minutes 30 --kills 30`. Friendly clients measure how long they wait, and know
 * what was acknowledged to them: all of it has to be there after each start, and each start has to succeed.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts';
import {
  type Call,
  ROOT_FOLDER,
  residentBytes,
  type ServerProcess,
  spawnServer,
  temporaryFolder,
} from '../../support/server.ts';
import { FriendlyClient } from './friendly.ts';
import type { HostileTally, HostileTarget } from './hostile.ts';

const FRIENDLY_CLIENTS = 8;
const HEAP_MIB = 512;
const CLIENT_TOKEN = 'default:development.friendly-client';
const FRONTEND_TOKEN = 'default:development.friendly-frontend';
const PROJECT = 'hostile';
/** So many nearly fill a flag. */
const LARGE_STRATEGIES = 4;

export interface SoakOptions {
  readonly seconds: number;
  /** Each is followed by a start on the same folder. */
  readonly kills: number;
  readonly seed: number;
}

export interface SoakResult {
  readonly kills: number;
  /** Of friendly clients, none of them lost. */
  readonly acknowledged: number;
  /** Of friendly clients, answered 429, 503 or 507. */
  readonly refused: number;
  readonly friendlyRequests: number;
  readonly friendlyP99MsMost: number;
  readonly hostileRequests: number;
  readonly residentBytes: number;
}

/** `hostile` is what became of every attack, for a person to read. */
export interface SoakReport extends SoakResult {
  readonly hostile: HostileTally;
}

export async function soak({ seconds, kills, seed }: SoakOptions): Promise<SoakReport> {
  const run = new SoakRun(seededRandom(seed));
  try {
    await run.prepare();
    for (let life = 0; life <= kills; life += 1) {
      await run.live(seconds / (kills + 1), { endsByKill: life < kills });
    }
    return await run.end();
  } catch (cause) {
    throw new Error(`seed ${seed}, in ${run.folder}\n${run.server?.output().slice(-2_000)}`, { cause });
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
  readonly #tally: HostileTally = {};
  #target: HostileTarget | null = null;
  #hostile: ChildProcess | null = null;
  #kills = 0;
  #residentBytes = 0;

  constructor(random: SeededRandom) {
    this.#random = random;
    this.#clients = Array.from({ length: FRIENDLY_CLIENTS }, (_, index) => new FriendlyClient(index));
  }

  async prepare(): Promise<void> {
    const { call, origin } = await this.#start();
    for (const client of this.#clients) await client.prepare(call);
    this.#target = { ...(await prepareTarget(call)), origin };
  }

  async #start(): Promise<ServerProcess> {
    this.server = await spawnServer(this.folder, {
      // The second as `npm start` does.
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB} --max-semi-space-size=64`,
      INIT_CLIENT_API_TOKENS: CLIENT_TOKEN,
      INIT_FRONTEND_API_TOKENS: FRONTEND_TOKEN,
    });
    return this.server;
  }

  /** Everybody at work for so long; the kill finds them at it. */
  async live(seconds: number, { endsByKill }: { readonly endsByKill: boolean }): Promise<void> {
    const { server } = this;
    assert(server !== null && this.#target !== null, 'the server was started');
    this.#attack({ ...this.#target, origin: server.origin });
    let isOver = false;
    const working = this.#clients.map((client) => this.#work(client, server, () => isOver));
    await Promise.race([delay(seconds * 1_000), Promise.all(working)]);
    this.#residentBytes = Math.max(this.#residentBytes, residentBytes(server));
    isOver = true;
    if (!endsByKill) return void (await Promise.all(working));
    await server.kill();
    await Promise.all(working);
    this.#kills += 1;
    await this.#check();
  }

  async #work(client: FriendlyClient, server: ServerProcess, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      try {
        this.#latenciesMs.push(await client.act(server, CLIENT_TOKEN, this.#random));
      } catch (error) {
        if (!isOver()) throw error;
      }
      await delay(5);
    }
  }

  #attack(target: HostileTarget): void {
    this.#hostile?.kill('SIGKILL');
    const child = spawn(process.execPath, ['--import', 'tsx', 'test/faults/soak/hostile.ts'], {
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
    const sorted = this.#latenciesMs.toSorted((a, b) => a - b);
    return {
      kills: this.#kills,
      acknowledged: sum(this.#clients.map((client) => client.acknowledged)),
      refused: sum(this.#clients.map((client) => client.refused)),
      friendlyRequests: sorted.length,
      friendlyP99MsMost: Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0),
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
    client: CLIENT_TOKEN,
    frontend: FRONTEND_TOKEN,
  };
}

async function made(answer: ReturnType<Call>): ReturnType<Call> {
  const response = await answer;
  assert([200, 201].includes(response.status), `${response.status} ${JSON.stringify(response.body)}`);
  return response;
}

async function addPerson(call: Call, username: string): Promise<{ id: number; token: string }> {
  const { body: user } = await made(call('POST', '/user-admin', { username, rootRole: 3 }));
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
  const constraints = Array.from({ length: 29 }, (_, at) => ({
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

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '30' },
      kills: { type: 'string', default: '30' },
      seed: { type: 'string' },
    },
  });
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
  process.stdout.write(`seed ${seed}\n`);
  const report = await soak({ seconds: Number(values.minutes) * 60, kills: Number(values.kills), seed });
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
