/** The page of limits says what the code does, and its settings exist. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { getHeapStatistics } from 'node:v8';
import {
  memoryBudgetMax,
  OTHERS_BYTES,
  WORK_BYTES_MIN,
  YOUNG_BYTES,
} from '../../src/actors/memory-budget.ts';
import { createLog } from '../../src/process/log.ts';
import { ConfigError } from '../../src/process/settings.ts';
import { configureAddons } from '../../src/start/addons.ts';
import { readConfig } from '../../src/start/config.ts';
import { ROOT_FOLDER } from '../support/server.ts';
import { LIMITS_PAGE, limitsPage, OLD_SPACES_MIB } from './page.ts';
import { DAILY_WRITES, heapShares, OTHER_PARTS, SECTIONS, totalOf } from './rows.ts';

it('docs/limits.md is what the table of limits says', () => {
  assert.equal(
    readFileSync(LIMITS_PAGE, 'utf8'),
    limitsPage(),
    'run node --import tsx test/limits/render.ts',
  );
});

it('each setting of the page exists, and refuses what is no number', async () => {
  const settings = SECTIONS.flatMap(({ rows }) => rows.flatMap(({ setting }) => setting ?? []));
  assert(settings.length > 8, settings.join());
  for (const setting of settings) {
    const env = { REPLICATION_URL: 'nats://log:4222', REPLICATION_CLUSTER: 'test', [setting]: 'x' };
    await assert.rejects(
      async () => configureAddons(env, readConfig(env), createLog('silent')),
      (error) => error instanceof ConfigError && error.message.startsWith(setting),
    );
  }
});

it('the parts of the memory add up to no more than the heap, with default settings and with the largest budget of the state', () => {
  assert(totalOf(OTHER_PARTS) <= OTHERS_BYTES, `${totalOf(OTHER_PARTS)} bytes`);
  for (const mib of [...OLD_SPACES_MIB, 768, 1024, 2048, 16_384]) {
    const oldSpaceBytes = mib * 2 ** 20;
    const most = memoryBudgetMax(oldSpaceBytes + YOUNG_BYTES);
    for (const state of [undefined, 1, most]) {
      const { work } = heapShares(oldSpaceBytes, state);
      assert(work >= WORK_BYTES_MIN, `${mib} MiB and a budget of ${state}: ${work} bytes for requests`);
    }
  }
});

it('a start refuses a budget of the state that does not fit into the heap beside the rest, and says what does', () => {
  const most = memoryBudgetMax(getHeapStatistics().heap_size_limit);
  assert.equal(readConfig({ MEMORY_BUDGET_BYTES: String(most) }).memoryBudgetBytes, most);
  assert.throws(
    () => readConfig({ MEMORY_BUDGET_BYTES: String(most + 1) }),
    new RegExp(`MEMORY_BUDGET_BYTES must be a whole number from 1 to ${most}, not`),
  );
});

it('no caller but an Admin can make the server write more than 1 GB in a day', () => {
  for (const { who, bytes } of DAILY_WRITES) assert(bytes <= 1e9, `${who}: ${bytes} bytes`);
});

it('README.md, docs/README.md and the description of the interface lead to the page', () => {
  for (const path of ['README.md', 'docs/README.md', 'src/http/description/document.ts']) {
    assert.match(readFileSync(join(ROOT_FOLDER, path), 'utf8'), /limits\.md/, path);
  }
});
