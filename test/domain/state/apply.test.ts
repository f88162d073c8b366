/** The one way to change the state: what an event touches, what it leaves alone, and what does not fit. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FlagData } from '../../../src/domain/flags/flag.ts';
import { applyChange } from '../../../src/domain/state/apply.ts';
import {
  aboutFlag,
  aboutFlagEnvironment,
  type DomainEvent,
  inProject,
} from '../../../src/domain/state/events.ts';
import type { FlagRecord } from '../../../src/domain/state/flag-record.ts';
import { RULES_VERSION } from '../../../src/domain/state/replay-rules.ts';
import { TestWorld } from '../../support/test-world.ts';

const AT = '2024-06-01T00:00:00.000Z';
const HOME = { project: 'default', name: 'f' } as const;

const created = (name: string): DomainEvent => {
  const data: FlagData = {
    name,
    project: 'default',
    description: '',
    type: 'release',
    stale: false,
    impressionData: false,
    links: [],
    createdAt: AT,
    lastSeenAt: null,
    variants: null,
    archived: false,
  };
  return { type: 'feature-created', ...aboutFlag(data), data, preData: null };
};

const VARIANT = {
  name: 'v',
  weight: 1000,
  weightType: 'variable',
  stickiness: 'default',
  overrides: [],
} as const;

/** A state with the flags `f` and `other`, whose newest event has the id 100. */
function stateWithFlags() {
  const state = new TestWorld();
  const { world } = state;
  let id = 100;
  const run = (event: DomainEvent) => {
    id += 1;
    state.root = applyChange(state.root, [event], { id, createdAt: AT, rules: RULES_VERSION });
    return id;
  };
  run(created('f'));
  run(created('other'));
  const project = () => world.projects.get('default')!;
  const record = (name: string): FlagRecord => {
    const found = project().flags.get(name);
    assert(found !== undefined);
    return found;
  };
  return { world, project, record, run };
}

const enabled: DomainEvent = {
  type: 'feature-environment-enabled',
  ...aboutFlagEnvironment(HOME, 'production'),
  data: null,
  preData: null,
};

describe('applying an event', () => {
  it('replaces the flag that it is about, and leaves the old one as it was', () => {
    const { record, run } = stateWithFlags();
    const before = record('f').flag;
    const copy = structuredClone(before);
    run(enabled);
    assert.notEqual(record('f').flag, before);
    assert.deepEqual(before, copy);
    assert.deepEqual(record('f').flag.environments, [
      { name: 'production', enabled: true, strategies: [], variants: [] },
    ]);
  });

  it('touches no other flag', () => {
    const { record, run } = stateWithFlags();
    const other = record('other').flag;
    run(enabled);
    assert.equal(record('other').flag, other);
  });

  it('marks flag and project with the id of the event, by which reads know what to wait for', () => {
    const { project, record, run } = stateWithFlags();
    const before = record('other').revision;
    const id = run(enabled);
    assert.deepEqual([record('f').revision, project().revision], [id, id]);
    assert.equal(record('other').revision, before);
  });

  it('takes the time of an archiving from the event, not from a clock', () => {
    const { record, run } = stateWithFlags();
    run({ type: 'feature-archived', ...aboutFlag(HOME), data: null, preData: null });
    assert.equal(record('f').flag.archivedAt, AT);
    run({ type: 'feature-revived', ...aboutFlag(HOME), data: null, preData: null });
    assert.equal(record('f').flag.archivedAt, null);
  });

  it('gives variants to all environments of the project, or to the one that is named', () => {
    const { record, run } = stateWithFlags();
    const change = { data: { variants: [VARIANT] }, preData: { variants: [] } };
    run({
      type: 'feature-environment-variants-updated',
      ...aboutFlagEnvironment(HOME, 'production'),
      ...change,
    });
    const variantsIn = () =>
      Object.fromEntries(record('f').flag.environments.map(({ name, variants }) => [name, variants.length]));
    assert.deepEqual(variantsIn(), { production: 1 });
    run({ type: 'feature-variants-updated', ...aboutFlag(HOME), ...change });
    assert.deepEqual(variantsIn(), { production: 1, development: 1 });
  });

  it('keeps parent and child in step', () => {
    const { record, run } = stateWithFlags();
    const dependency = { feature: 'other', enabled: true, variants: [] };
    run({ type: 'feature-dependency-added', ...aboutFlag(HOME), data: dependency, preData: null });
    assert.deepEqual([record('f').flag.dependencies, record('other').flag.children], [[dependency], ['f']]);
    run({
      type: 'feature-dependencies-removed',
      ...aboutFlag(HOME),
      data: null,
      preData: { dependencies: [dependency] },
    });
    assert.deepEqual([record('f').flag.dependencies, record('other').flag.children], [[], []]);
  });

  it('takes from every flag what it had in an environment that its project gives up', () => {
    const { record, run } = stateWithFlags();
    run(enabled);
    const scope = { project: 'default', featureName: null, environment: 'production' } as const;
    run({ type: 'project-environment-removed', ...scope, data: null, preData: null });
    assert.deepEqual(record('f').flag.environments, []);
  });

  it('frees the name of a flag that is deleted, and those of the flags of a deleted project', () => {
    const { world, run } = stateWithFlags();
    const preData = (created('f') as { data: FlagData }).data;
    run({ type: 'feature-deleted', ...aboutFlag(HOME), data: null, preData });
    assert.deepEqual([...world.directory.flagProjects], [['other', 'default']]);
    const settings = world.projects.get('default')?.settings;
    assert(settings !== undefined);
    run({ type: 'project-deleted', ...inProject('default'), data: null, preData: settings });
    assert.equal(world.directory.flagProjects.size, 0);
  });

  it('throws on events that do not fit the state', () => {
    const { world, run } = stateWithFlags();
    const settings = world.projects.get('default')?.settings;
    assert(settings !== undefined);
    const mismatches: readonly (readonly [unknown, RegExp])[] = [
      [created('f'), /created twice/],
      [{ ...enabled, featureName: 'nobody' }, /does not exist/],
      [{ ...enabled, project: 'nowhere' }, /does not exist/],
      [
        { type: 'feature-deleted', ...aboutFlag({ ...HOME, name: 'nobody' }), data: null, preData: null },
        /not exist/,
      ],
      [{ type: 'project-created', ...inProject('default'), data: settings, preData: null }, /created twice/],
      [{ type: 'project-updated', ...inProject('nowhere'), data: settings, preData: settings }, /nowhere/],
      [{ ...enabled, type: 'feature-painted' }, /does not know/],
      [{ ...enabled, featureName: null, type: 'project-painted' }, /does not know/],
      [{ type: 'weather-changed', project: null, featureName: null, environment: null }, /does not know/],
    ];
    for (const [event, reason] of mismatches) assert.throws(() => run(event as DomainEvent), reason);
  });
});
