/** Each limit on the parts of a flag: reached, exceeded, and exceeded by data that is older than the limit. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Command } from '../../../src/domain/decide/decide.ts';
import type { Flag } from '../../../src/domain/flags/flag.ts';
import {
  DEFAULT_GROWTH_LIMITS,
  GROWTH_LIMIT_NAMES,
  GROWTH_LIMITS,
  type GrowthLimitName,
} from '../../../src/domain/flags/growth-limits.ts';
import type { Strategy } from '../../../src/domain/flags/strategy.ts';
import { aboutFlagEnvironment, type DomainEvent } from '../../../src/domain/state/events.ts';
import { isRefusal } from '../../../src/domain/state/refusal.ts';
import { DEFAULT_STRATEGY, TestWorld } from '../../support/test-world.ts';

const OF = { project: 'default', flag: 'f' } as const;
const IN = { ...OF, environment: 'development' } as const;

const constraint = (values: number) => ({
  contextName: 'userId',
  operator: 'IN' as const,
  caseInsensitive: false,
  inverted: false,
  values: Array.from({ length: values }, (_, index) => `v${index}`),
});

const variants = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `v${index}`,
    weight: 1,
    weightType: 'variable' as const,
    stickiness: 'default',
    overrides: [],
  }));

const input = (fields: object = {}) => ({
  ...DEFAULT_STRATEGY,
  ...fields,
});

const recorded = (id: string, fields: object = {}): Strategy => ({ ...input(fields), id, sortOrder: 0 });

/** A project as an older release recorded it, which knew no limits. */
const older = (id: string, fields: object = {}): DomainEvent => ({
  type: 'feature-strategy-add',
  ...aboutFlagEnvironment({ project: 'default', name: 'f' }, 'development'),
  data: { ...recorded(id, fields), featureName: 'f' },
  preData: null,
});

const createFlag: Command = { type: 'create-flag', project: 'default', name: 'f', metadata: {} };
const addStrategy = (fields: object = {}): Command => ({
  type: 'add-strategy',
  ...IN,
  strategy: input(fields),
});
const replaceStrategy = (fields: object): Command => ({
  type: 'replace-strategy',
  ...IN,
  strategyId: 'old',
  strategy: input(fields),
});

/** Counted by the test at the end of this file. */
type CountedName = Exclude<GrowthLimitName, 'evaluationCost'>;
const COUNTED_NAMES = GROWTH_LIMIT_NAMES.filter((name) => name !== 'evaluationCost');

/** For each limit: a strategy or flag with `count` parts, as an older release recorded it, and set by a command. */
const CASES: Readonly<
  Record<CountedName, { older(state: TestWorld, count: number): void; set(count: number): Command[] }>
> = {
  strategies: {
    older: (state, count) => state.record(Array.from({ length: count }, (_, index) => older(`old-${index}`))),
    set: () => [addStrategy()],
  },
  constraints: strategyCase((count) => ({ constraints: Array.from({ length: count }, () => constraint(1)) })),
  values: strategyCase((count) => ({ constraints: [constraint(count)] })),
  segments: strategyCase((count) => ({ segments: Array.from({ length: count }, () => 1) })),
  parameters: strategyCase((count) => ({
    parameters: { p: Object.fromEntries(Array.from({ length: count - 1 }, (_, index) => [`p${index}`, ''])) },
  })),
  parameterBytes: strategyCase((count) => ({ parameters: { p: '\u00e9'.repeat((count - 8) / 2) } })),
  strategyBytes: strategyCase((count) => ({ constraints: [{ ...constraint(1), values: valuesFor(count) }] })),
  titleLength: strategyCase((count) => ({ title: 'x'.repeat(count) })),
  variants: strategyCase((count) => ({ variants: variants(count) })),
  payloadBytes: strategyCase((count) => ({
    variants: [{ ...variants(1)[0], payload: { type: 'string', value: '\u00e9'.repeat(count / 2) } }],
  })),
  tags: {
    older: (state, count) =>
      state.record(
        Array.from({ length: count }, (_, index) => ({
          type: 'feature-tagged',
          ...{ project: 'default', featureName: 'f', environment: null },
          data: { type: 'simple', value: `old-${index}` },
          preData: null,
        })),
      ),
    set: () => [{ type: 'tag-flag', ...OF, tag: { type: 'simple', value: 'new' } }],
  },
  descriptionLength: {
    older: (state, count) => {
      const flag = flagOf(state);
      const data = { ...flag, description: 'x'.repeat(count), lastSeenAt: null, variants: null };
      state.record([
        {
          type: 'feature-metadata-updated',
          ...{ project: 'default', featureName: 'f', environment: null },
          data: { ...data, archived: false },
          preData: { ...data, description: flag.description, archived: false },
        },
      ]);
    },
    set: (count) => [{ type: 'update-flag', ...OF, metadata: { description: 'y'.repeat(count) } }],
  },
};

