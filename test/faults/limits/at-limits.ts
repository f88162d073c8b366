/**
 * The rows of docs/limits.md, filled until the server refuses more: with values that are larger where they are served than where they are kept
 * as well. What was accepted is then read, changed, killed, started again, exported, imported, backed up and deleted.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { environmentPath, FEATURES } from '../../support/interface.ts';
import {
  ADMIN_TOKEN,
  caller,
  type ReceivedResponse,
  ROOT_FOLDER,
  residentBytes,
  type ServerProcess,
  spawnServer,
  temporaryFolder,
} from '../../support/server.ts';
import { nodeArguments } from '../../support/source.ts';
import { ADMIN_ROUTES } from '../../support/surfaces.ts';
import { LOAD_PROBE, longestTurn } from '../server-probe.ts';
import { type Change, type Filling, IS_VERBOSE, type Names, REFUSALS } from './filling.ts';
import { FILLINGS_OF_FLAGS } from './fillings-of-flags.ts';
import { FILLINGS_OF_THE_SERVICE } from './fillings-of-the-service.ts';

const HEAP_MIB = 512;

const CLIENT_TOKEN = 'default:development.client-at-limits';
const FRONTEND_TOKEN = 'default:development.frontend-at-limits';

const NAMES: Names = {
  projectId: 'default',
  featureName: 'flag-0',
  child: 'flag-0',
  parent: 'flag-1',
  environment: 'development',
  name: 'development',
  contextField: 'appName',
  strategyName: 'default',
  tagType: 'simple',
  type: 'simple',
  value: 'tag-0',
  roleId: '1',
  userId: '1',
  appName: 'application',
  id: '1',
};

export const AT_LIMITS: readonly Filling[] = [...FILLINGS_OF_FLAGS, ...FILLINGS_OF_THE_SERVICE];

/** Changes to every filling, made in this order after its own; `flags` are up to 500 names. */
const changesOf = (flags: readonly string[]): readonly Change[] => [
  ['POST', '/projects/default/stale', { features: flags, stale: true }],
  ['POST', '/projects/default/bulk_features/environments/development/on', { features: flags }],
  ['POST', '/features-batch/export', { features: flags.slice(0, 250), environment: 'development' }],
  [
    'PUT',
    '/projects/default/tags',
    { features: flags, tags: { addedTags: [{ type: 'simple', value: 'new' }], removedTags: [] } },
  ],
  ['POST', `${FEATURES}/flag-0/clone`, { name: 'clone' }],
  ['POST', `${environmentPath('flag-0')}/strategies/copy`, { targetEnvironments: ['production'] }],
  ['POST', '/environments', { name: 'last', type: 'production' }],
  ['POST', '/projects/default/environments', { environment: 'last' }],
  ['POST', '/projects/default/archive', { features: flags }],
  ['POST', '/projects/default/revive', { features: flags.slice(0, 250) }],
  ['POST', '/projects/default/delete', { features: flags.slice(250) }],
  ['DELETE', '/segments/1'],
  ['DELETE', '/environments/last'],
];

export interface AtLimitsResult {
  readonly reads: number;
  readonly tooLong: number;
  readonly changes: number;
  readonly mostBytes: number;
  /** Milliseconds of processor time that one turn of the loop took at most, and in which part. */
  readonly slowestTurnMs: number;
  readonly slowestPart: string;
}

class Run {
  readonly #filling: Filling;
  /** Tokens of those who read: an Admin, and users whom the filling names. */
  readonly #readers = [ADMIN_TOKEN];
  readonly #folders: string[] = [];
  readonly #probeFile = join(this.#folder(), 'probe.json');
  #server!: ServerProcess;
  #counts = { reads: 0, tooLong: 0, changes: 0, mostBytes: 0, slowestTurnMs: 0, slowestPart: '' };

  constructor(filling: Filling) {
    this.#filling = filling;
  }

