/**
 * `flagstaff cluster drill`: the operator's drill of docs/cluster.md on a cluster of its own, three NATS servers and three nodes as
 * processes of this machine, step by step. Each step says what should happen and what was seen; the first that differs ends the
 * command.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamAPI } from '@nats-io/jetstream';
import { EXIT } from '../process/exit-codes.ts';
import type { AddCommand, CommandContext } from './command.ts';
import { CommandFailure } from './command-failure.ts';
import { secondsText } from './format.ts';

const COUNT = 3;
const CLUSTER = 'drill';
const STREAM = `FLAGSTAFF_${CLUSTER}`;
const TOKEN = '*:*.drill';
const FLAGS = '/api/admin/projects/default/features';
const LOOK_MS = 50;
/** A write that waits for the log gets 503 before. */
const RESPONSE_MS_MAX = 15_000;
/** A step that has not come about by then has failed. Elections of NATS servers that just started take the longest. */
const STEP_MS_MAX = 60_000;

export const addClusterDrill: AddCommand = (cluster, context) => {
  cluster
    .command('drill')
    .description(
      'Run the drill of docs/cluster.md on a cluster of its own on this machine, and print what it saw.',
    )
    .addHelpText(
      'after',
      `
Needs nats-server 2.10 or newer in the path, or named by NATS_SERVER. It starts three servers and three nodes in a temporary
folder, kills and deletes what the drill says, and removes everything. No other cluster is touched. Takes some minutes.`,
    )
    .action(() => runDrill(context));
};

async function runDrill(context: CommandContext): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'flagstaff-drill-'));
  const drill = new Drill(context, root);
  try {
    await drill.run();
    rmSync(root, { recursive: true, force: true });
  } catch (error) {
    const { message } = error as Error;
    throw new CommandFailure(
      EXIT.damagedData,
      `The drill failed: ${message}. Its folders and logs are in ${root}.`,
    );
  } finally {
    await drill.close();
  }
}

/** A program that the drill kills and starts again. */
class Program {
  readonly #spawn: () => ChildProcess;
  #child: ChildProcess | null = null;

  constructor([program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv, logFile: string) {
    this.#spawn = () => {
      const log = openSync(logFile, 'a');
      return spawn(program, args, { env, stdio: ['ignore', log, log] });
    };
  }

  start(): void {
    this.#child = this.#spawn();
  }

  get isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves with the exit code. */
  async ended(): Promise<number | null> {
    if (this.isRunning) await once(this.#child!, 'exit');
    return this.#child?.exitCode ?? null;
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (!this.isRunning) return;
    this.#child!.kill(signal);
    await this.ended();
  }
}

interface LogServer {
  readonly name: string;
  readonly program: Program;
}

interface Node extends LogServer {
  readonly folder: string;
  readonly origin: string;
}

class Drill {
  readonly #context: CommandContext;
  readonly #root: string;
  #servers: readonly LogServer[] = [];
  #nodes: readonly Node[] = [];
  #env: NodeJS.ProcessEnv = {};
  #flags = 0;

  constructor(context: CommandContext, root: string) {
    this.#context = context;
    this.#root = root;
  }

  async close(): Promise<void> {
    for (const { program } of [...this.#nodes, ...this.#servers]) await program.end('SIGKILL');
  }

  async run(): Promise<void> {
    await this.#begin();
    await this.#nodeDies();
    await this.#diskDies();
    await this.#serverDies();
    await this.#twoServersDie();
    await this.#onlyServersAreLeft();
    await this.#logIsLost();
    await this.#compare();
  }

  #say(text: string): void {
    this.#context.terminal.out(text);
  }

  #saw(text: string): void {
    this.#say(`   seen: ${text}`);
  }

