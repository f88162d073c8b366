/** A watch: whoever applies what it tells has what it shows, after any changes, and in any order of looking. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import fc from 'fast-check';
import { setTurnMs } from '../../../../src/actors/turn.ts';
import { clientDocuments } from '../../../../src/addons/sdk/client-documents.ts';
import { type ClientQuery, queryOfScope } from '../../../../src/addons/sdk/client-query.ts';
import { QueryWatch } from '../../../../src/addons/sdk/query-watch.ts';
import {
  HYDRATION_START,
  type Hydration,
  type HydrationPosition,
} from '../../../../src/addons/sdk/stream-format.ts';
import { createFlag, openTestEngine, settle, type TestEngine } from '../../../support/engine.ts';
import { commandRuns, commandsOn } from '../../../support/random-commands.ts';
import { seededRandom } from '../../../support/seeded-random.ts';

const EVERYTHING = queryOfScope({ projects: '*', environment: 'development' }, false);

const QUERIES: readonly ClientQuery[] = [
  EVERYTHING,
  queryOfScope({ projects: ['default'], environment: 'production' }, false),
  { ...EVERYTHING, namePrefix: 'a', isNarrowed: true, key: 'a' },
  { ...EVERYTHING, tags: [{ type: 'simple', value: 'x1' }], isNarrowed: true, key: 'x1' },
];

const watchOf = ({ store: { engine } }: TestEngine, query: ClientQuery): QueryWatch =>
  new QueryWatch({ engine, query, blocks: clientDocuments(engine).blocksOf(query) });

// biome-ignore lint/suspicious/noExplicitAny: events of every shape.
type Told = any;

/** A client that applies each event, as SDKs do. */
class Client {
  readonly flags = new Map<string, unknown>();
  readonly segments = new Map<number, unknown>();
  seenId = -1;

  apply(event: Told): void {
    if (event.type === 'hydration') {
      this.flags.clear();
      this.segments.clear();
      for (const flag of event.features) this.flags.set(flag.name, flag);
      for (const segment of event.segments) this.segments.set(segment.id, segment);
    } else if (event.type === 'feature-updated') {
      this.flags.set(event.feature.name, event.feature);
      for (const { segments = [] } of event.feature.strategies) {
        for (const id of segments) assert(this.segments.has(id), `segment ${id} comes before its flag`);
      }
    } else if (event.type === 'feature-removed') {
      assert(this.flags.delete(event.featureName), `${event.featureName} was there`);
    } else if (event.type === 'segment-updated') {
      this.segments.set(event.segment.id, event.segment);
    } else {
      assert.equal(event.type, 'segment-removed');
      assert(this.segments.delete(event.segmentId), `segment ${event.segmentId} was there`);
    }
  }

  get state(): unknown {
    const sorted = (map: Map<unknown, unknown>) =>
      [...map].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
    return { flags: sorted(this.flags), segments: sorted(this.segments) };
  }
}

function textOf(hydration: Hydration): string {
  let text = '';
  for (let position: HydrationPosition | null = HYDRATION_START; position !== null; ) {
    const { bytes, next } = hydration.part(position);
    text += Buffer.from(bytes).toString();
    position = next;
  }
  return text;
}

async function hydrate(watch: QueryWatch): Promise<Client> {
  await watch.refresh();
  const client = new Client();
  client.apply(JSON.parse(textOf(watch.hydration())));
  client.seenId = watch.log.newestId;
  return client;
}

async function catchUp(client: Client, watch: QueryWatch): Promise<void> {
  await watch.refresh();
  for (const { id, changes } of watch.log.since(client.seenId) ?? assert.fail('its id is known')) {
    const told: Told[] = JSON.parse(`[${changes}]`);
    const ids = [client.seenId, ...told.map(({ eventId }) => eventId)];
    assert.deepEqual(
      ids,
      ids.toSorted((a, b) => a - b),
      'ids ascend',
    );
    assert.equal(told.at(-1).eventId, id);
    assert(told[0].eventId > client.seenId, 'nothing is told of what the client has seen');
    for (const event of told) client.apply(event);
    client.seenId = id;
  }
}

/** So many that looking at them takes slices. */
const MANY_FLAGS = 600;