  #folder(): string {
    const folder = temporaryFolder();
    this.#folders.push(folder);
    return folder;
  }

  async #start(folder: string, env: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#server = await spawnServer(folder, {
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB} --max-semi-space-size=16 ${LOAD_PROBE}`,
      PROBE_FILE: this.#probeFile,
      INIT_CLIENT_API_TOKENS: CLIENT_TOKEN,
      INIT_FRONTEND_API_TOKENS: FRONTEND_TOKEN,
      ...env,
    });
    this.#server.child.kill('SIGUSR2');
  }

  /** The longest turn of the part that ends here. */
  async #look(part: string): Promise<void> {
    const { loopBusyMostMs, busiest } = await longestTurn(this.#server, this.#probeFile);
    if (IS_VERBOSE)
      console.log(
        `  ${part}: ${loopBusyMostMs.toFixed(1)} ms (${busiest}), ${Math.round(residentBytes(this.#server) / 2 ** 20)} MiB`,
      );
    if (loopBusyMostMs > this.#counts.slowestTurnMs) {
      this.#counts.slowestTurnMs = loopBusyMostMs;
      this.#counts.slowestPart = `${part}, ${busiest}`;
    }
    this.#counts.mostBytes = Math.max(this.#counts.mostBytes, residentBytes(this.#server));
  }

  async #read(
    prefix: string,
    path: string,
    token: string,
    headers: Record<string, string> = {},
  ): Promise<ReceivedResponse> {
    const begunAt = performance.now();
    const response = await caller(this.#server.origin, prefix)('GET', path, undefined, { token, headers });
    const { status, body } = response;
    assert(status < 500, `${prefix}${path}: ${status} ${JSON.stringify(body)?.slice(0, 300)}`);
    this.#counts.reads += 1;
    if (status === 413) {
      this.#counts.tooLong += 1;
      assert(body.message.length > 20, path);
    }
    this.#counts.mostBytes = Math.max(this.#counts.mostBytes, residentBytes(this.#server));
    const tookMs = performance.now() - begunAt;
    if (IS_VERBOSE && tookMs > 500) console.log(`    ${path} took ${Math.round(tookMs)} ms, ${status}`);
    return response;
  }

  /** Reads all there is; digests of what is the same as long as nobody changes it, by path. */
  async #readAll(): Promise<Readonly<Record<string, string>>> {
    const names = { ...NAMES, ...this.#filling.names };
    const digests: Record<string, string> = {};
    const digest = (path: string, body: unknown): void => {
      const text = JSON.stringify(body).replaceAll(SEEN, '');
      digests[path] = createHash('sha256').update(text).digest('hex');
    };
    const read = this.#read.bind(this);
    for (const [reader, token] of this.#readers.entries()) {
      for (const { method, path, kind } of ADMIN_ROUTES) {
        if (method !== 'GET' || kind !== 'read') continue;
        const named = path.replace(/:([A-Za-z]+)/g, (_, part: string) => names[part] ?? 'none');
        const { status, body } = await read('/api/admin', named, token);
        if (status === 200 && KEPT_PATHS.has(path)) digest(`${path} ${reader}`, body);
      }
      await read('/auth', '/console', token);
      await read('/auth', '/sessions', token);
    }
    await read('/api/admin', '/events?limit=1000', ADMIN_TOKEN);
    await read('/api/admin', '/search/features?limit=1000&query=flag', ADMIN_TOKEN);
    await read('/api/admin', '/search/events?limit=1000&query=flag', ADMIN_TOKEN);
    await read('/api/admin', '/user-admin/search?q=zzz', ADMIN_TOKEN);
    const client = await read('/api/client', '/features', CLIENT_TOKEN);
    digest('/api/client/features', client.body);
    await read('/api/client', '/features', CLIENT_TOKEN, { 'unleash-client-spec': '5.1.0' });
    await read('/api/client', '/delta', CLIENT_TOKEN);
    await read('/api/client', '/streaming', CLIENT_TOKEN);
    await read('/api', '/frontend?userId=7', FRONTEND_TOKEN);
    return digests;
  }

  /** All but those that single changes need. */
  async #flagNames(): Promise<readonly string[]> {
    const names: string[] = [];
    for (let offset = 0; offset < 500; offset += 100) {
      const { body } = await this.#server.call('GET', `/search/features?limit=100&offset=${offset}`);
      names.push(...body.features.map(({ name }: { readonly name: string }) => name));
    }
    return names.filter((name) => name !== NAMES['featureName'] && name !== NAMES['parent']);
  }

  async #cli(...args: readonly string[]): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const env = { ...process.env, NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` };
      execFile(
        process.execPath,
        nodeArguments('src/cli/bin.ts', ...args),
        { cwd: ROOT_FOLDER, env },
        (error, _, err) =>
          error === null ? resolve() : reject(new Error(`${args[0]} ended with ${error.code}: ${err}`)),
      );
    });
  }

  async run(): Promise<AtLimitsResult> {
    try {
      const folder = this.#folder();
      await this.#start(folder);
      const { call, origin } = this.#server;
      await this.#filling.fill(call, {
        below: (prefix) => caller(origin, prefix),
        readAs: (token) => this.#readers.push(token),
      });
      await this.#look('filling');
      const filled = await this.#readAll();
      await this.#look('reading');
      const copies = this.#folder();
      await this.#cli('export', '--data-dir', folder, '--to', join(copies, 'state.json'), '--credentials');
      await this.#cli('backup', '--data-dir', folder, '--to', join(copies, 'backup'));
      await this.#server.kill();
      await this.#start(folder);
      assert.deepEqual(await this.#readAll(), filled, 'after a kill, all is as it was');
      await this.#look('reading after a kill');
      assert.equal(await this.#server.terminate(), 0);
      const imported = this.#folder();
      await this.#start(imported, { IMPORT_FILE: join(copies, 'state.json') });
      await this.#readAll();
      await this.#look('reading an import');
      assert.equal(await this.#server.terminate(), 0);
      await this.#cli('export', '--data-dir', imported, '--to', join(copies, 'again.json'), '--credentials');
      assertSameState(join(copies, 'again.json'), join(copies, 'state.json'));
      await this.#start(join(copies, 'backup'));
      assert.deepEqual(await this.#readAll(), filled, 'in a backup, all is as it was');
      await this.#server.kill();
      await this.#start(folder);
      assert.deepEqual(await this.#readAll(), filled, 'from a snapshot, all is as it was');
      await this.#look('reading from a snapshot');
      for (const [method, path, body] of [
        ...(this.#filling.changes ?? []),
        ...changesOf(await this.#flagNames()),
      ]) {
        const { status, body: told } = await this.#server.call(method, path, body);
        assert(
          status < 300 || status === 404 || REFUSALS.has(status),
          `${method} ${path}: ${status} ${JSON.stringify(told)}`,
        );
        this.#counts.changes += status < 300 ? 1 : 0;
        await this.#look(`${method} ${path}`);
      }
      const changed = await this.#readAll();
      await this.#server.kill();
      await this.#start(folder);
      assert.deepEqual(await this.#readAll(), changed, 'after the changes and a kill, all is as it was');
      assert.equal(await this.#server.terminate(), 0);
      return this.#counts;
    } catch (cause) {
      throw new Error(`${this.#filling.name}: ${cause}\n${this.#server?.output().slice(-2_000)}`, { cause });
    } finally {
      this.#server?.child.kill('SIGKILL');
      for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true });
    }
  }
}

/** Holds two documents of the state against each other. Tokens of the settings were made anew, so their times differ. */
function assertSameState(path: string, other: string): void {
  const [one, two] = [path, other].map((file) => {
    const bytes = readFileSync(file);
    const credentialsAt = bytes.lastIndexOf('"credentials":');
    assert(credentialsAt > 0, `${file} has credentials`);
    const credentials = bytes.toString('latin1', credentialsAt).replaceAll(/"createdAt": *"[^"]*"/g, '');
    return Buffer.concat([bytes.subarray(0, credentialsAt), Buffer.from(credentials, 'latin1')]);
  }) as [Buffer, Buffer];
  if (one.equals(two)) return;
  const at = one.findIndex((byte, index) => byte !== two[index]);
  const around = (bytes: Buffer): string => bytes.toString('utf8', Math.max(0, at - 200), at + 200);
  assert.equal(around(one), around(two), 'what was imported exports as it was exported');
  assert.fail(`${path} goes on after byte ${two.length}, or ${other} after byte ${one.length}`);
}

/** Times of the last use, which no backup has. */
const SEEN = /,?"(?:lastS|s)eenAt":[^,}]*/g;

/** Routes whose responses depend on the state alone. */
const KEPT_PATHS: ReadonlySet<string> = new Set([
  '/api-tokens',
  '/context',
  '/environments',
  '/groups',
  '/projects/:projectId/features',
  '/projects/:projectId/features/:featureName',
  '/roles',
  '/segments',
  '/strategies',
  '/tag-types',
  '/archive/features',
]);

export function fillToLimits(filling: Filling): Promise<AtLimitsResult> {
  return new Run(filling).run();
}
