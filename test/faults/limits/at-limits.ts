/**
 * The rows of docs/limits.md, filled until the server refuses more: with values that are larger where they are served than where they are kept
 * as well. What was accepted is then read, changed, killed, started again, exported, imported, backed up and deleted.
 *
 *   node --import tsx test/faults/limits/at-limits.ts          every filling
 *   node --import tsx test/faults/limits/at-limits.ts tokens   one of them
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROUTES } from '../../../src/http/admin/surface.ts';
import { environmentPath, FEATURES } from '../../support/interface.ts';
import {
  ADMIN_TOKEN,
  type Call,
  caller,
  type ReceivedResponse,
  ROOT_FOLDER,
  residentBytes,
  type ServerProcess,
  spawnServer,
  temporaryFolder,
} from '../../support/server.ts';
import { nodeArguments } from '../../support/source.ts';
import { LOAD_PROBE, longestTurn } from '../soak/server-probe.ts';

const HEAP_MIB = 512;

const CLIENT_TOKEN = 'default:development.client-at-limits';
const FRONTEND_TOKEN = 'default:development.frontend-at-limits';

/** What refuses growth, and the requests of a long list that are too long to be answered. */
const REFUSALS: ReadonlySet<number> = new Set([400, 409, 413, 507]);

/** Requests under way while the state is filled. */
const FILLING_AT_ONCE = 8;

const IS_VERBOSE = process.env.VERBOSE !== undefined;

/** Names in the paths of reads and deletions, by the part of the path. */
type Names = Readonly<Record<string, string>>;

interface Filling {
  readonly name: string;
  fill(call: Call): Promise<void>;
  /** Of what it made, where the paths of `NAMES` do not lead to it. */
  readonly names?: Names;
  /** Changes to all of it. They can be refused, and must be answered. */
  readonly changes?: readonly (readonly [method: string, path: string, body?: unknown])[];
}

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

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Makes one after the other until the server refuses it, or there are so many; how many it took. */
async function untilRefused(
  most: number,
  make: (index: number) => Promise<ReceivedResponse>,
): Promise<number> {
  let [next, made] = [0, 0];
  let refusal = '';
  const work = async (): Promise<void> => {
    while (refusal === '' && next < most) {
      const index = next;
      next += 1;
      const { status, body } = await make(index);
      if (status < 300) made += 1;
      else {
        assert(REFUSALS.has(status), `${status} ${JSON.stringify(body)}`);
        assert(body.message.length > 20, 'a refusal says what is too much');
        refusal = body.message;
      }
    }
  };
  await Promise.all(many(FILLING_AT_ONCE, work));
  assert(made > 0, refusal);
  if (IS_VERBOSE) console.log(`  ${made}: ${refusal}`);
  return made;
}

async function all(count: number, make: (index: number) => Promise<ReceivedResponse>): Promise<void> {
  assert.equal(await untilRefused(count, make), count);
}

const makeFlag = (call: Call, index: number, fields: object = {}): Promise<ReceivedResponse> =>
  call('POST', FEATURES, { name: `flag-${index}`, ...fields });

/** A flag, and then one strategy of it after the other. */
async function withStrategies(
  call: Call,
  index: number,
  strategies: readonly object[],
): Promise<ReceivedResponse> {
  let response = await makeFlag(call, index);
  for (const strategy of strategies) {
    if (response.status >= 300) return response;
    const path = `${environmentPath(`flag-${index}`)}/strategies`;
    response = await call('POST', path, { name: 'default', ...strategy });
  }
  return response;
}

/** A filling of flags that all have these strategies. */
const flagsOf = (name: string, strategies: readonly object[]): Filling => ({
  name,
  fill: async (call) =>
    void (await untilRefused(100_000, (index) => withStrategies(call, index, strategies))),
});

const payloadOf = (value: string, bytes: number): object => ({
  variants: [
    {
      name: 'v',
      weight: 1_000,
      weightType: 'variable',
      stickiness: 'default',
      payload: { type: 'string', value: value.repeat(bytes) },
    },
  ],
});

const values = (count: number, length: number): string[] =>
  many(count, (index) => `${index}`.padStart(length, 'v'));

