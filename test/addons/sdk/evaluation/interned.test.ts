/** Compiled rules that many flags share. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileConditions } from '../../../../src/addons/sdk/evaluation/conditions.ts';
import { compileConstraint } from '../../../../src/addons/sdk/evaluation/constraint-test.ts';
import { contextOf } from '../../../../src/addons/sdk/evaluation/context.ts';
import { Interned } from '../../../../src/addons/sdk/evaluation/interned.ts';
import { Run } from '../../../../src/addons/sdk/evaluation/run.ts';

const constraint = (values: readonly string[], contextName = 'country') => ({
  ...({ contextName, operator: 'IN', values } as const),
  ...{ caseInsensitive: false, inverted: false },
});

const runFor = (context: Record<string, string>) =>
  new Run({ context: contextOf(context), contextLength: 1, nowMs: 0, random: () => 0, hostName: null });

describe('rules that say the same', () => {
  it('are one object, as long as that is in use', () => {
    const interned = new Interned<object>();
    const first = interned.of('a', () => ({}));
    assert.equal(
      interned.of('a', () => ({})),
      first,
    );
    assert.notEqual(
      interned.of('b', () => ({})),
      first,
    );
  });

  it('stand for themselves where their key is long', () => {
    const interned = new Interned<object>();
    const long = 'x'.repeat(501);
    assert.notEqual(
      interned.of(long, () => ({})),
      interned.of(long, () => ({})),
    );
  });

  it('are forgotten rather than pile up', () => {
    const interned = new Interned<object>();
    const kept = Array.from({ length: 10_001 }, (_, at) => interned.of(`key ${at}`, () => ({})));
    assert.notEqual(
      interned.of('key 0', () => ({})),
      kept[0],
    );
    assert.equal(
      interned.of('key 10000', () => ({})),
      kept[10_000],
    );
  });

  it('differ by all that an evaluation looks at', () => {
    const base = constraint(['AT']);
    const others = [
      constraint(['AT', 'CH']),
      constraint(['AT'], 'region'),
      { ...base, operator: 'NOT_IN' },
      { ...base, inverted: true },
      { ...base, caseInsensitive: true },
      { ...base, value: 'AT' },
    ];
    const ids = [base, ...others].map((one) => compileConstraint(one).id);
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(compileConstraint({ ...base }).id, ids[0]);
  });

  it('are asked anew in each run', () => {
    const conditions = compileConditions({ constraints: [constraint(['AT'])], segments: [] });
    const scope = { segment: () => undefined };
    const hold = (country: string) => conditions.hold(runFor({ country }), scope);
    assert.deepEqual([hold('AT'), hold('DE'), hold('AT')], [true, false, true]);
  });

  it('differ by their segments, and by long constraints that stand for themselves', () => {
    const long = (last: string) => [constraint([...Array<string>(200).fill('country'), last])];
    const all = [
      compileConditions({ constraints: [constraint(['AT'])], segments: [] }),
      compileConditions({ constraints: [constraint(['AT'])], segments: [1] }),
      compileConditions({ constraints: long('AT'), segments: [] }),
      compileConditions({ constraints: long('CH'), segments: [] }),
    ];
    assert.equal(new Set(all).size, all.length);
    assert.equal(all[3]?.hold(runFor({ country: 'CH' }), { segment: () => undefined }), true);
    assert.equal(all[2]?.hold(runFor({ country: 'CH' }), { segment: () => undefined }), false);
  });
});
