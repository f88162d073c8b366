/**
 * An edge in front of a real Unleash: `node --import tsx test/addons/edge/real-unleash.ts [--flags 200] [--contexts 200] [--unleash 8.2.0]`.
 * It fetches that Unleash from npm, starts it on a PostgreSQL of this machine, fills it, and holds what an SDK and a page get from the edge
 * against what they get from Unleash itself; then it changes flags, and reports through the edge. It prints what it has counted.
 */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { startUnleash } from '../../../bench/lib/peer/unleash.ts';
import { flagName } from '../../../bench/lib/servers/data-set.ts';
import { seedPeer } from '../../../bench/lib/servers/seed-peer.ts';
import { AdminClient } from '../../../src/host/admin-client.ts';
import { caller } from '../../support/server.ts';
import { changeUnleash, fillUnleash } from '../migration/fill-unleash.ts';
import { contexts, fetchedAnswers } from '../migration/sdk-answers.ts';
import { startEdge, until } from './edges.ts';

const SEED = 4711;

const { values } = parseArgs({
  options: {
    flags: { type: 'string', default: '200' },
    contexts: { type: 'string', default: '200' },
    unleash: { type: 'string', default: '8.2.0' },
  },
});
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const { target: unleash, stop } = await startUnleash(tmpdir(), say, {
  version: values.unleash,
  env: { UNLEASH_EXPERIMENTAL_ENABLE_LEGACY_VARIANTS: 'true' },
});
try {
  const admin = new AdminClient({ url: unleash.origin, token: unleash.token });
  await fill();
  const client = await token('client');
  const frontend = await token('frontend');
  say(`${unleash.name} has ${values.flags} flags`);
  const edge = await startEdge({ 'upstream-url': unleash.origin, tokens: client });
  const [fed] = edge.edge.mirrors;
  say(`the edge reads it by ${fed!.feed.way}, and has event ${fed!.served.mirror.lastId}`);
  await compare();
  const { lastId } = fed!.served.mirror;
  say(`${await change()} changes are made in Unleash`);
  await until(() => fed!.served.mirror.lastId > lastId);
  await until(async () => (await tagOfRevision(unleash.origin)) === (await tagOfRevision(edge.origin)));
  await compare();
  await report();
  await edge.stop();

  /** Flags of every kind for Unleash 6; newer ones refuse some of them, and get simpler ones. */
  async function fill(): Promise<void> {
    if (values.unleash.startsWith('6.')) return fillUnleash(admin, Number(values.flags));
    await seedPeer(unleash, Number(values.flags));
    for (let at = 0; at < Number(values.flags); at += 2) await turn(at, 'on');
  }

  function change(): Promise<number> {
    return values.unleash.startsWith('6.') ? changeUnleash(admin) : turn(0, 'off').then(() => 1);
  }

  async function turn(at: number, state: 'on' | 'off'): Promise<void> {
    await admin.call('POST', `/projects/default/features/${flagName(at)}/environments/production/${state}`);
  }

  async function token(type: string): Promise<string> {
    const made = (await admin.call('POST', '/api-tokens', {
      ...{ tokenName: `edge-${type}`, type, environment: 'production', projects: ['*'] },
    })) as { secret: string };
    return made.secret;
  }

  /** The newest flags, by name. */
  async function tagOfRevision(origin: string): Promise<string> {
    const headers = { 'unleash-client-spec': '5.2.0' };
    const { body } = await caller(origin, '/api/client')('GET', '/features', undefined, {
      token: client,
      headers,
    });
    const flags = body.features.map(({ name, enabled, strategies }: Record<string, unknown>) => [
      ...[name, enabled, (strategies as unknown[]).length],
    ]);
    return JSON.stringify(flags.sort());
  }

  async function compare(): Promise<void> {
    const asked = contexts(Number(values.contexts), SEED);
    const [theirs, ours] = await Promise.all([
      fetchedAnswers({ url: `${unleash.origin}/api/`, token: client }, asked),
      fetchedAnswers({ url: `${edge.origin}/api/`, token: client }, asked),
    ]);
    assert.deepEqual(ours, theirs, `the SDK gives other results, seed ${SEED}`);
    const all = theirs.flat();
    say(
      `the SDK gives the same for ${asked.length} contexts: ${all.length} times a flag is on, with ${new Set(all).size} flags and variants`,
    );
    let toggleCount = 0;
    for (let user = 0; user < Number(values.contexts); user += 1) {
      // With a name of the application: Unleash takes one of its own where there is none, as no SDK and no edge does.
      const path = `?userId=user-${user}&sessionId=${user}&appName=deck&country=DE&properties[country]=DE&remoteAddress=10.0.0.1`;
      const [their, our] = await Promise.all(
        [unleash.origin, edge.origin].map((origin) =>
          caller(origin, '/api/frontend')('GET', path, undefined, { token: frontend }),
        ),
      );
      const byName = (body: { toggles: { name: string }[] }) =>
        body.toggles.sort((a, b) => (a.name < b.name ? -1 : 1));
      assert.deepEqual(byName(our!.body), byName(their!.body), path);
      toggleCount += our!.body.toggles.length;
    }
    say(`a page gets the same for ${values.contexts} contexts: ${toggleCount} times a flag is on`);
  }

  async function report(): Promise<void> {
    const now = new Date().toISOString();
    const name = fed!.served.mirror.world.flagProjects.keys().next().value as string;
    const bucket = { start: now, stop: now, toggles: { [name]: { yes: 3, no: 4 } } };
    const call = edge.call('/api/client');
    await call('POST', '/metrics', { appName: 'behind-an-edge', instanceId: '1', bucket }, { token: client });
    await edge.edge.sendReports();
    assert.equal(edge.edge.reports.droppedCount + edge.edge.reports.size, 0, 'Unleash takes the report');
    // Unleash writes counts down from time to time.
    await until(async () => {
      const found = (await admin.get(`/client-metrics/features/${name}/raw`)) as {
        data: { appName: string; yes: number }[];
      };
      return found.data.some((one) => one.appName === 'behind-an-edge' && one.yes === 3);
    });
    say('Unleash has counted what was reported to the edge');
  }
} finally {
  await stop();
}