export const AT_LIMITS: readonly Filling[] = [
  flagsOf('payloads of control characters', [payloadOf('\u0001', 10_000), payloadOf('\u0001', 10_000)]),
  flagsOf('payloads of three bytes a character', [payloadOf('€', 20_000), payloadOf('€', 20_000)]),
  flagsOf('empty lists', [
    { parameters: Object.fromEntries(many(3, (list) => [`list-${list}`, many(7_000, () => [])])) },
  ]),
  flagsOf(
    'strategies of many keys',
    many(30, () => ({ parameters: Object.fromEntries(many(100, (index) => [`key-${index}`, `${index}`])) })),
  ),
  flagsOf(
    'constraints of many values',
    many(10, () => ({ constraints: [{ contextName: 'userId', operator: 'IN', values: values(250, 40) }] })),
  ),
  {
    name: 'inlined segments',
    fill: async (call) => {
      await untilRefused(300, (index) =>
        call('POST', '/segments', {
          name: `segment-${index}`,
          constraints: [{ contextName: 'userId', operator: 'IN', values: values(250, 60) }],
        }),
      );
      const { body } = await call('GET', '/segments');
      const ids: number[] = body.segments.map(({ id }: { readonly id: number }) => id);
      await untilRefused(100_000, (index) =>
        withStrategies(call, index, [{ segments: many(5, (at) => ids[(index * 5 + at) % ids.length]) }]),
      );
    },
  },
  {
    name: 'long descriptions',
    fill: async (call) =>
      void (await untilRefused(100_000, (index) =>
        makeFlag(call, index, { description: '\u0002'.repeat(9_900) }),
      )),
  },
  {
    name: 'flags without anything',
    fill: async (call) => void (await untilRefused(1_000_000, (index) => makeFlag(call, index))),
  },
  {
    name: 'tags',
    fill: async (call) => {
      await untilRefused(1_000, (index) =>
        call('POST', '/tag-types', { name: `type-${index}`, description: 'd'.repeat(200) }),
      );
      await untilRefused(10_000, (index) => call('POST', '/tags', { type: 'simple', value: `tag-${index}` }));
      await all(1_000, (index) =>
        makeFlag(call, index, { tags: many(50, (tag) => ({ type: 'simple', value: `tag-${tag}` })) }),
      );
    },
    changes: [
      [
        'PUT',
        '/projects/default/tags',
        {
          features: many(500, (index) => `flag-${index}`),
          tags: { addedTags: [], removedTags: [{ type: 'simple', value: 'tag-1' }] },
        },
      ],
      ['DELETE', '/tags/simple/tag-2'],
    ],
  },
  {
    name: 'tokens',
    fill: async (call) => {
      await all(100, (index) =>
        call('POST', '/projects', { id: `project-${index}`, name: `project ${index}` }),
      );
      const projects = many(100, (index) => `project-${index}`);
      await untilRefused(10_000, (index) =>
        call('POST', '/api-tokens', {
          tokenName: `token-${index}`,
          type: 'client',
          environment: 'development',
          projects,
        }),
      );
    },
    names: { projectId: 'project-0' },
    changes: [['DELETE', '/projects/project-1']],
  },
  {
    name: 'people',
    fill: async (call) => {
      const ids: number[] = [];
      await all(1_000, async (index) => {
        const made = await call('POST', '/user-admin', { username: `user-${index}`, rootRole: 3 });
        ids.push(made.body.id);
        return made;
      });
      const users = ids.map((id) => ({ user: { id } }));
      await untilRefused(10_000, (index) =>
        call('POST', '/groups', { name: `group-${index}`, users, description: 'd' }),
      );
      await all(1_000, (index) => call('PUT', `/projects/default/groups/${index + 1}/roles`, { roles: [4] }));
      await untilRefused(1_000, (index) =>
        call('POST', '/roles', {
          name: `role-${index}`,
          description: 'd'.repeat(250),
          permissions: [{ name: 'CREATE_FEATURE' }],
        }),
      );
      await untilRefused(1_000, (index) =>
        call('POST', `/user-admin/${ids[0]}/tokens`, {
          description: `token-${index}`,
          expiresAt: '2999-01-01T00:00:00.000Z',
        }),
      );
    },
    changes: [
      ['DELETE', '/user-admin/2'],
      ['DELETE', '/groups/1'],
    ],
  },
  {
    name: 'environments',
    fill: async (call) => {
      const made = await untilRefused(100, (index) =>
        call('POST', '/environments', { name: `environment-${index}`, type: 'development' }),
      );
      await all(made, (index) =>
        call('POST', '/projects/default/environments', { environment: `environment-${index}` }),
      );
      await all(500, async (index) => {
        await makeFlag(call, index);
        for (let environment = 0; environment < made; environment += 1)
          await call('POST', `${environmentPath(`flag-${index}`, `environment-${environment}`)}/strategies`, {
            name: 'default',
          });
        return call('POST', `${environmentPath(`flag-${index}`, 'environment-0')}/on`);
      });
    },
    names: { environment: 'environment-1', name: 'environment-1' },
    changes: [
      [
        'POST',
        '/projects/default/bulk_features/environments/environment-2/on',
        { features: many(500, (index) => `flag-${index}`) },
      ],
      ['DELETE', '/projects/default/environments/environment-3'],
      ['DELETE', '/environments/environment-4'],
    ],
  },
  {
    name: 'context fields and strategy types',
    fill: async (call) => {
      await untilRefused(1_000, (index) =>
        call('POST', '/context', {
          name: `field-${index}`,
          legalValues: many(450, (value) => ({ value: `${value}`.padStart(90, 'v'), description: '€' })),
        }),
      );
      await untilRefused(1_000, (index) =>
        call('POST', '/strategies', {
          name: `type-${index}`,
          parameters: many(40, (parameter) => ({
            name: `parameter-${parameter}`,
            type: 'string',
            description: 'd'.repeat(200),
          })),
        }),
      );
      await all(20, (index) => makeFlag(call, index));
    },
    names: { contextField: 'field-1', strategyName: 'type-1' },
  },
];

