/**
 * `npm test`: what guards a change, by the test runner of Node. All sources are compiled once, into a temporary folder with the shape of the
 * checkout, and many files share a process, since starting Node and loading the server takes longer than most files do.
 * A file that looks at its whole process has one of its own.
 *
 *   npm test                        every promise in its short form
 *   npm run test:all                the same, with more random values, and the files named `*.all.test.ts`, which take long
 *   npm test -- test/http test/cli  the files below these folders, or of these names
 *   npm test -- --tap               in the Test Anything Protocol
 *   SEED=7 npm test                 with other random values than usual
 *
 * `node --import tsx --test path` runs one file without any of this.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { chooseTests, UnknownPlace } from './support/chosen-tests.ts';
import { compile } from './support/compile.ts';
import { NO_UWS } from './support/installed-engines.ts';
import { installedProgram } from './support/installed-program.ts';
import { REPORTER_INPUT, type ReporterInput } from './support/reporter.ts';
import { TEST_ALL } from './support/runs.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Folders and files that are no source: packages, which are linked to, data, and what tools leave. */
const LEFT_OUT = /^(?:\.git|coverage|dist|node_modules|release-.*|data\/(?!README\.md$).*)$/;

/** Programs that tests start time and again, where loading hundreds of modules would take longer than what they do. */
const PROGRAMS = [
  'bench/lib/load/open-loop-client',
  'bench/lib/load/stream-clients-process',
  'bench/lib/servers/build-data-set',
  'bench/lib/servers/limit-server',
  'src/cli/bin',
  'src/main',
];

/** Programs that not every machine has, and what is skipped without them. */
const TOOLS = {
  chromium: 'the tests of pages in a browser',
  'nats-server': 'the tests of clusters on real servers of NATS',
  promtool: 'the tests of alert rules',
  strace: 'the tests of failing system calls in a real process',
};

/** Processes at a time. Many tests wait for processes and clients of theirs. */
const CONCURRENCY = 4;

/** A process that takes longer hangs, on what a test left open or waits for. With more random values, some take many minutes. */
const MINUTES_MAX = { short: 10, all: 60 };

/** Files that share a process, at most, so that the last processes of a run end at about the same time. */
const GROUP_FILES_MAX = 24;

/** A line of its own in a file that has a process of its own, with the reason. Those run first, since some take long. */
const OWN_PROCESS = /^\/\/ Own process: \S/m;

/** Files here are skipped without a browser. They take no time then, and share a process. */
const BROWSER_PART = 'browser';

/** Modules that each process imports before its tests. */
const HOOKS = ['follow-tests-only', 'fixed-seed'];

/** The seed of the random tests. It stays the same, so that a run fails for what was changed, and not by chance. */
const SEED = '2024';

/** Outside of suites. */
const HOOK_OF_ALL = /^(?:before|after)Each\(/m;

const EFFECT_IMPORT = /^import '\..*$/gm;

/** Copies the sources and what they compile to side by side: some tests read sources, others change them. */
function compileTree(folder: string): void {
  cpSync(ROOT, folder, { recursive: true, filter: (from) => !LEFT_OUT.test(relative(ROOT, from)) });
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts') || name.endsWith('.d.ts')) continue;
    const file = join(folder, name);
    writeFileSync(file.replace(/ts$/, 'js'), compile(readFileSync(file, 'utf8')));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}

/** Packages with binaries, which are loaded from where they lie. */
const BINARY_PACKAGES = ['esbuild', 'fs-native-extensions', 'uWebSockets.js'];

/** The function that packages of the older format call, which modules do not have. */
const REQUIRE = `import { createRequire as from } from 'node:module'; const require = from(import.meta.url);`;

/** Puts each program into one file, in its place, with its packages. Every module in it is told the URL that it has by itself. */
async function bundlePrograms(folder: string): Promise<void> {
  await build({
    entryPoints: PROGRAMS.map((name) => join(folder, `${name}.js`)),
    outbase: folder,
    outdir: folder,
    allowOverwrite: true,
    bundle: true,
    external: BINARY_PACKAGES,
    banner: { js: REQUIRE },
    format: 'esm',
    platform: 'node',
    plugins: [
      {
        name: 'own URLs',
        setup: ({ onLoad }) =>
          onLoad({ filter: /\.js$/ }, ({ path }) => {
            if (!path.startsWith(folder)) return undefined;
            const url = JSON.stringify(pathToFileURL(path));
            return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', url) };
          }),
      },
    ],
  });
}

const testFiles = (): string[] =>
  readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join('test', name))
    .sort();

