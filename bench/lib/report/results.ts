/**
 * Results as they are kept: per scenario, with the circumstances of its own run. A run of a few scenarios replaces
 * theirs and leaves the others, so each figure says by itself when and how it was measured.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Circumstances } from '../machine.ts';
import type { Measurement, TableName } from '../measurement.ts';
import { ROOT_FOLDER } from '../servers/server-process.ts';

export const RESULTS_FILE = join(ROOT_FOLDER, 'bench', 'results', 'latest.json');
export const REPORT_FILE = join(ROOT_FOLDER, 'bench', 'RESULTS.md');
export const README_FILE = join(ROOT_FOLDER, 'README.md');

/** The version of the file: one more when older results can no longer be read. */
const FORMAT = 1;

export interface ScenarioResult {
  readonly name: string;
  readonly title: string;
  readonly circumstances: Circumstances;
  readonly seconds: number;
  readonly measurements: readonly Measurement[];
}

export interface Results {
  readonly format: number;
  readonly scenarios: readonly ScenarioResult[];
}

export function readResults(path: string): Results {
  if (!existsSync(path)) return { format: FORMAT, scenarios: [] };
  const results = JSON.parse(readFileSync(path, 'utf8')) as Results;
  return results.format === FORMAT ? results : { format: FORMAT, scenarios: [] };
}

export function writeResults(path: string, results: Results): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(results, null, 2)}\n`);
}

/** `fresh` instead of earlier results of the same scenarios; in the order of `names`. */
export function merged(
  earlier: Results,
  fresh: readonly ScenarioResult[],
  names: readonly string[],
): Results {
  const byName = new Map([...earlier.scenarios, ...fresh].map((result) => [result.name, result]));
  const scenarios = names.map((name) => byName.get(name)).filter((result) => result !== undefined);
  return { format: FORMAT, scenarios };
}

export interface Row extends Measurement {
  readonly scenario: ScenarioResult;
}

export function rowsOf({ scenarios }: Results, table: TableName): Row[] {
  return scenarios.flatMap((scenario) =>
    scenario.measurements.filter((one) => one.table === table).map((one) => ({ ...one, scenario })),
  );
}

/** A value, or undefined where it has not been measured. */
export function measuredValue(
  results: Results,
  table: TableName,
  what: string,
  at: number | null,
  key: string,
): number | undefined {
  return rowsOf(results, table).find((row) => row.what === what && row.at === at)?.values[key];
}
