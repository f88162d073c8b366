/**
 * The output of `npm test`: a line for each folder when its last test is done, or one line that moves where there is a terminal; each
 * failure with its place, what differs, and the command that runs it alone; and the counts of the runner.
 */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { stripVTControlCharacters, styleText } from 'node:util';

/** Input from `test/run.ts`, as JSON in the environment. */
export interface ReporterInput {
  /** The folder that the checkout was compiled into. */
  readonly compiled: string;
  /** The test files of each process, relative to the checkout, by the path of what Node was started with. */
  readonly entries: Readonly<Record<string, readonly string[]>>;
}

export const REPORTER_INPUT = 'FLAGSTAFF_TEST_RUN';

/** Lines of output that a process which fails as a whole is shown with. */
const OUTPUT_LINES_MAX = 60;

interface Folder {
  files: number;
  tests: number;
  failed: number;
}

const input: ReporterInput = JSON.parse(
  process.env[REPORTER_INPUT] ?? '{"root":"","compiled":"","entries":{}}',
);

const folderOf = (file: string): string => file.slice(0, file.lastIndexOf('/'));

/** The path of a source for that of what it compiles to. */
const sourceOf = (file: string): string => relative(input.compiled, file).replace(/\.js$/, '.ts');

/** A text with the paths and the positions of sources; lines stay the same when types are taken out. */
const named = (text: string): string =>
  text
    .replaceAll(/(?:file:\/\/)?([^\s('"]+?)\.js(?=:\d)/g, (whole, path: string) =>
      path.startsWith(`${input.compiled}/`) && !path.includes('/node_modules/')
        ? `${relative(input.compiled, path)}.ts`
        : whole,
    )
    .replaceAll(`${input.compiled}/`, '');

const folders = new Map<string, Folder>();
for (const files of Object.values(input.entries))
  for (const file of files) {
    const folder = folders.get(folderOf(file)) ?? { files: 0, tests: 0, failed: 0 };
    folder.files += 1;
    folders.set(folderOf(file), folder);
  }

const isTerminal = process.stdout.isTTY === true;
const counts = { done: 0, failed: 0 };
const failures: string[] = [];
const outputs = new Map<string, string[]>();

export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const path: string[] = [];
  const unfinished = new Set(Object.keys(input.entries));
  let entry: string | undefined;
  for await (const event of source) {
    if (event.type === 'test:start') {
      path.length = event.data.nesting;
      path.push(event.data.name);
    } else if (event.type === 'test:complete' && isTerminal) yield moving(event.data.file);
    else if (event.type === 'test:stdout' || event.type === 'test:stderr')
      keepOutput(event.data.file, event.data.message);
    else if (event.type === 'test:pass' || event.type === 'test:fail') {
      const { file = '', nesting } = event.data;
      // The runner tells the tests of one process after those of another.
      const next = entryOf(file, unfinished);
      if (next !== undefined && next !== entry) {
        if (entry !== undefined) yield* finished(entry, unfinished);
        entry = next;
      }
      yield* counted(event, path.slice(0, nesting + 1));
    } else if (event.type === 'test:diagnostic' && event.data.nesting === 0 && isCount(event.data.message)) {
      if (entry !== undefined) yield* finished(entry, unfinished);
      for (const left of [...unfinished]) yield* finished(left, unfinished);
      entry = undefined;
      if (event.data.message.startsWith('tests ')) yield* closing();
      yield `# ${event.data.message}\n`;
    }
  }
}

const isCount = (message: string): boolean =>
  /^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/.test(message);

function entryOf(file: string, unfinished: ReadonlySet<string>): string | undefined {
  const source = sourceOf(file);
  for (const entry of unfinished) {
    if (entry === file || input.entries[entry]?.includes(source)) return entry;
  }
  return undefined;
}

function moving(file: string | undefined): string {
  counts.done += 1;
  const text = `${counts.done} tests done, ${counts.failed} failed: ${file === undefined ? '' : sourceOf(file)}`;
  return `\r\u001b[K${text.slice(0, (process.stdout.columns ?? 80) - 1)}`;
}

function keepOutput(file: string, message: string): void {
  const lines = outputs.get(file) ?? [];
  lines.push(...message.split('\n').filter((line) => line.trim() !== ''));
  outputs.set(file, lines.slice(-OUTPUT_LINES_MAX));
}

function* counted(
  { type, data }: Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>,
  path: readonly string[],
): Generator<string> {
  const { file = '', details } = data;
  const folder = folders.get(folderOf(sourceOf(file)));
  if (details.type !== 'suite' && folder !== undefined) folder.tests += 1;
  if (type === 'test:pass') return;
  const { error } = details as unknown as { readonly error: FailedTest };
  // A suite fails by its tests, which have been told.
  if (error.failureType === 'subtestsFailed') return;
  counts.failed += 1;
  if (folder !== undefined) folder.failed += 1;
  failures.push(`  ${placeOf(file, data.line)} ${path.at(-1)}\n`);
  yield `${isTerminal ? '\r\u001b[K' : ''}${failure({ path, file, line: data.line, error })}`;
}

interface FailedTest extends Error {
  readonly failureType?: string;
}

interface Failure {
  readonly path: readonly string[];
  readonly file: string;
  readonly line: number | undefined;
  readonly error: FailedTest;
}

const filesOf = (file: string): readonly string[] => input.entries[file] ?? [sourceOf(file)];

const placeOf = (file: string, line: number | undefined): string => {
  const files = filesOf(file);
  return files.length === 1 && line !== undefined ? `${files[0]}:${line}` : files.join(' ');
};

function failure({ path, file, line, error }: Failure): string {
  const { cause } = error;
  // A process that fails as a whole has its path for a name, and says why in what it prints.
  const isWhole = path.at(-1) === file;
  const said = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  const text = stripVTControlCharacters([said, ...(isWhole ? (outputs.get(file) ?? []) : [])].join('\n'));
  const pattern = isWhole ? '' : ` --test-name-pattern=${quoted(path.at(-1) ?? '')}`;
  return [
    '',
    paint('red', `✖ ${path.join(' › ')}`),
    `  ${placeOf(file, line)}`,
    ...named(text)
      .split('\n')
      .filter((one) => !/^ +at .*node:(?:internal|async_hooks)/.test(one))
      .map((one) => `  ${one}`),
    `  Run it alone: node --import tsx --test${pattern} ${filesOf(file).join(' ')}`,
    '',
    '',
  ].join('\n');
}

/** A name as a pattern for the runner, as one word for the shell. */
function quoted(name: string): string {
  const pattern = name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return `'${pattern.replaceAll("'", `'\\''`)}'`;
}

function* finished(entry: string, unfinished: Set<string>): Generator<string> {
  if (!unfinished.delete(entry)) return;
  for (const file of input.entries[entry] ?? []) {
    const name = folderOf(file);
    const folder = folders.get(name)!;
    folder.files -= 1;
    if (folder.files > 0 || isTerminal) continue;
    const failed = folder.failed === 0 ? '' : `, ${folder.failed} failed`;
    yield `${folder.failed === 0 ? '✔' : '✖'} ${name}: ${folder.tests} tests${failed}\n`;
  }
}

function* closing(): Generator<string> {
  if (isTerminal) yield '\r\u001b[K';
  if (failures.length > 1) yield* [`\n${failures.length} failures:\n`, ...failures];
}

const paint = (color: 'red', text: string): string => (isTerminal ? styleText(color, text) : text);
