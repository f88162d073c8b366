/**
 * HTTP workers, and clients that read flags through them. Each keeps what the main thread gave it, and gives it again as the workers of a
 * server do; messages take their time. What any of them shows, the witness is told, so that no crash may take it back (invariant 4). And
 * whoever asks when a change is durable is shown it, whichever worker is asked (invariant 12).
 */
import assert from 'node:assert/strict';
import type { Engine } from '../../src/actors/engine.ts';
import { locateFlagAnywhere } from '../../src/domain/state/locate.ts';
import { isRefusal } from '../../src/domain/state/refusal.ts';
import type { TransportRequest } from '../../src/http/transport/transport.ts';
import { ChangeMarks } from '../../src/http/workers/change-marks.ts';
import { markChanges } from '../../src/http/workers/mark-changes.ts';
import { KeptResponses } from '../../src/http/workers/thread/kept-responses.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { SimulatedTime } from './simulated-time.ts';
import type { Tally } from './tally.ts';
import type { Witness } from './witness.ts';

const WORKERS = 2;
const MESSAGE_MS_MAX = 10;
const PAUSE_MS_MAX = 50;

/** Of all lives: marks only ever rise, and workers of a new life keep nothing. */
const marks = new ChangeMarks();

const TERMS = { untilMs: Number.POSITIVE_INFINITY, expiresAt: Number.POSITIVE_INFINITY, readsAll: true };

export interface HttpWorkersOptions {
  readonly engine: Engine;
  readonly time: SimulatedTime;
  readonly random: SeededRandom;
  readonly witness: Witness;
  readonly tally: Tally;
}

export class HttpWorkers {
  readonly #options: HttpWorkersOptions;
  readonly #workers: readonly KeptResponses[];
  /** By flag, the newest revision that is durable; Infinity for one that is gone. */
  readonly #newest = new Map<string, number>();

  constructor(options: HttpWorkersOptions) {
    this.#options = options;
    const { engine, time } = options;
    markChanges(marks, engine, { onSeen: () => undefined });
    this.#follow(engine);
    this.#workers = Array.from(
      { length: WORKERS },
      () =>
        new KeptResponses({
          marks,
          basePath: '',
          now: () => time.wallMs,
          monotonicMs: () => time.elapsedMs,
        }),
    );
  }

  /** Reads one flag after another, as long as `goesOn`. */
  async read(goesOn: () => boolean): Promise<void> {
    const { engine, random } = this.#options;
    while (goesOn()) {
      await this.#pause(PAUSE_MS_MAX);
      const names = [...engine.world.directory.flagProjects.keys()];
      if (names.length === 0) continue;
      const worker = this.#workers[random.below(WORKERS)] as KeptResponses;
      await this.#readFlag(worker, names[random.below(names.length)] as string);
    }
  }

  async #readFlag(worker: KeptResponses, name: string): Promise<void> {
    const { engine, tally } = this.#options;
    const project = engine.world.directory.flagProjects.get(name);
    const request = requestFor(`/api/admin/projects/${project}/features/${name}`);
    const least = this.#newest.get(name) ?? 0;
    const given = worker.find(request);
    if (given !== null) {
      const revision = Number(Buffer.from(given.response.body as Uint8Array));
      assert(
        revision <= engine.durableId,
        `a worker shows event ${revision} of ${name}, which is not durable`,
      );
      this.#shown(name, revision, least);
      tally.readsByWorkers += 1;
      return;
    }
    const wish = worker.wishFor(request);
    assert(wish !== null, 'flags are kept');
    await this.#pause(MESSAGE_MS_MAX);
    const located = locateFlagAnywhere(engine.world, name);
    if (isRefusal(located)) return;
    const { revision } = located.record;
    await new Promise<void>((resolve) => engine.whenDurable(revision, resolve));
    await this.#pause(MESSAGE_MS_MAX);
    worker.keep(wish, { etag: `"${revision}"`, headers: '', body: Buffer.from(String(revision)) }, TERMS);
    this.#shown(name, revision, least);
  }

  #shown(name: string, revision: number, least: number): void {
    assert(revision >= least, `a worker shows event ${revision} of ${name}, of which ${least} is durable`);
    this.#options.witness.shown(revision);
  }

  #follow({ feed, world }: Engine): void {
    feed.subscribe((changes) => {
      const last = changes.at(-1);
      const toldId = last === undefined ? 0 : last.id + last.events.length - 1;
      for (const { events } of changes) {
        for (const { type, featureName } of events) {
          if (featureName === null) continue;
          const located = locateFlagAnywhere(world, featureName);
          if (isRefusal(located)) {
            if (type === 'feature-deleted') this.#newest.set(featureName, Number.POSITIVE_INFINITY);
            // What is not durable yet may have been shown to nobody.
          } else if (located.record.revision <= toldId)
            this.#newest.set(featureName, located.record.revision);
        }
      }
    });
  }

  /** At least a moment: no time passes while somebody goes on at once. */
  #pause(msMax: number): Promise<void> {
    const { time, random } = this.#options;
    return time.sleep(1 + random.below(msMax));
  }
}

function requestFor(path: string): TransportRequest {
  const header = (name: string): string => (name === 'authorization' ? 'reader' : '');
  const head = { method: 'GET', path, query: '', header, remoteAddress: () => '' };
  return { ...head, body: new Uint8Array(0), hasBody: false, bodyDropped: false };
}
