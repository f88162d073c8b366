/**
 * Data folders of a given size, made by the server's own engine and journal and so the same as if clients had made
 * them, only faster. Each set is made once in a run; a scenario gets a copy to work on.
 */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { nodeArguments } from '../../../test/support/source.ts';
import type { BenchRun } from '../measurement.ts';

const run = promisify(execFile);
const BUILDER_FILE = fileURLToPath(new URL('./build-data-set.ts', import.meta.url));

export interface DataSet {
  /** The number of flags in all, over the projects in turn; each has two strategies in production. */
  readonly flags: number;
  /** At least 1, the default one. */
  readonly projects: number;
  /** At least that many; switches make up what creating the flags leaves. */
  readonly events: number;
}

export const FLAG_ENVIRONMENT = 'production';
export const flagName = (number: number): string => `flag-${String(number).padStart(6, '0')}`;
export const projectName = (number: number): string =>
  number === 0 ? 'default' : `project-${String(number).padStart(5, '0')}`;

/** A folder with this content, for the caller to do with as it likes. */
export async function dataFolderOf(bench: BenchRun, set: DataSet): Promise<string> {
  const made = join(bench.folder, `set-${set.flags}-${set.projects}-${set.events}`);
  if (!existsSync(made)) {
    if (set.events > 50_000)
      bench.say(`makes a data folder of ${set.flags} flags, ${set.events} events or more`);
    await run(process.execPath, nodeArguments(BUILDER_FILE, `${made}.part`, JSON.stringify(set)));
    renameSync(`${made}.part`, made);
  }
  const copy = mkdtempSync(join(bench.folder, 'data-'));
  cpSync(made, copy, { recursive: true });
  return copy;
}