  async #begin(): Promise<void> {
    this.#say('0. A cluster begins: three NATS servers that sync, "flagstaff cluster init", three nodes.');
    const ports = await freePorts(COUNT * 3);
    const nats = this.#context.terminal.env['NATS_SERVER'] ?? 'nats-server';
    const routes = ports.slice(COUNT, COUNT * 2).map((port) => `nats://127.0.0.1:${port}`);
    this.#servers = ports.slice(0, COUNT).map((port, at) => {
      const [name, config] = [`log-${at + 1}`, join(this.#root, `log-${at + 1}.conf`)];
      const settings = [
        ...[`server_name: ${name}`, `listen: "127.0.0.1:${port}"`],
        `jetstream { store_dir: "${join(this.#root, name)}", sync_interval: always }`,
        `cluster { name: drill, listen: "127.0.0.1:${ports[COUNT + at]}", routes: [${routes.join(', ')}] }`,
      ];
      writeFileSync(config, settings.join('\n'));
      return { name, program: this.#program(name, [nats, '-c', config], process.env) };
    });
    for (const { program } of this.#servers) program.start();
    const urls = ports.slice(0, COUNT).map((port) => `nats://127.0.0.1:${port}`);
    this.#env = {
      ...process.env,
      ...{ REPLICATION_URL: urls.join(','), REPLICATION_CLUSTER: CLUSTER, INIT_ADMIN_API_TOKENS: TOKEN },
    };
    this.#say(`   ${this.#flagstaff('cluster', 'init')}`);
    this.#nodes = ports.slice(COUNT * 2).map((port, at) => this.#nodeOn(port, `flags-${at + 1}`));
    for (const { program } of this.#nodes) program.start();
    const leader = await this.#leader();
    await this.#write();
    this.#saw(`${leader.name} leads, and a flag was created`);
  }

  #nodeOn(port: number, name: string): Node {
    const folder = join(this.#root, name);
    mkdirSync(folder, { recursive: true });
    const origin = `http://127.0.0.1:${port}`;
    const env = {
      ...this.#env,
      ...{ REPLICATION_NODE: name, REPLICATION_ADDRESS: origin, DATA_DIR: folder },
      ...{ HTTP_HOST: '127.0.0.1', HTTP_PORT: String(port) },
    };
    const command = [process.execPath, ...process.execArgv, process.argv[1]!, 'start'];
    return { name, folder, origin, program: this.#program(name, command, env) };
  }

  #program(name: string, command: readonly string[], env: NodeJS.ProcessEnv): Program {
    return new Program(command, env, join(this.#root, `${name}.log`));
  }

  /** Runs a command of this program, and returns what it printed. */
  #flagstaff(...args: readonly string[]): string {
    const command = [...process.execArgv, process.argv[1]!, ...args];
    const stdio: StdioOptions = ['ignore', 'pipe', 'ignore'];
    return execFileSync(process.execPath, command, { env: this.#env, encoding: 'utf8', stdio }).trim();
  }

  async #nodeDies(): Promise<void> {
    this.#say('1. Kill the leader. Another node leads within five seconds. Start the node; it follows.');
    const leader = await this.#leader();
    await leader.program.end('SIGKILL');
    const killedAt = this.#now();
    const next = await this.#leader();
    const ledMs = this.#now() - killedAt;
    await this.#write();
    const writtenMs = this.#now() - killedAt;
    leader.program.start();
    await this.#follows(leader);
    this.#saw(
      `${leader.name} was killed, ${next.name} led after ${secondsText(ledMs)}, a write succeeded after ${secondsText(writtenMs)}, ${leader.name} follows`,
    );
  }

  async #diskDies(): Promise<void> {
    this.#say('2. Stop a follower, empty its folder, start it. It follows, with all events.');
    const leader = await this.#leader();
    const follower = this.#nodes.find((node) => node !== leader)!;
    await follower.program.end('SIGTERM');
    empty(follower);
    follower.program.start();
    await this.#follows(follower);
    this.#saw(
      `${follower.name} follows again, with ${await this.#flagsOf(follower)} flags of ${this.#flags}`,
    );
  }

  async #serverDies(): Promise<void> {
    this.#say('3. Kill the NATS server that leads the stream. Writes come back within ten seconds.');
    const info = await this.#withStreams((streams) => streams.info(STREAM));
    const server = this.#servers.find(({ name }) => name === info.cluster?.leader)!;
    await server.program.end('SIGKILL');
    const killedAt = this.#now();
    await this.#write();
    this.#saw(`${server.name} was killed, a write succeeded after ${secondsText(this.#now() - killedAt)}`);
    server.program.start();
    await this.#leader();
  }

  /** Asks the servers with the client of NATS, as `nats stream info` does. */
  async #withStreams<T>(use: (streams: StreamAPI) => Promise<T>): Promise<T> {
    const { connect } = await import('@nats-io/transport-node');
    const { jetstreamManager } = await import('@nats-io/jetstream');
    const connection = await connect({ servers: this.#env['REPLICATION_URL']!.split(',') });
    try {
      return await use((await jetstreamManager(connection)).streams);
    } finally {
      await connection.close();
    }
  }

  async #twoServersDie(): Promise<void> {
    this.#say('4. Kill two NATS servers: writes get 503 and reads go on. Start one; writes come back.');
    await this.#until('all NATS servers are there', async () => (await this.#tryWrite()) === 201);
    const [one, other] = this.#servers;
    await Promise.all([one!.program.end('SIGKILL'), other!.program.end('SIGKILL')]);
    await this.#until('a write gets 503', async () => (await this.#tryWrite()) === 503);
    for (const node of this.#nodes) await this.#flagsOf(node);
    one!.program.start();
    const startedAt = this.#now();
    await this.#write();
    this.#saw(
      `a write got 503, every node served reads, and a write succeeded ${secondsText(this.#now() - startedAt)} after ${one!.name} was started`,
    );
    other!.program.start();
  }

