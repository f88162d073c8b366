/** The overview of a project: its health, which depends on the date, and its flags, of which most bytes are kept. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cacheOf } from '../../../src/actors/cache.ts';
import { setTurnMs } from '../../../src/actors/turn.ts';
import { NEVER_SEEN } from '../../../src/actors/usage-view.ts';
import type { FlagType } from '../../../src/domain/flags/metadata.ts';
import { isRefusal } from '../../../src/domain/state/refusal.ts';
import { type Favorites, type ProjectState, projectEnvironments } from '../../../src/domain/state/world.ts';
import { healthOf, projectFigures } from '../../../src/http/admin/project-figures.ts';
import { flagSummary } from '../../../src/http/admin/render-flag.ts';
import { filteredFlagList, flagList, projectOverview } from '../../../src/http/admin/render-project.ts';
import { TaggedResponse } from '../../../src/http/serving/json-response.ts';
import { byteLengthOf, bytesOf } from '../../../src/http/transport/response.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { TestWorld } from '../../support/test-world.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

const sourcesOf = ({ world }: TestWorld, now: number, favorites: Favorites | null = null) => ({
  ...{ world, favorites, seen: NEVER_SEEN, requester: { name: 'a' }, bytesMax: 2 ** 26 },
  now,
});

/** Percent, and until when. */
async function healthAt({ world }: TestWorld, now: number): Promise<[number, number]> {
  const project = world.projects.get('default')!;
  const [figures] = await projectFigures([project], { world, now }, { name: 'a' });
  assert(figures !== undefined);
  return [healthOf(figures), figures.validUntil];
}

async function overviewAt(state: TestWorld, project: ProjectState, now: number) {
  const read = await projectOverview(sourcesOf(state, now), project);
  assert(!isRefusal(read));
  const { response } = read;
  assert(response instanceof TaggedResponse);
  return { etag: response.etag, body: JSON.parse(Buffer.from(bytesOf(response.body)).toString()) };
}

/** A project with a flag of each of these types, all created within the same minute. */
function projectWith(...types: readonly FlagType[]) {
  const state = new TestWorld();
  for (const [index, type] of types.entries()) {
    state.given({ type: 'create-flag', project: 'default', name: `f${index}`, metadata: { type } });
  }
  const project = state.world.projects.get('default');
  assert(project !== undefined);
  const createdAt = Date.parse(project.flags.get('f0')?.flag.createdAt ?? '');
  return { state, project, createdAt };
}

describe('the health of a project', () => {
  it('is 100 without flags, and for good when no flag can grow old', async () => {
    const { state, createdAt } = projectWith('kill-switch', 'permission');
    assert.deepEqual(await healthAt(state, createdAt + 10_000 * DAY_MS), [100, Number.POSITIVE_INFINITY]);
  });

  it('falls on the day on which a flag outlives its type', async () => {
    for (const [type, days] of [
      ['release', 40],
      ['experiment', 40],
      ['operational', 7],
    ] as const) {
      const { state, createdAt } = projectWith(type);
      const end = createdAt + days * DAY_MS;
      assert.deepEqual(await healthAt(state, end - 1), [100, end], type);
      assert.equal((await healthAt(state, end))[0], 0, type);
    }
  });

  it('counts stale flags as unhealthy at once, and archived ones not at all', async () => {
    const { state, createdAt } = projectWith('release', 'release', 'release');
    const health = async () => (await healthAt(state, createdAt))[0];
    state.given({ type: 'update-flag', project: 'default', flag: 'f0', metadata: { stale: true } });
    assert.equal(await health(), 67);
    state.given({ type: 'archive-flag', project: 'default', flag: 'f0' });
    assert.equal(await health(), 100);
  });

  it('shows in the overview on the day that it changes, though nothing else did, and when the clock is set back', async () => {
    const { state, project, createdAt } = projectWith('operational', 'kill-switch');
    const tags: string[] = [];
    for (const [days, health] of [
      [6, 100],
      [8, 50],
      [6, 100],
    ] as const) {
      const { etag, body } = await overviewAt(state, project, createdAt + days * DAY_MS);
      assert.equal(body.health, health);
      tags.push(etag);
    }
    assert.notEqual(tags[0], tags[1]);
    assert.equal(tags[0], tags[2]);
  });
});

