/** Changes with many events about one flag, which are applied together. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { stateHash } from '../../../src/actors/state/world-snapshot.ts';
import type { Strategy } from '../../../src/domain/flags/strategy.ts';
import { applyChange } from '../../../src/domain/state/apply.ts';
import { aboutFlagEnvironment, type DomainEvent } from '../../../src/domain/state/events.ts';
import { stateBytes } from '../../../src/domain/state/records.ts';
import { RULES_VERSION } from '../../../src/domain/state/replay-rules.ts';
import type { World } from '../../../src/domain/state/world.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { DEFAULT_STRATEGY, TestWorld } from '../../support/test-world.ts';

const HOME = { project: 'default', name: 'f' } as const;
const CREATION = { type: 'create-flag', ...HOME, metadata: {} } as const;

const strategy = (at: number, sortOrder = at): Strategy => ({ ...DEFAULT_STRATEGY, id: `s${at}`, sortOrder });

const about = (environment: string, event: object): DomainEvent =>
  ({ ...aboutFlagEnvironment(HOME, environment), data: null, preData: null, ...event }) as DomainEvent;

const added = (data: Strategy, environment = 'production'): DomainEvent =>
  about(environment, { type: 'feature-strategy-add', data });

const removed = (preData: Strategy, environment = 'production'): DomainEvent =>
  about(environment, { type: 'feature-strategy-remove', preData });

const apply = (world: World, events: readonly DomainEvent[], id: number): World =>
  applyChange(world, events, { id, createdAt: '2024-06-01T00:00:00.000Z', rules: RULES_VERSION });

it('events of one change lead to the state to which they lead one by one', () => {
  const random = seededRandom(7);
  const { world: root } = new TestWorld().given(CREATION);
  for (let round = 0; round < 60; round += 1) {
    const events: DomainEvent[] = [];
    let environment = 'production';
    let kind = 0;
    for (let at = 0; at < 40; at += 1) {
      if (random.chance(0.3)) kind = random.below(5);
      if (random.chance(0.1)) environment = random.chance(0.5) ? 'production' : 'development';
      const one = strategy(kind === 0 ? at : random.below(at + 1), random.below(9));
      if (kind === 0) events.push(added(one, environment));
      if (kind === 1) events.push(removed(one, environment));
      if (kind === 2) events.push(about(environment, { type: 'feature-strategy-update', data: one }));
      if (kind === 3)
        events.push(about(environment, { type: 'strategy-order-changed', data: { strategies: [one] } }));
      if (kind === 4) events.push(about(environment, { type: 'feature-environment-enabled' }));
    }
    const together = apply(root, events, 100);
    const single = events.reduce((world, event, at) => apply(world, [event], 100 + at), root);
    assert.equal(stateHash(together), stateHash(single));
    assert.equal(stateBytes(together), stateBytes(single));
    assert.deepEqual([...together.references.counts], [...single.references.counts]);
    for (const name of ['production', 'development'])
      assert.equal(
        together.served.documentBytes(new Map(), name, '*'),
        single.served.documentBytes(new Map(), name, '*'),
      );
  }
});

it('a change that removes all strategies of a flag looks at each of them a few times', () => {
  const strategies = Array.from({ length: 300 }, (_, at) => strategy(at));
  let looks = 0;
  const watched = strategies.map(({ id, ...others }) => ({
    ...others,
    get id() {
      looks += 1;
      return id;
    },
  }));
  const world = new TestWorld().given(CREATION);
  const held = apply(world.world, [added(strategy(0))], 100);
  const record = held.projects.get('default')!.flags.get('f')!;
  Object.assign(record.flag.environments[0]!, { strategies: watched });
  const after = apply(
    held,
    strategies.map((one) => removed(one)),
    200,
  );
  assert.deepEqual(after.projects.get('default')?.flags.get('f')?.flag.environments[0]?.strategies, []);
  assert(looks < 20 * strategies.length, `${looks}`);
});
