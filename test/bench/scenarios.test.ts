/** Every scenario of the bench, run with a handful of requests: what it claims to measure, it still can. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { EFFORTS } from '../../bench/lib/measurement.ts';
import { merged, type Results } from '../../bench/lib/report/results.ts';
import { TABLE_VIEWS } from '../../bench/lib/report/tables.ts';
import { terminalReport } from '../../bench/lib/report/terminal-report.ts';
import { runScenarios } from '../../bench/lib/run-scenarios.ts';
import { SCENARIOS } from '../../bench/scenarios/all.ts';

const NAMES = SCENARIOS.map(({ name }) => name);

describe('a run of all scenarios', () => {
  const lines: string[] = [];
  let results: Results = { format: 1, scenarios: [] };

  // One run for all of them: they share the data folders that it makes.
  before(async () => {
    const say = (line: string): unknown => lines.push(line);
    const fresh = await runScenarios({ scenarios: SCENARIOS, effort: EFFORTS.tiny, peer: null, say });
    results = merged(results, fresh, NAMES);
  });

  for (const name of NAMES) {
    test(`${name} measures every value that its tables show`, () => {
      const measurements = results.scenarios.find((result) => result.name === name)?.measurements ?? [];
      assert.ok(measurements.length > 0);
      for (const { table, what, values } of measurements) {
        const columns = TABLE_VIEWS.find((view) => view.name === table)?.columns ?? [];
        assert.ok(columns.length > 0, `the table ${table} is shown nowhere`);
        for (const { key } of columns) {
          assert.ok(Number.isFinite(values[key]), `${table}, ${what}: ${key} is ${values[key]}`);
        }
      }
    });
  }

  test('tells its progress, and ends with a table of what it measured', () => {
    assert.ok(lines.length >= SCENARIOS.length);
    assert.match(terminalReport(results), /toggle +2 /);
  });
});
