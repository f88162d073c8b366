import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { LOADER } from '../../support/source.ts';

test('a stop waits for what is under way, though nothing else keeps the process alive', () => {
  const module = new URL('../../../src/addons/integrations/sending', import.meta.url).href;
  const source = `
    const { keptAlive } = await import(${JSON.stringify(module)} + ${JSON.stringify(import.meta.url.slice(-3))});
    await keptAlive(new Promise((resolve) => setTimeout(resolve, 50).unref()));
    console.log('closed');
  `;
  const { stdout, status } = spawnSync(
    process.execPath,
    [...LOADER, '--input-type=module', '--eval', source],
    { encoding: 'utf8' },
  );
  assert.deepEqual({ stdout, status }, { stdout: 'closed\n', status: 0 });
});
