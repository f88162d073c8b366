/**
 * No request holds the event loop, however many flags there are: between two turns of it, none looks at more than a share of them.
 * The routes are those of the tables, so a new one is asked too. Nothing is timed: each step of work that is cut into slices is
 * made a slice of its own, and flags count by whether anything was read of them.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTurnMs } from '../../../src/actors/turn.ts';
import type { Flag } from '../../../src/domain/flags/flag.ts';
import { BULK_FLAGS_MAX } from '../../../src/http/admin/bodies.ts';
import { describeInterface } from '../../../src/http/description/document.ts';
import { DESCRIBED, type DescribedRoute } from '../../support/described-routes.ts';
import { ADMIN_TOKEN, startTestServer, type TestServer } from '../../support/server.ts';
import { SURFACES } from '../../support/surfaces.ts';
import { DEFAULT_STRATEGY, TestWorld } from '../../support/test-world.ts';

const FLAGS = 5_000;

/** The most flags that are looked at in one go: it takes some 5 ms in the worst case, and less than 1 ms in most. */
const FLAGS_IN_A_TURN_MAX = 2_100;

const CLIENT_TOKEN = 'default:development.held-loop-client';
const FRONTEND_TOKEN = 'default:development.held-loop-frontend';
const flagName = (number: number): string => `flag-${number}`;

const NAMES: Readonly<Record<string, string>> = {
  projectId: 'default',
  featureName: flagName(FLAGS - 1),
  child: flagName(FLAGS - 1),
  environment: 'development',
  name: 'development',
  type: 'simple',
  appName: 'application',
};

const CONTEXT = { appName: 'application', userId: '7' };

/** Names of flags, as many as a request may name. */
const MANY = Array.from({ length: BULK_FLAGS_MAX }, (_, at) => flagName(at));

/** By the end of the path; those that need none are sent an empty object. */
const BODIES: Readonly<Record<string, object>> = {
  '/playground/advanced': { environments: ['development'], projects: ['default'], context: CONTEXT },
  '/playground/change-request/:id': { context: CONTEXT },
  '/explain': { environment: 'development', context: CONTEXT },
  '/features/validate': { name: 'unheard-of' },
  '/evaluate/flags': { context: { targetingKey: '7' } },
  // As the description's example has it, whoever comes later is refused.
  '/maintenance': { enabled: false },
  '/projects/:projectId/archive': { features: MANY },
  '/projects/:projectId/archive/validate': { features: MANY },
  '/projects/:projectId/revive': { features: MANY },
  '/projects/:projectId/delete': { features: MANY },
  '/projects/:projectId/stale': { features: MANY, stale: true },
  '/projects/:projectId/tags': {
    features: MANY,
    tags: { addedTags: [{ type: 'simple', value: 'many' }], removedTags: [] },
  },
  '/bulk_features/environments/:environment/on': { features: MANY },
  '/bulk_features/environments/:environment/off': { features: MANY },
};

/** Writes about many flags, or about what all have. They have to succeed, so that the others cannot hide behind refusals. */
const ABOUT_MANY: ReadonlySet<string> = new Set([
  'POST /api/admin/projects/:projectId/archive',
  'POST /api/admin/projects/:projectId/revive',
  'POST /api/admin/projects/:projectId/stale',
  'PUT /api/admin/projects/:projectId/tags',
  'PUT /api/admin/projects/:projectId',
  'DELETE /api/admin/projects/:projectId/environments/:environment',
  'DELETE /api/admin/environments/:name',
]);

const described = describeInterface({ surfaces: SURFACES, version: '0.0.0', basePath: '', open: false });

/** Bodies of routes that need none in BODIES: the examples of the description. */
const EXAMPLES: ReadonlyMap<string, unknown> = new Map(
  Object.values(described.paths as Record<string, object>)
    // biome-ignore lint/suspicious/noExplicitAny: operations of every shape.
    .flatMap((path) => Object.values<any>(path))
    .map(({ operationId, requestBody }) => [
      operationId,
      requestBody?.content?.['application/json']?.example,
    ]),
);

/** Puts routes that take something away last, and the environment of the service after that of the project. */
const writesInOrder = (): DescribedRoute[] => {
  const rank = ({ route }: DescribedRoute): number => (route.method === 'DELETE' ? route.path.length : 1_000);
  return DESCRIBED.filter(({ route }) => route.kind === 'write').sort((a, b) => rank(b) - rank(a));
};

/** Flags that anything was read of since the last turn of the event loop, and the most that there were. */
class Counted {
  readonly #flags = new Set<string>();
  #most = 0;
  #isOver = false;

