/** Files of flags that are wrong, or made to do harm. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { readFlagFile } from '../../../src/addons/flags-as-code/read-files.ts';
import { ROOT_FOLDER, temporaryFolder } from '../../support/server.ts';
import { LOADER, runnable } from '../../support/source.ts';
import { SCHEMA_PATH, schemaText } from './schema.ts';

const HEAD = 'project: default\nflags:\n';
const many = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('');

const REFUSED: readonly (readonly [what: string, text: string, line: number, says: RegExp])[] = [
  ['a file that is none', 'hello', 1, /./],
  ['nothing', '', 1, /./],
  [
    'a key that stands twice',
    `${HEAD}  - name: a\n    type: release\n    type: experiment\n`,
    5,
    /duplicated mapping key/,
  ],
  ['a key that is misspelt', `${HEAD}  - name: a\n    descripton: b\n`, 4, /descripton/],
  ['a flag that stands twice', `${HEAD}  - name: a\n  - name: a\n`, 4, /different/],
  ['a wrong value', `${HEAD}  - name: a\n  - name: b\n    type: other\n`, 5, /one of release/],
  [
    'a wrong constraint',
    `${HEAD}  - name: a\n    environments:\n      - name: e\n        strategies:\n          - name: default\n            constraints:\n              - {contextName: a, operator: IN}\n`,
    9,
    /values is required/,
  ],
  ['a tag of a language', `${HEAD}  - name: !!js/function "a"\n`, 3, /unknown scalar tag/],
  ['a tag of its own', `${HEAD}  - !flag {name: a}\n`, 3, /unknown mapping tag/],
  ['two documents', `${HEAD}  []\n---\n${HEAD}  []\n`, 1, /single document/],
  ['broken YAML', `${HEAD}  - name: "a\n`, 4, /./],
  [
    'aliases of aliases',
    `a: &a [x,x,x,x,x,x,x,x,x]\n${many(9, (at) => `${'bcdefghij'[at]}: &${'bcdefghij'[at]} [${Array.from({ length: 9 }, () => `*${'abcdefghi'[at]}`).join(',')}]\n`)}`,
    1,
    /aliases make more than 100,000 values/,
  ],
  ['an alias of itself', `${HEAD}  - &a {name: a, tags: [*a]}\n`, 1, /aliases make more than/],
  ['brackets within brackets', `${HEAD}${'['.repeat(50_000)}`, 3, /nesting exceeded/],
  ['10⁶ keys', many(1_000_000, (at) => `k${at}: 1\n`).slice(0, 4_000_000), 50_001, /at most 100,000 values/],
];

describe('files of flags', () => {
  for (const [what, text, line, says] of REFUSED) {
    it(`${what} ends with 65 and one sentence with file and line`, () => {
      assert.throws(
        () => readFlagFile('flags.yaml', text),
        ({ message, exitCode }: Error & { exitCode: number }) => {
          assert.equal(exitCode, 65);
          assert.match(message, new RegExp(`^flags\\.yaml:${line}: [^\\n]+$`));
          assert.match(message, says);
          return true;
        },
      );
    });
  }

  it('few aliases, comments and JSON are read', () => {
    const text = `project: default # the only one\nflags:\n  - name: a\n    environments:\n      - {name: e, strategies: &s [{name: default}]}\n      - {name: f, strategies: *s}\n`;
    const { file } = readFlagFile('flags.yaml', text);
    assert.deepEqual(file.flags[0]?.environments[0]?.strategies, file.flags[0]?.environments[1]?.strategies);
    assert.equal(
      readFlagFile('flags.json', '{"project": "default", "flags": [{"name": "a"}]}').file.flags[0]?.name,
      'a',
    );
  });

  it('64 MiB, and a file at the bounds, take at most 200 MB', async () => {
    const folder = temporaryFolder();
    const [large, hostile] = [join(folder, 'large.yaml'), join(folder, 'hostile.yaml')];
    writeFileSync(large, Buffer.alloc(64 * 1024 * 1024, 'k: 1\n'));
    writeFileSync(
      hostile,
      many(49_999, (at) => `k${at}: 1\n`),
    );
    const script = `
      const { textOf, readFlagFile } = await import(${JSON.stringify(runnable(new URL('../../../src/addons/flags-as-code/read-files.ts', import.meta.url).href))});
      try { readFlagFile(process.argv[1], textOf(process.argv[1])); } catch (error) { console.log(error.exitCode, error.message); }
      // Not \`maxRSS\`: it is at least what the process had that started this one.
      const { readFileSync } = await import('node:fs');
      console.log(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1] * 1024);`;
    for (const path of [large, hostile]) {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [...LOADER, '--input-type=module', '-e', script, path],
        { cwd: ROOT_FOLDER },
      );
      const [said = '', bytes] = stdout.trim().split('\n');
      assert.match(said, /^65 .*\.yaml:\d+: /);
      assert(Number(bytes) < 200_000_000, `${path} took ${bytes} bytes`);
    }
  });

  it('the published JSON Schema is that of the reader, and accepts the file of the manual', () => {
    assert.deepEqual(
      JSON.parse(readFileSync(SCHEMA_PATH, 'utf8')),
      JSON.parse(schemaText()),
      'node --import tsx test/addons/flags-as-code/schema.ts',
    );
    const validate = new Ajv2020({ strict: false }).compile({
      ...JSON.parse(schemaText()),
      $schema: undefined,
    });
    const page = readFileSync(join(ROOT_FOLDER, 'docs/flags-as-code.md'), 'utf8');
    const example = /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
    assert(validate(parse(example)), JSON.stringify(validate.errors));
    assert.equal(readFlagFile('flags.yaml', example.replaceAll(/^ {3}/gm, '')).file.flags.length, 1);
    assert(!validate({ project: 'default', flags: [{ name: 'a', descripton: 'b' }] }));
  });
});
