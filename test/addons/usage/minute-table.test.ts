/** Counts by the minute: where a report counts, what is forgotten, and what there is room for. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  MINUTE_MS,
  MINUTES_SHOWN,
  type MinuteSums,
  MinuteTable,
} from '../../../src/addons/usage/minute-table.ts';
import { liveHeapBytes } from '../../support/live-bytes.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const NOW_MS = Date.UTC(2026, 0, 10, 12, 30);
const MIB = 2 ** 20;

const counts = (flag: string, yes: number, no = 0) => [{ flag, yes, no, variants: [] }];
const minutesAgo = (count: number): number => NOW_MS - count * MINUTE_MS;

/** By environment: minutes before now, yes and no, of those in which something was counted. */
function shown(table: MinuteTable, nowMs = NOW_MS, isWanted = (_: string) => true) {
  const sums: MinuteSums = new Map();
  for (const _ of table.sum(sums, nowMs, isWanted));
  return [...sums].flatMap(([environment, cells]) =>
    Array.from({ length: MINUTES_SHOWN }, (_, at) => [
      ...[environment, MINUTES_SHOWN - 1 - at, cells[2 * at] ?? 0, cells[2 * at + 1] ?? 0],
    ]).filter(([, , yes, no]) => Number(yes) + Number(no) > 0),
  );
}

describe('counts by the minute', () => {
  it('are summed over applications in the minute in which their span ended', () => {
    const table = new MinuteTable({ bytesMax: MIB });
    table.add('production', minutesAgo(2) + 59_999, counts('a', 2, 1), NOW_MS);
    table.add('production', minutesAgo(2), counts('a', 3), NOW_MS);
    table.add('production', minutesAgo(60), counts('b', 5), NOW_MS);
    table.add('test', NOW_MS, counts('a', 7), NOW_MS);
    assert.deepEqual(shown(table), [
      ['production', 60, 5, 0],
      ['production', 2, 5, 1],
      ['test', 0, 7, 0],
    ]);
    assert.deepEqual(
      shown(table, NOW_MS, (flag) => flag === 'b'),
      [['production', 60, 5, 0]],
    );
  });

  it('count as of now when the clock of the client is an hour off or ahead', () => {
    const table = new MinuteTable({ bytesMax: MIB });
    for (const stopMs of [minutesAgo(64), minutesAgo(-1), Number.NaN, 0])
      table.add('test', stopMs, counts('a', 1), NOW_MS);
    assert.deepEqual(shown(table), [['test', 0, 4, 0]]);
  });

  it('are those of the last hour, whatever comes in between', () => {
    const table = new MinuteTable({ bytesMax: MIB });
    const random = seededRandom(7);
    const expected = new Map<number, number>();
    let nowMs = NOW_MS;
    for (let at = 0; at < 2_000; at += 1) {
      nowMs += random.below(100) === 0 ? random.below(200) * MINUTE_MS : random.below(90_000);
      const minute = Math.floor(nowMs / MINUTE_MS) - random.below(20);
      const yes = 1 + random.below(9);
      table.add(
        'test',
        minute * MINUTE_MS + random.below(MINUTE_MS),
        counts(`f${random.below(700)}`, yes),
        nowMs,
      );
      const counted = minute * MINUTE_MS > nowMs ? Math.floor(nowMs / MINUTE_MS) : minute;
      expected.set(counted, (expected.get(counted) ?? 0) + yes);
      const now = Math.floor(nowMs / MINUTE_MS);
      const kept = [...expected].filter(([one]) => one > now - MINUTES_SHOWN).sort(([a], [b]) => a - b);
      assert.deepEqual(
        shown(table, nowMs),
        kept.map(([one, sum]) => ['test', now - one, sum, 0]),
      );
    }
  });

  it('of flags that were not evaluated for an hour make room, and nothing grows beyond the bound', () => {
    const table = new MinuteTable({ bytesMax: MIB });
    const many = Array.from({ length: 5_000 }, (_, at) => counts(`f${at}`, 1)).flat();
    table.add('test', NOW_MS, many, NOW_MS);
    assert(table.bytes <= MIB);
    const [[, , kept] = []] = shown(table);
    assert(Number(kept) > 1_000 && Number(kept) < 2_000, `${kept} flags in a MiB`);
    table.add('test', NOW_MS, counts('late', 1), NOW_MS);
    assert.deepEqual(
      shown(table, NOW_MS, (flag) => flag === 'late'),
      [],
    );
    const laterMs = NOW_MS + 64 * MINUTE_MS;
    table.add('test', laterMs, counts('late', 1), laterMs);
    assert.deepEqual(shown(table, laterMs), [['test', 0, 1, 0]]);
    assert(table.bytes <= MIB);
  });

  it('stop at the largest number that they have room for', () => {
    const table = new MinuteTable({ bytesMax: MIB });
    for (let at = 0; at < 2; at += 1)
      table.add('test', NOW_MS, counts('a', Number.MAX_SAFE_INTEGER, 1), NOW_MS);
    assert.deepEqual(shown(table), [['test', 0, 2 ** 32 - 1, 2]]);
  });

  it('begin anew when a note of long ago is read, or the clock was set back', () => {
    const table = new MinuteTable({ bytesMax: MIB });
    table.add('test', NOW_MS, counts('a', 1), NOW_MS);
    table.add('test', minutesAgo(500), counts('a', 100), minutesAgo(500));
    assert.deepEqual(shown(table), [['test', 0, 1, 0]]);
    assert.deepEqual(shown(table, minutesAgo(500)), []);
  });

  it('take as much memory as is estimated, and not much less', () => {
    const bytes = () => liveHeapBytes() + process.memoryUsage().arrayBuffers;
    const before = bytes();
    const table = new MinuteTable({ bytesMax: 64 * MIB });
    for (const environment of ['production', 'test']) {
      for (let at = 0; at < 20_000; at += 500) {
        const sent = Array.from({ length: 500 }, (_, index) => counts(`flag-${at + index}`, 1)).flat();
        table.add(environment, NOW_MS, sent, NOW_MS);
      }
    }
    const share = (bytes() - before) / table.bytes;
    assert(share > 0.5 && share < 1.1, `${share} of the estimate`);
    assert(table.bytes < 24 * MIB, 'the counts of 20,000 flags in two environments');
    assert.deepEqual(shown(table), [
      ['production', 0, 20_000, 0],
      ['test', 0, 20_000, 0],
    ]);
  });
});
