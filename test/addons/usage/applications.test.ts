/** The applications that reported, and that their number and bytes are bounded whatever they call themselves. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { APPLICATIONS_MAX, Applications, INSTANCES_MAX } from '../../../src/addons/usage/applications.ts';
import { LastSeen } from '../../../src/addons/usage/last-seen.ts';

const NOW_MS = Date.UTC(2026, 0, 10);
const DAY_MS = 24 * 3_600_000;
const REPORT = {
  appName: 'shop',
  environment: 'production',
  instanceId: 'i',
  sdkVersion: 'sdk:1',
  strategies: ['default'],
  projects: ['default'],
  address: '198.51.100.7',
};

const applications = (bytesMax = 2 ** 30) => new Applications({ bytesMax });

describe('applications', () => {
  it('are known by their reports, and keep what a later report does not tell', () => {
    const known = applications();
    known.saw(REPORT, NOW_MS);
    known.saw({ ...REPORT, strategies: null, sdkVersion: null, projects: ['other'] }, NOW_MS + 1);
    const shop = known.get('shop');
    assert(shop !== undefined);
    assert.deepEqual([shop.createdAtMs, shop.seenAtMs, shop.strategies], [NOW_MS, NOW_MS + 1, ['default']]);
    const production = shop.environments.get('production');
    assert.deepEqual([...(production?.projects ?? [])], ['default', 'other']);
    assert.equal(production?.instances.get('i')?.sdkVersion, 'sdk:1');
  });

  it('that reported longest ago go when there are too many, or after 90 days', () => {
    const known = applications();
    for (let at = 0; at < APPLICATIONS_MAX; at += 1) known.saw({ ...REPORT, appName: `a${at}` }, NOW_MS);
    known.saw({ ...REPORT, appName: 'a0' }, NOW_MS + DAY_MS);
    known.saw({ ...REPORT, appName: 'new' }, NOW_MS + DAY_MS);
    assert.equal(known.size, APPLICATIONS_MAX);
    assert(known.get('a0') !== undefined && known.get('a1') === undefined);
    known.advance(NOW_MS + 90 * DAY_MS);
    assert.deepEqual(
      [...known.values()].map(({ appName }) => appName),
      ['a0', 'new'],
    );
  });

  it('take no more than their bytes, whatever names, instances and texts are sent', () => {
    const bytesMax = 200_000;
    const known = applications(bytesMax);
    const long = 'x'.repeat(10_000);
    for (let at = 0; at < 2_000; at += 1) {
      const report = { ...REPORT, appName: `app${at % 20}`, instanceId: `${at}${long}`, sdkVersion: long };
      known.saw({ ...report, address: long, strategies: Array(500).fill(`${at}${long}`) }, NOW_MS + at);
      assert(known.bytes <= bytesMax);
    }
    assert(known.size > 0);
    for (const { environments } of known.values()) {
      for (const { instances } of environments.values()) {
        assert(instances.size <= INSTANCES_MAX);
        assert([...instances.keys()].every((id) => id.length <= 200));
      }
    }
  });

  it('show up to 20 flags that do not exist', () => {
    const known = applications();
    known.sawUnknownFlag('shop', 'production', 'early');
    known.saw(REPORT, NOW_MS);
    for (let at = 0; at < 100; at += 1) known.sawUnknownFlag('shop', 'production', `f${at}`);
    known.sawUnknownFlag('shop', 'other', 'f');
    assert.equal(known.get('shop')?.environments.get('production')?.unknownFlags.size, 20);
  });

  it('are the same after they were saved as rows and loaded', () => {
    const known = applications();
    known.saw(REPORT, NOW_MS);
    known.saw({ ...REPORT, instanceId: null, environment: 'test' }, NOW_MS + 1);
    known.sawUnknownFlag('shop', 'test', 'f');
    const loaded = applications();
    for (const row of known.rows()) loaded.load(row);
    assert.deepEqual(loaded.get('shop'), known.get('shop'));
    assert.deepEqual([loaded.bytes, loaded.takeChanged()], [known.bytes, false]);
  });
});

describe('a row that no application has', () => {
  it('is refused, and is not among the others', () => {
    const loaded = applications();
    assert.throws(() => loaded.load(['odd', 1, 1, 7, []] as never));
    assert.deepEqual([[...loaded.rows()], loaded.bytes], [[], 0]);
    loaded.advance(NOW_MS);
  });
});

const UNCOUNTED = { now: () => NOW_MS, hour: () => new Map(), isFlag: () => true, isToken: () => true };

describe('times of use', () => {
  it('move in steps of a minute, and each step makes another object', () => {
    const seen = new LastSeen(UNCOUNTED);
    assert.equal(seen.flag('a'), null);
    seen.sawFlag('a', 'test', NOW_MS);
    const first = seen.flag('a');
    seen.sawFlag('a', 'test', NOW_MS + 59_999);
    assert.equal(seen.flag('a'), first);
    seen.sawFlag('a', 'production', NOW_MS + 59_999);
    const times = new Map([
      ['test', NOW_MS],
      ['production', NOW_MS + 59_999],
    ]);
    assert.deepEqual(seen.flag('a'), { atMs: NOW_MS + 59_999, environments: times, first: times });
    seen.sawFlag('a', 'test', NOW_MS + 60_000);
    assert.equal(seen.flag('a')?.atMs, NOW_MS + 60_000);
    assert.deepEqual(seen.flag('a')?.first, times, 'the first times stay');
  });

  it('are saved with the first ones, for which the last ones stand where an older release saved them', () => {
    const [seen, loaded] = [new LastSeen(UNCOUNTED), new LastSeen(UNCOUNTED)];
    for (const at of [NOW_MS, NOW_MS + 60_000]) seen.sawFlag('a', 'test', at);
    seen.sawFlag('b', 'test', NOW_MS);
    seen.beginAnew('b');
    for (const row of seen.rows()) loaded.load(row);
    for (const name of ['a', 'b']) assert.deepEqual(loaded.flag(name), seen.flag(name));
    assert.deepEqual(loaded.flag('a')?.first, new Map([['test', NOW_MS]]));
    loaded.load(['c', 'test', NOW_MS]);
    assert.deepEqual(loaded.flag('c')?.first, new Map([['test', NOW_MS]]));
  });

  it('are never the same for two flags, so that the latest one tells two states apart', () => {
    const seen = new LastSeen(UNCOUNTED);
    for (const name of ['a', 'b', 'c']) seen.sawFlag(name, 'test', NOW_MS);
    assert.deepEqual(
      ['a', 'b', 'c'].map((name) => seen.flag(name)?.atMs),
      [NOW_MS, NOW_MS + 1, NOW_MS + 2],
    );
  });
});
