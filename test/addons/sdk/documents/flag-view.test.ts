/** A flag as SDKs read it, in states that the interface does not let come about any more, or only through segments. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientFlagJson } from '../../../../src/addons/sdk/flag-view.ts';
import type { Flag, FlagEnvironment } from '../../../../src/domain/flags/flag.ts';
import type { Strategy } from '../../../../src/domain/flags/strategy.ts';
import { DEFAULT_STRATEGY } from '../../../support/test-world.ts';

const CONSTRAINT = {
  contextName: 'userId',
  operator: 'IN',
  caseInsensitive: false,
  inverted: false,
  values: ['1'],
} as const;

const SEGMENT = { id: 1, name: 'ours', constraints: [CONSTRAINT] };

const strategy = (fields: Partial<Strategy> = {}): Strategy => ({
  ...DEFAULT_STRATEGY,
  id: 'one',
  sortOrder: 0,
  ...fields,
});

function viewOf(strategies: readonly Strategy[], inlineSegments = false) {
  const environment: FlagEnvironment = { name: 'development', enabled: true, strategies, variants: [] };
  const flag: Flag = {
    name: 'a',
    project: 'default',
    description: null,
    type: 'release',
    stale: false,
    impressionData: false,
    links: [],
    createdAt: '2024-01-01T00:00:00.000Z',
    archivedAt: null,
    environments: [environment],
    tags: [],
    dependencies: [],
    children: [],
  };
  const segment = (id: number) => (id === SEGMENT.id ? SEGMENT : undefined);
  const around = { environment: 'development', environmentEnabled: true, inlineSegments, segment };
  return JSON.parse(clientFlagJson(flag, around));
}

describe('a flag for SDKs', () => {
  it('is off where all of its strategies are disabled, because SDKs take none for everybody', () => {
    const { enabled, strategies } = viewOf([strategy({ disabled: true })]);
    assert.deepEqual([enabled, strategies], [false, []]);
    assert.equal(viewOf([strategy({ disabled: true }), strategy()]).enabled, true);
  });

  it('refers to segments, or has their constraints in place of the references', () => {
    const [referring] = viewOf([strategy({ segments: [1] })]).strategies;
    assert.deepEqual([referring?.segments, referring?.constraints], [[1], []]);
    const [inlined] = viewOf([strategy({ segments: [1] })], true).strategies;
    assert.deepEqual([inlined?.segments, inlined?.constraints], [undefined, [CONSTRAINT]]);
  });

  it('leaves out a strategy whose segment does not exist, because it never applies', () => {
    for (const inline of [false, true]) {
      const { enabled, strategies } = viewOf([strategy({ segments: [1, 2] })], inline);
      assert.deepEqual([enabled, strategies], [false, []]);
    }
  });
});
