/**
 * Rules made to take long, for contexts made to meet them (worst-rules.ts): between two turns of the event loop no more of them are tested than
 * a step may take. `npm run test:faults evaluation` measures the time of ten thousand such flags.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { CompiledConstraint } from '../../../../src/addons/sdk/evaluation/constraint-test.ts';
import { STEP_COST } from '../../../../src/addons/sdk/evaluation/run.ts';
import { seededRandom } from '../../../support/seeded-random.ts';
import { inputOf } from './inputs.ts';
import { anyContext, BEYOND_LIMITS, workOf, worstDocument } from './worst-rules.ts';

/** The time that the slowest test of all may take, in microseconds: that of a pattern, half of it in a step of its own, in which it is compiled. */
const TEST_COST_MAX = 22_000;

describe('rules that take long', () => {
  const { holds } = CompiledConstraint.prototype;
  /** Costs of the constraints that were tested since the last step. */
  let tested: number[] = [];

  beforeEach(() => {
    CompiledConstraint.prototype.holds = function (run) {
      tested.push(this.cost[run.costKind]);
      return holds.call(this, run);
    };
  });
  afterEach(() => {
    CompiledConstraint.prototype.holds = holds;
  });

  it('are tested in steps on every surface, whatever the context', () => {
    for (let seed = 1; seed <= 4; seed += 1) {
      const random = seededRandom(seed);
      const document = worstDocument(random, BEYOND_LIMITS);
      let steps = 0;
      for (const { what, step } of workOf(document, inputOf(anyContext(random), { random: 0.5 }))) {
        for (let isDone = false; !isDone; steps += 1) {
          tested = [];
          isDone = step();
          const last = tested.pop() ?? 0;
          assert.ok(last <= TEST_COST_MAX, `a test of ${last} µs in ${what}, seed ${seed}`);
          const before = tested.reduce((sum, cost) => sum + cost, 0);
          assert.ok(before <= STEP_COST, `${before} µs of tests in one step of ${what}, seed ${seed}`);
        }
      }
      assert.ok(steps > 100, `${steps} steps, seed ${seed}`);
    }
  });
});
