/**
 * Follows the README as a newcomer does: the first lines of the page, and then its walks in their order, in one shell and
 * one checkout. Only the ports are exchanged, and `npm ci` is left out, so that this can run beside other tests.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { ROOT_FOLDER, temporaryFolder } from './server.ts';
import { nodeArguments } from './source.ts';

/** The lines before the walks, without `npm ci`. The server of a first terminal; nobody waits for it. */
const FIRST_LINES = 'npm start > first-terminal.log 2>&1 &\nFIRST=$!\n';

/** One pipe for both streams, so that the output stands in the order in which it was written. */
const ONE_STREAM = 'exec 2>&1\n';

/** The lines of every walk, by its name, in the order of the page. */
export function walksOf(page: string): ReadonlyMap<string, string> {
  const found = [...page.matchAll(/<!-- walk: ([a-z-]+) -->\n```[a-z]+\n([\s\S]*?)\n```/g)];
  return new Map(found.map(([, name = '', lines = '']) => [name, lines]));
}

/** A checkout with nothing in it that an earlier start has left, and the packages of this one. */
function freshCheckout(): string {
  const folder = join(temporaryFolder(), 'flagstaff');
  mkdirSync(join(folder, 'data'), { recursive: true });
  for (const name of ['src', 'web', 'package.json', 'package-lock.json'])
    cpSync(join(ROOT_FOLDER, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT_FOLDER, 'node_modules'), join(folder, 'node_modules'));
  // The page runs it a dozen times, compiling takes most of that, and `npm start` compiles as well.
  const manifest = readFileSync(join(folder, 'package.json'), 'utf8');
  const command = nodeArguments('src/cli/bin.ts').join(' ');
  writeFileSync(join(folder, 'package.json'), manifest.replace('--import tsx src/cli/bin.ts', command));
  return folder;
}

export interface WalkResult {
  /** The output of both streams. */
  readonly output: string;
  /** The JSON objects that the calls printed. */
  // biome-ignore lint/suspicious/noExplicitAny: responses of every shape.
  readonly responses: any[];
  /** The statuses of the calls, in their order. */
  readonly statuses: readonly number[];
}

export interface ReadmeResult {
  readonly walks: ReadonlyMap<string, WalkResult>;
  /** Content of a file in the checkout, by its name in the walks; empty when there is none. */
  readonly files: ReadonlyMap<string, string>;
}

export async function followReadme(fileNames: readonly string[]): Promise<ReadmeResult> {
  const readme = readFileSync(join(ROOT_FOLDER, 'README.md'), 'utf8');
  const page = readFileSync(join(ROOT_FOLDER, 'docs/walks.md'), 'utf8');
  const [first, second] = [String(await freePort()), String(await freePort())];
  assert(
    readme.includes('```sh\nnpm ci\nnpm start\n```'),
    'the first lines of the README are those that run here',
  );
  const walks = walksOf(page);
  const folder = freshCheckout();
  const parts = [...walks].map(([name, lines]) => `echo '${MARK}${name}'\n${lines}\n`);
  const script = [ONE_STREAM, FIRST_LINES, ...parts, 'kill $(cat data/flagstaff.lock); wait $FIRST\n'].join(
    '',
  );
  try {
    const output = await runShell(script.replaceAll('4242', first).replaceAll('4243', second), folder, {
      // For the server of the first lines; the walks set the variable themselves.
      HTTP_PORT: first,
      TMPDIR: join(folder, '..'),
      // npm keeps compiled code below TMPDIR, and writes it while it ends.
      NODE_DISABLE_COMPILE_CACHE: '1',
    });
    const read = (name: string): string =>
      existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '';
    return {
      walks: new Map(output.split(MARK).slice(1).map(walkResult)),
      files: new Map(fileNames.map((name) => [name, read(name)])),
    };
  } finally {
    await removeFolder(join(folder, '..'));
  }
}

/**
 * A process that is still ending may write one more file into a folder that has just been emptied. What is left in the end lies
 * among the temporary files of the system, and says nothing about the walk.
 */
async function removeFolder(folder: string): Promise<void> {
  for (let tries = 0; tries < 20; tries += 1) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch {
      await delay(250);
    }
  }
}

/** Between the outputs of two walks. */
const MARK = '=== walk: ';

function walkResult(text: string): [name: string, result: WalkResult] {
  const [name = '', ...lines] = text.split('\n');
  // The response to the health check has no line of its own.
  const responses = lines
    .map((line) => line.replace(/^\{"health":"GOOD"(?:[^{}]|\{[^{}]*\})*\}/, ''))
    .flatMap(jsonObject);
  const statuses = lines.flatMap((line) => /^HTTP (\d+)$/.exec(line)?.[1] ?? []).map(Number);
  return [name, { output: lines.join('\n'), responses, statuses }];
}

/** A line that only looks like an object is left to the test, which misses the response and shows the whole output. */
function jsonObject(line: string): unknown[] {
  if (!line.startsWith('{')) return [];
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

/** Protects the suite from a server that never becomes healthy; the page takes half a minute. */
const README_MS_MAX = 240_000;

function runShell(script: string, folder: string, env: Readonly<Record<string, string>>): Promise<string> {
  const { PATH, HOME } = process.env;
  const shell = spawn('bash', ['-o', 'pipefail', '-c', script], {
    cwd: folder,
    env: { PATH, HOME, ...env },
    // A group of its own, so that the servers it started can be ended with it.
    detached: true,
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const timer = setTimeout(() => process.kill(-(shell.pid ?? 0), 'SIGKILL'), README_MS_MAX);
  return new Promise((resolve) => {
    shell.on('close', () => {
      clearTimeout(timer);
      resolve(output);
    });
  });
}