/** A value that makes a strategy take `bytes` as JSON, as a command sets it, if it can take so few. */
function valuesFor(bytes: number): string[] {
  const id = 'old';
  const strategy = recorded(id, { title: 'set', constraints: [constraint(1)] });
  return ['v'.repeat(Math.max(0, bytes - JSON.stringify(strategy).length + 'v0'.length))];
}

function strategyCase(fields: (count: number) => object): (typeof CASES)[CountedName] {
  return {
    older: (state, count) => state.record([older('old', fields(count))]),
    set: (count) => [replaceStrategy({ title: 'set', ...fields(count) })],
  };
}

function flagOf({ world }: TestWorld): Flag {
  const flag = world.projects.get('default')?.flags.get('f')?.flag;
  assert(flag !== undefined);
  return flag;
}

function refusalOf(state: TestWorld, command: Command): string | null {
  const decision = state.decide(command);
  return isRefusal(decision) ? `${decision.name}: ${decision.message}` : null;
}

function withSegment(): TestWorld {
  const segment = { name: 'beta', description: null, project: null, constraints: [] };
  return new TestWorld().given({ type: 'create-record', kind: 'segments', fields: segment }, createFlag);
}

for (const name of COUNTED_NAMES) {
  const { setting } = GROWTH_LIMITS[name];
  const max = DEFAULT_GROWTH_LIMITS[name];
  const { older: record, set } = CASES[name];
  // Some are measured in characters of two bytes.
  const step = name === 'parameterBytes' || name === 'payloadBytes' ? 2 : 1;

  describe(`the limit ${setting}`, () => {
    it('lets a flag grow up to it, and refuses to go beyond it, naming the number, the limit and the setting', () => {
      const state = withSegment();
      const isAdded = name === 'strategies' || name === 'tags';
      record(state, isAdded ? max - 1 : step * 4);
      const [toLimit] = set(max);
      assert(toLimit !== undefined);
      state.given(toLimit);
      const [beyond] = isAdded ? [ADDED[name]] : set(max + step);
      assert(beyond !== undefined);
      const refusal = refusalOf(state, beyond) ?? '';
      assert.match(refusal, /^ValidationError: /);
      assert.match(
        refusal,
        new RegExp(`${max + step} ${GROWTH_LIMITS[name].unit}; the limit is ${max} \\(${setting}\\)`),
      );
    });

    it('leaves what is beyond it as it is, and lets it become smaller', () => {
      const state = withSegment();
      const count = max + step * 10;
      record(state, count);
      state.given({ type: 'mark-flags-stale', project: 'default', flags: ['f'], stale: true });
      if (flagOf(state).environments.length > 0)
        state.given({ type: 'switch-environment', ...IN, enabled: true });
      if (name === 'strategies') {
        state.given({ type: 'remove-strategy', ...IN, strategyId: 'old-0' });
        assert.match(refusalOf(state, addStrategy()) ?? '', /would have 40 strategies/);
      } else if (name === 'tags') {
        state.given({ type: 'untag-flag', ...OF, tag: { type: 'simple', value: 'old-0' } });
        assert.match(refusalOf(state, set(1)[0]!) ?? '', /would have 60 tags/);
      } else {
        assert.notEqual(refusalOf(state, set(count + step)[0]!), null, 'it must not grow');
        state.given(...set(count - step));
      }
    });
  });
}

const ADDED = {
  strategies: addStrategy(),
  tags: { type: 'tag-flag', ...OF, tag: { type: 'simple', value: 'one more' } },
} as const;