  async #logIsLost(): Promise<void> {
    this.#say(
      '6. Stop all nodes and delete the stream. Each node ends with 65 when started. Republish from the newest journal, start them.',
    );
    for (const { program } of this.#nodes) await program.end('SIGTERM');
    await this.#withStreams((streams) => streams.delete(STREAM));
    for (const node of this.#nodes) {
      node.program.start();
      assert.equal(await node.program.ended(), EXIT.damagedData, `${node.name} ends with 65`);
    }
    const found = this.#nodes.map((node) => ({ node, lastId: this.#lastIdOf(node) }));
    const newest = found.sort((a, b) => b.lastId - a.lastId);
    const { node: first, lastId } = newest[0]!;
    this.#say(`   ${this.#flagstaff('cluster', 'republish', '-d', first.folder)}`);
    for (const { node, lastId: ownLastId } of newest) {
      if (ownLastId < lastId) {
        rmSync(node.folder, { recursive: true });
        this.#flagstaff('backup', '-d', first.folder, '--to', node.folder);
      }
      node.program.start();
    }
    await this.#write();
    this.#saw(
      `each node ended with 65, ${first.name} had event ${lastId}, and a write succeeded after republish`,
    );
  }

  async #onlyServersAreLeft(): Promise<void> {
    this.#say('5. Stop all nodes, empty their folders, start them. They have all that archive and log hold.');
    for (const node of this.#nodes) {
      await node.program.end('SIGKILL');
      empty(node);
    }
    for (const { program } of this.#nodes) program.start();
    const leader = await this.#leader();
    const found = await this.#flagsOf(leader);
    assert.equal(found, this.#flags, 'all flags are there');
    this.#saw(`all three folders were emptied, ${leader.name} leads with ${found} flags of ${this.#flags}`);
  }

  async #compare(): Promise<void> {
    await this.#leader();
    for (const { program } of this.#nodes) await program.end('SIGTERM');
    const states = this.#nodes.map(
      ({ folder }) =>
        this.#flagstaff('verify', '--deep', '-d', folder)
          .split('\n')
          .find((line) => line.startsWith('Replayed'))
          ?.replace(/^.*ways?: /, '') ?? 'unknown',
    );
    assert.equal(new Set(states).size, 1, `the nodes have the same state: ${states.join(' ')}`);
    this.#say(`Every node has the ${states[0]}`);
  }

  #now(): number {
    return this.#context.monotonicMs();
  }

  /** Resolves with what `look` finds at last. */
  async #until<T>(what: string, look: () => Promise<T | false | null>): Promise<T> {
    const endMs = this.#now() + STEP_MS_MAX;
    for (;;) {
      const found = await look();
      if (found !== null && found !== false) return found;
      if (this.#now() > endMs) throw new Error(`after ${secondsText(STEP_MS_MAX)} still not: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  async #roleOf({ origin, program }: Node): Promise<string | null> {
    if (!program.isRunning) return null;
    const response = await asked(`${origin}/health`);
    const health: unknown = await response?.json().catch(() => null);
    return (health as { readonly cluster?: { readonly role: string } } | null)?.cluster?.role ?? null;
  }

  #leader(): Promise<Node> {
    return this.#until('a node leads', async () => {
      for (const node of this.#nodes) if ((await this.#roleOf(node)) === 'leading') return node;
      return null;
    });
  }

  #follows(node: Node): Promise<boolean> {
    return this.#until(`${node.name} follows`, async () => (await this.#roleOf(node)) === 'following');
  }

  /** The status of the response to one more flag; 0 without a response. */
  async #tryWrite(): Promise<number> {
    const node = this.#nodes.find(({ program }) => program.isRunning);
    const name = `flag-${this.#flags + 1}`;
    const response = await asked(`${node?.origin}${FLAGS}`, {
      method: 'POST',
      headers: { authorization: TOKEN, 'content-type': 'application/json', 'idempotency-key': name },
      body: JSON.stringify({ name }),
    });
    if (response?.status === 201) this.#flags += 1;
    return response?.status ?? 0;
  }

  #write(): Promise<boolean> {
    return this.#until('a write succeeds', async () => (await this.#tryWrite()) === 201);
  }

  async #flagsOf({ origin, name }: Node): Promise<number> {
    const response = await asked(`${origin}${FLAGS}`, { headers: { authorization: TOKEN } });
    assert.equal(response?.status, 200, `${name} serves reads`);
    return ((await response!.json()) as { readonly features: readonly unknown[] }).features.length;
  }

  /** The last event in the folder of a node that does not run. */
  #lastIdOf({ folder }: Node): number {
    const text = this.#flagstaff('status', '--json', '-d', folder);
    const { journal } = JSON.parse(text) as {
      readonly journal: { readonly lastEvent: { readonly id: number } | null };
    };
    return journal.lastEvent?.id ?? 0;
  }
}

function empty({ folder }: Node): void {
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
}

/** Null where nothing responds in time. */
function asked(url: string, request: RequestInit = {}): Promise<Response | null> {
  const signal = AbortSignal.timeout(RESPONSE_MS_MAX);
  return fetch(url, { ...request, signal }).catch(() => null);
}

async function freePorts(count: number): Promise<readonly number[]> {
  const holders = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(holders.map((holder) => once(holder, 'listening')));
  const ports = holders.map((holder) => (holder.address() as AddressInfo).port);
  await Promise.all(holders.map((holder) => new Promise((resolve) => holder.close(resolve))));
  return ports;
}
