/** Records of kinds that add-ons bring: kept by every server, and read by one that has the add-on. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stateHash } from '../../src/actors/state/world-snapshot.ts';
import { type AddonKind, registerKinds } from '../../src/domain/kinds/addon-kind.ts';
import { addonRecordsOf } from '../../src/domain/state/addon-records.ts';
import { recordEvent } from '../../src/domain/state/events.ts';
import { OWN_STAMP } from '../../src/persistence/journal/frame-format.ts';
import { encodePayload } from '../../src/persistence/journal/frame-payload.ts';
import { exportState, planImport } from '../support/documents/state-document.ts';
import { openTestEngine, TESTER, type TestEngine } from '../support/engine.ts';
import { eventsOf } from '../support/event-page.ts';
import { createExample, deleteExample, EXAMPLE_KIND, updateExample } from '../support/example-kind.ts';
import { frameOf } from '../support/journal-fixture.ts';
import { TestWorld } from '../support/test-world.ts';

/** The kind of another release, under a name of its own. */
const kindNamed = (name: string, upgrades: AddonKind['upgrades']): typeof EXAMPLE_KIND => ({
  ...EXAMPLE_KIND,
  name,
  upgrades,
});

const record = ({ store }: TestEngine, kind: AddonKind, id: number, data: object): Promise<void> =>
  store.engine.record(TESTER, [recordEvent(kind, id, [null, { data, secrets: { secret: 'hush' } }])]);

async function takeSnapshot({ manual, store }: TestEngine): Promise<void> {
  manual.runFreely();
  assert.notEqual(await store.keeper.take(), null);
  manual.holdTurns();
}

const recordsIn = ({ store }: TestEngine, kind: AddonKind) =>
  addonRecordsOf(store.engine.world, kind).map(({ data, secrets }) => ({ data, secrets }));

