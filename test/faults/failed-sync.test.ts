/**
 * A sync that fails: the batch is never answered, nothing is tried again, the process ends. And the trap behind it:
 * the kernel may show the pages that it failed to write, and a sync after the restart succeeds without writing them.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stateHash } from '../../src/actors/state/world-snapshot.ts';
import { createFlag, openTestEngine, settle } from '../support/engine.ts';
import { ioError, type MemoryFileSystem } from '../support/memory-file-system.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { failSyncs, isTraceable } from './failed-sync.ts';

const SEED = Number(process.env.SEED ?? 1);

/** The next sync of the journal fails; the ones after it succeed. */
function failNextSync(disk: MemoryFileSystem): { readonly syncs: () => number } {
  let syncs = 0;
  disk.beforeCall = ({ kind, path }) => {
    if (kind !== 'datasync' || !path.endsWith('.journal')) return;
    syncs += 1;
    if (syncs === 1) throw ioError('EIO', 'writeback failed');
  };
  return { syncs: () => syncs };
}

describe('a sync that fails once and would then succeed', () => {
  it('leaves its batch and all after it without a response, and stops the process once', async () => {
    const engine = await openTestEngine();
    const { syncs } = failNextSync(engine.disk);
    const batch = ['a', 'b', 'c'].map((name) => engine.submit(createFlag(name)));
    engine.manual.runTurns();
    await settle();
    const later = engine.submit(createFlag('d'));
    engine.manual.runTurns();
    await settle();
    assert.deepEqual(
      batch.map(({ outcome }) => outcome),
      [null, null, null],
    );
    assert.equal(later.outcome?.kind, 'refusal', 'nothing is begun any more');
    assert.equal(engine.stops.length, 1);
    assert.match(String(engine.stops[0]), /could not be written at offset .* writeback failed/);
    assert.equal(syncs(), 1, 'it is not tried again');
  });

  it('takes nothing back that a restart then shows, not even by a power cut', async () => {
    const engine = await openTestEngine();
    failNextSync(engine.disk);
    engine.submit(createFlag('written'));
    engine.manual.runTurns();
    await settle();
    const restarted = await openTestEngine({ disk: engine.disk.crash() });
    const shown = stateHash(restarted.store.engine.world);
    assert(restarted.store.engine.world.flagProjects.has('written'), 'the page cache still has it');
    const later = await openTestEngine({ disk: restarted.disk.powerCut('lost', seededRandom(SEED)) });
    assert.equal(stateHash(later.store.engine.world), shown);
  });
});

describe('a real process whose durable write fails', {
  skip: isTraceable() ? false : 'strace cannot trace here',
}, () => {
  it('ends with 74, says where, and has answered no write of the batch', async (t) => {
    t.diagnostic(JSON.stringify(await failSyncs({ rounds: 1 })));
  });
});
