/** Counts of evaluations: what they add up to, what is folded, and what is dropped at the bound. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DAY_MS, HOUR_MS, type PeriodCount, UsageTable } from '../../../src/addons/usage/usage-table.ts';
import { liveHeapBytes } from '../../support/live-bytes.ts';
import { seededRandom } from '../../support/seeded-random.ts';

/** A full day, so that hours are easy to count. */
const NOW_MS = Date.UTC(2026, 0, 10, 12);
const SHOP = { appName: 'shop', environment: 'production' };
const NONE = new Map<string, number>();

const counts = (flag: string, yes: number, variants: ReadonlyMap<string, number> = NONE) => [
  { flag, yes, no: 1, variants: [...variants] },
];

function table(bytesMax = 2 ** 20): UsageTable {
  return new UsageTable({ bytesMax });
}

function all(of: UsageTable, flag = 'a', kind: 'hour' | 'day' = 'hour'): PeriodCount[] {
  return [...of.countsOf(flag, kind, 0)];
}

describe('counts of evaluations', () => {
  it('are summed by flag, application, environment and hour', () => {
    const usage = table();
    usage.add(SHOP, NOW_MS, counts('a', 2, new Map([['blue', 2]])), NOW_MS + 1);
    usage.add(SHOP, NOW_MS, counts('a', 3, new Map([['red', 3]])), NOW_MS + 2);
    usage.add({ ...SHOP, environment: 'test' }, NOW_MS, counts('a', 5), NOW_MS + 3);
    usage.add(SHOP, NOW_MS + HOUR_MS, counts('a', 7), NOW_MS + HOUR_MS);
    assert.deepEqual(all(usage), [
      { startMs: NOW_MS + HOUR_MS, ...SHOP, yes: 7, no: 1, variants: null },
      {
        startMs: NOW_MS,
        ...SHOP,
        yes: 5,
        no: 2,
        variants: new Map([
          ['blue', 2],
          ['red', 3],
        ]),
      },
      { startMs: NOW_MS, appName: 'shop', environment: 'test', yes: 5, no: 1, variants: null },
    ]);
    assert.deepEqual(all(usage, 'b'), []);
  });

  it('count as of now when the clock of the client is a day off or ahead', () => {
    const usage = table();
    for (const startMs of [NOW_MS - DAY_MS, NOW_MS + 1, Number.NaN]) {
      usage.add(SHOP, startMs, counts('a', 1), NOW_MS);
    }
    usage.add(SHOP, NOW_MS - DAY_MS + 1, counts('a', 1), NOW_MS);
    assert.deepEqual(
      all(usage).map(({ startMs, yes }) => [startMs, yes]),
      [
        [NOW_MS, 3],
        [NOW_MS - DAY_MS, 1],
      ],
    );
  });

  it('become those of days after two days, without losing one, and go after 90', () => {
    const usage = table();
    const firstDayMs = Date.UTC(2026, 0, 1);
    const random = seededRandom(11);
    const expected = new Map<number, number>();
    for (let nowMs = firstDayMs; nowMs < firstDayMs + 100 * DAY_MS; nowMs += 7 * HOUR_MS) {
      const yes = random.below(1000);
      usage.add(SHOP, nowMs, counts('a', yes, new Map([['v', yes]])), nowMs);
      usage.advance(nowMs);
      const day = nowMs - (nowMs % DAY_MS);
      expected.set(day, (expected.get(day) ?? 0) + yes);
    }
    const sums = new Map<number, number>();
    for (const { startMs, yes, variants } of [...all(usage), ...all(usage, 'a', 'day')]) {
      const day = startMs - (startMs % DAY_MS);
      sums.set(day, (sums.get(day) ?? 0) + yes);
      assert.equal(variants?.get('v'), yes);
    }
    const kept = [...expected].filter(([day]) => day >= firstDayMs + 9 * DAY_MS);
    assert.deepEqual(
      [...sums].sort((a, b) => a[0] - b[0]),
      kept,
    );
    assert(all(usage).every(({ startMs }) => startMs >= firstDayMs + 97 * DAY_MS - HOUR_MS));
  });

  it('stay below the bound: the oldest hour goes first, and what does not fit into the newest is not counted', () => {
    const bytesMax = 20_000;
    const usage = table(bytesMax);
    for (let hour = 0; hour < 10; hour += 1) {
      const nowMs = NOW_MS + hour * HOUR_MS;
      for (let flag = 0; flag < 10; flag += 1) usage.add(SHOP, nowMs, counts(`f${flag}`, 1), nowMs);
      assert(usage.bytes <= bytesMax);
    }
    const hours = all(usage, 'f0').map(({ startMs }) => (startMs - NOW_MS) / HOUR_MS);
    assert.deepEqual(hours, [9, 8, 7, 6]);
    assert.equal(usage.droppedCount, 0);
    const last = NOW_MS + 9 * HOUR_MS;
    for (let flag = 0; flag < 1000; flag += 1) usage.add(SHOP, last, counts(`g${flag}`, 1), last);
    assert(usage.bytes <= bytesMax);
    assert(usage.droppedCount > 900);
    assert.deepEqual(
      all(usage, 'f0').map(({ startMs }) => startMs),
      [last],
      'the newest hour keeps what it had',
    );
  });

  it('take names of variants only up to a number and a length', () => {
    const usage = table();
    const many = new Map(Array.from({ length: 200 }, (_, at) => [`v${at}`, 1]));
    usage.add(SHOP, NOW_MS, counts('a', 1, many.set('x'.repeat(101), 1)), NOW_MS);
    const [{ variants }] = all(usage) as [PeriodCount];
    assert.equal(variants?.size, 51);
    assert(!variants.has('x'.repeat(101)));
  });

  it('are the same after they were saved as rows and loaded', () => {
    const usage = table();
    usage.add(SHOP, NOW_MS, counts('a', 2, new Map([['__proto__', 2]])), NOW_MS);
    usage.add(SHOP, NOW_MS, counts('b', 2), NOW_MS);
    const loaded = table();
    for (const period of usage.periods()) for (const row of period.rows()) loaded.period(period).load(row);
    for (const flag of ['a', 'b']) assert.deepEqual(all(loaded, flag), all(usage, flag));
    assert.equal(
      [...loaded.periods()].some((period) => period.takeChanged()),
      false,
    );
    assert.equal(loaded.bytes, usage.bytes);
  });

  it('take as much memory as is estimated, and not much less', () => {
    for (const apps of [1, 10]) {
      const before = liveHeapBytes();
      const usage = table(2 ** 30);
      for (let at = 0; at < 30 * apps; at += 1) {
        const nowMs = NOW_MS + Math.floor(at / apps) * HOUR_MS;
        const sent = Array.from({ length: 500 }, (_, flag) => counts(`flag-${flag}`, 1_000 + flag)).flat();
        usage.add({ ...SHOP, appName: `app-${at % apps}` }, nowMs, sent, nowMs);
      }
      const share = (liveHeapBytes() - before) / usage.bytes;
      assert(share > 0.5 && share < 1.1, `${share} of the estimate with ${apps} applications`);
      assert.equal(usage.droppedCount, 0);
    }
  });
});
