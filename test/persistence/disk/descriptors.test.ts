import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../support/server.ts';
import { LOADER, runnable } from '../../support/source.ts';

const SOURCE = JSON.stringify(
  runnable(new URL('../../../src/persistence/disk/file-system.ts', import.meta.url).href),
);

/** Resolves with what a process prints that has taken all its descriptors, as `taken`, and then runs the lines. */
async function outputWithout(descriptors: string): Promise<string> {
  const script = `
    const { openSync, closeSync } = await import('node:fs');
    const { createFileSystem, realFileSystem } = await import(${SOURCE});
    const taken = [];
    try { for (;;) taken.push(openSync('/dev/null')); } catch (error) { if (error.code !== 'EMFILE') throw error; }
    ${descriptors}`;
  const node = [process.execPath, ...LOADER, '--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)('bash', ['-c', 'ulimit -n 128; exec "$@"', 'bash', ...node]);
  return stdout.trim();
}

test('a file is opened once a descriptor is given back, where all were taken', async () => {
  const folder = temporaryFolder();
  const output = await outputWithout(`
    setTimeout(() => closeSync(taken.pop()), 60);
    const file = await realFileSystem.open(${JSON.stringify(join(folder, 'segment'))}, 'create');
    console.log(await file.size());`);
  assert.equal(output, '0');
});

test('a file fails to open at once where all descriptors are taken and nobody may wait, as in a process that stops', async () => {
  const output = await outputWithout(`
    let asked = 0;
    const fs = createFileSystem(() => (asked += 1) === 0);
    await fs.open('/dev/null', 'read').catch(({ code }) => console.log(code, asked));`);
  assert.equal(output, 'EMFILE 1');
});
