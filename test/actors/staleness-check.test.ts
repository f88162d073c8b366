/** The check for flags that outlived their types: what it records, in which portions, and that a restart adds nothing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Change } from '../../src/actors/change-feed.ts';
import { CHECK_INTERVAL_MS, NOTES_PER_CHANGE, StalenessCheck } from '../../src/actors/staleness-check.ts';
import { Background } from '../../src/actors/turn.ts';
import { invalid } from '../../src/domain/state/refusal.ts';
import { createFlag, openTestEngine, type TestEngine } from '../support/engine.ts';
import type { MemoryFileSystem } from '../support/memory-file-system.ts';

const DAY_MS = 86_400_000;
const NOTED = 'feature-potentially-stale-on';

class Bench {
  readonly engine: TestEngine;
  readonly check: StalenessCheck;
  readonly timers: { readonly delayMs: number; readonly callback: () => void }[] = [];
  readonly faults: unknown[] = [];
  /** The changes since the bench was opened, change by change. */
  readonly changes: Change[] = [];
  pauseCount = 0;

  constructor(engine: TestEngine) {
    this.engine = engine;
    engine.manual.runFreely();
    engine.store.engine.feed.subscribe((changes) => this.changes.push(...changes));
    this.check = new StalenessCheck({
      engine: engine.store.engine,
      background: new Background({
        // A turn ends with every flag.
        monotonicMs: () => (engine.manual.monotonicMs += 10),
        yieldToEventLoop: async () => undefined,
        pause: async () => {
          this.pauseCount += 1;
          return 1;
        },
      }),
      timer: (delayMs, callback) => this.timers.push({ delayMs, callback }),
      onFault: (error) => this.faults.push(error),
    });
  }

  get noted(): readonly (readonly string[])[] {
    const names = this.changes.map(({ events }) =>
      events.filter(({ type }) => type === NOTED).map(({ featureName }) => String(featureName)),
    );
    return names.filter(({ length }) => length > 0);
  }
}

async function openBench(disk?: MemoryFileSystem): Promise<Bench> {
  return new Bench(await openTestEngine(disk === undefined ? {} : { disk }));
}

async function withFlags(count: number): Promise<Bench> {
  const bench = await openBench();
  const { engine } = bench.engine.store;
  const names = Array.from({ length: count }, (_, index) => `f${index}`);
  await Promise.all(
    names.map((name) =>
      engine.execute({
        command: createFlag(name),
        actor: { name: 'a', userId: 1 },
        respond: () => null,
      }),
    ),
  );
  return bench;
}

describe('the check for potentially stale flags', () => {
  it('records each flag when the clock has passed its lifetime, and not before, as the system', async () => {
    const bench = await withFlags(2);
    bench.engine.manual.nowMs += 39 * DAY_MS;
    await bench.check.check();
    assert.deepEqual(bench.noted, []);
    bench.engine.manual.nowMs += 2 * DAY_MS;
    await bench.check.check();
    await bench.check.check();
    assert.deepEqual(bench.noted, [['f0', 'f1']]);
    const { by, userId } = bench.changes.at(-1)!;
    assert.deepEqual({ by, userId }, { by: 'system', userId: -1337 });
    assert.deepEqual(bench.faults, []);
  });

  it('splits a thousand flags into small changes, and rests for others in between', async () => {
    const bench = await withFlags(1_000);
    bench.engine.manual.nowMs += 41 * DAY_MS;
    await bench.check.check();
    assert.deepEqual(
      bench.noted.map(({ length }) => length),
      Array.from({ length: 1_000 / NOTES_PER_CHANGE }, () => NOTES_PER_CHANGE),
    );
    assert.equal(new Set(bench.noted.flat()).size, 1_000);
    assert(bench.pauseCount >= 1_000, 'a turn that has lasted long enough is the last before others');
  });

  it('runs once a minute, from a minute after the start, until it is closed', async () => {
    const bench = await withFlags(1);
    bench.engine.manual.nowMs += 41 * DAY_MS;
    bench.check.start();
    assert.deepEqual(
      bench.timers.map(({ delayMs }) => delayMs),
      [CHECK_INTERVAL_MS],
    );
    assert.deepEqual(bench.noted, []);
    bench.timers[0]!.callback();
    await bench.check.check();
    assert.deepEqual(bench.noted, [['f0']]);
    assert.equal(bench.timers.length, 2);
    await bench.check.close();
    bench.timers[1]!.callback();
    assert.equal(bench.timers.length, 2);
  });

  it('goes on after a fault, which it reports', async () => {
    const bench = await withFlags(1);
    bench.engine.manual.nowMs += 41 * DAY_MS;
    const { engine } = bench.engine.store;
    const fault = new Error('the first command throws');
    const outcomes = [async () => ({ kind: 'fault', error: fault }) as const];
    const faults: unknown[] = [];
    const check = new StalenessCheck({
      engine: {
        world: engine.world,
        nextTime: () => engine.nextTime(),
        execute: (submission) => outcomes.pop()?.() ?? engine.execute(submission),
      },
      background: new Background(),
      timer: () => undefined,
      onFault: (error) => faults.push(error),
    });
    await check.check();
    assert.deepEqual([faults, bench.noted], [[fault], []]);
    await check.check();
    assert.deepEqual(bench.noted, [['f0']]);
  });

  it('leaves a project that takes no change for the next check, and goes on with the others', async () => {
    const bench = await withFlags(NOTES_PER_CHANGE + 1);
    const { engine } = bench.engine.store;
    const by = { actor: { name: 'a', userId: 1 }, respond: () => null };
    const fields = { name: 'Other', description: null, mode: 'open', defaultStickiness: 'default' } as const;
    await engine.execute({ command: { type: 'create-project', id: 'other', fields }, ...by });
    await engine.execute({ command: createFlag('elsewhere', 'other'), ...by });
    bench.engine.manual.nowMs += 41 * DAY_MS;
    let isFull = true;
    const asked: string[] = [];
    const check = new StalenessCheck({
      engine: {
        world: engine.world,
        nextTime: () => engine.nextTime(),
        execute: async (submission) => {
          const { project } = submission.command as { readonly project: string };
          asked.push(project);
          if (isFull && project === 'default') return { kind: 'refusal', refusal: invalid('full') };
          return engine.execute(submission);
        },
      },
      background: new Background(),
      timer: () => undefined,
      onFault: (error) => bench.faults.push(error),
    });
    await check.check();
    assert.deepEqual([asked, bench.noted, bench.faults], [['default', 'other'], [['elsewhere']], []]);
    isFull = false;
    await check.check();
    assert.equal(bench.noted.flat().length, NOTES_PER_CHANGE + 2);
  });
});
