/**
 * How long `flagstaff audit verify` takes for a history of any length, and how much memory: `npm run bench:audit`, with `--events <number>`
 * and, to keep the folder for the next run, `--folder <path>`. The folder is made by the engine and signed by the server.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { nodeArguments } from '../test/support/source.ts';
import { ROOT_FOLDER } from './lib/servers/server-process.ts';

const LOOK_MS = 50;

const { values } = parseArgs({
  options: { events: { type: 'string', default: '10000000' }, folder: { type: 'string' } },
});
const events = Number(values.events);
const made = values.folder ?? join(mkdtempSync(join(tmpdir(), 'flagstaff-bench-audit-')), 'data');

/** Resolves with the milliseconds that the process took, and the most bytes that were resident. */
async function runNode(file: string, ...args: string[]) {
  const begunAt = performance.now();
  const child = spawn(process.execPath, nodeArguments(join(ROOT_FOLDER, file), ...args), {
    stdio: ['ignore', 'inherit', 'inherit'],
    // The engine keeps its index of events in memory.
    env: { ...process.env, NODE_OPTIONS: '--max-old-space-size=8192' },
  });
  let residentMax = 0;
  const look = setInterval(() => {
    const status = existsSync(`/proc/${child.pid}/status`)
      ? readFileSync(`/proc/${child.pid}/status`, 'utf8')
      : '';
    residentMax = Math.max(residentMax, 1024 * Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
  }, LOOK_MS);
  const [code] = await once(child, 'exit');
  clearInterval(look);
  if (code !== 0) throw new Error(`${file} ended with ${code}`);
  return { tookMs: performance.now() - begunAt, residentMax };
}

if (!existsSync(made)) {
  console.log(`makes a folder of ${events} events`);
  await runNode(
    'bench/lib/servers/build-data-set.ts',
    made,
    JSON.stringify({ flags: 1_000, projects: 1, events }),
  );
}
const journal = join(made, 'journal');
const bytes = readdirSync(journal)
  .filter((name) => name.endsWith('.journal'))
  .reduce((sum, name) => sum + statSync(join(journal, name)).size, 0);
const before = loadavg()[0] ?? 0;
const { tookMs, residentMax } = await runNode('src/cli/bin.ts', 'audit', 'verify', '--data-dir', made);
const MIB = 2 ** 20;
console.log(
  `${events} events, ${Math.round(bytes / MIB)} MiB of journal, ${Math.round(statSync(join(made, 'history.heads')).size / MIB)} MiB of heads: ` +
    `${(tookMs / 1000).toFixed(1)} s, at most ${Math.round(residentMax / MIB)} MiB resident, load before ${before.toFixed(1)}`,
);
if (values.folder === undefined) rmSync(join(made, '..'), { recursive: true });