describe('records of a kind that an add-on brings', () => {
  it('stay as they are through starts of a server that does not know the kind, and are there when the add-on is back', async () => {
    const away = kindNamed('away', EXAMPLE_KIND.upgrades);
    const first = await openTestEngine();
    for (const id of [1, 2, 3]) await record(first, away, id, { id, text: `record ${id}` });
    await first.store.engine.record(TESTER, [recordEvent(away, 2, [{ data: { id: 2 }, secrets: {} }, null])]);
    const hash = stateHash(first.store.engine.world);
    const replayed = await openTestEngine({ disk: first.disk.crash() });
    assert.equal(stateHash(replayed.store.engine.world), hash, 'from the journal');
    await takeSnapshot(replayed);
    const loaded = await openTestEngine({ disk: replayed.disk.crash() });
    assert.equal(stateHash(loaded.store.engine.world), hash, 'from a snapshot');
    assert.equal(loaded.store.recovery.replayedFrames, 0);
    registerKinds([away]);
    const back = await openTestEngine({ disk: loaded.disk.crash() });
    const secrets = { secret: 'hush' };
    assert.deepEqual(recordsIn(back, away), [
      { data: { id: 1, text: 'record 1' }, secrets },
      { data: { id: 3, text: 'record 3' }, secrets },
    ]);
  });

  it('are read as the newest version, whatever version wrote them', async () => {
    const server = await openTestEngine();
    await record(server, { ...EXAMPLE_KIND, upgrades: [] }, 1, { id: 1, title: 'old' });
    assert.deepEqual(recordsIn(server, EXAMPLE_KIND), [
      { data: { id: 1, text: 'old' }, secrets: { secret: 'hush' } },
    ]);
    await server.execute(updateExample(1, 'new'));
    assert.deepEqual(
      [...(server.store.engine.world.addonRecords.get('example')?.byId.values() ?? [])].map(
        ({ version, data, secrets }) => ({ version, data, secrets }),
      ),
      [{ version: 2, data: { id: 1, text: 'new' }, secrets: { secret: 'hush' } }],
    );
  });

  for (const from of ['journal', 'snapshot'] as const)
    it(`refuse the start of a server whose add-on is older than they are, from a ${from}, and say what to start`, async () => {
      const newer = kindNamed(`newer in a ${from}`, EXAMPLE_KIND.upgrades);
      const first = await openTestEngine();
      await record(first, newer, 1, { id: 1 });
      if (from === 'snapshot') await takeSnapshot(first);
      registerKinds([{ ...newer, upgrades: [] }]);
      await assert.rejects(
        openTestEngine({ disk: first.disk.crash() }),
        /the example has content version 2, this server knows 1.*Start the version of the server that wrote it, or a newer one/,
      );
    });

  it('are not followed by a node whose add-on is older than they are, which changes nothing', async () => {
    const newer = kindNamed('newer on a leader', EXAMPLE_KIND.upgrades);
    const { engine } = (await openTestEngine()).store;
    const id = engine.lastId + 1;
    const event = recordEvent(newer, 1, [null, { data: { id: 1 }, secrets: {} }]);
    const payload = Buffer.from(encodePayload({ ...frameOf(id), at: engine.nextTime(), events: [event] }));
    registerKinds([{ ...newer, upgrades: [] }]);
    const before = stateHash(engine.world);
    const follow = () => engine.follow({ payload, ...OWN_STAMP });
    assert.throws(follow, /content version 2, this server knows 1/);
    assert.deepEqual([stateHash(engine.world), engine.lastId], [before, id - 1]);
    registerKinds([newer]);
    follow();
    assert.equal(engine.lastId, id);
  });

  it('never get an id again, also not after the newest one is gone and the server has started again', async () => {
    const first = await openTestEngine();
    for (const text of ['one', 'two']) await first.execute(createExample(text));
    await first.execute(deleteExample(2));
    await takeSnapshot(first);
    const second = await openTestEngine({ disk: first.disk.crash() });
    await second.execute(createExample('three'));
    assert.deepEqual(
      recordsIn(second, EXAMPLE_KIND).map(({ data }) => data),
      [
        { id: 1, text: 'one' },
        { id: 3, text: 'three' },
      ],
    );
  });

  it('are bounded in number and bytes, secrets included', () => {
    const state = new TestWorld();
    for (let count = 0; count < EXAMPLE_KIND.countMax; count += 1) state.given(createExample('text'));
    assert.equal(state.run(createExample('text')), 'InvalidOperationError');
    assert.equal(state.run(updateExample(1, 'x'.repeat(EXAMPLE_KIND.bytesMax))), 'PayloadTooLargeError');
    assert.equal(state.run(updateExample(1, 'x', 'y'.repeat(EXAMPLE_KIND.bytesMax))), 'PayloadTooLargeError');
    assert.equal(state.run(updateExample(99, 'x')), 'NotFoundError');
    assert.equal(state.run(deleteExample(99)), 'NotFoundError');
    state.memoryBudgetBytes = 0;
    assert.equal(state.run(updateExample(1, 'longer than before')), 'InsufficientStorageError');
    assert.deepEqual(state.run(deleteExample(1)), ['addon-config-deleted']);
  });

  it('show no secret in events, nor in an export without credentials, and keep it in one with them', async () => {
    const server = await openTestEngine();
    await server.execute(createExample('text', 'hush'));
    await server.execute(updateExample(1, 'text', 'hushed'));
    const { engine } = server.store;
    const page = await engine.eventLog.search({ limit: 100, offset: 0 }, engine.durableId);
    const text = JSON.stringify(eventsOf(page));
    assert.match(text, /addon-config-updated/);
    assert.doesNotMatch(text, /hush/);
    assert.doesNotMatch(JSON.stringify(exportState(engine.world)), /hush/);
    const { addonRecords } = exportState(engine.world, { credentials: true });
    const shown = { kind: 'example', id: 1, version: 2, data: { id: 1, text: 'text' } };
    assert.deepEqual(addonRecords, [{ ...shown, secrets: { secret: 'hushed' } }]);
  });

  it('are imported as this server writes them, or refused with the place of the fault', () => {
    const of = (...addonRecords: object[]) => ({ ...exportState(new TestWorld().world), addonRecords });
    const old = { kind: 'example', id: 7, version: 1, data: { id: 7, title: 'old' } };
    const plan = planImport(of(old));
    assert(plan.ok);
    const { addonRecords } = exportState(new TestWorld(plan.events).world);
    assert.deepEqual(addonRecords, [{ ...old, version: 2, data: { id: 7, text: 'old' } }]);
    for (const [path, ...records] of [
      ['/addonRecords/0/kind', { ...old, kind: 'unknown' }],
      ['/addonRecords/0/version', { ...old, version: 3 }],
      ['/addonRecords/0/data/text', { ...old, version: 2 }],
      ['/addonRecords/0/data/id', { ...old, data: { id: 8, title: 'old' } }],
      ['/addonRecords/1/id', old, old],
    ] as const) {
      const refused = planImport(of(...records));
      assert(!refused.ok);
      assert.deepEqual(
        refused.issues.map((issue) => issue.path),
        [path],
      );
    }
  });
});