describe('growth', () => {
  const CHANGES: readonly { readonly at: string; readonly command: Command }[] = [
    {
      at: '/body/description',
      command: { type: 'update-flag', ...OF, metadata: { description: 'y'.repeat(10_001) } },
    },
    { at: '/body/constraints', command: addStrategy({ constraints: Array(31).fill(constraint(1)) }) },
    {
      at: '/body/constraints/1/values',
      command: addStrategy({ constraints: [constraint(1), constraint(251)] }),
    },
    { at: '/body/title', command: addStrategy({ title: 'x'.repeat(1_001) }) },
    {
      at: '/body/1/payload/value',
      command: {
        type: 'set-variants',
        ...{ ...OF, environment: 'development' },
        variants: variants(2).map((one, index) => ({
          ...one,
          payload: { type: 'string', value: 'x'.repeat(index * 65_537) },
        })),
      },
    },
    {
      at: '/body/1',
      command: {
        type: 'patch-strategy',
        ...{ ...IN, strategyId: 'old' },
        operations: [
          { op: 'replace', path: '/disabled', value: true },
          { op: 'replace', path: '/title', value: 'x'.repeat(1_001) },
          { op: 'replace', path: '/disabled', value: false },
        ],
      },
    },
  ];

  for (const { at, command } of CHANGES) {
    it(`of a ${command.type} is refused for the part of the request at ${at}`, () => {
      const state = withSegment();
      state.record([older('old')]);
      const decision = state.decide(command);
      assert(isRefusal(decision));
      assert.deepEqual(decision.details, [{ message: decision.message, path: at }]);
    });
  }

  it('is refused in a clone, which makes new strategies', () => {
    const state = withSegment();
    CASES.strategies.older(state, 31);
    const clone: Command = { type: 'clone-flag', ...OF, name: 'g', replaceGroupId: false };
    assert.match(refusalOf(state, clone) ?? '', /The flag "g" .* would have 31 strategies/);
    const decision = state.decide(clone);
    assert(isRefusal(decision) && decision.details.every(({ path }) => path === undefined), 'no such part');
  });

  it('is refused in a rollback and in its dry run, and a rollback to what is as large is not', () => {
    const state = withSegment();
    CASES.strategies.older(state, 35);
    const target = flagOf(state);
    const rollback = (dryRun: boolean): Command => ({
      ...{ type: 'rollback-flags', project: OF.project, dryRun },
      targets: [{ flag: OF.flag, target, environments: ['development'] }],
    });
    state.given({ type: 'remove-strategy', ...IN, strategyId: 'old-0' });
    for (const dryRun of [true, false]) {
      assert.match(refusalOf(state, rollback(dryRun)) ?? '', /would have 35 strategies/);
    }
    state.record([older('again')]);
    assert.equal(refusalOf(state, rollback(false)), null);
  });

  it('of variants is refused in each environment that has fewer', () => {
    const state = new TestWorld().given(createFlag);
    const set = (environment: string | null, count: number): Command => ({
      type: 'set-variants',
      ...{ ...OF, environment, variants: variants(count) },
    });
    state.given(set(null, 50), set('production', 2));
    assert.match(
      refusalOf(state, set(null, 51)) ?? '',
      /"f" in the environment "development" would have 51 variants; the limit is 50 \(VARIANTS_MAX\)/,
    );
    assert.match(refusalOf(state, set('production', 51)) ?? '', /"production" would have 51 variants/);
  });

  it('of a second constraint beyond the limit is refused beside one that is older', () => {
    const state = withSegment();
    CASES.values.older(state, 300);
    assert.equal(refusalOf(state, replaceStrategy({ constraints: [constraint(9), constraint(300)] })), null);
    const both = replaceStrategy({ constraints: [constraint(300), constraint(251)] });
    assert.match(refusalOf(state, both) ?? '', /would have 251 values; the limit is 250/);
  });
});

describe(`the limit ${GROWTH_LIMITS.evaluationCost.setting}`, () => {
  /** Each takes 10 ms at worst. */
  const patterns = (count: number) => ({
    constraints: Array.from({ length: count }, (_, at) => ({
      ...{ ...constraint(0), operator: 'REGEX' as const, value: `[ab]*a[ab]{60}${at}` },
    })),
  });
  const max = DEFAULT_GROWTH_LIMITS.evaluationCost;

  it('bounds what all strategies of a flag in an environment may take together, with their segments', () => {
    const { constraints } = patterns(4);
    const segment = { name: 'matched', description: null, project: null, constraints };
    const state = new TestWorld().given(
      { type: 'create-record', kind: 'segments', fields: segment },
      createFlag,
    );
    state.given(addStrategy(patterns(20)), addStrategy());
    assert.match(
      refusalOf(state, addStrategy({ segments: [1], ...patterns(1) })) ?? '',
      new RegExp(`would have 2[0-9]{5} microseconds of evaluation at worst; the limit is ${max} `),
    );
    state.given(addStrategy({ segments: [1] }));
    assert.notEqual(refusalOf(state, addStrategy(patterns(1))), null);
    state.given({ ...addStrategy(patterns(24)), environment: 'production' } as Command);
  });

  it('lets what is beyond it become smaller', () => {
    const state = withSegment();
    state.record([older('old', patterns(30))]);
    state.given(replaceStrategy(patterns(28)));
    assert.notEqual(refusalOf(state, replaceStrategy(patterns(29))), null);
    assert.notEqual(refusalOf(state, addStrategy(patterns(1))), null);
  });
});
