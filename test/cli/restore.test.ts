/** Point-in-time restore. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { snapshotSections } from '../../src/actors/state/world-snapshot.ts';
import { loadSnapshotFile } from '../../src/operations/copy-folder.ts';
import { realFileSystem } from '../../src/persistence/disk/file-system.ts';
import { writeSnapshot } from '../../src/persistence/snapshots/snapshot-writer.ts';
import {
  contentOf,
  copyOf,
  eventsIn,
  fileAt,
  flagstaff,
  flipByte,
  outputOf,
  type PastFolder,
  pastFolder,
  segmentsIn,
  snapshotsIn,
  startsOn,
} from '../support/operator.ts';
import { temporaryFolder } from '../support/server.ts';

describe('flagstaff restore', () => {
  let past: PastFolder;
  before(async () => {
    past = await pastFolder();
  });
  const target = (): string => join(temporaryFolder(), 'restored');

  it('restores the state after every change, as it was then, and leaves the source as it is', async () => {
    const content = contentOf(past.folder);
    for (const { id, stateHash } of past.moments) {
      const to = target();
      const restored = await outputOf(['restore', past.folder, '--to', to, '--at', String(id)]);
      assert.deepEqual([restored.lastId, restored.stateHash, restored.withEvents], [id, stateHash, true]);
      const { deep } = await outputOf(['verify', '--deep', '--data-dir', to]);
      assert.deepEqual([deep.eventId, deep.stateHash], [id, stateHash]);
    }
    assert.deepEqual(contentOf(past.folder), content);
  });

  it('refuses an event in the middle of a change, and names the moments before and after it', async () => {
    const pairs = past.moments.map(({ id }, index) => [past.moments[index - 1]?.id ?? 0, id] as const);
    const wide = pairs.filter(([from, to]) => to - from > 1);
    assert(wide.length > 2, 'the past has changes of several events');
    for (const [from, to] of wide) {
      const run = await flagstaff(['restore', past.folder, '--to', target(), '--at', String(from + 1)]);
      assert.equal(run.code, 66);
      assert(run.err.includes(` ${to}`) && (from === 0 || run.err.includes(` ${from} `)), run.err);
    }
  });

  it('gives a folder that a server starts on, goes on with, and finds its events in', async () => {
    const to = target();
    const archived = past.moments.at(-1)?.id ?? 0;
    await outputOf(['restore', past.folder, '--to', to, '--at', String(archived - 1)]);
    await startsOn(to, async (call) => {
      assert.equal((await call('GET', '/projects/default/features/four')).body.archived, false);
      assert.equal((await call('POST', '/projects/default/features', { name: 'new' })).status, 201);
      const { body } = await call('POST', '/events/search', { limit: 2 });
      assert.deepEqual(
        body.events.map(({ id, type }: { id: number; type: string }) => [id, type]),
        [
          [archived, 'feature-created'],
          [archived - 1, 'feature-created'],
        ],
      );
    });
  });

  it('restores what was before a time', async () => {
    const [, ...later] = await eventsIn(past.folder);
    const { createdAt } = later[10] ?? { createdAt: '' };
    const older = later.filter((event) => event.createdAt < createdAt);
    const restored = await outputOf(['restore', past.folder, '--to', target(), '--before', createdAt]);
    assert.equal(restored.lastId, older.at(-1)?.id);
    const early = await flagstaff(['restore', past.folder, '--to', target(), '--before', '2001-01-01']);
    assert.deepEqual([early.code, early.err.includes('2001-01-01')], [66, true]);
  });

  it('restores the state of a lone snapshot file, without events', async () => {
    const file = fileAt(snapshotsIn(past.folder));
    const to = target();
    const restored = await outputOf(['restore', file, '--to', to]);
    const newest = past.moments.at(-1);
    assert.deepEqual(
      [restored.lastId, restored.stateHash, restored.withEvents],
      [newest?.id, newest?.stateHash, false],
    );
    await startsOn(to, async (call) => {
      assert.equal((await call('GET', '/projects/default/features/one')).status, 200);
    });
    const other = await flagstaff(['restore', file, '--to', target(), '--at', '3']);
    assert.equal(other.code, 66);
  });

  it('leaves the events behind with --state-only', async () => {
    const { id, stateHash } = past.moments[5] ?? { id: 0, stateHash: '' };
    const to = target();
    const restored = await outputOf(['restore', past.folder, '--to', to, '--at', String(id), '--state-only']);
    assert.deepEqual([restored.lastId, restored.stateHash, restored.withEvents], [id, stateHash, false]);
    assert.deepEqual(segmentsIn(to), []);
  });

  it('passes over a snapshot whose state is newer than its event, as a start does', async () => {
    const folder = copyOf(past.folder);
    const fs = realFileSystem;
    const [from, newer] = [0, 1].map((at) => fileAt(snapshotsIn(folder), at)) as [string, string];
    const { header } = await loadSnapshotFile({ fs, from });
    const { world } = await loadSnapshotFile({ fs, from: newer });
    rmSync(from);
    await writeSnapshot({
      ...{ fs, folder: join(folder, 'snapshots'), ...header, sections: snapshotSections(world) },
      durable: () => Promise.resolve(),
    });
    const restored = await outputOf(['restore', folder, '--to', target(), '--at', String(header.id)]);
    const moment = past.moments.find(({ id }) => id === header.id);
    assert.deepEqual([restored.stateHash, restored.snapshotId], [moment?.stateHash, null]);
    const run = await flagstaff(['restore', from, '--to', target()]);
    assert.deepEqual([run.code, run.err.includes('The file is not a whole snapshot')], [65, true]);
  });

  it('restores what lies before a damage', async () => {
    const folder = copyOf(past.folder);
    flipByte(fileAt(segmentsIn(folder)), 200);
    const first = Number(/(\d{20})\.journal$/.exec(fileAt(segmentsIn(folder)))?.[1]);
    const moment = past.moments.findLast(({ id }) => id < first);
    assert(moment !== undefined);
    const restored = await outputOf(['restore', folder, '--to', target(), '--at', String(moment.id)]);
    assert.equal(restored.stateHash, moment.stateHash);
    const beyond = await flagstaff(['restore', folder, '--to', target(), '--at', String(first + 1)]);
    assert.equal(beyond.code, 65);
  });

  it('restores the state alone where the events before it are damaged', async () => {
    const folder = copyOf(past.folder);
    flipByte(fileAt(segmentsIn(folder), 0), 200);
    const to = target();
    const whole = await flagstaff(['restore', folder, '--to', to]);
    assert.equal(whole.code, 65);
    assert.match(whole.err, /--state-only/);
    assert(!existsSync(to) && !existsSync(`${to}.partial`), 'nothing is left of what did not work');
    const restored = await outputOf(['restore', folder, '--to', to, '--state-only']);
    assert.equal(restored.stateHash, past.moments.at(-1)?.stateHash);
  });

  it('overwrites nothing', async () => {
    const to = temporaryFolder();
    writeFileSync(join(to, 'precious'), 'mine');
    const onto = await flagstaff(['restore', past.folder, '--to', to]);
    assert.equal(onto.code, 73);
    assert.deepEqual(readdirSync(to), ['precious']);
    const other = target();
    mkdirSync(`${other}.partial`);
    assert.equal((await flagstaff(['restore', past.folder, '--to', other])).code, 73);
    assert.equal((await flagstaff(['restore', past.folder, '--to', join(to, 'precious')])).code, 73);
  });

  it('refuses events that never were, places that are not, and options that contradict', async () => {
    const newest = past.moments.at(-1)?.id ?? 0;
    const cases: readonly (readonly [code: number, args: readonly string[]])[] = [
      [66, [past.folder, '--at', String(newest + 1)]],
      [66, [join(past.folder, 'nowhere')]],
      [66, [temporaryFolder()]],
      [64, [past.folder, '--at', 'yesterday']],
      [64, [past.folder, '--at', '2025-01-01']],
      [64, [past.folder, '--before', '17']],
      [64, [past.folder, '--at', '7', '--before', '2025-01-01']],
      [65, [fileAt(segmentsIn(past.folder))]],
    ];
    for (const [code, args] of cases) {
      const to = target();
      const run = await flagstaff(['restore', ...args, '--to', to]);
      assert.equal(run.code, code, `${args.join(' ')}: ${run.err}`);
      assert(run.err.startsWith('flagstaff: ') && !run.err.includes('\n'), 'one line says why');
      assert(!existsSync(to) && !existsSync(`${to}.partial`));
    }
  });
});
