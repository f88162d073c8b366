/**
 * Migrations one after the other, beside a source that changes all the time and applications that follow both servers. In no stream is a flag
 * switched that was not switched in the source since the run before, or twice in one run, and in the end all have what the source has.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { AdminClient } from '../../../src/host/admin-client.ts';
import { type OpenedStream, openStream } from '../../support/event-stream.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { CLIENT_TOKENS, type RandomRuns, type RunCounts, runsTo } from './random-runs.ts';
import { type Changes, RandomUnleash } from './random-unleash.ts';

export interface StreamedRuns extends Omit<RandomRuns, 'kills' | 'changingRuns'> {
  readonly runs: number;
  readonly changesEachRun: number;
  /** Milliseconds from one change to the next. */
  readonly pauseMs: number;
}

export interface StreamCounts extends Omit<RunCounts, 'fillings' | 'kills'> {
  /** Changes of flags that the streams of the target told. */
  readonly changesInStreams: number;
  /** Reads of the source that found a change. */
  readonly changesInPolls: number;
}

export async function migrateBesideStreams(options: StreamedRuns): Promise<StreamCounts> {
  const { source, seed, flags, runs } = options;
  const admin = new AdminClient({ url: source.origin, token: source.token });
  const unleash = new RandomUnleash(admin, seededRandom(seed), `h${seed}-`);
  await unleash.fill(flags);
  const { target, counts, run, settle } = await runsTo(options);
  const streams: FlagStream[] = [];
  const tokens = CLIENT_TOKENS.split(',');
  const ofSource = tokens.map((token) => new FlagPoll(source.origin, token));
  const ofTarget = tokens.map((token) => new FlagPoll(target.origin, token));
  try {
    await run();
    for (const token of tokens) streams.push(await FlagStream.open(target.origin, token));
    let switched: ReadonlySet<string> = new Set();
    for (let at = 0; at < runs; at += 1) {
      const [changes] = await Promise.all([changeAndPoll(unleash, ofSource, options), run()]);
      counts.changesInSource += changes.made;
      // Changes that the run before came too early for are taken by this one.
      const expected = new Set([...switched, ...changes.switched]);
      switched = changes.switched;
      for (const [which, stream] of streams.entries()) {
        await stream.until(await ofTarget[which]!.read());
        const seen = stream.takeSwitches();
        assert.deepEqual(
          seen.filter((one) => !expected.has(one)),
          [],
          `seed ${seed}, run ${at}: only what was switched in the source is switched`,
        );
        assert.equal(new Set(seen).size, seen.length, `seed ${seed}, run ${at}: once at most`);
      }
    }
    await settle();
    for (const [which, stream] of streams.entries()) await stream.until(await ofSource[which]!.read());
    return {
      runsBesideChanges: runs,
      ...counts,
      changesInStreams: streams.reduce((sum, { changes }) => sum + changes, 0),
      changesInPolls: ofSource.reduce((sum, { changes }) => sum + changes, 0),
    };
  } finally {
    for (const stream of streams) stream.close();
    await target.stop();
    await unleash.clear();
  }
}

async function changeAndPoll(
  unleash: RandomUnleash,
  polls: readonly FlagPoll[],
  { changesEachRun, pauseMs }: StreamedRuns,
): Promise<Changes> {
  let made = 0;
  const switched = new Set<string>();
  for (let count = 0; count < changesEachRun; count += 1) {
    const changes = await unleash.change(1);
    made += changes.made;
    for (const one of changes.switched) switched.add(one);
    for (const poll of polls) await poll.read();
    await delay(pauseMs);
  }
  return { made, switched };
}

/** Whether flags are on, by name. */
type Switches = ReadonlyMap<string, boolean>;

const environmentOf = (token: string): string => token.slice(token.indexOf(':') + 1, token.indexOf('.'));

const inOrder = (switches: Switches): [string, boolean][] =>
  [...switches].sort(([a], [b]) => (a < b ? -1 : 1));

/** An application that has a stream of the target open. */
class FlagStream {
  readonly #stream: OpenedStream;
  readonly #environment: string;
  readonly #switches = new Map<string, boolean>();
  #switched: string[] = [];
  changes = 0;

  private constructor(stream: OpenedStream, environment: string) {
    this.#stream = stream;
    this.#environment = environment;
  }

  static async open(origin: string, token: string): Promise<FlagStream> {
    const opened = await openStream(origin, '/api/client/streaming', { token });
    const stream = new FlagStream(opened, environmentOf(token));
    await stream.#next();
    return stream;
  }

  async #next(): Promise<void> {
    const { data } = await this.#stream.next();
    for (const { type, feature, featureName, features } of data.events) {
      if (type === 'hydration') {
        for (const { name, enabled } of features) this.#switches.set(name, enabled);
        continue;
      }
      this.changes += 1;
      if (type === 'feature-updated') this.#set(feature.name, feature.enabled);
      else if (type === 'feature-removed') this.#switches.delete(featureName);
    }
  }

  #set(name: string, enabled: boolean): void {
    const before = this.#switches.get(name);
    if (before !== undefined && before !== enabled) this.#switched.push(`${name}\n${this.#environment}`);
    this.#switches.set(name, enabled);
  }

  /** Reads on until the flags are switched as in a document. */
  async until(wanted: Switches): Promise<void> {
    while (JSON.stringify(inOrder(this.#switches)) !== JSON.stringify(inOrder(wanted))) await this.#next();
  }

  takeSwitches(): string[] {
    const switched = this.#switched;
    this.#switched = [];
    return switched;
  }

  close(): void {
    this.#stream.close();
  }
}

/** An application that asks again and again whether its flags have changed. */
class FlagPoll {
  readonly #url: string;
  readonly #token: string;
  #etag = '';
  #switches: Switches = new Map();
  changes = 0;

  constructor(origin: string, token: string) {
    this.#url = `${origin}/api/client/features`;
    this.#token = token;
  }

  async read(): Promise<Switches> {
    const headers = { authorization: this.#token, 'if-none-match': this.#etag };
    const response = await fetch(this.#url, { headers });
    assert(response.status === 200 || response.status === 304, `${response.status}`);
    if (response.status === 304) return this.#switches;
    const { features } = (await response.json()) as { features: { name: string; enabled: boolean }[] };
    this.#switches = new Map(features.map(({ name, enabled }) => [name, enabled]));
    this.#etag = response.headers.get('etag') ?? '';
    this.changes += 1;
    return this.#switches;
  }
}