/**
 * The key that files must have in common to share a process: the part of the tests, and what they import for its effect on the process, such as
 * that each response is held against the description.
 */
function groupKey(file: string): string {
  const source = readFileSync(join(ROOT, file), 'utf8');
  const [, part] = file.split('/');
  const isSkipped = part === BROWSER_PART && installedProgram('chromium') === undefined;
  if (OWN_PROCESS.test(source) && !isSkipped) return file;
  assert(
    !HOOK_OF_ALL.test(source),
    `${file} has a hook around each test of all files in its process; put it into a suite`,
  );
  const effects = [...source.matchAll(EFFECT_IMPORT)].map(([line]) => basename(line));
  return [part, ...effects].join('\n');
}

/** The files of each process. Those that stand alone come first, and then those with most to do, which more lines tell of. */
function groupsOf(files: readonly string[]): string[][] {
  const byKey = new Map<string, string[]>();
  for (const file of files) {
    const key = groupKey(file);
    byKey.set(key, [...(byKey.get(key) ?? []), file]);
  }
  const groups = [...byKey.values()].flatMap((alike) => {
    const parts = Math.ceil(alike.length / GROUP_FILES_MAX);
    return Array.from({ length: parts }, (_, part) => alike.filter((_, index) => index % parts === part));
  });
  const bytesOf = (group: readonly string[]): number =>
    byKey.has(group[0] ?? '')
      ? Number.MAX_SAFE_INTEGER
      : group.reduce((sum, file) => sum + statSync(join(ROOT, file)).size, 0);
  return groups.sort((one, other) => bytesOf(other) - bytesOf(one));
}

/** Files that the runner starts: a test file itself, or one that imports those of its group. */
function entriesOf(folder: string, groups: readonly (readonly string[])[]): string[] {
  return groups.map((files, index) => {
    const compiled = files.map((file) => join(folder, file.replace(/ts$/, 'js')));
    if (compiled.length === 1) return compiled[0]!;
    const entry = join(folder, 'test', `group-${index}.test.js`);
    writeFileSync(entry, compiled.map((file) => `import ${JSON.stringify(file)};\n`).join(''));
    return entry;
  });
}

/** Runs the entries. Resolves to the exit code. */
async function run(
  folder: string,
  groups: readonly (readonly string[])[],
  options: Options,
): Promise<number> {
  const entries = entriesOf(folder, groups);
  const hooks = HOOKS.flatMap((name) => ['--import', join(folder, `test/support/${name}.js`)]);
  const reporter = options.tap ? 'tap' : join(folder, 'test/support/reporter.js');
  const args = [
    ...hooks,
    '--test',
    `--test-concurrency=${CONCURRENCY}`,
    `--test-timeout=${MINUTES_MAX[options.all ? 'all' : 'short'] * 60_000}`,
    `--test-reporter=${reporter}`,
    ...entries,
  ];
  const input: ReporterInput = {
    compiled: folder,
    entries: Object.fromEntries(entries.map((entry, index) => [entry, groups[index] ?? []])),
  };
  const env = {
    SEED,
    ...(options.all && { [TEST_ALL]: '1' }),
    ...process.env,
    [REPORTER_INPUT]: JSON.stringify(input),
  };
  const runner = spawn(process.execPath, args, { cwd: folder, env, stdio: 'inherit' });
  // Whoever ends this ends the processes of the tests, and their servers and browsers, with it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => runner.kill(signal));
  const [code] = await once(runner, 'close');
  return code ?? 1;
}

interface Options {
  readonly all: boolean;
  readonly tap: boolean;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { all: { type: 'boolean', default: false }, tap: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const files = chooseTests(testFiles(), positionals, values.all);
  for (const [tool, tests] of Object.entries(TOOLS)) {
    if (installedProgram(tool) === undefined)
      console.log(`There is no ${tool} on this machine: ${tests} are skipped.`);
  }
  if (NO_UWS !== false) console.log(`${NO_UWS}: the tests over it, and those of the bench, are skipped.`);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'flagstaff-tests-')));
  try {
    compileTree(folder);
    await bundlePrograms(folder);
    return await run(folder, groupsOf(files), values);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof UnknownPlace)) throw error;
  console.error(error.message);
  process.exitCode = 64;
}
