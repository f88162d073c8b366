import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLog } from '../../src/process/log.ts';

it('lines of the log name their level and say the time as ISO 8601 in UTC', () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  log.warn({ port: 1 }, 'one');
  log.debug({}, 'below the level');
  const [line = '{}', ...others] = lines;
  assert.deepEqual(others, []);
  const { level, time, ...rest } = JSON.parse(line);
  assert.equal(level, 'warn');
  assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(rest, { port: 1, msg: 'one' });
});
