import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../support/server.ts';
import { LOADER, runnable } from '../../support/source.ts';

test('a file is opened once a descriptor is given back, where all were taken', async () => {
  const folder = temporaryFolder();
  const source = JSON.stringify(
    runnable(new URL('../../../src/persistence/disk/file-system.ts', import.meta.url).href),
  );
  const script = `
    const { openSync, closeSync } = await import('node:fs');
    const { realFileSystem } = await import(${source});
    const taken = [];
    try { for (;;) taken.push(openSync('/dev/null')); } catch (error) { if (error.code !== 'EMFILE') throw error; }
    setTimeout(() => closeSync(taken.pop()), 60);
    const file = await realFileSystem.open(${JSON.stringify(join(folder, 'segment'))}, 'create');
    console.log(await file.size());`;
  const node = [process.execPath, ...LOADER, '--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)('bash', ['-c', 'ulimit -n 128; exec "$@"', 'bash', ...node]);
  assert.equal(stdout.trim(), '0');
  rmSync(folder, { recursive: true });
});
