/**
 * Runs a walk of the README as a newcomer would: its lines, in one shell. Only the port and the data folder are
 * exchanged, so that it can run beside other tests and leaves nothing behind.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { ROOT_FOLDER, temporaryFolder } from './server.ts';

/** The lines of the README's walk of that name. */
function walkLines(name: string): string {
  const text = readFileSync(join(ROOT_FOLDER, 'README.md'), 'utf8');
  const found = new RegExp(`<!-- walk: ${name} -->\n\`\`\`sh\n([^]*?)\n\`\`\``).exec(text);
  assert(found?.[1] !== undefined, `the README has no walk "${name}"`);
  return found[1];
}

function readFiles(folder: string, names: readonly string[]): Record<string, string> {
  const read = (name: string): string => {
    const path = join(folder, name);
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  };
  return Object.fromEntries(names.map((name) => [name, read(name)]));
}

/** The JSON objects that the calls of a walk printed; the health check's answer has no line of its own. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
export function responsesIn(output: string): any[] {
  return output
    .split('\n')
    .map((line) => line.replace('{"health":"GOOD"}', ''))
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  await new Promise((resolve) => server.close(resolve));
  return address.port;
}

export interface WalkResult {
  /** Of both streams. */
  readonly output: string;
  readonly exitCode: number | null;
  /** Content of the files asked for, by the names that the README gives them. */
  readonly files: Readonly<Record<string, string>>;
}

export async function runWalk(name: string, fileNames: readonly string[] = []): Promise<WalkResult> {
  const folder = temporaryFolder();
  const port = await freePort();
  const script = walkLines(name)
    .replaceAll('4242', String(port))
    .replaceAll(/\b(flagstaff\.log|state\.json)\b/g, join(folder, '$1'))
    .replaceAll(/(?<![\w/.-])data\//g, `${folder}/data/`);
  try {
    const result = await runShell(`set -o pipefail\n${script}\nwait\n`, {
      HTTP_PORT: String(port),
      DATA_DIR: join(folder, 'data'),
      // For the folders that a walk makes.
      TMPDIR: folder,
    });
    return { ...result, files: readFiles(folder, fileNames) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Protects the suite from a server that never becomes healthy; a walk takes a few seconds. */
const WALK_MS_MAX = 60_000;

function runShell(script: string, env: Readonly<Record<string, string>>): Promise<Omit<WalkResult, 'files'>> {
  const { PATH, HOME } = process.env;
  const shell = spawn('bash', ['-c', script], {
    cwd: ROOT_FOLDER,
    env: { PATH, HOME, ...env },
    // A group of its own, so that the servers it started can be ended with it.
    detached: true,
  });
  let output = '';
  shell.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  shell.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const timer = setTimeout(() => process.kill(-(shell.pid ?? 0), 'SIGKILL'), WALK_MS_MAX);
  return new Promise((resolve) => {
    shell.on('close', (exitCode) => {
      clearTimeout(timer);
      resolve({ output, exitCode });
    });
  });
}
