/** The page of limits says what the code does, and its settings exist. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { ConfigError } from '../../src/process/settings.ts';
import { readConfig } from '../../src/start/config.ts';
import { ROOT_FOLDER } from '../support/server.ts';
import { LIMITS_PAGE, limitsPage } from './page.ts';
import { DAILY_WRITES, SECTIONS } from './rows.ts';

it('docs/limits.md is what the table of limits says', () => {
  assert.equal(
    readFileSync(LIMITS_PAGE, 'utf8'),
    limitsPage(),
    'run node --import tsx test/limits/render.ts',
  );
});

it('each setting of the page exists, and refuses what is no number', () => {
  const settings = SECTIONS.flatMap(({ rows }) => rows.flatMap(({ setting }) => setting ?? []));
  assert(settings.length > 8, settings.join());
  for (const setting of settings) {
    assert.throws(
      () => readConfig({ [setting]: 'x' }),
      (error) => error instanceof ConfigError && error.message.startsWith(setting),
    );
  }
});

it('no caller but an Admin can make the server write more than 1 GB in a day', () => {
  for (const { who, bytes } of DAILY_WRITES) assert(bytes <= 1e9, `${who}: ${bytes} bytes`);
});

it('README.md, docs/README.md and the description of the interface lead to the page', () => {
  for (const path of ['README.md', 'docs/README.md', 'src/http/description/document.ts']) {
    assert.match(readFileSync(join(ROOT_FOLDER, path), 'utf8'), /limits\.md/, path);
  }
});
