/** The conditions of a figure besides the code: machine, Node version, load, commit. */
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { loadGenerator } from './load/closed-loop.ts';
import { ROOT_FOLDER } from './servers/server-process.ts';

export interface Circumstances {
  readonly at: string;
  readonly machine: string;
  readonly node: string;
  /** Over one minute, before the scenario: what else the machine was doing. */
  readonly loadAverage: number;
  readonly commit: string;
  readonly loadGenerator: string;
}

export function circumstances(): Circumstances {
  const processors = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return {
    at: new Date().toISOString(),
    machine: `${processors.length} × ${processors[0]?.model.trim()}, ${memory}, ${type()} ${release()}`,
    node: process.version,
    loadAverage: loadavg()[0] ?? 0,
    commit: commit(),
    loadGenerator: loadGenerator(),
  };
}

/** With a plus where the server's own files differ from it. */
function commit(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, {
      cwd: ROOT_FOLDER,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    const changed = git('status', '--porcelain', '--', 'src') !== '';
    return `${git('rev-parse', '--short', 'HEAD')}${changed ? '+' : ''}`;
  } catch {
    // A copy without its history, such as a release archive.
    return 'unknown';
  }
}
