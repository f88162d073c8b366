/** Closed-loop load by wrk: one thread, and a Lua script that hands out requests that were made before the run. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ClosedLoopOptions, ClosedLoopRun } from './closed-loop-run.ts';
import { UNIQUE, uniqueBase, writeRequestFile } from './operation.ts';

const run = promisify(execFile);

/** Begins the line in which the script reports. */
const MARK = 'bench-result ';

interface WrkReport {
  readonly requests: number;
  readonly micros: number;
  readonly errors: number;
  readonly p50: number;
  readonly p99: number;
}

export async function runWrk(
  options: ClosedLoopOptions & { readonly seconds: number },
): Promise<ClosedLoopRun> {
  const { target, operation, connections, seconds, folder } = options;
  const requestFile = join(folder, 'requests.bin');
  const scriptFile = join(folder, 'load.lua');
  writeRequestFile(requestFile, target, operation);
  writeFileSync(scriptFile, luaScript(requestFile, uniqueBase()));
  const args = ['-t1', `-c${connections}`, `-d${Math.ceil(seconds)}s`, '--timeout', '20s', '-s', scriptFile];
  const { stdout } = await run('wrk', [...args, target.origin]);
  const line = stdout.split('\n').find((one) => one.startsWith(MARK));
  if (line === undefined) throw new Error(`wrk reported nothing:\n${stdout}`);
  const report = JSON.parse(line.slice(MARK.length)) as WrkReport;
  if (report.errors > 0)
    throw new Error(`${report.errors} of ${report.requests} requests failed at ${target.name}`);
  return {
    requests: report.requests,
    perSecond: report.requests / (report.micros / 1e6),
    p50: report.p50 / 1000,
    p99: report.p99 / 1000,
  };
}

function luaScript(requestFile: string, base: number): string {
  return `
local requests, rests = {}, {}
local file = assert(io.open(${JSON.stringify(requestFile)}, 'rb'))
while true do
  local length = file:read('*n')
  if not length then break end
  file:read(1)
  local raw = file:read(length)
  local from, to = raw:find('${UNIQUE}', 1, true)
  if from then
    requests[#requests + 1] = raw:sub(1, from - 1)
    rests[#requests] = raw:sub(to + 1)
  else
    requests[#requests + 1] = raw
  end
end
file:close()
local count, at, number = #requests, 0, ${base}
function request()
  at = at % count + 1
  local rest = rests[at]
  if not rest then return requests[at] end
  number = number + 1
  return requests[at] .. string.format('%0${UNIQUE.length}.0f', number) .. rest
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    '\\n${MARK}{"requests":%d,"micros":%d,"errors":%d,"p50":%d,"p99":%d}\\n',
    summary.requests, summary.duration, e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50), latency:percentile(99)))
end
`;
}
