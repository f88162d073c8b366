/** Whichever way the state came about, it is the same: invariant 1, as a property of random commands. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { loadSnapshotRecord, snapshotSections, stateHash } from '../../../src/actors/state/world-snapshot.ts';
import { draftOf, emptyWorld, type World } from '../../../src/domain/state/world.ts';
import { pack, unpack } from '../../../src/persistence/codec/message-pack.ts';
import { openTestEngine, settle, type TestEngine } from '../../support/engine.ts';

import type { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { COMMAND_TYPES, commandRuns, commandsOn } from '../../support/random-commands.ts';

const COMMANDS = 20_000;
/** The number of those before a snapshot that is asked for; others are taken on the way. */
const SNAPSHOT_AFTER = 19_800;
/** Types of command that may never find what they need in one run, as chance has it. */
const UNUSED_MAX = 6;
/** Switched off where it is off already: while it is on, everything else is refused. */
const CHANGES_NOTHING = 'set-maintenance';
/** Commands that share a turn and a sync. */
const BATCH = 40;
/** Between two batches, so that flags outlive their types. */
const BATCH_PAUSE_MS = 24 * 60 * 60 * 1000;

describe('the state after 20,000 random commands', () => {
  it('is the same live, replayed from nothing, from snapshot and journal, and from a snapshot alone', async (t) => {
    const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    t.diagnostic(`SEED=${seed}`);
    const engine = await openTestEngine({ eventsPerSnapshot: 700 });
    const { manual, store } = engine;
    const accepted = new Set<string>();
    await runAll(engine, { seed, count: SNAPSHOT_AFTER }, accepted);
    manual.runFreely();
    await store.keeper.take();
    manual.holdTurns();
    await runAll(engine, { seed: seed + 1, count: COMMANDS - SNAPSHOT_AFTER }, accepted);
    manual.runFreely();
    await settle();
    const message = `SEED=${seed}`;
    const unused = COMMAND_TYPES.filter((type) => !accepted.has(type) && type !== CHANGES_NOTHING);
    assert(unused.length <= UNUSED_MAX, `never accepted: ${unused}, ${message}`);
    const live = store.engine.world;
    assert.equal(stateHash(afterRoundTrip(live)), stateHash(live), `a snapshot holds the state, ${message}`);
    const onlyJournal = withoutSnapshots(engine.disk.copy());
    const replayed = await openTestEngine({ disk: onlyJournal });
    assert.equal(replayed.store.recovery.snapshotId, null);
    expectSame(replayed, live, `replay from nothing, ${message}`);
    const recovered = await openTestEngine({ disk: engine.disk.copy() });
    assert((recovered.store.recovery.snapshotId ?? 0) > 0 && recovered.store.recovery.replayedEvents > 0);
    expectSame(recovered, live, `snapshot and journal, ${message}`);
    await store.close();
    const restarted = await openTestEngine({ disk: engine.disk.copy() });
    assert.equal(restarted.store.recovery.replayedEvents, 0, 'a clean stop leaves nothing to replay');
    expectSame(restarted, live, `a clean restart, ${message}`);
  });

  it('is the same after any short run of commands', async () => {
    await fc.assert(
      fc.asyncProperty(commandRuns(0, 40), async (run) => {
        const engine = await openTestEngine();
        await runAll(engine, run, new Set());
        const again = await openTestEngine({ disk: engine.disk.copy() });
        expectSame(again, engine.store.engine.world, 'replay');
        assert.equal(
          stateHash(afterRoundTrip(engine.store.engine.world)),
          stateHash(engine.store.engine.world),
        );
      }),
      { numRuns: 40 },
    );
  });
});

/** Runs all, in batches, and notes the types that were accepted and changed something. */
async function runAll(
  engine: TestEngine,
  run: { readonly seed: number; readonly count: number },
  accepted: Set<string>,
): Promise<void> {
  const { store, manual } = engine;
  let made = 0;
  for (const command of commandsOn(store.engine, run)) {
    const submitted = engine.submit(deepFreeze(command), {
      respond: (_world, events) => {
        if (events.length > 0) accepted.add(command.type);
        return null;
      },
    });
    manual.nowMs += 1;
    manual.runTurns();
    deepFreezeState(store.engine.world);
    if (submitted.outcome?.kind === 'fault') throw submitted.outcome.error;
    made += 1;
    if (made % BATCH > 0 && made < run.count) continue;
    await store.engine.journal.flush();
    manual.nowMs += BATCH_PAUSE_MS;
  }
  assert.deepEqual(engine.stops, []);
}

/** Freezes what commands put into the state, which never changes again: production relies on it without freezing. */
function deepFreezeState(world: World): void {
  for (const { records } of snapshotSections(world)) for (const record of records) deepFreeze(record);
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}

function afterRoundTrip(world: World): World {
  const loaded = draftOf(emptyWorld());
  for (const { name, records } of snapshotSections(world)) {
    for (const record of records) loadSnapshotRecord(loaded, name, unpack(Buffer.from(pack(record))));
  }
  return loaded;
}

function withoutSnapshots(disk: MemoryFileSystem): MemoryFileSystem {
  for (const name of disk.namesIn('/data/snapshots')) disk.take(`/data/snapshots/${name}`);
  return disk;
}

function expectSame(engine: TestEngine, live: World, how: string): void {
  const { world } = engine.store.engine;
  assert.equal(stateHash(world), stateHash(live), how);
  const names = ({ flagProjects }: World) => [...flagProjects].sort();
  assert.deepEqual(names(world), names(live), `names taken: ${how}`);
}
