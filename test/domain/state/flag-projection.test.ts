/** The bytes of flags that surfaces cache. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FlagRecord } from '../../../src/domain/state/flag-record.ts';
import { Projection } from '../../../src/domain/value/projection.ts';
import { DEFAULT_STRATEGY, TestWorld } from '../../support/test-world.ts';

function worldWith(...names: readonly string[]) {
  const test = new TestWorld();
  for (const name of names) test.given({ type: 'create-flag', project: 'default', name, metadata: {} });
  const record = (name: string): FlagRecord => {
    const found = test.world.projects.get('default')?.flags.get(name);
    assert(found !== undefined);
    return found;
  };
  return { test, record };
}

describe('projections of flags', () => {
  it('are kept per surface and environment, each by itself', () => {
    const { record } = worldWith('a', 'b');
    const surfaces = Array.from({ length: 5 }, () => new Projection<string>());
    for (const [index, surface] of surfaces.entries()) surface.set(record('a'), `bytes ${index}`);
    const seen = surfaces.map((surface) => surface.get(record('a')));
    assert.deepEqual(seen, ['bytes 0', 'bytes 1', 'bytes 2', 'bytes 3', 'bytes 4']);
    assert(surfaces.every((surface) => surface.get(record('b')) === undefined));
    surfaces[2]?.set(record('a'), 'other bytes');
    assert.equal(surfaces[2]?.get(record('a')), 'other bytes');
    assert.equal(surfaces[3]?.get(record('a')), 'bytes 3');
  });

  it('are gone after each change of their flag, and stay with the other flags', () => {
    const { test, record } = worldWith('parent', 'child', 'other');
    const surface = new Projection<string>();
    const names = ['parent', 'child', 'other'];
    const keep = (): void => {
      for (const name of names) surface.set(record(name), name);
    };
    const kept = () => names.filter((name) => surface.get(record(name)) !== undefined);
    keep();
    test.given({ type: 'update-flag', project: 'default', flag: 'other', metadata: { description: 'new' } });
    assert.deepEqual(kept(), ['parent', 'child']);
    keep();
    test.given({
      type: 'add-strategy',
      project: 'default',
      flag: 'other',
      environment: 'development',
      strategy: DEFAULT_STRATEGY,
    });
    assert.deepEqual(kept(), ['parent', 'child']);
    keep();
    const dependency = { feature: 'parent', enabled: true, variants: [] };
    test.given({ type: 'add-dependency', project: 'default', child: 'child', dependency });
    assert.deepEqual(kept(), ['other'], 'a parent lists its children, so it changed too');
  });
});