interface LargeProject {
  readonly engine: TestEngine;
  readonly names: readonly string[];
  /** Resolves when all that was submitted is carried out and durable. */
  flush(): Promise<void>;
}

async function openLargeProject(): Promise<LargeProject> {
  const engine = await openTestEngine();
  engine.manual.runFreely();
  const flush = async (): Promise<void> => {
    do {
      await settle();
      await engine.store.engine.journal.flush();
    } while (engine.store.engine.queuedCount > 0);
  };
  const names = Array.from({ length: MANY_FLAGS }, (_, number) => `flag-${number}`);
  for (const name of names) engine.submit(createFlag(name));
  await flush();
  return { engine, names, flush };
}

describe('a watch', () => {
  it('tells a client all that it needs to have what a new client gets, after any commands', async () => {
    await fc.assert(
      fc.asyncProperty(commandRuns(20, 80), async (run) => {
        const engine = await openTestEngine();
        const watches = QUERIES.map((query) => watchOf(engine, query));
        const clients = await Promise.all(watches.map(hydrate));
        const looks = seededRandom(run.seed);
        for (const command of commandsOn(engine.store.engine, run)) {
          await engine.execute(command);
          if (looks.chance(0.5)) continue;
          for (const [at, watch] of watches.entries()) await catchUp(clients[at]!, watch);
        }
        for (const [at, watch] of watches.entries()) {
          await catchUp(clients[at]!, watch);
          const fresh = await hydrate(watchOf(engine, QUERIES[at]!));
          assert.deepEqual(clients[at]!.state, fresh.state, `query ${at}`);
          assert.deepEqual((await hydrate(watch)).state, fresh.state);
        }
        engine.manual.runFreely();
        await engine.store.close();
      }),
      { numRuns: 60 },
    );
  });

  it('looks at a flag once, however many events it had since the last time', async () => {
    const engine = await openTestEngine();
    await engine.execute(createFlag('busy'));
    const watch = watchOf(engine, EVERYTHING);
    const client = await hydrate(watch);
    for (const description of ['a', 'b', 'c']) {
      await engine.execute({
        type: 'update-flag',
        project: 'default',
        flag: 'busy',
        metadata: { description },
      });
    }
    await watch.refresh();
    const [frame] = watch.log.since(client.seenId) ?? [];
    const told = JSON.parse(`[${frame?.changes}]`);
    assert.deepEqual(
      told.map(({ feature }: Told) => feature.description),
      ['c'],
    );
  });

  it('looks at few flags in slices too, because each may be large', async () => {
    const engine = await openTestEngine();
    for (const name of ['a', 'b', 'c']) await engine.execute(createFlag(name));
    const watch = watchOf(engine, EVERYTHING);
    setTurnMs(0);
    try {
      const looking = watch.refresh();
      assert(looking instanceof Promise, 'one step does not look at all of them');
      await looking;
    } finally {
      setTurnMs();
    }
    assert.equal((await hydrate(watch)).flags.size, 3);
  });

  it('finds everything anew when it missed more than the feed keeps', async () => {
    const engine = await openTestEngine();
    await engine.execute(createFlag('kept'));
    await engine.execute(createFlag('gone'));
    const watch = watchOf(engine, EVERYTHING);
    const client = await hydrate(watch);
    const { feed } = engine.store.engine;
    feed.appliedSince = () => 'too-old';
    await engine.execute({ type: 'archive-flag', project: 'default', flag: 'gone' });
    await engine.execute(createFlag('new'));
    await catchUp(client, watch);
    assert.deepEqual([...client.flags.keys()], ['kept', 'new']);
  });

  it('shows all flags of a large project as they are at the end, when they change while it looks at them', async () => {
    const { engine, flush } = await openLargeProject();
    const watch = watchOf(engine, EVERYTHING);
    const looking = watch.refresh();
    assert(looking instanceof Promise, 'it takes slices');
    engine.submit({ type: 'archive-flag', project: 'default', flag: 'flag-0' });
    engine.submit(createFlag('newest'));
    await looking;
    await flush();
    const { flags } = await hydrate(watch);
    assert.deepEqual([flags.size, flags.has('flag-0'), flags.has('newest')], [MANY_FLAGS, false, true]);
  });

  it('leaves a client its segment when one flag gives it up after another has taken it', async () => {
    const engine = await openTestEngine();
    await engine.execute({
      type: 'create-record',
      kind: 'segments',
      fields: { name: 'here', description: null, project: null, constraints: [] },
    });
    const [id] = engine.store.engine.world.directory.segments.keys();
    assert(id !== undefined, 'there is a segment');
    const inDevelopment = (flag: string) => ({ project: 'default', flag, environment: 'development' });
    const strategy = {
      ...{ name: 'default', title: null, disabled: null, constraints: [], parameters: null, variants: [] },
      segments: [id],
    };
    for (const flag of ['giver', 'taker']) await engine.execute(createFlag(flag));
    await engine.execute({ type: 'add-strategy', ...inDevelopment('giver'), strategy });
    const given = engine.store.engine.world.projects.get('default')?.flags.get('giver')?.flag.environments;
    const strategyId = given?.find(({ name }) => name === 'development')?.strategies[0]?.id ?? '';
    const watch = watchOf(engine, EVERYTHING);
    const client = await hydrate(watch);
    const metadata = { description: 'before the other one' };
    await engine.execute({ type: 'update-flag', project: 'default', flag: 'giver', metadata });
    await engine.execute({ type: 'add-strategy', ...inDevelopment('taker'), strategy });
    await engine.execute({ type: 'remove-strategy', ...inDevelopment('giver'), strategyId });
    await catchUp(client, watch);
    assert.deepEqual([...client.segments.keys()], [id]);
    assert.deepEqual(client.state, (await hydrate(watch)).state);
  });

  it('tells of changes of many flags, although nothing changes after them', async () => {
    const { engine, names, flush } = await openLargeProject();
    const watch = watchOf(engine, EVERYTHING);
    const client = await hydrate(watch);
    for (const flag of names) engine.submit({ type: 'archive-flag', project: 'default', flag });
    await flush();
    await catchUp(client, watch);
    assert.equal(client.flags.size, 0);
  });

  it('tells of a flag that changes while it looks at many under an id that is not older than the change', async () => {
    const { engine, flush } = await openLargeProject();
    const watch = watchOf(engine, EVERYTHING);
    const { seenId } = await hydrate(watch);
    engine.store.engine.feed.appliedSince = () => 'too-old';
    setTurnMs(0);
    try {
      engine.submit(createFlag('newest'));
      await flush();
      const looking = watch.refresh();
      assert(looking instanceof Promise, 'it takes slices');
      const last = { project: 'default', flag: 'flag-599', metadata: { description: 'changed meanwhile' } };
      engine.submit({ type: 'update-flag', ...last });
      await looking;
    } finally {
      setTurnMs();
    }
    const updates = watch.log.since(seenId) ?? assert.fail('its id is known');
    const told: Told[] = updates.flatMap(({ changes }) => JSON.parse(`[${changes}]`));
    const change = told.find(({ feature }) => feature.name === 'flag-599');
    assert.equal(change.feature.description, 'changed meanwhile');
    assert.equal(change.eventId, engine.store.engine.lastId);
    assert(updates.every(({ id }, at) => at < updates.length - 1 || id >= change.eventId));
  });

  it('tells of a flag that changes after it was looked at under an id of its own', async () => {
    const { engine, names, flush } = await openLargeProject();
    const watch = watchOf(engine, EVERYTHING);
    const client = await hydrate(watch);
    const describeFlag = (flag: string, description: string): void => {
      engine.submit({ type: 'update-flag', project: 'default', flag, metadata: { description } });
    };
    setTurnMs(0);
    try {
      for (const name of names) describeFlag(name, 'once');
      await flush();
      const looking = watch.refresh();
      assert(looking instanceof Promise, 'it takes slices');
      for (let slices = 0; slices < 5; slices += 1) await nextRound();
      const [first] = names;
      assert(first !== undefined, 'there are flags');
      describeFlag(first, 'twice');
      await looking;
    } finally {
      setTurnMs();
    }
    await flush();
    const ids = (watch.log.since(client.seenId) ?? assert.fail('its id is known')).map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length, `${ids}`);
    assert(ids.length > 1, 'some of it was found after the change, and some before');
    await catchUp(client, watch);
    assert.deepEqual(client.state, (await hydrate(watchOf(engine, EVERYTHING))).state);
  });
});
