/**
 * Counts what a request of each common kind runs: functions called, and files that they are in, of `src` alone.
 *
 *   npm run bench:calls               or  npm run bench:calls -- --list toggle    with each function
 *   npm run bench:calls -- --json     for the scenario that puts them beside their processor time
 */
import { Session } from 'node:inspector/promises';
import { parseArgs } from 'node:util';
import { startTestServer } from '../test/support/server.ts';
import { environmentPath, flagPath, flagsInTurn, PROJECT } from './lib/paths.ts';

const FLAGS = 64;
/** Requests at once: writes of one batch share its work. */
const TOGETHER = 16;
const WARM_UP_ROUNDS = 20;
const ROUNDS = 40;
/** The encoder of MessagePack calls a function for each value, and is compiled into one. */
const NOT_COUNTED = /\/persistence\/codec\/message-pack/;

interface Counted {
  readonly calls: number;
  readonly name: string;
  readonly file: string;
}

const { list, json } = parseArgs({ options: { list: { type: 'string' }, json: { type: 'boolean' } } }).values;
const { call, stop } = await startTestServer();
const flags = flagsInTurn({ flags: FLAGS, connections: FLAGS });
const strategies: string[] = [];
for (const number of flags) {
  await call('POST', `${PROJECT}/features`, { name: flagPath(number).split('/').at(-1) });
  const { body } = await call('POST', `${environmentPath(number)}/strategies`, {
    ...{ name: 'flexibleRollout', parameters: { rollout: '30', stickiness: 'default', groupId: 'group' } },
  });
  strategies.push(body.id);
}

const rollout = (round: number) => [{ op: 'replace', path: '/parameters/rollout', value: `${round}` }];
const KINDS: Readonly<Record<string, (flag: number, round: number) => ReturnType<typeof call>>> = {
  read: (flag) => call('GET', flagPath(flag)),
  toggle: (flag, round) => call('POST', `${environmentPath(flag)}/${round % 2 === 0 ? 'on' : 'off'}`),
  create: (flag, round) => call('POST', `${PROJECT}/features`, { name: `made-${flag}-${round}` }),
  patch: (flag, round) =>
    call('PATCH', `${environmentPath(flag)}/strategies/${strategies[flag]}`, rollout(round)),
};

async function rounds(kind: string, from: number, count: number): Promise<void> {
  for (let round = from; round < from + count; round += 1)
    for (let at = 0; at < FLAGS; at += TOGETHER) {
      const sent = flags.slice(at, at + TOGETHER).map((flag) => KINDS[kind]!(flag, round));
      for (const { status } of await Promise.all(sent))
        if (status !== 200 && status !== 201) throw new Error(`a ${kind} got ${status}`);
    }
}

const session = new Session();
session.connect();
await session.post('Profiler.enable');
for (const kind of Object.keys(KINDS)) {
  await rounds(kind, 0, WARM_UP_ROUNDS);
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await rounds(kind, WARM_UP_ROUNDS, ROUNDS);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  const counted: Counted[] = result
    .filter(({ url }) => url.includes('/src/') && !url.includes('node_modules') && !NOT_COUNTED.test(url))
    .flatMap(({ url, functions }) =>
      functions.map(({ functionName, ranges }) => ({
        calls: ranges[0]!.count / (ROUNDS * FLAGS),
        name: functionName,
        file: url.slice(url.lastIndexOf('/src/') + 1),
      })),
    )
    // What runs once a batch or in the background is no part of each request.
    .filter(({ calls }) => calls >= 0.5);
  const calls = counted.reduce((sum, one) => sum + one.calls, 0);
  const files = new Set(counted.map(({ file }) => file)).size;
  console.log(
    json ? JSON.stringify({ kind, calls, files }) : `${kind}: ${Math.round(calls)} calls in ${files} files`,
  );
  if (list !== kind) continue;
  for (const { calls: each, name, file } of counted.sort(
    (a, b) => a.file.localeCompare(b.file) || b.calls - a.calls,
  ))
    console.log(`${each.toFixed(2).padStart(8)}  ${file}  ${name}`);
}
session.disconnect();
await stop();
