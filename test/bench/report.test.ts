/** The results page, its charts and its goals, from results that are made up. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { Measurement } from '../../bench/lib/measurement.ts';
import { chartsOf } from '../../bench/lib/report/charts.ts';
import { GOALS, verdictOf } from '../../bench/lib/report/goals.ts';
import { withFigures } from '../../bench/lib/report/readme.ts';
import { reportText } from '../../bench/lib/report/report.ts';
import {
  merged,
  README_FILE,
  RESULTS_FILE,
  type Results,
  readResults,
  rowsOf,
  type ScenarioResult,
} from '../../bench/lib/report/results.ts';
import { quickReport, terminalReport } from '../../bench/lib/report/terminal-report.ts';
import { SCENARIOS } from '../../bench/scenarios/all.ts';
import { clusterScenario } from '../../bench/scenarios/cluster.ts';
import { consoleList } from '../../bench/scenarios/console.ts';

const CIRCUMSTANCES = {
  at: '2024-05-01T12:00:00.000Z',
  machine: '2 × a processor',
  node: 'v20.0.0',
  loadAverage: 0.5,
  commit: 'abc1234',
  loadGenerator: 'wrk',
} as const;

function resultOf(name: string, measurements: readonly Measurement[], commit = 'abc1234'): ScenarioResult {
  return { name, title: name, circumstances: { ...CIRCUMSTANCES, commit }, seconds: 1, measurements };
}

function http(what: string, at: number, share: number): Measurement {
  return { table: 'http', what, at, values: { perSecond: 1000, theirs: 2000, share, p50: 1, theirP50: 0.5 } };
}

function resultsOf(...measurements: readonly Measurement[]): Results {
  return { format: 1, scenarios: [resultOf('toggle', measurements)] };
}

describe('goals', () => {
  const goal = GOALS.find(({ what }) => what.startsWith('any write at 100,000 flags'))!;
  const writes = (values: Record<string, number>): Results =>
    resultsOf({ table: 'flags', what: 'one project', at: 100_000, values });

  test('a goal over two figures is as good as the worse of them', () => {
    const verdict = verdictOf(goal, writes({ toggleRatio: 0.95, createRatio: 0.6, patchRatio: 1 }));
    assert.equal(verdict.value, 0.6);
    assert.equal(verdict.mark, '✗');
    assert.equal(verdictOf(goal, writes({ toggleRatio: 0.95, createRatio: 0.9, patchRatio: 1 })).mark, '✓');
  });

  test('a goal of which one figure is missing has no verdict', () => {
    const verdict = verdictOf(goal, writes({ toggleRatio: 0.95, createRatio: 0.9 }));
    assert.equal(verdict.value, undefined);
    assert.equal(verdict.text, 'not measured');
  });

  test('memory of one flag is the slope between the smallest and the largest size', () => {
    const perFlag = GOALS.find(({ what }) => what.startsWith('memory of a flag'))!;
    const at = (flags: number, heap: number): Measurement => ({
      table: 'flags',
      what: 'one project',
      at: flags,
      values: { heap },
    });
    assert.equal(perFlag.value(resultsOf(at(100, 5_000), at(100_000, 5_000 + 99_900 * 2_000))), 2_000);
  });

  test('every goal names a scenario that exists', () => {
    const names = [...SCENARIOS, clusterScenario, consoleList].map(({ name }) => name);
    for (const { scenario } of GOALS) assert.ok(names.includes(scenario), scenario);
  });
});

describe('results', () => {
  test('a run of one scenario replaces its result and leaves the others', () => {
    const earlier = { format: 1, scenarios: [resultOf('a', [], 'old'), resultOf('b', [], 'old')] };
    const now = merged(earlier, [resultOf('b', [], 'new')], ['a', 'b']);
    assert.deepEqual(
      now.scenarios.map(({ name, circumstances }) => [name, circumstances.commit]),
      [
        ['a', 'old'],
        ['b', 'new'],
      ],
    );
  });
});

describe('the page', () => {
  const results = resultsOf(http('toggle', 64, 0.5), http('toggle', 256, 0.25));

  test('of a quick run says what works, and neither rates nor goals', () => {
    assert.match(terminalReport(results), /[✓✗]/);
    assert.match(quickReport(results), /^(?:\w+ works\n)+$/);
  });

  test('shows every goal with the command that measures it again, measured or not', () => {
    const page = reportText(results, []);
    for (const { what, scenario } of GOALS) {
      const row = page.split('\n').find((line) => line.includes(`| ${what} |`));
      assert.ok(row?.includes(`npm run bench -- --only ${scenario}`), what);
    }
  });

  test('says for each scenario where, when and at which commit it was measured', () => {
    assert.match(reportText(results, []), /\| toggle \|.*2024-05-01 12:00 \| abc1234 \| v20\.0\.0 \| 0\.5/);
    assert.match(reportText(results, []), /Machines: A: 2 × a processor\.\n(?:.*\n)+\| toggle \|.*\| A \|$/m);
  });

  test('the README shows the figures that were measured last beside another server', () => {
    const page = readFileSync(README_FILE, 'utf8');
    const kept = readResults(RESULTS_FILE);
    assert.equal(page, withFigures(page, kept), 'npm run bench -- --peer writes them');
    const [first] = rowsOf(kept, 'peer');
    assert.match(page, new RegExp(`\\| ${first?.what} \\| [0-9,]+ \\| [0-9,]+ \\| [0-9,]+ × \\|`));
    assert.throws(() => withFigures('no marks', kept), /has no <!-- beside another server/);
  });

  test('a bar is as long as its share, and a chart without rows is left out', () => {
    const charts = chartsOf(results);
    assert.deepEqual(
      charts.map(({ name }) => name),
      ['shares'],
    );
    const [track = 0, bar = 0] = [...charts[0]!.svg.matchAll(/width="([0-9.]+)" height="22"/g)].map(
      ([, width]) => Number(width),
    );
    assert.equal(bar / track, 0.5);
  });

  test('a chart can be read on light and on dark pages', () => {
    assert.match(chartsOf(results)[0]!.svg, /prefers-color-scheme: dark/);
  });
});
