/** The core without any add-on: their folders, the tests that import them, and their lines in the list are taken away. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { it } from 'node:test';
import { ROOT_FOLDER } from './support/server.ts';

const IMPORT = /(?:\bfrom|\bimport\(|\bimport)\s*'(\.[^']+)'/g;
const ADDON_LIST = 'src/start/addons.ts';
const FOLDERS = ['src', 'test', 'bench', 'web'];

/** Paths of sources, each with those that it imports. */
function importsOf(root: string): ReadonlyMap<string, readonly string[]> {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );
  return new Map(
    files.map((file) => {
      const imports = [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)];
      return [file, imports.map(([, target = '']) => normalize(join(dirname(file), target)))];
    }),
  );
}

/** Files of add-ons, and whatever imports one of them, but for the list. */
function filesOfAddons(imports: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const gone = new Set([...imports.keys()].filter((file) => /^(?:src|test)\/addons\//.test(file)));
  for (let before = 0; before < gone.size; ) {
    before = gone.size;
    for (const [file, targets] of imports)
      if (file !== ADDON_LIST && targets.some((target) => gone.has(target))) gone.add(file);
  }
  return gone;
}

it('the core compiles without any add-on', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'flagstaff-core-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const name of [...FOLDERS, 'package.json', 'tsconfig.json'])
    cpSync(join(ROOT_FOLDER, name), join(root, name), { recursive: true });
  symlinkSync(join(ROOT_FOLDER, 'node_modules'), join(root, 'node_modules'));
  const gone = filesOfAddons(importsOf(root));
  assert.deepEqual(
    [...gone].filter((file) => file.startsWith('src/') && !file.startsWith('src/addons/')),
    [],
  );
  for (const file of gone) rmSync(join(root, file));
  const list = readFileSync(join(root, ADDON_LIST), 'utf8');
  const emptied = list
    .replaceAll(/^import .* from '\.\.\/addons\/.*';\n/gm, '')
    .replace(/(const ADDONS: readonly Addon\[\] = )\[.*?^\];/ms, '$1[];');
  writeFileSync(join(root, ADDON_LIST), emptied);
  const tsc = join(ROOT_FOLDER, 'node_modules/typescript/bin/tsc');
  const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', root, '--incremental', 'false'], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout);
});
