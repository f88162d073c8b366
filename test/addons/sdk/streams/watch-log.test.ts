/** The visible changes that are cached, and what a client has missed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WatchLog } from '../../../../src/addons/sdk/watch-log.ts';

function logOf(ids: readonly number[], charactersMax?: number): WatchLog {
  const log = new WatchLog(10, charactersMax === undefined ? undefined : () => charactersMax);
  for (const id of ids) log.append({ id, changes: `${id}`.padStart(10, ' ') });
  return log;
}

const missed = (log: WatchLog, id: number): readonly number[] | null =>
  log.since(id)?.map((frame) => frame.id) ?? null;

describe('the log of visible changes', () => {
  it('tells what came after the id that a client has seen', () => {
    const log = logOf([12, 15, 20]);
    assert.equal(log.newestId, 20);
    assert.deepEqual(
      [10, 12, 15, 20].map((id) => missed(log, id)),
      [[12, 15, 20], [15, 20], [20], []],
    );
  });

  it('knows no id that it gave to nobody, whatever lies around it', () => {
    const log = logOf([12, 15, 20]);
    for (const id of [-1, 0, 9, 11, 13, 19, 21, Number.NaN]) assert.equal(missed(log, id), null, String(id));
  });

  it('drops the oldest changes beyond its bound, and goes on from where they ended', () => {
    const log = logOf([12, 15, 20, 21], 25);
    assert(log.characters <= 25);
    assert.deepEqual(
      [10, 12, 15, 20].map((id) => missed(log, id)),
      [null, null, [20, 21], [21]],
    );
  });

  it('keeps the newest changes whatever their size, until the next ones', () => {
    const log = logOf([12], 5);
    assert.deepEqual(missed(log, 10), [12]);
    log.append({ id: 13, changes: 'x' });
    assert.deepEqual([missed(log, 10), missed(log, 12)], [null, [13]]);
  });
});
