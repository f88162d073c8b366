/** The parts that the suites of the operators' commands share: command lines run in this process, and folders with a past. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { stateHash } from '../../src/actors/state/world-snapshot.ts';
import { runCommands } from '../../src/cli/main.ts';
import type { Terminal } from '../../src/host/terminal.ts';
import { readJournal } from '../../src/operations/journal-reading.ts';
import { dataFolder } from '../../src/persistence/disk/data-folder.ts';
import { realFileSystem } from '../../src/persistence/disk/file-system.ts';
import { type LoggedEvent, toLoggedEvent } from '../../src/persistence/event-log/logged-event.ts';
import { type Call, ROOT_FOLDER, startTestServer, type TestServer, temporaryFolder } from './server.ts';

export interface CommandRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The document that `--json` printed. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
  readonly json: any;
}

export interface RunCommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The text that a human at the terminal types when asked; nobody is there unless given. */
  readonly typed?: string;
}

/** `flagstaff …`, in this process. */
export async function flagstaff(
  args: readonly string[],
  options: RunCommandOptions = {},
): Promise<CommandRun> {
  const [out, err]: [string[], string[]] = [[], []];
  let written = '';
  const terminal: Terminal = {
    env: options.env ?? {},
    out: (text) => out.push(text),
    write: async (piece) => {
      written += piece;
    },
    err: (text) => err.push(text),
    isInteractive: options.typed !== undefined,
    barStream: new Writable({ write: (_chunk, _encoding, done) => done() }),
    ask: async (question) => {
      err.push(question);
      return options.typed ?? '';
    },
  };
  const code = await runCommands(args, terminal);
  if (written !== '') out.push(written.trimEnd());
  return {
    code,
    out: out.join('\n'),
    err: err.join('\n'),
    get json() {
      return JSON.parse(out.join('\n'));
    },
  };
}

/** Runs a command that must end well, and gives what `--json` printed. */
export async function outputOf(args: readonly string[]): Promise<CommandRun['json']> {
  const { code, err, json } = await flagstaff([...args, '--json']);
  assert.deepEqual([code, err], [0, ''], `flagstaff ${args.join(' ')}`);
  return json;
}

export interface Moment {
  readonly id: number;
  readonly stateHash: string;
}

export interface PastFolder {
  readonly folder: string;
  /** The state after each change. */
  readonly moments: readonly Moment[];
}

/** Small enough for several segments. */
const SEGMENT_BYTES = 1_536;

/** Something of every kind happens; each step is one change. */
const STEPS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['POST', '/projects/default/features', { name: 'one', description: 'first' }],
  ['POST', '/projects/default/features', { name: 'two', type: 'experiment' }],
  ['POST', '/projects/default/features/one/environments/development/strategies', { name: 'default' }],
  ['POST', '/projects/default/features/one/environments/development/on'],
  [
    'PUT',
    '/projects/default/features/one/variants',
    [
      { name: 'a', weight: 1 },
      { name: 'b', weight: 1 },
    ],
  ],
  ['PUT', '/projects/default/features/two', { description: 'changed', stale: true }],
  ['POST', '/projects', { id: 'other', name: 'Other' }],
  ['POST', '/projects/other/features', { name: 'three' }],
  ['POST', '/features/three/tags', { type: 'team', value: 'blue' }],
  ['POST', '/user-admin', { username: 'ada', rootRole: 3 }],
  ['POST', '/projects/other/users/2/roles/5'],
  ['POST', '/environments', { name: 'staging', type: 'test' }],
  ['POST', '/projects/other/environments', { environment: 'staging' }],
  ['POST', '/projects/default/features/one/clone', { name: 'four' }],
  ['POST', '/projects/default/features/two/dependencies', { feature: 'one' }],
  ['DELETE', '/projects/default/features/two/dependencies'],
  ['DELETE', '/projects/default/features/two'],
  ['DELETE', '/archive/two'],
  ['POST', '/projects/default/features', { name: 'two', description: 'again' }],
  ['DELETE', '/projects/default/features/four'],
];

/** The events in the journal of a folder, oldest first. */
export async function eventsIn(folder: string): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  const source = { fs: realFileSystem, folder: dataFolder(folder).journal };
  await readJournal(source, {
    afterId: 0,
    visit: ({ frame }) => {
      events.push(...frame.events.map((_, at) => toLoggedEvent(frame, frame.id + at)));
      return true;
    },
  });
  return events;
}

/** A third one is taken at the stop. */
const SNAPSHOTS_AFTER: readonly number[] = [6, 12];

async function live(server: TestServer): Promise<Moment[]> {
  const moments: Moment[] = [];
  const { engine } = server.server.store;
  const note = (): void => {
    moments.push({ id: engine.lastId, stateHash: stateHash(engine.world) });
  };
  note();
  for (const [index, [method, path, body]] of STEPS.entries()) {
    const { status, body: response } = await server.call(method, path, body);
    assert(status < 300, `${method} ${path}: ${status} ${response?.message}`);
    note();
    if (SNAPSHOTS_AFTER.includes(index)) await server.server.store.keeper.take();
  }
  return moments;
}

/** A stopped server's folder: several segments, three snapshots, and the state after each change. */
export async function pastFolder(): Promise<PastFolder> {
  const folder = temporaryFolder();
  const server = await startTestServer({
    folder,
    store: { segmentBytes: SEGMENT_BYTES },
  });
  const moments = await live(server);
  await server.stop();
  return { folder, moments };
}

/** A copy to do harm to. The socket of a running server cannot be copied. */
export function copyOf(folder: string): string {
  const copy = temporaryFolder();
  cpSync(folder, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  return copy;
}

/** Paths of a folder's segments, in order; likewise of its snapshots. */
export const segmentsIn = (folder: string): readonly string[] => filesIn(join(folder, 'journal'), '.journal');
export const snapshotsIn = (folder: string): readonly string[] =>
  filesIn(join(folder, 'snapshots'), '.snapshot');

function filesIn(folder: string, suffix: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(suffix));
  return names.sort().map((name) => join(folder, name));
}

/** The last of a list, or the one at `index`; it has to be there. */
export function fileAt(files: readonly string[], index = -1): string {
  const file = files.at(index);
  assert(file !== undefined, `there is no file at ${index} of ${files.length}`);
  return file;
}

export function flipByte(file: string, offset: number): void {
  const bytes = readFileSync(file);
  const at = offset < 0 ? bytes.length + offset : offset;
  bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  writeFileSync(file, bytes);
}

/** Whole servers start on a folder: what they then say of one flag. */
export async function startsOn(
  folder: string,
  look: (call: Call, origin: string) => Promise<void>,
): Promise<void> {
  const server = await startTestServer({ folder });
  try {
    await look(server.call, server.origin);
  } finally {
    await server.stop();
  }
}

/** Every file below a folder and its bytes, to see that nothing was changed. */
export function contentOf(folder: string): ReadonlyMap<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    names
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path, readFileSync(path).toString('base64')]),
  );
}

/** Runs the verifier of the manual. */
export async function verifyAlone(
  args: readonly string[],
): Promise<{ readonly code: number; readonly said: string }> {
  const run = promisify(execFile)(process.execPath, [join(ROOT_FOLDER, 'docs/verify-history.mjs'), ...args]);
  return run.then(
    ({ stdout }) => ({ code: 0, said: stdout }),
    ({ code, stderr }) => ({ code, said: stderr }),
  );
}