/** Of all fillings, in this order, after what a filling has of its own; `flags` are up to 500 names. */
const changesOf = (flags: readonly string[]): NonNullable<Filling['changes']> => [
  ['POST', '/projects/default/stale', { features: flags, stale: true }],
  ['POST', '/projects/default/bulk_features/environments/development/on', { features: flags }],
  ['POST', '/features-batch/export', { features: flags.slice(0, 250), environment: 'development' }],
  [
    'PUT',
    '/projects/default/tags',
    { features: flags, tags: { addedTags: [{ type: 'simple', value: 'new' }], removedTags: [] } },
  ],
  ['DELETE', '/tags/simple/new'],
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

  /** Reads all there is; digests of what is the same as long as nobody changes it, by path. */
  async #readAll(): Promise<Readonly<Record<string, string>>> {
    const names = { ...NAMES, ...this.#filling.names };
    const digests: Record<string, string> = {};
    const digest = (path: string, body: unknown): void => {
      const text = JSON.stringify(body).replaceAll(SEEN, '');
      digests[path] = createHash('sha256').update(text).digest('hex');
    };
    const read = async (
      prefix: string,
      path: string,
      token: string,
      headers: Record<string, string> = {},
    ): Promise<ReceivedResponse> => {
      const response = await caller(this.#server.origin, prefix)('GET', path, undefined, { token, headers });
      const { status, body } = response;
      assert(status < 500, `${prefix}${path}: ${status} ${JSON.stringify(body)?.slice(0, 300)}`);
      this.#counts.reads += 1;
      if (status === 413) {
        this.#counts.tooLong += 1;
        assert(body.message.length > 20, path);
      }
      this.#counts.mostBytes = Math.max(this.#counts.mostBytes, residentBytes(this.#server));
      return response;
    };
    for (const { method, path, kind } of ROUTES) {
      if (method !== 'GET' || kind !== 'read') continue;
      const named = path.replace(/:([A-Za-z]+)/g, (_, part: string) => names[part] ?? 'none');
      const { status, body } = await read('/api/admin', named, ADMIN_TOKEN);
      if (status === 200 && KEPT_PATHS.has(path)) digest(path, body);
    }
    await read('/api/admin', '/events?limit=1000', ADMIN_TOKEN);
    await read('/api/admin', '/search/features?limit=1000&query=flag', ADMIN_TOKEN);
    await read('/api/admin', '/search/events?limit=1000&query=flag', ADMIN_TOKEN);
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
      await this.#filling.fill(this.#server.call);
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
      await this.#start(this.#folder(), { IMPORT_FILE: join(copies, 'state.json') });
      await this.#readAll();
      await this.#look('reading an import');
      assert.equal(await this.#server.terminate(), 0);
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

/** What is in no backup. */
const SEEN = /,?"(?:lastS|s)eenAt":[^,}]*/g;

/** Of the routes, those whose responses depend on the state alone. */
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
  '/tags',
  '/archive/features',
]);

export function fillToLimits(filling: Filling): Promise<AtLimitsResult> {
  return new Run(filling).run();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const wanted = process.argv.slice(2).join(' ');
  for (const filling of AT_LIMITS) {
    if (wanted !== '' && filling.name !== wanted) continue;
    const begunAt = performance.now();
    console.log(
      filling.name,
      JSON.stringify(await fillToLimits(filling)),
      Math.round((performance.now() - begunAt) / 1000),
      's',
    );
  }
}
