/**
 * Migrations of random contents: runs that are killed at a random request and run again, and runs while the source changes. Nothing is on
 * for fewer than it was found or than it is in the source, a second run finds everything equal, and `--prove` finds no difference.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { Configuration, FlagEnvironment } from '../../../src/addons/migration/configuration.ts';
import type { MigrationResult } from '../../../src/addons/migration/migrate.ts';
import { readServer } from '../../../src/addons/migration/read-server.ts';
import { AdminClient } from '../../../src/host/admin-client.ts';
import { flagstaff } from '../../support/operator.ts';
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts';
import { ADMIN_TOKEN, ROOT_FOLDER, startTestServer, type TestServer } from '../../support/server.ts';
import { nodeArguments } from '../../support/source.ts';
import { RandomUnleash } from './random-unleash.ts';

/** Valid on both servers. */
export const CLIENT_TOKENS = '*:development.migrated,*:production.migrated';

export interface RandomRuns {
  readonly source: { readonly origin: string; readonly token: string };
  readonly seed: number;
  readonly flags: number;
  readonly kills: number;
  /** Runs while the source changes. */
  readonly changingRuns: number;
  /** For `--prove`. */
  readonly contexts: number;
}

export interface RunCounts {
  readonly fillings: number;
  readonly steps: number;
  readonly kills: number;
  readonly changesInSource: number;
  readonly runsBesideChanges: number;
  readonly evaluationsCompared: number;
}

export interface Runs {
  readonly target: TestServer;
  /** The tally of the runs so far. */
  readonly counts: { steps: number; changesInSource: number; evaluationsCompared: number };
  readonly env: Readonly<Record<string, string>>;
  readonly readTarget: () => Promise<Configuration>;
  readonly run: () => Promise<MigrationResult>;
  /** A run that takes everything, after which nothing is left to do, and applications get the same from both servers. */
  readonly settle: () => Promise<void>;
}

/** Runs of the command from a source to a server of their own. */
export async function runsTo({
  source,
  seed,
  contexts,
}: Pick<RandomRuns, 'source' | 'seed' | 'contexts'>): Promise<Runs> {
  const admin = new AdminClient({ url: source.origin, token: source.token });
  const target = await startTestServer({ env: { INIT_CLIENT_API_TOKENS: CLIENT_TOKENS } });
  const counts = { steps: 0, changesInSource: 0, evaluationsCompared: 0 };
  const env = {
    ...{ UNLEASH_TOKEN: source.token, FLAGSTAFF_TOKEN: ADMIN_TOKEN, UNLEASH_CLIENT_TOKENS: CLIENT_TOKENS },
  };
  const readTarget = () => readServer(new AdminClient({ url: target.origin, token: ADMIN_TOKEN }));
  const run = async () => {
    const ran = await flagstaff(['import-unleash', source.origin, '--to', target.origin, '--json'], { env });
    assert(ran.code === 0 || ran.code === 65, `seed ${seed}: ${ran.code} ${ran.err}`);
    const { result } = ran.json as { result: MigrationResult };
    counts.steps += result.taken;
    return result;
  };
  const prove = async (): Promise<void> => {
    const options = ['--prove', '--json', '--contexts', String(contexts), '--seed', String(seed)];
    const ran = await flagstaff(['import-unleash', source.origin, '--to', target.origin, ...options], {
      env,
    });
    assert.equal(ran.err, '');
    const { environments } = ran.json as {
      environments: { environment: string; evaluations: number; differences: { flag: string }[] }[];
    };
    for (const { environment, evaluations, differences } of environments) {
      counts.evaluationsCompared += evaluations;
      assert.deepEqual(differences, [], `seed ${seed}: ${environment}`);
    }
  };
  const settle = async (): Promise<void> => {
    const { failed } = await run();
    assert.deepEqual(failed, [], `seed ${seed}: everything is taken`);
    const again = await run();
    assert.deepEqual([again.taken, again.failed], [0, []], `seed ${seed}: a second run takes no step`);
    const [wanted, present] = [await readServer(admin), await readTarget()];
    assert.deepEqual(archivedIn(present), archivedIn(wanted), `seed ${seed}: archived flags are equal`);
    assert.deepEqual(switchesOf(wanted), switchesOf(present, wanted), `seed ${seed}: switches are equal`);
    await prove();
  };
  return { target, counts, env, readTarget, run, settle };
}

