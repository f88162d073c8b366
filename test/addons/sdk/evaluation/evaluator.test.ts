/** The cases that the client specification leaves open, and those where this project differs from unleash-client. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Evaluator } from '../../../../src/addons/sdk/evaluation/evaluator.ts';
import type { Flag } from '../../../../src/domain/flags/flag.ts';
import { seededRandom } from '../../../support/seeded-random.ts';
import { allOutcomes, evaluatorOf, feature, inputOf } from './inputs.ts';
import {
  ENVIRONMENT,
  flagOf,
  type SdkConstraint,
  type SdkFeature,
  type SdkStrategy,
} from './sdk-document.ts';

const SEED = Number(process.env.SEED ?? 1);

type Context = Readonly<Record<string, unknown>>;
type Options = Parameters<typeof inputOf>[1];

function isOn(parts: Partial<SdkFeature>, context: Context = {}, options: Options = {}): boolean {
  return evaluatorOf({ features: [feature(parts)] }).evaluate('flag', inputOf(context, options)).enabled;
}

const isOnBy = (strategy: SdkStrategy, context: Context, options: Options = {}): boolean =>
  isOn({ strategies: [strategy] }, context, options);

const holds = (constraint: SdkConstraint, context: Context): boolean =>
  isOnBy({ name: 'default', constraints: [constraint] }, context);

const variant = (name: string, weight: number, stickiness = 'default') =>
  ({ name, weight, stickiness, weightType: 'variable', overrides: [] }) as const;

function variantOf(parts: Partial<SdkFeature>, context: Context, options: Options = {}): string {
  const evaluator = evaluatorOf({ features: [feature(parts)] });
  return evaluator.evaluate('flag', inputOf(context, options)).toggle.variant.name;
}

/** How many of a thousand users are on, or have the variant. */
function countOf(test: (userId: string) => boolean): number {
  return Array.from({ length: 1_000 }, (_, user) => test(`user-${user}`)).filter(Boolean).length;
}

describe('a flag in its environment', () => {
  const flag = flagOf(feature());
  const scope = { environment: ENVIRONMENT, environmentEnabled: true, flags: [flag], segments: new Map() };

  it('is off where the environment as a whole is off', () => {
    assert.equal(new Evaluator(scope).evaluate('flag', inputOf({})).enabled, true);
    const evaluator = new Evaluator({ ...scope, environmentEnabled: false });
    assert.equal(evaluator.evaluate('flag', inputOf({})).enabled, false);
  });

  it('is off in an environment that it was never touched in', () => {
    const evaluator = new Evaluator({ ...scope, environment: 'production' });
    assert.equal(evaluator.evaluate('flag', inputOf({})).enabled, false);
  });

  it('is not there once it is archived, nor for its children', () => {
    const child = flagOf(feature({ name: 'child', dependencies: [{ feature: 'flag' }] }));
    const archived = { ...flag, archivedAt: '2024-05-01T12:00:00.000Z' };
    assert.equal(
      new Evaluator({ ...scope, flags: [flag, child] }).evaluate('child', inputOf({})).enabled,
      true,
    );
    const evaluator = new Evaluator({ ...scope, flags: [archived, child] });
    assert.equal(evaluator.evaluate('child', inputOf({})).enabled, false);
    assert.equal(evaluator.has('flag'), false);
    assert.deepEqual(allOutcomes(evaluator.walk(inputOf({}), true)), []);
  });

  it('is evaluated anew when it has changed, and segments are looked up at each evaluation', () => {
    const strategies = [{ name: 'default', segments: [1] }];
    const inSegment = flagOf(feature({ strategies }));
    const evaluate = (values: readonly string[]) => {
      const constraints = [{ contextName: 'userId', operator: 'IN', values }];
      const segments = new Map([[1, { id: 1, name: 'some', constraints }]]);
      return new Evaluator({ ...scope, flags: [inSegment], segments }).evaluate(
        'flag',
        inputOf({ userId: '7' }),
      ).enabled;
    };
    assert.deepEqual([evaluate(['7']), evaluate(['8']), evaluate(['7'])], [true, false, true]);
  });
});

