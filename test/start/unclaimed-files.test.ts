import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { realFileSystem } from '../../src/persistence/disk/file-system.ts';
import { ADDONS } from '../../src/start/addons.ts';
import { unclaimedFiles } from '../../src/start/unclaimed-files.ts';
import { ROOT_FOLDER, temporaryFolder } from '../support/server.ts';

test('a start knows every file that data/README.md lists, and names every other', async () => {
  const page = readFileSync(join(ROOT_FOLDER, 'data/README.md'), 'utf8');
  const firstColumn = [...page.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = '']) => cell.split(', '));
  const listed = new Set(firstColumn.map((name) => name.replaceAll('`', '').split('/')[0]!));
  assert(listed.size > 10);
  const folder = temporaryFolder();
  for (const name of listed) mkdirSync(join(folder, name.replace('<time>', '2026')));
  writeFileSync(join(folder, 'README.md'), page);
  assert.deepEqual(await unclaimedFiles(realFileSystem, folder, ADDONS), []);
  writeFileSync(join(folder, 'journl'), '');
  assert.deepEqual(await unclaimedFiles(realFileSystem, folder, ADDONS), ['journl']);
});
