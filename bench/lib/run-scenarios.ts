/** Runs scenarios one after the other in a folder of the run's own, which is gone afterwards whatever happens. */
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { circumstances } from './machine.ts';
import type { Effort, Scenario } from './measurement.ts';
import type { ScenarioResult } from './report/results.ts';

export interface RunOptions {
  readonly scenarios: readonly Scenario[];
  readonly effort: Effort;
  /** The folder in which the run's folder is made; the system's folder for temporary files when absent. */
  readonly parentFolder?: string;
  say(line: string): void;
}

/** `statfs` types of file systems in memory: tmpfs, ramfs. */
const MEMORY_FILE_SYSTEMS = new Set([0x01021994, 0x858458f6]);

export async function runScenarios(options: RunOptions): Promise<ScenarioResult[]> {
  const { scenarios, effort, parentFolder = tmpdir() } = options;
  if (MEMORY_FILE_SYSTEMS.has(statfsSync(parentFolder).type)) {
    throw new Error(
      `${parentFolder} is in memory, where a sync costs nothing; name one on a disk with --folder`,
    );
  }
  const folder = mkdtempSync(join(parentFolder, 'flagstaff-bench-'));
  try {
    const results: ScenarioResult[] = [];
    for (const [index, scenario] of scenarios.entries()) {
      const before = circumstances();
      const startedAt = performance.now();
      const elapsed = (): string => `${Math.round((performance.now() - startedAt) / 1000)} s`.padStart(5);
      const progress = `[${index + 1}/${scenarios.length}]`;
      const say = (line: string): void => options.say(`${progress} ${elapsed()}  ${line}`);
      const measurements = await scenario.run({ effort, folder, say });
      const { name, title } = scenario;
      const seconds = (performance.now() - startedAt) / 1000;
      results.push({ name, title, circumstances: before, seconds, measurements });
    }
    return results;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
