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

/** A state with the flags `f` and `other`, whose newest event has the id 100. */
function stateWithFlags() {
  const state = new TestWorld();
  let id = 100;
  const run = (event: DomainEvent) => {
    id += 1;
    state.world = applyChange(state.world, [event], { id, createdAt: AT, rules: RULES_VERSION });
    return id;
  };
  run(created('f'));
  run(created('other'));
  const project = () => state.world.projects.get('default')!;
  const record = (name: string): FlagRecord => {
    const found = project().flags.get(name);
    assert(found !== undefined);
    return found;
  };
  return { project, record, run };
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

  it('throws on events that do not fit the state', () => {
    const { project, run } = stateWithFlags();
    const { settings } = project();
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
