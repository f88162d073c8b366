/** Reports of applications on a disk: saved behind, loaded at a start, and never a reason to fail. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MinuteSums } from '../../../src/addons/usage/minute-table.ts';
import { RowFiles } from '../../../src/addons/usage/row-files.ts';
import type { UsageNote } from '../../../src/addons/usage/shared-usage.ts';
import { type SharedReports, Usage } from '../../../src/addons/usage/usage.ts';
import { SAVE_INTERVAL_MS, SAVED_BYTES_A_SECOND } from '../../../src/addons/usage/usage-files.ts';
import { ioError, MemoryFileSystem } from '../../support/memory-file-system.ts';
import { TestWorld } from '../../support/test-world.ts';

const FOLDER = '/data/usage';
const START_MS = Date.UTC(2026, 0, 10, 12);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ALL_PROJECTS = { projects: '*' } as const;

/** A usage on a disk, with time and saves moved by hand. */
class Bench {
  readonly state = new TestWorld();
  readonly damaged: string[] = [];
  readonly faults: unknown[] = [];
  readonly timers: { delayMs: number; callback: () => void }[] = [];
  nowMs = START_MS;
  hasRoom = true;
  fs: MemoryFileSystem;
  usage: Usage;

  readonly shared: SharedReports | null;

  constructor(fs = new MemoryFileSystem(), shared: SharedReports | null = null) {
    this.fs = fs;
    this.shared = shared;
    this.usage = this.#make();
    for (const name of ['a', 'b']) {
      this.state.given({ type: 'create-flag', project: 'default', name, metadata: {} });
    }
  }

  #make(): Usage {
    return new Usage({
      state: this.state,
      feed: { subscribe: () => () => undefined },
      folder: new RowFiles({
        ...{ fs: this.fs, folder: FOLDER, suffix: '.usage' },
        onDamaged: ({ file }) => this.damaged.push(file),
      }),
      shared: this.shared,
      now: () => this.nowMs,
      hasRoom: () => this.hasRoom,
      onFault: (error) => this.faults.push(error),
      timer: (delayMs, callback) => this.timers.push({ delayMs, callback }),
    });
  }

  /** Another start on the same disk, or on what a crash left of it. */
  async reopen(fs = this.fs): Promise<void> {
    this.fs = fs;
    this.usage = this.#make();
    await this.usage.open();
  }

  report(flag: string, yes: number, side: 'backend' | 'frontend' = 'backend', appName = 'shop'): void {
    const who = { appName, environment: 'production', side } as const;
    const application = { ...who, instanceId: 'i', sdkVersion: 'sdk:1', strategies: ['default'] };
    this.usage.application({ ...application, projects: ['*'], address: '' });
    const counts = [{ flag, yes, no: 0, variants: [['v', yes] as const] }];
    this.usage.report({ ...who, startMs: this.nowMs, counts }, ALL_PROJECTS);
  }

  yes(flag: string, kind: 'hour' | 'day' = 'hour', side: 'backend' | 'frontend' = 'backend'): number[] {
    return [...this.usage.counts(side).countsOf(flag, kind, 0)].map((one) => one.yes);
  }

  /** Sum of the minutes of the last hour. */
  yesByMinutes(flag: string): number {
    const sums: MinuteSums = new Map();
    this.usage.minutes('backend').sumOf(sums, this.nowMs, flag);
    return [...sums.values()].flatMap((cells) => [...cells]).reduce((sum, one) => sum + one, 0);
  }

  files(): readonly string[] {
    return this.fs.namesIn(FOLDER);
  }
}

