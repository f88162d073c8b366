/** The blocks of flags that a snapshot takes over from the one before it, and that it is the same state however it is made. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stateHash } from '../../../src/actors/state/world-snapshot.ts';
import type { Command } from '../../../src/domain/decide/decide.ts';
import { createFlag, openTestEngine, type TestEngine } from '../../support/engine.ts';
import type { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { DEFAULT_STRATEGY } from '../../support/test-world.ts';
import { auditWorld } from '../../support/world-audit.ts';

async function execute(engine: TestEngine, ...commands: readonly Command[]): Promise<void> {
  for (const command of commands) assert.equal((await engine.execute(command)).kind, 'response');
}

/** Takes a snapshot, and gives how many flags of it were copied. */
async function taken({ store, manual }: TestEngine): Promise<number | undefined> {
  manual.runFreely();
  const snapshot = await store.keeper.take();
  manual.holdTurns();
  return snapshot?.recordsTakenOver;
}

const open = (disk?: MemoryFileSystem): Promise<TestEngine> =>
  openTestEngine({ audit: auditWorld, ...(disk && { disk }) });

/** Asserts that a start on a copy of the folder gets this state. */
async function assertRecovers({ store, disk }: TestEngine): Promise<void> {
  const again = await open(disk.copy());
  assert.equal(again.store.recovery.snapshotId, store.engine.lastId);
  assert.equal(stateHash(again.store.engine.world), stateHash(store.engine.world));
}

const tag = (flag: string, value: string): Command => ({
  type: 'tag-flag',
  project: 'default',
  flag,
  tag: { type: 'simple', value },
});

/** 64 or more flags of a project make a batch; these are three and a rest. */
const FLAGS = 3 * 128 + 40;

async function withFlags(): Promise<TestEngine> {
  const engine = await open();
  for (let number = 0; number < FLAGS; number += 1) await execute(engine, createFlag(`f${number}`));
  return engine;
}

describe('a snapshot behind another', () => {
  it('copies the flags on shelves on which none has changed', async () => {
    const engine = await withFlags();
    assert.equal(await taken(engine), 0);
    await execute(engine, tag('f130', 'x-1'));
    assert.equal(await taken(engine), FLAGS - 128);
    await execute(engine, createFlag('one-more'));
    assert.equal(await taken(engine), 3 * 128);
    await assertRecovers(engine);
  });

  it('is the state after any change of flags', async () => {
    const engine = await withFlags();
    await taken(engine);
    const inOther = { project: 'default', flag: 'f9', environment: 'other' } as const;
    const changes: readonly (readonly Command[])[] = [
      [{ type: 'archive-flag', project: 'default', flag: 'f3' }],
      [{ type: 'delete-flags', project: 'default', flags: ['f3'] }],
      [createFlag('f3')],
      [
        { type: 'create-environment', name: 'other', fields: { type: 'test' } },
        { type: 'add-project-environment', project: 'default', environment: 'other' },
        { type: 'add-strategy', ...inOther, strategy: DEFAULT_STRATEGY },
      ],
      [{ type: 'switch-environment', ...inOther, enabled: true }],
      [{ type: 'switch-environment', ...inOther, enabled: false }],
      [{ type: 'remove-project-environment', project: 'default', environment: 'other' }],
      [
        {
          type: 'add-dependency',
          project: 'default',
          child: 'f7',
          dependency: { feature: 'f300', enabled: true, variants: [] },
        },
      ],
      [{ type: 'create-project', id: 'second', fields: { name: 'second' } }],
      [{ type: 'move-flag', project: 'default', flag: 'f200', newProject: 'second' }],
    ];
    for (const commands of changes) {
      await execute(engine, ...commands);
      const count = await taken(engine);
      const isOfAll = commands.some(({ type }) => type === 'remove-project-environment');
      assert(count !== undefined && (isOfAll || count >= 128), JSON.stringify(commands));
      await assertRecovers(engine);
    }
  });

  it('of a process that has just started encodes all flags, and the next one copies them', async () => {
    const first = await withFlags();
    await taken(first);
    const second = await open(first.disk.copy());
    await execute(second, createFlag('later'));
    assert.equal(await taken(second), 0);
    await execute(second, createFlag('latest'));
    assert.equal(await taken(second), 3 * 128);
    await assertRecovers(second);
  });
});
