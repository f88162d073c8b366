/** Decisions that the interface alone cannot bring about, or shows too little of. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Command } from '../../../src/domain/decide/decide.ts';
import { DEFAULT_GROWTH_LIMITS } from '../../../src/domain/flags/growth-limits.ts';
import type { Variant } from '../../../src/domain/flags/variant.ts';
import { FLAG_BYTES_MAX } from '../../../src/domain/growth/refuse-growth.ts';
import type { DomainEvent } from '../../../src/domain/state/events.ts';
import { isRefusal } from '../../../src/domain/state/refusal.ts';
import { TestWorld } from '../../support/test-world.ts';

const OF = { project: 'default', flag: 'f' } as const;
const CREATE = { type: 'create-flag', project: 'default', name: 'f', metadata: {} } as const;

const variant = (name: string, payload = ''): Variant => ({
  name,
  weight: 1000,
  weightType: 'variable',
  stickiness: 'default',
  payload: { type: 'string', value: payload },
  overrides: [],
});

const strategy = (title: string) => ({
  name: 'default',
  title,
  disabled: false,
  constraints: [],
  parameters: null,
  variants: [],
  segments: [],
});

function eventsOf(decision: unknown): readonly DomainEvent[] {
  assert(!isRefusal(decision), isRefusal(decision) ? decision.message : '');
  return decision as readonly DomainEvent[];
}

describe('decisions on flags', () => {
  it('a clone gets the variants of each environment, where they differ', () => {
    const state = new TestWorld().given(
      CREATE,
      { type: 'set-variants', ...OF, environment: 'production', variants: [variant('p')] },
      { type: 'clone-flag', ...OF, name: 'g', replaceGroupId: false },
    );
    const { flag } = state.world.projects.get('default')?.flags.get('g') ?? {};
    const variantsIn = flag?.environments.map(({ name, variants }) => [
      name,
      variants.map((one) => one.name),
    ]);
    assert.deepEqual(variantsIn, [['production', ['p']]]);
  });

  it('the variants of a flag are those of the first environment in the order of the service', () => {
    const state = new TestWorld().given(
      CREATE,
      { type: 'set-variants', ...OF, environment: 'production', variants: [variant('p')] },
      { type: 'set-variants', ...OF, environment: 'development', variants: [variant('d')] },
    );
    const shown = () => {
      const [updated] = eventsOf(
        state.decide({ type: 'update-flag', ...OF, metadata: { description: 'x' } }),
      );
      return (updated?.data as { variants: readonly Variant[] } | undefined)?.variants.map(
        ({ name }) => name,
      );
    };
    assert.deepEqual(shown(), ['d']);
    state.given({ type: 'update-environment', name: 'production', fields: { sortOrder: 0 } });
    assert.deepEqual(shown(), ['p']);
  });

  it('a flag without environments cannot have variants, and can be without', () => {
    const state = new TestWorld().given(
      CREATE,
      { type: 'remove-project-environment', project: 'default', environment: 'development' },
      { type: 'remove-project-environment', project: 'default', environment: 'production' },
    );
    const set = { type: 'set-variants', ...OF, environment: null } as const;
    assert.equal(state.run({ ...set, variants: [variant('v')] }), 'InvalidOperationError');
    assert.deepEqual(state.run({ ...set, variants: [] }), []);
  });

  it('a flag that moves has nothing in environments that its new project does not have', () => {
    const production = { ...OF, environment: 'production' } as const;
    const newProject = 'next';
    const state = new TestWorld().given(
      CREATE,
      { type: 'create-project', id: newProject, fields: { name: 'Next' } } as Command,
      { type: 'remove-project-environment', project: newProject, environment: 'production' },
      { type: 'set-variants', ...production, variants: [variant('p')] },
      { type: 'set-variants', ...production, variants: [] },
      { type: 'move-flag', ...OF, newProject },
    );
    assert.deepEqual(state.world.projects.get(newProject)?.flags.get('f')?.flag.environments, []);
  });

  it('a flag may grow to its limit and shrink again, and no change that would exceed it is decided', () => {
    const state = new TestWorld().given(CREATE);
    const large = FLAG_BYTES_MAX;
    state.limits = {
      ...DEFAULT_GROWTH_LIMITS,
      titleLength: large,
      strategyBytes: large,
      payloadBytes: large,
    };
    const half = 'x'.repeat(FLAG_BYTES_MAX / 4 - 2_500);
    const set = { type: 'set-variants', ...OF, environment: null } as const;
    state.given({ ...set, variants: [variant('a', half)] });
    // The same again in the place of the first: what goes is not counted against what comes.
    state.given({ ...set, variants: [variant('b', half)] });
    const add = { type: 'add-strategy', ...OF, environment: 'development' } as const;
    state.given({ ...add, strategy: strategy('x'.repeat(FLAG_BYTES_MAX / 4)) });
    const tooMuch = strategy('x'.repeat(FLAG_BYTES_MAX / 4 + 25_000));
    assert.equal(state.run({ ...add, strategy: tooMuch }), 'PayloadTooLargeError');
    state.given({ ...set, variants: [] }, { ...add, strategy: tooMuch });
  });

  it('a strategy keeps its place when it is replaced without one', () => {
    const state = new TestWorld().given(CREATE);
    const of = { ...OF, environment: 'development' } as const;
    for (const title of ['a', 'b', 'c'])
      state.given({ type: 'add-strategy', ...of, strategy: strategy(title) });
    const strategies = () =>
      state.world.projects.get('default')?.flags.get('f')?.flag.environments[0]?.strategies ?? [];
    const strategyId = strategies()[1]?.id ?? '';
    state.given({ type: 'replace-strategy', ...of, strategyId, strategy: strategy('B') });
    assert.deepEqual(
      strategies().map(({ title, sortOrder }) => [title, sortOrder]),
      [
        ['a', 0],
        ['B', 1],
        ['c', 2],
      ],
    );
  });

  it('the same command, state and context give the same events', () => {
    const decisions = [1, 2].map(() => {
      const state = new TestWorld().given(CREATE, {
        type: 'add-strategy',
        ...OF,
        environment: 'development',
        strategy: strategy('s'),
      });
      return state.decide({ type: 'clone-flag', ...OF, name: 'g', replaceGroupId: false });
    });
    assert.deepEqual(decisions[0], decisions[1]);
  });
});
