/** Strategies that come and go in one change: applied in one pass, with the outcome that one by one would have. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Strategy } from '../../../src/domain/flags/strategy.ts';
import { applyChange } from '../../../src/domain/state/apply.ts';
import { aboutFlagEnvironment, type DomainEvent } from '../../../src/domain/state/events.ts';
import { stateBytes } from '../../../src/domain/state/records.ts';
import { strategiesAfter } from '../../../src/domain/state/strategy-run.ts';
import type { World } from '../../../src/domain/state/world.ts';
import { recountStateBytes } from '../../simulation/recounted-memory.ts';
import { TestWorld } from '../../support/test-world.ts';

const SEED = Number(process.env.SEED ?? 20_240_501);
const STAMP = { createdAt: '2024-05-01T00:00:00.000Z', rules: 2 };
const ABOUT = aboutFlagEnvironment({ project: 'default', name: 'f' }, 'development');

const strategy = (id: number, sortOrder: number, segment = id): Strategy => ({
  ...{ id: `s${id}`, name: 'default', title: null, disabled: false, parameters: {} },
  ...{ variants: [], segments: [segment], sortOrder },
  constraints: [
    { contextName: `field-${id}`, operator: 'IN', caseInsensitive: false, inverted: false, values: ['a'] },
  ],
});
const data = (one: Strategy) => ({ ...one, featureName: 'f' });

const added = (one: Strategy): DomainEvent => ({
  type: 'feature-strategy-add',
  ...{ ...ABOUT, data: data(one), preData: null },
});
const removed = (one: Strategy): DomainEvent => ({
  type: 'feature-strategy-remove',
  ...{ ...ABOUT, data: null, preData: data(one) },
});
const updated = (one: Strategy): DomainEvent => ({
  type: 'feature-strategy-update',
  ...{ ...ABOUT, data: data(one), preData: data(one) },
});

const anyStrategy = fc
  .tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 3 }))
  .map(([id, sortOrder, segment]) => strategy(id, sortOrder, segment));
const anyEvents = fc.array(
  fc.tuple(fc.constantFrom(added, added, removed, updated), anyStrategy).map(([make, one]) => make(one)),
  { minLength: 8, maxLength: 40 },
);

function withFlag(): World {
  return new TestWorld().given({ type: 'create-flag', project: 'default', name: 'f', metadata: {} }).root;
}

function partsOf(world: World): unknown {
  const project = world.projects.get('default');
  const counts = [0, 1, 2, 3].map((id) => [...world.references.flagCounts('segment', id)]);
  return [project?.revision, project?.flags.get('f')?.flag, project?.flags.get('f')?.revision, counts];
}

describe('the strategies of a change', () => {
  it(`are as if its events had been applied one by one (seed ${SEED})`, () => {
    let passes = 0;
    fc.assert(
      fc.property(anyEvents, (events) => {
        const before = withFlag();
        let at = before;
        for (const [index, event] of events.entries())
          at = applyChange(at, [event], { ...STAMP, id: 100 + index });
        const once = applyChange(before, events, { ...STAMP, id: 100 });
        assert.deepEqual(partsOf(once), partsOf(at));
        assert.equal(stateBytes(once), recountStateBytes(once));
        if (strategiesAfter([], events as never, (sent) => sent as never) !== null) passes += 1;
      }),
      { seed: SEED, numRuns: 500 },
    );
    assert(passes > 20, `only ${passes} were applied in one pass`);
  });

  it('keep their order when some come between others', () => {
    const orders = [5, 1, 3, 1, 9, 0, 5, 2, 1];
    const world = applyChange(
      withFlag(),
      orders.map((order, id) => added(strategy(id, order))),
      { ...STAMP, id: 100 },
    );
    const flag = world.projects.get('default')?.flags.get('f')?.flag;
    assert.deepEqual(
      flag?.environments[0]?.strategies.map(({ id }) => id),
      ['s5', 's1', 's3', 's8', 's7', 's2', 's0', 's6', 's4'],
    );
  });
});
