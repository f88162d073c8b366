/** Deliveries through failing receivers, crashes and take-overs. Each run throws where an event is lost, out of order, or repeated without need. */
import assert from 'node:assert/strict';
import { CursorFile } from '../../../src/addons/integrations/cursors.ts';
import { SharedCursors } from '../../../src/addons/integrations/shared-cursors.ts';
import type { SharedValue } from '../../../src/host/addon.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { HOUR_MS, integrationTo, MemoryCursors, Scene } from './courier-scene.ts';

export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

/** The events in order, each at least once. */
function assertInOrder(taken: readonly number[], expected: readonly number[], doublesMax: number): void {
  assert.deepEqual([...new Set(taken)], expected, 'each event arrives, and first in order');
  assert(taken.length - expected.length <= doublesMax, `${taken.length - expected.length} doubles`);
}

type Plan<Count extends string> = Readonly<Record<Count | 'seed', number>>;

export async function sendToFlaky({ events, seed }: Plan<'events'>): Promise<void> {
  const random = seededRandom(seed);
  const scene = new Scene({ seed, ringChanges: 500 });
  const awayUntilMs = scene.time.nowMs + 24 * HOUR_MS;
  const ids = range(1, 5);
  scene.integrations = ids.map((id) => integrationTo(id));
  const or =
    (chance: number, status: number | null, tookMs = 1) =>
    () =>
      random.chance(chance) ? { status, tookMs } : { status: 200, tookMs: 1 };
  scene.receivers.set(1, or(0.5, 503));
  scene.receivers.set(2, or(0.01, null, 10_000));
  scene.receivers.set(3, () => ({ status: scene.time.nowMs < awayUntilMs ? null : 200, tookMs: 1 }));
  scene.receivers.set(4, or(0.01, 302));
  scene.start(new MemoryCursors(ids.map((id) => [id, 0])));
  for (let at = 1; at <= events; at += 1) {
    scene.journal.record();
    if (at % 100 === 0) await scene.time.run(200);
  }
  await scene.time.run(72 * HOUR_MS, () => ids.every((id) => scene.taken(id).length >= events));
  for (const id of ids) assert.deepEqual(scene.taken(id), range(1, events), `integration ${id}`);
  assert(scene.underWayMax <= ids.length, 'one attempt at a time for each');
}

interface Lives {
  readonly lives: number;
  readonly seed: number;
  /** Starts a courier; returns what ends it, and awaits how. */
  start(scene: Scene, life: number): Promise<() => void>;
}

const IDS = range(1, 4);
const EVENTS_PER_LIFE = 10;

async function sendThroughLives({ lives, seed, start }: Lives): Promise<void> {
  const random = seededRandom(seed);
  const scene = new Scene({ seed });
  scene.integrations = IDS.map((id) => integrationTo(id, { createdRevision: id }));
  for (const id of IDS) {
    scene.journal.record({ type: 'addon-config-created', data: { id } });
    scene.receivers.set(id, () => ({ status: random.chance(0.2) ? 500 : 200, tookMs: random.below(30) }));
  }
  for (let life = 0; life < lives; life += 1) {
    const end = await start(scene, life);
    for (let at = 0; at < EVENTS_PER_LIFE; at += 1) {
      scene.journal.record();
      await scene.time.run(random.below(40));
    }
    if (life < lives - 1) end();
  }
  const lastId = IDS.length + lives * EVENTS_PER_LIFE;
  await scene.time.run(HOUR_MS, () => IDS.every((id) => scene.taken(id).includes(lastId)));
  for (const id of IDS) assertInOrder(scene.taken(id), range(IDS.length + 1, lastId), lives - 1);
}

/** The process dies with attempts under way, and starts again on its disk. */
export function crashWhileSending({ crashes, seed }: Plan<'crashes'>): Promise<void> {
  let disk = new MemoryFileSystem();
  return sendThroughLives({
    lives: crashes + 1,
    seed,
    start: async (scene, life) => {
      if (life === 0) await disk.makeFolder('/data');
      const cursors = new CursorFile(disk, '/data', '/data/cursors');
      // A server without a single integration has the file as well.
      if (life === 0) await cursors.load();
      let isAlive = true;
      scene.start(cursors, { isAlive: () => isAlive });
      return () => {
        isAlive = false;
        disk = disk.crash();
      };
    },
  });
}

/** A value as the servers of a cluster's log keep it; now and then a write is taken, and the writer does not get to know. */
class MemoryValue implements SharedValue {
  #value: { readonly revision: number; readonly bytes: Buffer } | null = null;
  readonly #fails: () => boolean;

  constructor(fails: () => boolean) {
    this.#fails = fails;
  }

  read = async () => this.#value;

  write = async (bytes: Buffer, revision: number): Promise<number | null> => {
    if (revision !== (this.#value?.revision ?? 0)) return null;
    this.#value = { revision: revision + 1, bytes };
    if (this.#fails()) throw new Error('no answer');
    return revision + 1;
  };
}

/** Another node begins to lead, while the one before it notices late, or stands still with attempts under way and goes on afterwards. */
export function takeOverWhileSending({ takeOvers, seed }: Plan<'takeOvers'>): Promise<void> {
  const random = seededRandom(seed);
  const shared = new MemoryValue(() => random.chance(0.05));
  return sendThroughLives({
    lives: takeOvers + 1,
    seed,
    start: async (scene, life) => {
      const disk = new MemoryFileSystem();
      await disk.makeFolder('/data');
      const file = new CursorFile(disk, '/data', '/data/cursors');
      const cursors = new SharedCursors({ file, shared, newRun: () => `run ${life}` });
      if (life === 0) {
        await file.load();
        await file.close();
      }
      let isLeading = true;
      scene.start(cursors, { isLeading: () => isLeading });
      return () => {
        const noticedAfterMs = random.below(3) * 10;
        if (noticedAfterMs === 0) isLeading = false;
        else
          scene.time.timer(noticedAfterMs, () => {
            isLeading = false;
          });
      };
    },
  });
}
