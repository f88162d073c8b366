/** A server that signs its history: what it shows of its heads, and what it deletes under them. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { HeadView } from '../../../src/addons/audit/head-keeper.ts';
import { PublicKey, parseHead } from '../../../src/addons/audit/signed-head.ts';
import { ADDONS } from '../../../src/start/addons.ts';
import { unclaimedFiles } from '../../../src/start/unclaimed-files.ts';
import { openStream } from '../../support/event-stream.ts';
import { FEATURES, makeFlag } from '../../support/interface.ts';
import { copyOf, flagstaff, outputOf } from '../../support/operator.ts';
import {
  ADMIN_TOKEN,
  closedAfter,
  describeInterface,
  serverFor,
  type TestServer,
  temporaryFolder,
} from '../../support/server.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

interface Health {
  readonly warning?: string;
  readonly head?: HeadView;
}

async function healthOf({ origin }: TestServer): Promise<Health> {
  return (await (await fetch(`${origin}/health`)).json()) as Health;
}

function assertSigned({ note, key, lastId }: HeadView): void {
  assert(PublicKey.parse(key)?.signed(note), 'the key verifies the head');
  assert.equal(parseHead(note)?.lastId, lastId);
}

describeInterface('signed heads', (server) => {
  it('tells Admins who copy the log of each signed head, and nobody else', async (t) => {
    const whole = closedAfter(
      t,
      await openStream(server().origin, '/api/admin/event-stream/full', { token: ADMIN_TOKEN }),
    );
    const heads = closedAfter(
      t,
      await openStream(server().origin, '/api/admin/event-stream', { token: ADMIN_TOKEN }),
    );
    await makeFlag(server().call, 'signed');
    const { engine } = server().server.store;
    const lastId = engine.durableId;
    for (;;) {
      const { event, data } = await whole.next();
      if (event !== 'signed' || data.head.lastId < lastId) continue;
      assertSigned(data.head);
      break;
    }
    await server().call('PUT', `${FEATURES}/signed`, { description: 'after the head' });
    for (const event of ['opened', 'recorded', 'recorded']) assert.equal((await heads.next()).event, event);
    for (const stream of [whole, heads]) stream.close();
  });

  it('stand on /health, and what they stand for in the metrics', async () => {
    const { head } = await healthOf(server());
    assert(head !== undefined);
    assertSigned(head);
    const page = await (await fetch(`${server().origin}/internal-backstage/prometheus`)).text();
    assert.match(page, new RegExp(`^flagstaff_signed_event_id ${head.lastId}$`, 'm'));
    assert.match(page, /^flagstaff_history_contradicted 0$/m);
  });
});

it('a folder is served without the add-on, whose files a start names and leaves alone, and is signed on later', async (t) => {
  const [folder, key] = [temporaryFolder(), 'history.key'];
  const signing = await serverFor(t, { folder });
  await signing.stop();
  const contents = () => ['history.heads', key].map((name) => readFileSync(join(folder, name), 'utf8'));
  const before = contents();
  assert.deepEqual(await unclaimedFiles(folder, ADDONS), []);
  const others = ADDONS.filter(({ name }) => name !== 'audit');
  assert.deepEqual([...(await unclaimedFiles(folder, others))].sort(), ['history.heads', key]);
  const plain = await serverFor(t, { folder, store: { observe: async () => ({}) } });
  await makeFlag(plain.call, 'unsigned');
  await plain.stop();
  assert.deepEqual(contents(), before);
  const again = await serverFor(t, { folder });
  await again.stop();
  const { proved, signed, lastId } = await outputOf(['audit', 'verify', '-d', folder]);
  assert.deepEqual([proved, signed.lastId], [true, lastId]);
});

it('what was signed before a deletion holds for what is left, which a start and an audit call whole', async (t) => {
  let now = Date.UTC(2030, 0, 1);
  const clock = { now: () => now, defer: setImmediate, monotonic: () => performance.now() };
  const env = { EVENT_RETENTION_DAYS: '10' };
  const server = await serverFor(t, { env, store: { clock, segmentBytes: 1_024 } });

  for (const name of ['first', 'second', 'third', 'fourth']) {
    now += 20 * DAY_MS;
    for (let index = 0; index < 30; index += 1)
      await server.call('POST', FEATURES, { name: `${name}-${index}` });
    await server.server.store.keeper.take();
  }
  await server.restart();
  const { historyCheck, engine } = server.server.store;
  assert(engine.eventLog.firstId > 1, 'something was deleted');
  await historyCheck.pass();
  const health = await healthOf(server);
  assert.equal(health.warning, undefined);
  const head = join(copyOf(server.folder), 'kept-head');
  writeFileSync(head, JSON.stringify(health));
  const audited = await outputOf(['audit', 'verify', '-d', server.folder, '--head', head]);
  assert.deepEqual([audited.proved, audited.signed.lastId], [true, engine.lastId]);
  assert(audited.firstId > 1 && audited.firstId < engine.eventLog.firstId + 64);
  const copy = copyOf(server.folder);
  const { out: oldKey } = await flagstaff(['audit', 'key', '-d', copy]);
  const { out: newKey } = await flagstaff(['audit', 'replace-key', '-d', copy]);
  for (const key of [oldKey, newKey]) {
    const audited = await outputOf(['audit', 'verify', '-d', copy, '--key', key]);
    assert.equal(audited.proved, true, 'the deletion is said by the new key too');
  }
  writeFileSync(join(copy, 'history.key'), 'no key');
  const store = { clock, segmentBytes: 1_024 };
  const unsigned = await serverFor(t, { folder: copy, env, store });
  const { firstId } = unsigned.server.store.engine.eventLog;
  for (let day = 0; day < 2; day += 1) {
    now += 100 * DAY_MS;
    await unsigned.call('POST', FEATURES, { name: `later-${day}` });
    await unsigned.server.store.keeper.take();
  }
  const stays = unsigned.server.store.engine.eventLog.firstId === firstId;
  await unsigned.stop();
  assert(stays, 'without the key all stays');
});

it('a folder restored without its events is signed from its snapshot on, and proved', async (t) => {
  const [folder, to] = [temporaryFolder(), join(temporaryFolder(), 'restored')];
  const before = await serverFor(t, { folder });
  await before.stop();
  const { lastId } = await outputOf(['restore', folder, '--to', to, '--state-only']);
  const unchanged = await serverFor(t, { folder: to });
  await unchanged.stop();
  assert.equal(unchanged.server.store.engine.notice?.id, lastId);
  const server = await serverFor(t, { folder: to });
  await makeFlag(server.call, 'signed');
  await server.stop();
  const audited = await outputOf(['audit', 'verify', '-d', to]);
  assert.deepEqual([audited.proved, audited.firstId], [true, lastId + 1]);
  assert(audited.signed.lastId > lastId);
});
