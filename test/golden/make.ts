/**
 * Makes the golden folders of a release, with the code of that release's checkout (see README.md in this folder).
 *
 *   node --import tsx test/golden/make.ts [--build <checkout>]
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { ADMIN_TOKEN, type Call, caller, ROOT_FOLDER, temporaryFolder } from '../support/server.ts';
import { checkCovered, checkRecorded } from './coverage.ts';
import { EVENT_HASH_DIGITS, type Expected } from './expected.ts';
import { IMPORT_DOCUMENT } from './import-document.ts';
import { documentIn, hashOf, type RunCommand, reduceTo, shapeOf, shownEvents } from './picture.ts';
import { PAST_FLAGS, runScenario, type ScenarioResult } from './scenario.ts';

interface Build {
  /** The checkout's folder. */
  readonly folder: string;
  readonly version: string;
  readonly run: RunCommand;
}

function buildAt(folder: string): Build {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  const run: RunCommand = async (args) => {
    const command = ['run', '-s', 'flagstaff', '--', ...args];
    return (await promisify(execFile)('npm', command, { cwd: folder, maxBuffer: 2 ** 26 })).stdout;
  };
  return { folder, version, run };
}

interface Running {
  readonly child: ChildProcess;
  readonly origin: string;
}

async function serve(build: Build, folder: string, env: Readonly<Record<string, string>>): Promise<Running> {
  const script = fileURLToPath(new URL('serve.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, build.folder, folder], {
    cwd: ROOT_FOLDER,
    env: { PATH: process.env.PATH, INIT_ADMIN_API_TOKENS: ADMIN_TOKEN, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, origin: `http://127.0.0.1:${Number(port.toString())}` };
}

async function end({ child }: Running, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

/** How the two folders differ is told in README.md in this folder. */
type Kind = 'killed' | 'stopped';

async function makeFolder(build: Build, kind: Kind, target: string): Promise<void> {
  const folder = join(target, kind);
  const importFile = join(target, 'import.json');
  writeFileSync(importFile, JSON.stringify(IMPORT_DOCUMENT));
  const server = await serve(build, folder, kind === 'stopped' ? { IMPORT_FILE: importFile } : {});
  rmSync(importFile);
  const { result, momentIds, pastFlags } = await fill(build, server, folder).catch(async (error: unknown) => {
    await end(server, 'SIGKILL');
    throw error;
  });
  await end(server, kind === 'killed' ? 'SIGKILL' : 'SIGTERM');
  rmSync(join(folder, 'flagstaff.sock'), { force: true });
  const recorded = await recordFolder(build, folder, momentIds, pastFlags);
  const expected: Expected = { ...recorded, ...result };
  writeFileSync(join(target, `${kind}.json`), `${JSON.stringify(expected, null, 1)}\n`);
}

interface Filled {
  readonly result: ScenarioResult;
  readonly momentIds: readonly number[];
  readonly pastFlags: Expected['pastFlags'];
}

async function fill(build: Build, { origin }: Running, folder: string): Promise<Filled> {
  const called = new Set<string>();
  const direct = caller(origin);
  const call: Call = async (method, path, ...more) => {
    const response = await direct(method, path, ...more);
    if (response.status < 300) called.add(`${method} ${path}`);
    return response;
  };
  const momentIds: number[] = [];
  const newestId = async (): Promise<number> =>
    (await direct('POST', '/events/search', { limit: 1 })).body.events[0].id;
  const result = await runScenario({
    call,
    snapshot: async () => void (await build.run(['snapshot', '--data-dir', folder])),
    moment: async () => void momentIds.push(await newestId()),
  });
  checkCovered(called);
  return { result, momentIds, pastFlags: await pastFlagsOf(call, [...momentIds, await newestId()]) };
}

async function pastFlagsOf(call: Call, eventIds: readonly number[]): Promise<Expected['pastFlags']> {
  const past: Expected['pastFlags'][number][] = [];
  for (const eventId of eventIds) {
    for (const flag of PAST_FLAGS) {
      const { status, body } = await call('GET', `/projects/default/features/${flag}?at=${eventId}`);
      assert.equal(status, 200, `${flag} at event ${eventId}`);
      past.push({ project: 'default', flag, eventId, shown: body });
    }
  }
  return past;
}

async function recordFolder(
  { run, version }: Build,
  folder: string,
  momentIds: readonly number[],
  pastFlags: Expected['pastFlags'],
): Promise<Omit<Expected, keyof ScenarioResult>> {
  const events = await shownEvents(folder);
  checkRecorded(events);
  const document = await documentIn(run, folder);
  const past = await Promise.all(momentIds.map((id) => documentIn(run, folder, id)));
  const types = [...new Set(events.map(({ type }) => type))].sort();
  const shapes = {
    document: shapeOf([document, ...past]),
    flag: shapeOf(pastFlags.map(({ shown }) => shown)),
    events: Object.fromEntries(
      types.map((type) => [type, shapeOf(events.filter((one) => one.type === type))]),
    ),
  };
  return {
    release: version,
    lastEventId: events.at(-1)?.id ?? 0,
    shapes,
    document: reduceTo(shapes.document, document),
    moments: momentIds.map((eventId, index) => ({
      eventId,
      documentHash: hashOf(shapes.document, past[index] ?? null),
    })),
    eventHashes: events.map((event) =>
      hashOf(shapes.events[event.type] ?? null, event).slice(0, EVENT_HASH_DIGITS),
    ),
    pastFlags: pastFlags.map((one) => ({ ...one, shown: reduceTo(shapes.flag, one.shown) })),
  };
}

const { values } = parseArgs({ options: { build: { type: 'string', default: ROOT_FOLDER } } });
const build = buildAt(values.build);
const target = fileURLToPath(new URL(`${build.version}/`, import.meta.url));
assert(
  !existsSync(target),
  `${target} is there already: the golden folders of a release are never made twice`,
);
// A run that fails leaves nothing in the project.
const made = temporaryFolder();
for (const kind of ['killed', 'stopped'] as const) await makeFolder(build, kind, made);
cpSync(made, target, { recursive: true });
rmSync(made, { recursive: true });