export async function migrateAtRandom(options: RandomRuns): Promise<RunCounts> {
  const { source, seed, flags, kills, changingRuns } = options;
  const random = seededRandom(seed);
  const admin = new AdminClient({ url: source.origin, token: source.token });
  const unleash = new RandomUnleash(admin, random, `s${seed}-`);
  await unleash.fill(flags);
  const { target, counts, env, readTarget, run, settle } = await runsTo(options);
  try {
    for (let at = 0; at < kills; at += 1) {
      const before = await readTarget();
      const dry = ['import-unleash', source.origin, '--to', target.origin, '--dry-run', '--json'];
      const { steps } = (await flagstaff(dry, { env })).json as { steps: readonly string[] };
      await runAndKill(source.origin, target.origin, { env, random, steps: steps.length });
      assertNotLess(before, await readTarget(), await readServer(admin), `seed ${seed}, kill ${at}`);
      counts.changesInSource += (await unleash.change(3)).made;
    }
    await settle();
    let switched: ReadonlySet<string> = new Set();
    for (let at = 0; at < changingRuns; at += 1) {
      const from = target.server.store.engine.lastId;
      const [changes] = await Promise.all([unleash.change(6), run()]);
      counts.changesInSource += changes.made;
      // Changes that the run before came too early for are taken by this one.
      const expected = new Set([...switched, ...changes.switched]);
      switched = changes.switched;
      const seen = await switchEvents(target.call, from);
      assert.deepEqual(
        seen.filter((one) => !expected.has(one)),
        [],
        `seed ${seed}, run ${at}: only what was switched in the source is switched`,
      );
      assert.equal(new Set(seen).size, seen.length, `seed ${seed}, run ${at}: once at most`);
    }
    await settle();
    return { fillings: 1, kills, runsBesideChanges: changingRuns, ...counts };
  } finally {
    await target.stop();
    await unleash.clear();
  }
}

const archivedIn = ({ flags }: Configuration): string[] =>
  [...flags.values()].filter(({ archived }) => archived).map(({ name }) => name);

/** On and off, by flag and environment; of the flags of `like` alone. */
function switchesOf({ flags }: Configuration, like?: Configuration): [string, boolean][] {
  return [...flags.values()]
    .filter(({ name, archived }) => !archived && (like === undefined || like.flags.has(name)))
    .flatMap(({ name, environments }) =>
      [...environments].map(([place, { enabled }]): [string, boolean] => [
        `${name}\n${place}`,
        enabled === true,
      ]),
    );
}

/** A flag that was just made is off everywhere, as it was for applications before. */
const UNTOUCHED: FlagEnvironment = { enabled: false, strategies: [], variants: [] };

/** Asserts that a flag in an environment is as it was, or as it is in the source, and never between. */
function assertNotLess(
  before: Configuration,
  after: Configuration,
  source: Configuration,
  where: string,
): void {
  for (const [name, flag] of after.flags)
    for (const [place, present] of flag.environments) {
      const was = before.flags.get(name)?.environments.get(place);
      const wanted = source.flags.get(name)?.environments.get(place);
      if (isDeepStrictEqual(present, was ?? UNTOUCHED)) continue;
      assert.equal(present.enabled, wanted?.enabled ?? false, `${where}: ${name} in ${place}`);
      assert(
        present.enabled === false || present.strategies.length >= (wanted?.strategies.length ?? 0),
        `${where}: ${name} in ${place} has all of its strategies`,
      );
    }
}

type Call = Awaited<ReturnType<typeof startTestServer>>['call'];

interface LoggedEvent {
  readonly id: number;
  readonly type: string;
  readonly featureName: string;
  readonly environment: string;
}

/** The flags that were switched behind the event, with their environments; of a new flag that begins on, none. */
async function switchEvents(call: Call, from: number): Promise<string[]> {
  const events: LoggedEvent[] = [];
  for (let offset = 0; ; offset = (events.at(-1)?.id ?? 1) - 1) {
    const page: LoggedEvent[] = (await call('POST', '/events/search', { limit: 100, offset })).body.events;
    events.push(...page.filter(({ id }) => id > from));
    if (page.length < 100 || (page.at(-1)?.id ?? 0) <= from) break;
  }
  return events
    .filter(({ type }) => /^feature-environment-(?:en|dis)abled$/.test(type))
    .map(({ featureName, environment }) => `${featureName}\n${environment}`);
}

interface KillOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly random: SeededRandom;
  /** Requests that the run would take. */
  readonly steps: number;
}

/** Runs the command in a process of its own, and kills it at a change that it sends: before the server has got it, or before it hears of it. */
async function runAndKill(
  source: string,
  target: string,
  { env, random, steps }: KillOptions,
): Promise<void> {
  const [at, isBefore] = [random.below(steps), random.chance(0.5)];
  let writes = 0;
  let child: ReturnType<typeof spawn> | null = null;
  const proxy = createServer((received, response) => {
    const isLast = received.method !== 'GET' && writes++ === at;
    if (isLast) child?.kill('SIGKILL');
    if (isLast && isBefore) return;
    const { port } = new URL(target);
    const { method, url, headers } = received;
    const sent = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    sent.on('error', () => response.destroy());
    received.pipe(sent);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  try {
    const to = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const args = nodeArguments('src/cli/bin.ts', 'import-unleash', source, '--to', to);
    child = spawn(process.execPath, args, {
      cwd: ROOT_FOLDER,
      env: { PATH: process.env.PATH, ...env },
      stdio: 'ignore',
    });
    await once(child, 'exit');
  } finally {
    proxy.closeAllConnections();
    proxy.close();
    await once(proxy, 'close');
  }
}
