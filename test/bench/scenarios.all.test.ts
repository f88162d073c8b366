/** Every scenario of the bench, run with a handful of requests: what it claims to measure, it still can. */
// Own process: it takes long.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { EFFORTS } from '../../bench/lib/measurement.ts';
import { merged, type Results } from '../../bench/lib/report/results.ts';
import { TABLE_VIEWS } from '../../bench/lib/report/tables.ts';
import { terminalReport } from '../../bench/lib/report/terminal-report.ts';
import { runScenarios } from '../../bench/lib/run-scenarios.ts';
import { startServerProcess } from '../../bench/lib/servers/server-process.ts';
import { SCENARIOS } from '../../bench/scenarios/all.ts';
import { peerScenario } from '../../bench/scenarios/peer.ts';
import { NO_UWS } from '../support/installed-engines.ts';
import { temporaryFolder } from '../support/server.ts';

const NAMES = SCENARIOS.map(({ name }) => name);

describe('a run of all scenarios', { skip: NO_UWS }, () => {
  const lines: string[] = [];
  let results: Results = { format: 1, scenarios: [] };

  // One run for all of them: they share the data folders that it makes.
  before(async () => {
    const say = (line: string): unknown => lines.push(line);
    const fresh = await runScenarios({ scenarios: SCENARIOS, effort: EFFORTS.tiny, say });
    results = merged(results, fresh, NAMES);
  });

  test('beside another server of this interface, the same is measured of both', async () => {
    const folder = temporaryFolder();
    const other = await startServerProcess(folder);
    try {
      const scenarios = [peerScenario({ ...other.target, name: 'another one' })];
      const [result] = await runScenarios({ scenarios, effort: EFFORTS.tiny, say: () => undefined });
      assert.equal(result?.title, 'Beside another one');
      assert.deepEqual(
        result.measurements.map(({ what, values }) => [what, (values['theirs'] ?? 0) > 0]),
        [
          ['SDK: 8 flags', true],
          ['SDK: 8 flags, not modified', true],
          ['page: flags of a user, 1,000 in turn', true],
          ['read a flag', true],
          ['switch a flag', true],
          ['create a flag', true],
        ],
      );
    } finally {
      await other.kill();
    }
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
