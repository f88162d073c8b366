/** A watch: whoever applies what it tells has what it shows, after any changes, and in any order of looking. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { clientDocuments } from '../../../src/http/client-flags/client-documents.ts';
import { type ClientQuery, queryOfScope } from '../../../src/http/client-flags/client-query.ts';
import { QueryWatch } from '../../../src/http/watch/query-watch.ts';
import { createFlag, openTestEngine, settle, type TestEngine } from '../../support/engine.ts';
import { commands, withRealIds } from '../../support/every-command.ts';

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

/** What a client has that applies each event, as SDKs do. */
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

async function hydrate(watch: QueryWatch): Promise<Client> {
  await watch.refresh();
  const client = new Client();
  const parts = await watch.hydration().parts();
  client.apply(JSON.parse(Buffer.concat(parts).toString()));
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

describe('a watch', () => {
  it('tells a client all that it needs to have what a new client gets, after any commands', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(commands, fc.boolean()), { minLength: 20, maxLength: 80, size: 'max' }),
        async (steps) => {
          const engine = await openTestEngine();
          const watches = QUERIES.map((query) => watchOf(engine, query));
          const clients = await Promise.all(watches.map(hydrate));
          for (const [command, isLookedAt] of steps) {
            await engine.execute(withRealIds(engine.store.engine.world, command));
            if (!isLookedAt) continue;
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
        },
      ),
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
    const engine = await openTestEngine();
    const names = Array.from({ length: 600 }, (_, number) => `flag-${number}`);
    engine.manual.runFreely();
    const flush = async (): Promise<void> => {
      await settle();
      await engine.store.engine.journal.flush();
    };
    for (const name of names) engine.submit(createFlag(name));
    while (engine.store.engine.queuedCount > 0) await flush();
    const watch = watchOf(engine, EVERYTHING);
    const looking = watch.refresh();
    assert(looking instanceof Promise, 'it takes slices');
    engine.submit({ type: 'archive-flag', project: 'default', flag: 'flag-0' });
    engine.submit(createFlag('newest'));
    await looking;
    await flush();
    const { flags } = await hydrate(watch);
    assert.deepEqual([flags.size, flags.has('flag-0'), flags.has('newest')], [600, false, true]);
  });
});