describe('an evaluator whose flags change', () => {
  it(`shows what one made anew of the same flags shows, whatever changed (seed ${SEED})`, () => {
    const random = seededRandom(SEED);
    const flags = new Map<string, Flag>();
    const scope = { environment: ENVIRONMENT, environmentEnabled: true, segments: new Map() };
    const evaluator = new Evaluator({ ...scope, flags: [] });
    const names = (one: Evaluator) =>
      allOutcomes(one.walk(inputOf({}), false)).map(({ name, enabled }) => [name, enabled]);
    // Few flags at first, and then so many that they stand in several blocks, and few again.
    for (let round = 0; round < 1_200; round += 1) {
      const name = `flag-${random.below(round < 200 ? 12 : 250)}`;
      const flag = flagOf(feature({ name, enabled: random.chance(0.7) }));
      if (random.chance(round < 800 ? 0.2 : 0.8)) {
        flags.delete(flag.name);
        if (random.chance(0.5)) evaluator.delete(flag.name);
        else evaluator.set({ ...flag, archivedAt: '2024-05-01T12:00:00.000Z' });
      } else {
        flags.set(flag.name, flag);
        evaluator.set(flag);
      }
      const anew = new Evaluator({ ...scope, flags: flags.values() });
      assert.deepEqual(names(evaluator), names(anew));
      assert.equal(evaluator.size, flags.size);
      assert.equal(evaluator.has(flag.name), flags.has(flag.name));
    }
  });
});

describe('a rollout', () => {
  const rollout = (parameters: Readonly<Record<string, string>>): SdkStrategy => ({
    name: 'flexibleRollout',
    parameters: { groupId: 'group', rollout: '30', ...parameters },
  });

  it('takes its share of the users, and the same ones again in a larger share', () => {
    const at = (share: string) => (userId: string) => isOnBy(rollout({ rollout: share }), { userId });
    const count = countOf(at('30'));
    assert(count > 250 && count < 350, `${count} of 1000`);
    assert.equal(
      countOf((userId) => at('30')(userId) && !at('40')(userId)),
      0,
    );
  });

  it('is drawn for everybody with the stickiness random, also where a property has that name', () => {
    const strategy = rollout({ stickiness: 'random', rollout: '50' });
    const context = { userId: '1', properties: { random: 'x' } };
    assert.deepEqual(
      [0, 0.9].map((random) => isOnBy(strategy, context, { random })),
      [true, false],
    );
  });

  it('hashes the UTF-8 of an id', () => {
    // Worked out by another implementation: of group:Größe and group:🚩, modulo 100, plus 1.
    const bucketOf = (userId: string) =>
      Array.from({ length: 100 }, (_, index) => index + 1).find((share) =>
        isOnBy(rollout({ rollout: String(share) }), { userId }),
      );
    assert.deepEqual([bucketOf('Größe'), bucketOf('🚩')], [22, 42]);
  });

  it('reads parameters that were kept as numbers', () => {
    const flag = flagOf(feature({ strategies: [rollout({})] }));
    const [environment] = flag.environments;
    const [strategy] = environment!.strategies;
    const kept = { ...strategy!, parameters: { groupId: 7, rollout: 100, stickiness: null } };
    const flags = [{ ...flag, environments: [{ ...environment!, strategies: [kept] }] }];
    const evaluator = new Evaluator({
      environment: ENVIRONMENT,
      environmentEnabled: true,
      flags,
      segments: new Map(),
    });
    assert.equal(evaluator.evaluate('flag', inputOf({ userId: '1' })).enabled, true);
  });
});