describe('the flags of a project', () => {
  it('are all there, in order and as they are, after any change to one of several hundred', async () => {
    const state = new TestWorld();
    const random = seededRandom(7);
    const inDefault = { project: 'default' } as const;
    const add = (index: number) =>
      state.given({ type: 'create-flag', ...inDefault, name: `f${index}`, metadata: {} });
    for (let index = 0; index < 400; index += 1) add(index);
    for (let step = 0; step < 200; step += 1) {
      const names = [...state.world.projects.get('default')!.flags.values()].filter(
        ({ flag }) => flag.archivedAt === null,
      );
      const flag = names[random.below(names.length)]?.flag.name ?? '';
      const change = random.below(5);
      if (change === 0) add(400 + step);
      else if (change === 1) state.given({ type: 'archive-flag', ...inDefault, flag });
      else if (change === 4)
        state.given({ type: 'complete-flag', ...inDefault, flag, completion: { status: 'kept' } });
      else {
        state.given({ type: 'update-flag', ...inDefault, flag, metadata: { stale: change === 2 } });
      }
      const project = state.world.projects.get('default')!;
      const environments = projectEnvironments(state.world, project);
      const summaries: readonly { readonly name: string }[] = [...project.flags.values()]
        .filter((record) => record.flag.archivedAt === null)
        .map((record) => flagSummary(state.world, record, environments, null));
      const marked = ['f1', `f${step}`, 'f399', `f${step + 400}`, 'nothing'];
      for (const render of [projectOverview, flagList]) {
        const tags = new Set<string>();
        for (const flags of [[], marked]) {
          const favorites = flags.length === 0 ? null : { userId: 7, projects: [], flags };
          const read = await render(sourcesOf(state, Date.now(), favorites), project);
          assert(!isRefusal(read));
          const { response } = read;
          assert(response instanceof TaggedResponse);
          tags.add(response.etag);
          const text = Buffer.from(bytesOf(response.body)).toString();
          const expected = summaries.map((one) => ({ ...one, favorite: flags.includes(one.name) }));
          assert.deepEqual(JSON.parse(text).features, JSON.parse(JSON.stringify(expected)), `step ${step}`);
        }
        assert.equal(tags.size, 2, 'what differs has different tags');
      }
    }
  });
});

describe('an overview of many flags that nobody waits for any more', () => {
  it('fails once: what it is made of leaves no rejection that nobody takes, which would end the process', async (t) => {
    const flags = Array.from({ length: 2_000 }, (): FlagType => 'release');
    const { state, project, createdAt } = projectWith(...flags);
    const abort = new AbortController();
    const sources = { ...sourcesOf(state, createdAt), requester: { name: 'a', signal: abort.signal } };
    const untaken: unknown[] = [];
    const note = (error: unknown): void => void untaken.push(error);
    process.on('unhandledRejection', note);
    t.after(() => process.off('unhandledRejection', note));
    const making = projectOverview(sources, project);
    assert(making instanceof Promise, 'it takes several turns');
    abort.abort();
    await assert.rejects(making, { name: 'AbortError' });
    for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(untaken, []);
  });
});

describe('large lists', () => {
  it('are made one at a time, and not for somebody who has gone', async () => {
    const state = new TestWorld();
    for (let at = 0; at < 300; at += 1)
      state.given({ type: 'create-flag', project: 'default', name: `f${at}`, metadata: {} });
    const project = state.world.projects.get('default')!;
    const { making } = cacheOf(state);
    setTurnMs(0);
    const ends = Array.from({ length: 10 }, () => new AbortController());
    const asked = ends.map(async ({ signal }) =>
      flagList({ ...sourcesOf(state, 0), requester: { name: 'a', signal } }, project),
    );
    assert.deepEqual([making.runningCount, making.waitingCount], [1, 9]);
    for (const end of ends.slice(2)) end.abort();
    assert.deepEqual([making.runningCount, making.waitingCount], [1, 1]);
    const outcomes = await Promise.allSettled(asked);
    setTurnMs();
    assert.deepEqual(
      outcomes.map(({ status }) => status === 'fulfilled'),
      ends.map((_, at) => at < 2),
    );
  });
});

describe('a list that would be too large', () => {
  const state = new TestWorld();
  for (let at = 0; at < 300; at += 1) {
    const description = '\u0001'.repeat(at % 2 === 0 ? 9_000 : 0);
    state.given({ type: 'create-flag', project: 'default', name: `f${at}`, metadata: { description } });
  }
  const project = state.world.projects.get('default')!;
  const cache = cacheOf(state);
  const within = (bytesMax: number) => ({ ...sourcesOf(state, 0), bytesMax });

  it('is refused before anything is made, with what to ask for instead', async () => {
    const before = cache.bytes;
    for (const read of [projectOverview, flagList]) {
      const refusal = await read(within(9_000 * 6 * 150), project);
      assert(isRefusal(refusal) && refusal.name === 'PayloadTooLargeError');
      assert.match(refusal.message, /search\/features lists flags in pages/);
    }
    assert.equal(cache.bytes, before);
  });

  it('is not refused where it just fits, and what was made of it goes when others need the room', async () => {
    const whole = await flagList(within(Number.POSITIVE_INFINITY), project);
    assert(!isRefusal(whole));
    const bytes = byteLengthOf(whole.response.body);
    assert(cache.bytes >= bytes);
    assert.equal(await flagList(within(bytes), project), whole);
    cache.part<string, number>({ bytesOf: (value) => value }).set('other', cache.bytesMax);
    assert(cache.bytes < cache.bytesMax + bytes);
    assert.notEqual(await flagList(within(bytes), project), whole);
  });

  it('is not refused for its length where only some of it is asked for', async () => {
    const filter = { namePrefix: 'f299', tags: [] };
    const found = await filteredFlagList(within(10_000), project, { filter, state: null });
    assert(!isRefusal(found));
    assert.equal(JSON.parse(Buffer.from(bytesOf(found.response.body)).toString()).features.length, 1);
    const all = await filteredFlagList(within(10_000), project, {
      filter: { ...filter, namePrefix: 'f' },
      state: null,
    });
    assert(isRefusal(all));
  });
});
