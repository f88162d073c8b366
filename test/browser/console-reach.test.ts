/** Each operation has a place in the console, by its sources; `console-reach.all.test.ts` goes to all of these places. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { EXCEPTIONS, operationsOf } from '../support/browser/operations.ts';
import { ROOT_FOLDER, serverFor } from '../support/server.ts';

const CONSOLE = join(ROOT_FOLDER, 'web/console');

it('each operation of the administrative interface is in the sources of the console, or there is a reason', async (t) => {
  const server = await serverFor(t);
  const { all, ids } = await operationsOf(server);
  const sources = readdirSync(CONSOLE, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.jsx?$/.test(name))
    .map((name) => readFileSync(join(CONSOLE, name), 'utf8'))
    .join('\n');
  const isNamed = (path: string): boolean => {
    const words = path
      .replace('/api/admin/', '')
      .split('/')
      .filter((part) => !part.startsWith('{'));
    return new RegExp(`\\b${words.at(-1) ?? ''}\\b`).test(sources);
  };
  const missing = all.filter(({ id, described }) => !(id in EXCEPTIONS) && !isNamed(described));
  assert.deepEqual(
    missing.map(({ id }) => id),
    [],
  );
  assert.deepEqual(
    Object.keys(EXCEPTIONS).filter((id) => !ids.includes(id)),
    [],
    'each exception is an operation',
  );
});
