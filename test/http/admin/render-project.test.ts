/** The overview of a project: its health, which depends on the date, and its flags, of which most bytes are kept. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FlagType } from '../../../src/domain/flags/flag-type.ts';
import { NEVER_SEEN } from '../../../src/domain/usage/last-seen.ts';
import { flagSummary } from '../../../src/http/admin/views/render-flag.ts';
import { flagList, healthOf, projectOverview } from '../../../src/http/admin/views/render-project.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { TestWorld } from '../../support/test-world.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

const sourcesOf = ({ world }: TestWorld) => ({ world, seen: NEVER_SEEN });

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
  it('is 100 without flags, and for good when no flag can grow old', () => {
    const { project, createdAt } = projectWith('kill-switch', 'permission');
    const { percent, validUntil } = healthOf(project, createdAt + 10_000 * DAY_MS);
    assert.deepEqual([percent, validUntil], [100, Number.POSITIVE_INFINITY]);
  });

  it('falls on the day on which a flag outlives its type', () => {
    for (const [type, days] of [
      ['release', 40],
      ['experiment', 40],
      ['operational', 7],
    ] as const) {
      const { project, createdAt } = projectWith(type);
      const end = createdAt + days * DAY_MS;
      const { percent, validUntil } = healthOf(project, end - 1);
      assert.deepEqual([percent, validUntil], [100, end], type);
      assert.equal(healthOf(project, end).percent, 0, type);
    }
  });

  it('counts stale flags as unhealthy at once, and archived ones not at all', () => {
    const { state, project, createdAt } = projectWith('release', 'release', 'release');
    state.given({ type: 'update-flag', project: 'default', flag: 'f0', metadata: { stale: true } });
    assert.equal(healthOf(project, createdAt).percent, 67);
    state.given({ type: 'archive-flag', project: 'default', flag: 'f0' });
    assert.equal(healthOf(project, createdAt).percent, 100);
  });

  it('shows in the overview on the day that it changes, though nothing else did, and when the clock is set back', () => {
    const { state, project, createdAt } = projectWith('operational', 'kill-switch');
    const overviewAt = (now: number) => projectOverview(sourcesOf(state), project, now);
    const healthAt = (now: number) => JSON.parse(String(overviewAt(now).body)).health;
    assert.equal(healthAt(createdAt + 6 * DAY_MS), 100);
    assert.equal(healthAt(createdAt + 8 * DAY_MS), 50);
    assert.equal(healthAt(createdAt + 6 * DAY_MS), 100);
    assert.notEqual(overviewAt(createdAt + 6 * DAY_MS).etag, overviewAt(createdAt + 8 * DAY_MS).etag);
  });
});

describe('the flags of a project', () => {
  it('are all there, in order and as they are, after any change to one of several hundred', () => {
    const state = new TestWorld();
    const random = seededRandom(7);
    const inDefault = { project: 'default' } as const;
    const add = (index: number) =>
      state.given({ type: 'create-flag', ...inDefault, name: `f${index}`, metadata: {} });
    for (let index = 0; index < 400; index += 1) add(index);
    const project = state.world.projects.get('default');
    assert(project !== undefined);
    for (let step = 0; step < 200; step += 1) {
      const names = [...project.flags.values()].filter(({ flag }) => flag.archivedAt === null);
      const flag = names[random.below(names.length)]?.flag.name ?? '';
      const change = random.below(4);
      if (change === 0) add(400 + step);
      else if (change === 1) state.given({ type: 'archive-flag', ...inDefault, flag });
      else {
        state.given({ type: 'update-flag', ...inDefault, flag, metadata: { stale: change === 2 } });
      }
      const summaries: unknown[] = [...project.flags.values()]
        .filter((record) => record.flag.archivedAt === null)
        .map((record): unknown => JSON.parse(flagSummary(sourcesOf(state), project, record)));
      for (const render of [projectOverview, flagList]) {
        const { body } = render(sourcesOf(state), project, Date.now());
        assert.deepEqual(JSON.parse(String(body)).features, summaries, `step ${step}`);
      }
    }
  });
});
