/**
 * The long form of migrate.test.ts, beside a real Unleash: `npm run test:migration -- [--flags 2000] [--contexts 1000] [--unleash 6.10.1]`.
 * It fetches that Unleash from npm, starts it on a PostgreSQL of this machine, fills it, moves all of it to a new Flagstaff, and has an
 * SDK and `--prove` ask both. Then it migrates again, changes something of every kind in Unleash, and migrates that. It prints what it has counted.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { startUnleash } from '../../../bench/lib/peer/unleash.ts';
import { AdminClient } from '../../../src/host/admin-client.ts';
import { flagstaff } from '../../support/operator.ts';
import { ADMIN_TOKEN, spawnServer, temporaryFolder } from '../../support/server.ts';
import { changeUnleash, fillUnleash } from './fill-unleash.ts';
import { contexts, fetchedAnswers } from './sdk-answers.ts';

const CLIENT_TOKEN = '*:production.migrated';
const SEED = 4711;

const { values } = parseArgs({
  options: {
    flags: { type: 'string', default: '2000' },
    contexts: { type: 'string', default: '1000' },
    unleash: { type: 'string', default: '6.10.1' },
  },
});
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const secondsSince = (begun: number): string => `${((performance.now() - begun) / 1000).toFixed(1)} s`;

const { target: unleash, stop } = await startUnleash(tmpdir(), say, {
  version: values.unleash,
  // Flags that have had variants of environments keep them; only so can new ones get some.
  env: { UNLEASH_EXPERIMENTAL_ENABLE_LEGACY_VARIANTS: 'true' },
});
const folder = temporaryFolder();
const server = await spawnServer(folder, { INIT_CLIENT_API_TOKENS: CLIENT_TOKEN });
try {
  const client = new AdminClient({ url: unleash.origin, token: unleash.token });
  await fillUnleash(client, Number(values.flags));
  const { secret } = (await client.call('POST', '/api-tokens', {
    ...{ tokenName: 'migrated', type: 'client', environment: 'production', projects: ['*'] },
  })) as { secret: string };
  say(`${unleash.name} has ${values.flags} flags`);
  const asked = contexts(Number(values.contexts), SEED);

  await migrate('the first run');
  await compare();
  const events = await eventCount();
  assert.equal(await migrate('a second run'), 0, 'a second run finds everything equal');
  assert.equal(await eventCount(), events, 'and records nothing');
  const changes = await changeUnleash(client);
  say(`${changes} changes are made in Unleash`);
  assert.ok((await migrate('a run after them')) > 0);
  await compare();
  assert.equal(await migrate('a last run'), 0, 'everything is equal again');

  /** How many steps it took. */
  async function migrate(which: string): Promise<number> {
    const begun = performance.now();
    const run = await flagstaff(['import-unleash', unleash.origin, '--to', server.origin, '--json'], {
      env: { UNLEASH_TOKEN: unleash.token, FLAGSTAFF_TOKEN: ADMIN_TOKEN },
    });
    assert.deepEqual([run.code, run.err], [0, '']);
    const { json } = run;
    say(`${which}: ${json.result.taken} steps in ${secondsSince(begun)}, of ${JSON.stringify(json.read)}`);
    return json.result.taken;
  }

  async function compare(): Promise<void> {
    const [theirs, ours] = await Promise.all([
      fetchedAnswers({ url: `${unleash.origin}/api/`, token: secret }, asked),
      fetchedAnswers({ url: `${server.origin}/api/`, token: CLIENT_TOKEN }, asked),
    ]);
    assert.deepEqual(ours, theirs, `the SDK gives other results, seed ${SEED}`);
    const all = theirs.flat();
    say(
      `the SDK gives the same results for ${asked.length} contexts: ${all.length} times a flag is on, with ${new Set(all).size} flags and variants`,
    );
    const proof = await flagstaff(['import-unleash', unleash.origin, '--to', server.origin, '--prove'], {
      env: { UNLEASH_CLIENT_TOKENS: secret, FLAGSTAFF_CLIENT_TOKENS: CLIENT_TOKEN },
    });
    assert.deepEqual([proof.code, proof.err], [0, '']);
    say(proof.out);
  }

  async function eventCount(): Promise<number> {
    return (await server.call('GET', '/events?limit=1')).body.totalEvents;
  }
} finally {
  await server.terminate();
  rmSync(folder, { recursive: true, force: true });
  await stop();
}