describe('what applications reported', () => {
  it('is there after a start: counts, applications, and times of use', async () => {
    const bench = new Bench();
    bench.report('a', 3);
    bench.report('b', 5, 'frontend');
    const seen = bench.usage.seen.flag('a');
    const shop = bench.usage.applications('backend').get('shop');
    await bench.usage.close();
    await bench.reopen();
    assert.deepEqual([bench.yes('a'), bench.yes('b', 'hour', 'frontend')], [[3], [5]]);
    assert.deepEqual(bench.usage.seen.flag('a'), seen);
    assert.deepEqual(bench.usage.applications('backend').get('shop'), shop);
    bench.report('a', 4);
    assert.deepEqual(bench.yes('a'), [7]);
  });

  it('is saved the later, the more was written the last time, so that reports cannot fill the disk', async () => {
    const bench = new Bench();
    for (let at = 0; at < 2_000; at += 1)
      bench.report('a', 1, 'backend', `application ${at} ${'x'.repeat(200)}`);
    bench.timers.shift()?.callback();
    await bench.usage.save();
    const written = bench
      .files()
      .reduce((sum, name) => sum + bench.fs.bytesOf(`${FOLDER}/${name}`).length, 0);
    assert(written > (SAVE_INTERVAL_MS / 1000) * SAVED_BYTES_A_SECOND);
    bench.report('a', 1);
    assert.deepEqual(
      bench.timers.map(({ delayMs }) => delayMs),
      [Math.ceil((written * 1000) / SAVED_BYTES_A_SECOND)],
    );
  });

  it('is saved a second after the first change and then every half minute, and not while nothing changes', async () => {
    const bench = new Bench();
    bench.report('a', 1);
    bench.report('a', 1);
    assert.deepEqual(
      bench.timers.map(({ delayMs }) => delayMs),
      [1_000],
    );
    bench.timers.shift()?.callback();
    await bench.usage.save();
    bench.nowMs += 10_000;
    bench.report('a', 1);
    assert.deepEqual(
      bench.timers.map(({ delayMs }) => delayMs),
      [20_000],
    );
    bench.timers.shift()?.callback();
    await bench.usage.save();
    const { calls } = bench.fs;
    await bench.usage.save();
    assert.equal(bench.fs.calls, calls, 'nothing is written twice');
  });

  it('loses what came after the last save when the power goes, and nothing before', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const bench = new Bench();
      bench.report('a', 3);
      await bench.usage.save();
      bench.report('a', 100);
      await bench.reopen(bench.fs.crash());
      assert.deepEqual([bench.yes('a'), bench.damaged], [[3], []]);
    }
  });

  it('at any moment of a save that ends by a crash, is as before it or as after it', async () => {
    for (let at = 1; at < 40; at += 1) {
      const bench = new Bench();
      bench.report('a', 3);
      await bench.usage.save();
      bench.report('a', 4);
      const { calls } = bench.fs;
      bench.fs.beforeCall = ({ number }) => {
        if (number > calls + at) throw ioError('EIO', 'the disk is gone');
      };
      await bench.usage.save();
      bench.fs.beforeCall = null;
      await bench.reopen(bench.fs.crash());
      const [yes] = bench.yes('a');
      assert(yes === 3 || yes === 7, `${yes} after call ${at}`);
      assert.deepEqual(bench.damaged, []);
    }
  });

  it('is set aside where a file is damaged, one byte at any place, and the start goes on', async () => {
    const bench = new Bench();
    bench.report('a', 3);
    await bench.usage.save();
    const [hour] = bench.files().filter((name) => name.includes('hour'));
    const path = `${FOLDER}/${hour}`;
    const file = await bench.fs.open(path, 'read');
    const bytes = Buffer.alloc(await file.size());
    await file.read(bytes, 0, bytes.length, 0);
    for (let at = 0; at < bytes.length; at += 1) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0x40;
      await bench.fs.remove(path).catch(() => undefined);
      const written = await bench.fs.open(path, 'create');
      await written.write(damaged, 0, damaged.length, 0);
      bench.damaged.length = 0;
      await bench.reopen();
      assert.deepEqual(bench.damaged, [path], `byte ${at}`);
      assert(bench.files().includes(`${hour}.damaged`));
      assert.notEqual(bench.usage.seen.flag('a'), null, 'other files count');
    }
  });

  it('is tried again after a full disk, and not written while there is no room to spare', async () => {
    const bench = new Bench();
    bench.report('a', 3);
    bench.fs.capacityBytes = 10;
    await bench.usage.save();
    assert.equal(bench.faults.length, 1);
    assert.deepEqual(bench.files(), [], 'what failed takes no room');
    bench.fs.capacityBytes = Number.POSITIVE_INFINITY;
    bench.hasRoom = false;
    const { calls } = bench.fs;
    await bench.usage.save();
    assert.equal(bench.fs.calls, calls);
    bench.hasRoom = true;
    await bench.usage.save();
    await bench.reopen();
    assert.deepEqual(bench.yes('a'), [3]);
  });

  it('never stops a start, whatever the disk says', async () => {
    const bench = new Bench();
    bench.report('a', 3);
    await bench.usage.save();
    for (const failing of ['exists', 'list', 'open', 'read', 'size', 'close', 'rename'] as const) {
      bench.fs.beforeCall = ({ kind }) => {
        if (kind === failing) throw ioError('EIO', 'the disk is gone');
      };
      await bench.reopen();
      bench.report('b', 1);
      assert.equal(bench.yes('b').length, 1, failing);
    }
    bench.fs.beforeCall = null;
  });

  it('keeps the files of hours until their day is folded, and counts none twice when a crash comes between', async () => {
    const bench = new Bench();
    for (let hour = 0; hour < 5; hour += 1) {
      bench.report('a', 1);
      await bench.usage.save();
      bench.nowMs += HOUR_MS;
    }
    bench.nowMs += 3 * DAY_MS;
    bench.fs.beforeCall = ({ kind, path }) => {
      if (kind === 'remove' && path.includes('hour')) throw ioError('EIO', 'the disk is gone');
    };
    await bench.usage.save();
    assert.equal(bench.files().filter((name) => name.includes('-hour-')).length, 5);
    bench.fs.beforeCall = null;
    await bench.reopen();
    assert.deepEqual([bench.yes('a', 'day'), bench.yes('a')], [[5], []]);
    await bench.usage.save();
    assert.equal(bench.files().filter((name) => name.includes('-hour-')).length, 0);
  });

  it('counts by minutes what any node was told, as each node reads it, and forgets that at a restart', async () => {
    const takers: ((position: number, notes: readonly UsageNote[]) => Promise<void>)[] = [];
    const told: UsageNote[] = [];
    const shared: SharedReports = {
      send: (note) => void told.push(JSON.parse(JSON.stringify(note))),
      follow: (_, take) => void takers.push(take),
      close: async () => undefined,
    };
    const nodes = [1, 2].map(() => new Bench(new MemoryFileSystem(), shared));
    for (const node of nodes) await node.usage.open();
    for (const node of nodes) node.report('a', 3);
    for (const take of takers) await take(1, told);
    for (const node of nodes) assert.equal(node.yesByMinutes('a'), 6);
    // The clock of the first is ahead: the other still counts by its own.
    nodes[0]!.nowMs += 2 * HOUR_MS;
    nodes[0]!.report('b', 1);
    await takers[1]!(2, told.slice(-1));
    nodes[1]!.report('b', 1);
    await takers[1]!(3, told.slice(-1));
    assert.deepEqual([nodes[1]!.yesByMinutes('a'), nodes[1]!.yesByMinutes('b')], [6, 2]);
    await nodes[1]!.usage.save();
    assert.deepEqual(
      nodes[1]!.files().filter((name) => name.includes('minute')),
      [],
    );
    await nodes[1]!.reopen();
    assert.deepEqual([nodes[1]!.yes('a').length > 0, nodes[1]!.yesByMinutes('a')], [true, 0]);
  });

  it('has the last sixty minutes also when a new hour has begun, and the running hour after a restart', async () => {
    const bench = new Bench();
    const lastHour = () => [...bench.usage.lastHour('a')].map(([name, { yes, no }]) => [name, yes, no]);
    bench.nowMs = START_MS + HOUR_MS - 30_000;
    bench.report('a', 3);
    bench.report('a', 1, 'frontend');
    bench.report('b', 5);
    bench.nowMs += 60_000;
    assert.deepEqual(lastHour(), [['production', 4, 0]], 'one minute later, in the next hour');
    bench.report('a', 2);
    assert.deepEqual(lastHour(), [['production', 6, 0]]);
    await bench.usage.close();
    await bench.reopen();
    assert.deepEqual(lastHour(), [['production', 2, 0]], 'the minutes are forgotten');
    bench.nowMs += 2 * HOUR_MS;
    assert.deepEqual(lastHour(), []);
  });

  it('does not bring back what was deleted meanwhile', async () => {
    const bench = new Bench();
    bench.report('a', 3);
    await bench.usage.save();
    bench.state.change((draft) => {
      draft.flagProjects = draft.flagProjects.without('a');
    });
    await bench.reopen();
    assert.equal(bench.usage.seen.flag('a'), null);
  });

  it('of public tokens pushes out nothing that servers reported', () => {
    const bench = new Bench();
    bench.report('a', 3);
    for (let at = 0; at < 1_500; at += 1) {
      const appName = `junk-${at}`;
      const who = { appName, environment: 'production', side: 'frontend' } as const;
      bench.usage.application({
        ...{ ...who, instanceId: null, sdkVersion: null, strategies: null, projects: ['*'], address: '' },
      });
      const counts = [{ flag: 'a', yes: 1, no: 0, variants: [] }];
      bench.usage.report({ ...who, startMs: 0, counts }, ALL_PROJECTS);
    }
    assert.equal(bench.usage.applications('frontend').size, 1_000);
    assert.notEqual(bench.usage.applications('backend').get('shop'), undefined);
    assert.deepEqual(bench.yes('a'), [3]);
  });
});
