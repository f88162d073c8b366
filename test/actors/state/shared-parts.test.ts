/** Flags that shared their parts while the server ran share them again when it has started anew. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PART_SIZE_MIN, SharedParts } from '../../../src/actors/state/shared-values.ts';
import type { Variant } from '../../../src/domain/flags/variant.ts';
import { createFlag, openTestEngine, settle, type TestEngine } from '../../support/engine.ts';
import { DEFAULT_STRATEGY } from '../../support/test-world.ts';

const OF = { project: 'default', flag: 'original' } as const;
const variants: readonly Variant[] = [
  {
    ...{ name: 'v', weight: 1000, weightType: 'variable', stickiness: 'default', overrides: [] },
    payload: { type: 'string', value: 'x'.repeat(PART_SIZE_MIN) },
  },
];
const parameters = { text: 'y'.repeat(PART_SIZE_MIN) };

async function withClone(): Promise<TestEngine> {
  const engine = await openTestEngine();
  const strategy = { ...DEFAULT_STRATEGY, parameters };
  for (const command of [
    createFlag('original'),
    { type: 'set-variants', ...OF, environment: null, variants },
    {
      type: 'add-strategy',
      ...OF,
      environment: 'development',
      strategy: { ...strategy, variants: [...variants] },
    },
    { type: 'clone-flag', ...OF, name: 'clone', replaceGroupId: false },
  ] as const) {
    const { kind } = await engine.execute(command as never);
    assert.equal(kind, 'response');
  }
  return engine;
}

function assertShared({ store }: TestEngine): void {
  const flags = store.engine.world.projects.get('default')?.flags;
  const [original, clone] = ['original', 'clone'].map((name) => flags?.get(name)?.flag.environments[0]);
  assert.equal(original?.variants.length, 1);
  assert.equal(clone?.variants, original?.variants, 'variants');
  assert.equal(clone?.strategies[0]?.variants, original?.variants, 'variants of a strategy');
  assert.equal(clone?.strategies[0]?.parameters, original?.strategies[0]?.parameters, 'parameters');
}

describe('large parts of flags', () => {
  it('are shared again after a replay, and after a start from a snapshot', async () => {
    const engine = await withClone();
    assertShared(await openTestEngine({ disk: engine.disk.copy() }));
    engine.manual.runFreely();
    await settle();
    await engine.store.close();
    const restarted = await openTestEngine({ disk: engine.disk.copy() });
    assert.equal(restarted.store.recovery.replayedEvents, 0);
    assertShared(restarted);
  });

  it('are shared only when they are equal, and large', () => {
    const parts = new SharedParts();
    const flag = (text: string) => ({ strategies: [{ parameters: { text } }] });
    const large = 'x'.repeat(PART_SIZE_MIN);
    const [first, equal, other] = [flag(large), flag(large), flag(`${large}x`)];
    const [small, smallToo] = [flag('x'), flag('x')];
    for (const one of [first, equal, other, small, smallToo]) parts.shareIn(one);
    assert.equal(equal.strategies[0]?.parameters, first.strategies[0]?.parameters);
    assert.deepEqual(other, flag(`${large}x`));
    assert.notEqual(smallToo.strategies[0]?.parameters, small.strategies[0]?.parameters);
  });
});