describe('the other kinds of strategies', () => {
  it('remoteAddress takes addresses and ranges of both families', () => {
    const strategy = {
      name: 'remoteAddress',
      parameters: { IPs: '10.0.0.0/8, 2001:db8::/32 ,localhost,::1' },
    };
    const on = (remoteAddress: string) => isOnBy(strategy, { remoteAddress });
    assert.deepEqual(['10.9.8.7', '2001:db8::5', 'localhost', '0:0:0:0:0:0:0:1'].map(on), [
      true,
      true,
      true,
      true,
    ]);
    assert.deepEqual(['11.0.0.1', '2001:db9::5', '', 'local', '::ffff:1'].map(on), [
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});

describe('constraints', () => {
  it('of DATE_ operators compare the moment of the evaluation where the context has none', () => {
    const constraint = { contextName: 'currentTime', operator: 'DATE_AFTER', value: '2024-05-01T11:59:59Z' };
    assert.equal(holds(constraint, {}), true);
    assert.equal(holds(constraint, { currentTime: '2024-05-01T11:00:00Z' }), false);
    assert.equal(holds({ ...constraint, inverted: true }, { currentTime: 'soon' }), true);
  });

  it('of SEMVER_ operators follow the order of Semantic Versioning, numbers of any size included', () => {
    const ascending = [
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0',
      '1.0.9',
      '1.0.10',
      '99999999999999999999.0.0',
      '100000000000000000000.0.0',
    ];
    ascending.forEach((value, at) => {
      ascending.forEach((version, other) => {
        const compare = (operator: string) =>
          holds({ contextName: 'version', operator, value }, { properties: { version } });
        assert.equal(compare('SEMVER_GT'), other > at, `${version} > ${value}`);
        assert.equal(compare('SEMVER_LTE'), other <= at, `${version} <= ${value}`);
        assert.equal(compare('SEMVER_EQ'), other === at, `${version} = ${value}`);
      });
    });
  });

  it('of SEMVER_ operators take no leading v and no spaces, and ignore build metadata', () => {
    const equal = (value: string, version: string) =>
      holds({ contextName: 'version', operator: 'SEMVER_EQ', value }, { properties: { version } });
    assert.deepEqual(
      [equal('1.0.0', 'v1.0.0'), equal('v1.0.0', '1.0.0'), equal('1.0.0', ' 1.0.0')],
      [false, false, false],
    );
    assert.equal(equal('1.0.0+a', '1.0.0+b'), true);
  });

  it('of REGEX cost no more than a bounded time, and match nothing beyond it', () => {
    const matches = (value: string, word: string) =>
      holds({ contextName: 'word', operator: 'REGEX', value }, { properties: { word } });
    assert.equal(matches('^(a+)+$', 'a'.repeat(5_000)), true);
    assert.equal(matches('((a{10}){100})$', 'a'.repeat(1_000)), false, 'too large a pattern');
    assert.equal(matches('a', 'a'.repeat(100_000)), false, 'too long a text');
    assert.equal(matches('a'.repeat(1_001), 'a'.repeat(1_001)), false, 'too long a pattern');
    assert.equal(matches('(', '('), false, 'no pattern at all');
  });

  it('read properties, never what JavaScript objects inherit', () => {
    const constraint = { contextName: 'constructor', operator: 'STR_CONTAINS', values: ['function'] };
    assert.equal(holds(constraint, {}), false);
    assert.equal(holds(constraint, { properties: JSON.parse('{"constructor":"a function"}') }), true);
  });
});

describe('variants', () => {
  const variants = [variant('red', 250), variant('blue', 750)];

  it('are drawn where nothing is sticky, a remoteAddress included', () => {
    const context = { remoteAddress: '10.0.0.1' };
    assert.equal(variantOf({ variants }, context, { random: 0.249 }), 'red');
    assert.equal(variantOf({ variants }, context, { random: 0.25 }), 'blue');
    const random = variants.map((one) => ({ ...one, stickiness: 'random' }));
    assert.equal(variantOf({ variants: random }, { userId: '1', random: 'x' }, { random: 0 }), 'red');
  });

  it('of a strategy without groupId are shared out by the name of the flag', () => {
    const inStrategy = { strategies: [{ name: 'default', variants }] };
    assert.equal(
      countOf((userId) => variantOf(inStrategy, { userId }) !== variantOf({ variants }, { userId })),
      0,
    );
  });
});

describe('all flags of a scope', () => {
  const payload = { type: 'string', value: 'x' } as const;
  const evaluator = evaluatorOf({
    features: [
      feature({ name: 'b', impressionData: true, variants: [{ ...variant('v', 1000), payload }] }),
      feature({ name: 'off', enabled: false }),
      feature({ name: 'a' }),
    ],
  });

  it('are told as toggles: those that are on, by name', () => {
    const toggles = allOutcomes(evaluator.walk(inputOf({ userId: '1' }), true)).map(({ toggle }) => toggle);
    assert.deepEqual(toggles, [
      {
        name: 'a',
        enabled: true,
        impressionData: false,
        variant: { name: 'disabled', enabled: false, feature_enabled: true, featureEnabled: true },
      },
      {
        name: 'b',
        enabled: true,
        impressionData: true,
        variant: { name: 'v', enabled: true, payload, feature_enabled: true, featureEnabled: true },
      },
    ]);
  });

  it('are the same object each time, in which whoever sends them may keep bytes', () => {
    const [first, again] = [
      allOutcomes(evaluator.walk(inputOf({ userId: '1' }), true)),
      allOutcomes(evaluator.walk(inputOf({ userId: '2' }), true)),
    ];
    assert(first.every((outcome, at) => outcome === again[at]));
  });

  it('have outcomes on or off, with the reason that OpenFeature has a word for', () => {
    const outcomes = allOutcomes(evaluator.walk(inputOf({ userId: '1' }), false));
    assert.deepEqual(
      outcomes.map(({ name, enabled, reason }) => [name, enabled, reason]),
      [
        ['a', true, 'STATIC'],
        ['b', true, 'TARGETING_MATCH'],
        ['off', false, 'DISABLED'],
      ],
    );
  });
});
