/** The files that `npm test` takes, and its output. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { chooseTests } from './support/chosen-tests.ts';
import { compile } from './support/compile.ts';
import { REPORTER_INPUT, type ReporterInput } from './support/reporter.ts';
import { closedAfter, ROOT_FOLDER } from './support/server.ts';

describe('the files of a run', () => {
  const files = ['test/cli/backup.test.ts', 'test/cli/walk.all.test.ts', 'test/main.test.ts'];

  it('are all but those that take long, which run where everything does or where they are named themselves', () => {
    assert.deepEqual(chooseTests(files, [], false), [files[0], files[2]]);
    assert.deepEqual(chooseTests(files, [], true), files);
    assert.deepEqual(chooseTests(files, ['test/cli/', 'test/cli/backup.test.ts'], false), [files[0]]);
    assert.deepEqual(chooseTests(files, ['test/cli'], true), [files[0], files[1]]);
    assert.deepEqual(chooseTests(files, ['test/cli/walk.all.test.ts'], false), [files[1]]);
  });

  it('are never all of them because a path is wrong', () => {
    assert.throws(
      () => chooseTests(files, ['test/cli', 'test/mian.test.ts'], false),
      /^Error: test\/mian\.test\.ts has no tests\. Did you mean test\/main\.test\.ts\?$/,
    );
  });
});

describe('the output of a run', () => {
  /** Runs a file of the text, as `test/made/made.test.ts`. */
  function run(text: string, ...options: readonly string[]): Promise<string> {
    const compiled = realpathSync(mkdtempSync(join(tmpdir(), 'flagstaff-test-')));
    const entry = join(compiled, 'test/made/made.test.js');
    mkdirSync(dirname(entry), { recursive: true });
    writeFileSync(entry, text);
    const input: ReporterInput = { compiled, entries: { [entry]: ['test/made/made.test.ts'] } };
    const reporter = join(compiled, 'reporter.mjs');
    writeFileSync(reporter, compile(readFileSync(join(ROOT_FOLDER, 'test/support/reporter.ts'), 'utf8')));
    const { NODE_TEST_CONTEXT: _, ...rest } = process.env;
    const env = { ...rest, [REPORTER_INPUT]: JSON.stringify(input) };
    const args = ['--test', `--test-reporter=${reporter}`, ...options, entry];
    return new Promise((resolve) => {
      execFile(process.execPath, args, { env }, (_error, output) => {
        rmSync(compiled, { recursive: true });
        resolve(output);
      });
    });
  }

  it('is a line for each folder, and the counts', async () => {
    const output = await run(`require('node:test').it('holds', () => {});`);
    assert.match(output, /^✔ test\/made: 1 tests\n# tests 1\n# suites 0\n# pass 1\n# fail 0\n/);
  });

  it('says of a failure where it is, what differs, and how to run it alone', async () => {
    const output = await run(`const { it } = require('node:test');
it("says 'one'", () => require('node:assert').equal(1, 2));
it('holds', () => {});`);
    const alone = `Run it alone: node --import tsx --test --test-name-pattern='says '\\''one'\\''' test/made/made.test.ts`;
    for (const part of [
      'test/made/made.test.ts:2\n',
      '1 == 2',
      alone,
      'test/made: 2 tests, 1 failed',
      '# fail 1',
    ])
      assert(output.includes(part), `${part}\nis missing in\n${output}`);
  });

  it('shows what a process printed that ended before its tests', async () => {
    const output = await run(`console.error('no such thing'); process.exit(3);`);
    assert.match(output, /no such thing/);
    assert.match(output, /Run it alone: node --import tsx --test test\/made\/made\.test\.ts/);
  });

  it('names the files of a process that hangs, and their command', async () => {
    const output = await run(`require('node:http').createServer().listen();`, '--test-timeout=500');
    assert.match(output, /made\.test\.ts:1\n {2}test timed out after 500ms\n/);
    assert.match(output, /Run it alone: node --import tsx --test test\/made\/made\.test\.ts/);
  });
});

it('what a test opened is closed at its end, the last first', async () => {
  const closed: string[] = [];
  const ends: (() => unknown)[] = [];
  const t = { after: (end: () => unknown) => void ends.push(end) };
  closedAfter(t, { close: () => closed.push('closed') });
  closedAfter(t, { stop: () => closed.push('stopped') });
  closedAfter(t, { kill: () => closed.push('killed') });
  for (const end of ends) await end();
  assert.deepEqual(closed, ['killed', 'stopped', 'closed']);
});
