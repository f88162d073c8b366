/** The events by which a flag becomes as desired, through rollbacks between random states of it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { Command } from '../../../src/domain/decide/decide.ts';
import { desiredEvents } from '../../../src/domain/decide/desired-events.ts';
import {
  environmentOf,
  type Flag,
  type FlagEnvironment,
  flagOf,
  tagKey,
} from '../../../src/domain/flags/flag.ts';
import { sameMetadata } from '../../../src/domain/flags/metadata.ts';
import { hasEnabledStrategy } from '../../../src/domain/flags/strategy.ts';
import { jsonEqual } from '../../../src/domain/json/json.ts';
import type { DomainEvent } from '../../../src/domain/state/events.ts';
import type { FlagRecord } from '../../../src/domain/state/flag-record.ts';
import { isRefusal } from '../../../src/domain/state/refusal.ts';
import { commandRuns, commandsOn } from '../../support/random-commands.ts';
import { TestWorld } from '../../support/test-world.ts';

const ENVIRONMENTS = ['development', 'production'];

/** The largest flag that random commands have left, as if it were the one that the property changes. */
const former = commandRuns(20, 60)
  .map((run): readonly FlagRecord[] => {
    const state = new TestWorld();
    for (const command of commandsOn(state, run)) state.run(command);
    return [...state.world.projects.values()].flatMap(({ flags }) => [...flags.values()]);
  })
  .filter((records) => records.length > 0)
  .map((records): Flag => {
    const { flag } = records.reduce((largest, one) => (one.bytes > largest.bytes ? one : largest));
    const alone = {
      ...flag,
      name: 'a',
      project: 'default',
      archivedAt: null,
      dependencies: [],
      children: [],
    };
    const environments = flag.environments.filter(({ name }) => ENVIRONMENTS.includes(name));
    return flagOf(alone, alone, environments);
  });

const rollbackTo = (target: Flag): Command<'rollback-flags'> => ({
  type: 'rollback-flags',
  project: 'default',
  targets: [{ flag: 'a', target, environments: ENVIRONMENTS }],
  dryRun: false,
});

function assertBack(
  events: readonly DomainEvent[],
  was: FlagEnvironment,
  { is, wanted }: { readonly is: FlagEnvironment; readonly wanted: FlagEnvironment },
): void {
  assert(jsonEqual([is.strategies, is.variants], [wanted.strategies, wanted.variants]));
  const canBeOn = hasEnabledStrategy(wanted.strategies) || !hasEnabledStrategy(was.strategies);
  if (was.enabled && wanted.enabled && canBeOn) assert(is.enabled, 'what is on before and after is on');
  if (!wanted.enabled) assert(!is.enabled, 'what was off is off');
  const switches = events.filter(
    (event) => event.environment === is.name && /^feature-environment-(?:en|dis)abled$/.test(event.type),
  );
  assert.equal(switches.length, was.enabled === is.enabled ? 0 : 1, 'switched once, where it has to be');
}

it('a flag becomes what it was, in one change that switches off nothing that is on before and after', () => {
  fc.assert(
    fc.property(former, former, (first, second) => {
      const state = new TestWorld().given(
        { type: 'create-flag', project: 'default', name: 'a', metadata: {} },
        rollbackTo(first),
      );
      const flagNow = (): Flag => state.world.projects.get('default')!.flags.get('a')!.flag;
      const before = flagNow();
      const events = state.decide(rollbackTo(second));
      assert(!isRefusal(events), 'a flag can be what it was');
      state.record(events);
      const after = flagNow();
      assert(sameMetadata(after, second), 'it is what it was');
      assert.deepEqual(new Set(after.tags.map(tagKey)), new Set(second.tags.map(tagKey)));
      for (const name of ENVIRONMENTS)
        assertBack(events, environmentOf(before, name), {
          is: environmentOf(after, name),
          wanted: environmentOf(second, name),
        });
      assert.deepEqual(state.decide(rollbackTo(second)), [], 'a second change has nothing to do');
    }),
  );
});

it('a flag gets the parents that are desired, and loses the others first', () => {
  const parent = (feature: string) => ({ feature, enabled: true, variants: [] });
  const create = (name: string) => ({ type: 'create-flag', project: 'default', name, metadata: {} }) as const;
  const state = new TestWorld().given(create('child'), create('old'), create('kept'), create('new'));
  for (const feature of ['old', 'kept'])
    state.given({ type: 'add-dependency', project: 'default', child: 'child', dependency: parent(feature) });
  const project = state.world.projects.get('default')!;
  const dependencies = { items: [parent('new'), { ...parent('kept'), enabled: false }], isWhole: true };
  const events = desiredEvents(state.world, project, {
    flags: [{ name: 'child', project: 'default', dependencies }],
  });
  assert(!isRefusal(events));
  assert.deepEqual(
    events.map(({ type, data, preData }) => [type, ((data ?? preData) as { feature: string }).feature]),
    [
      ['feature-dependency-removed', 'old'],
      ['feature-dependency-added', 'new'],
      ['feature-dependency-added', 'kept'],
    ],
  );
  state.record(events);
  const after = state.world.projects.get('default')!.flags.get('child')!.flag.dependencies;
  assert.deepEqual(new Set(after), new Set(dependencies.items));
});