  watched(flag: Flag): Flag {
    const { name } = flag;
    return new Proxy(flag, {
      get: (target, key) => {
        this.#flags.add(name);
        return Reflect.get(target, key);
      },
    });
  }

  begin(): void {
    const turn = (): void => {
      this.#most = Math.max(this.#most, this.#flags.size);
      this.#flags.clear();
      if (!this.#isOver) setImmediate(turn);
    };
    setImmediate(turn);
  }

  takeMost(): number {
    const most = Math.max(this.#most, this.#flags.size);
    this.#most = 0;
    this.#flags.clear();
    return most;
  }

  end(): void {
    this.#isOver = true;
  }
}

const STRATEGY = { ...DEFAULT_STRATEGY, disabled: true };

const tokenFor = ({ surface, pattern }: DescribedRoute): string => {
  if (surface.isForPages === true) return FRONTEND_TOKEN;
  return pattern.startsWith('/api/admin') ? ADMIN_TOKEN : CLIENT_TOKEN;
};

function bodyOf({ pattern, route }: DescribedRoute): unknown {
  const end = Object.keys(BODIES).find((one) => pattern.endsWith(one));
  return end === undefined ? (EXAMPLES.get(route.operationId) ?? {}) : BODIES[end];
}

describe('with thousands of flags', () => {
  const counted = new Counted();
  let server: TestServer;

  before(async () => {
    server = await startTestServer({
      env: { INIT_CLIENT_API_TOKENS: CLIENT_TOKEN, INIT_FRONTEND_API_TOKENS: FRONTEND_TOKEN },
    });
    const made = new TestWorld();
    const seeds = made.frames.length;
    const project = 'default';
    for (let at = 0; at < FLAGS; at += 1) {
      const flag = flagName(at);
      made.given(
        { type: 'create-flag', project, name: flag, metadata: {} },
        { type: 'add-strategy', project, flag, environment: 'development', strategy: STRATEGY },
      );
    }
    const events = made.frames.slice(seeds).flat();
    const { engine } = server.server.store;
    for (let at = 0; at < events.length; at += 1_000)
      await engine.record({ name: 'test', userId: -1 }, events.slice(at, at + 1_000));
    for (const record of engine.world.projects.get('default')!.flags.values()) {
      Object.assign(record, { flag: counted.watched(record.flag) });
    }
    setTurnMs(0);
    counted.begin();
  });

  after(async () => {
    setTurnMs();
    counted.end();
    await server.stop();
  });

  /** Reads until the end, or the first bytes of a stream. The number of bytes. */
  async function ask(one: DescribedRoute): Promise<{ readonly status: number; readonly bytes: number }> {
    const { method, kind } = one.route;
    const path = one.pattern.replace(/:([a-zA-Z]+)/g, (_, name: string) => NAMES[name] ?? '1');
    const given = new AbortController();
    const response = await fetch(`${server.origin}${path}`, {
      method,
      headers: { authorization: tokenFor(one), 'content-type': 'application/json' },
      signal: given.signal,
      ...(method === 'GET' ? {} : { body: JSON.stringify(bodyOf(one)) }),
    });
    if (response.status >= 500) assert.fail(`${response.status}: ${await response.text()}`);
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += (chunk as Uint8Array).byteLength;
      if (kind === 'stream') break;
    }
    given.abort();
    return { status: response.status, bytes };
  }

  for (const one of DESCRIBED.filter(({ route }) => route.kind !== 'write')) {
    it(`${one.route.method} ${one.pattern} looks at some of them in a turn`, async () => {
      counted.takeMost();
      // First with nothing kept, then with what the first kept.
      for (let turn = 0; turn < 2; turn += 1) {
        await ask(one);
        const most = counted.takeMost();
        assert(most <= FLAGS_IN_A_TURN_MAX, `it looked at ${most} of ${FLAGS} flags in one turn`);
      }
    });
  }

  it('the harness finds work that is not cut into slices', () => {
    let stale = 0;
    const { flags } = server.server.store.engine.world.projects.get('default')!;
    for (const { flag } of flags.values()) if (flag.stale) stale += 1;
    assert.equal(stale, 0);
    assert.equal(counted.takeMost(), FLAGS);
  });

  for (const one of writesInOrder()) {
    const name = `${one.route.method} ${one.pattern}`;
    it(`${name} looks at some of them in a turn`, async () => {
      counted.takeMost();
      const { status } = await ask(one);
      assert(status < (ABOUT_MANY.has(name) ? 300 : 500), `the status is ${status}`);
      await new Promise((resolve) => setImmediate(resolve));
      const most = counted.takeMost();
      assert(most <= FLAGS_IN_A_TURN_MAX, `it looked at ${most} of ${FLAGS} flags in one turn`);
    });
  }
});
