import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { unclaimedFiles } from '../../src/start/unclaimed-files.ts';
import { temporaryFolder } from '../support/server.ts';

test('a start names the files and the folders that neither the core nor an add-on has', async () => {
  const folder = temporaryFolder();
  for (const name of ['journal', 'reports', 'ours']) mkdirSync(join(folder, name));
  for (const name of ['log.beginning', 'journl']) writeFileSync(join(folder, name), '');
  const found = await unclaimedFiles(folder, [{ name: 'ours', files: ['ours'] }]);
  assert.deepEqual([...found].sort(), ['journl', 'reports']);
});
