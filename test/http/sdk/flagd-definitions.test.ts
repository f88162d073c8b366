/**
 * The definitions for flagd, held against the evaluator that its providers use: whatever is not left out comes to the same as here.
 * Fields that are compared as numbers are numbers, since flagd refuses to compare texts with numbers.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FlagdCore } from '@openfeature/flagd-core';
import { contextOf } from '../../../src/domain/evaluation/context.ts';
import type { Flag } from '../../../src/domain/flags/flag.ts';
import { DefinitionsBuilder } from '../../../src/http/sdk/flagd-surface.ts';
import { evaluatorOf, feature } from '../../support/evaluation/inputs.ts';
import { anyContext, anyDocument, type RandomContext } from '../../support/evaluation/random-flags.ts';
import {
  ENVIRONMENT,
  flagOf,
  type SdkConstraint,
  type SdkDocument,
  segmentsOf,
} from '../../support/evaluation/sdk-document.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const SEED = Number(process.env.SEED ?? 1);
const DOCUMENTS = 150;
const CONTEXTS_EACH = 4;

const silent = (): void => undefined;
const LOGGER = { error: silent, warn: silent, info: silent, debug: silent };

interface Definitions {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly metadata: { readonly leftOutCount: number };
  readonly leftOut: Readonly<Record<string, string>>;
}

function textOf(document: SdkDocument): string {
  const flags = new Map<string, Flag>(document.features.map((one) => [one.name, flagOf(one)]));
  const segments = segmentsOf(document);
  const builder = new DefinitionsBuilder({
    environment: ENVIRONMENT,
    environmentEnabled: true,
    flag: (name) => flags.get(name),
    segment: (id) => segments.get(id),
  });
  for (const flag of flags.values()) builder.add(flag);
  return builder.document().toString();
}

/** A context as an application of OpenFeature sends it: flat, with numbers as numbers, and without a time of its own. */
function flatContext(context: RandomContext): Record<string, string | number> {
  const { properties = {}, currentTime: _, ...fields } = context;
  const { number, ...texts } = properties as Record<string, string>;
  const isNumber = number !== undefined && number !== '' && Number.isFinite(Number(number));
  return { ...(fields as Record<string, string>), ...texts, ...(isNumber ? { number: Number(number) } : {}) };
}

interface Compared {
  readonly byFlagd: boolean;
  readonly byThisServer: boolean;
  readonly reason: string | undefined;
}

type Ask = (name: string, context: Record<string, string | number>) => Compared;

function comparing(document: SdkDocument): Ask {
  const core = new FlagdCore();
  core.setConfigurations(textOf(document));
  const evaluator = evaluatorOf(document);
  return (name, context) => {
    const { value, reason } = core.resolveBooleanEvaluation(name, false, context, LOGGER);
    const given = { ...context, userId: context['userId'] ?? context['targetingKey'] };
    const input = {
      context: contextOf(given),
      contextLength: 1,
      nowMs: Date.now(),
      random: Math.random,
      hostName: null,
    };
    return { byFlagd: value, reason, byThisServer: evaluator.evaluate(name, input).enabled };
  };
}

const definitionsOf = (document: SdkDocument): Definitions => JSON.parse(textOf(document)) as Definitions;

/** One flag with one strategy that has one constraint. */
const constrained = (constraint: SdkConstraint): SdkDocument => ({
  features: [feature({ strategies: [{ name: 'default', constraints: [constraint] }] })],
});

const COMPARABLE = /^(?:IN|NOT_IN|STR_|NUM_|DATE_)/;

/** The same without most of what is left out: random flags have so much that hardly any is translated. */
function simplified({ features, segments = [] }: SdkDocument): SdkDocument {
  const simple = (constraints: readonly SdkConstraint[] = []): SdkConstraint[] =>
    constraints
      .filter(({ operator }) => COMPARABLE.test(operator))
      .map((constraint) => ({ ...constraint, caseInsensitive: false }));
  return {
    features: features.map((one) => ({
      ...one,
      variants: [],
      strategies: one.strategies.map((strategy) => ({
        ...strategy,
        ...(strategy.name === 'userWithId' ? {} : { name: 'default' }),
        variants: [],
        constraints: simple(strategy.constraints),
      })),
    })),
    segments: segments.map((segment) => ({ ...segment, constraints: simple(segment.constraints) })),
  };
}

describe('definitions for flagd', () => {
  it(`come to what SDKs come to, for random flags and contexts (seed ${SEED})`, (t) => {
    const random = seededRandom(SEED);
    const counts = { compared: 0, on: 0, targeted: 0, leftOut: 0, errors: 0 };
    for (let count = 0; count < DOCUMENTS; count += 1) {
      const made = anyDocument(random);
      const document = random.chance(0.7) ? simplified(made) : made;
      const { flags, leftOut } = definitionsOf(document);
      const ask = comparing(document);
      counts.leftOut += Object.keys(leftOut).length;
      for (let asked = 0; asked < CONTEXTS_EACH; asked += 1) {
        const context = flatContext(anyContext(random));
        for (const name of Object.keys(flags)) {
          const { byFlagd, byThisServer, reason } = ask(name, context);
          counts.compared += 1;
          // A text where a number is compared, or a number where a part of a text is.
          if (reason === 'ERROR') counts.errors += 1;
          else assert.equal(byFlagd, byThisServer, JSON.stringify({ name, context, document }));
          if (byFlagd) counts.on += 1;
          if (reason === 'TARGETING_MATCH') counts.targeted += 1;
        }
      }
    }
    const shown = JSON.stringify(counts);
    t.diagnostic(shown);
    assert(counts.compared > DOCUMENTS * CONTEXTS_EACH && counts.errors < counts.compared / 20, shown);
    assert(counts.on > counts.compared / 10 && counts.targeted > counts.compared / 40, shown);
  });

  it('leave out, with the reason, what flagd would give to others', () => {
    const cases: readonly (readonly [Partial<Parameters<typeof feature>[0]>, RegExp])[] = [
      [
        { strategies: [{ name: 'flexibleRollout', parameters: { rollout: '50', stickiness: 'default' } }] },
        /share of users/,
      ],
      [{ strategies: [{ name: 'remoteAddress', parameters: { IPs: '10.0.0.1' } }] }, /type remoteAddress/],
      [
        {
          variants: [
            { name: 'a', weight: 1000, weightType: 'variable', stickiness: 'default', overrides: [] },
          ],
        },
        /variants/,
      ],
      [
        {
          strategies: [
            { name: 'default', constraints: [{ contextName: 'v', operator: 'SEMVER_GT', value: '1.0.0' }] },
          ],
        },
        /versions/,
      ],
      [
        {
          strategies: [
            { name: 'default', constraints: [{ contextName: 'v', operator: 'REGEX', value: 'a' }] },
          ],
        },
        /pattern/,
      ],
      [
        {
          strategies: [
            {
              name: 'default',
              constraints: [{ contextName: 'v', operator: 'IN_CIDR', values: ['10.0.0.0/8'] }],
            },
          ],
        },
        /addresses/,
      ],
      [
        {
          strategies: [
            { name: 'default', constraints: [{ contextName: 'a.b', operator: 'IN', values: ['1'] }] },
          ],
        },
        /name/,
      ],
      [
        {
          strategies: [
            {
              name: 'default',
              constraints: [
                { contextName: 'v', operator: 'STR_CONTAINS', values: ['a'], caseInsensitive: true },
              ],
            },
          ],
        },
        /any case/,
      ],
    ];
    for (const [parts, reason] of cases) {
      const { flags, leftOut, metadata } = definitionsOf({ features: [feature(parts)] });
      assert.deepEqual([Object.keys(flags), metadata.leftOutCount], [[], 1]);
      assert.match(leftOut['flag'] ?? '', reason);
      const off = definitionsOf({ features: [feature({ ...parts, enabled: false })] });
      assert.deepEqual(Object.keys(off.flags), ['flag'], 'what is off is off for everybody');
    }
  });

  it('take the targeting key for the user as long as no user is named, and numbers for their texts', () => {
    const document = constrained({ contextName: 'userId', operator: 'IN', values: ['7'] });
    const ask = comparing(document);
    for (const [context, isOn] of [
      [{ targetingKey: '7' }, true],
      [{ userId: '7' }, true],
      [{ userId: 7 }, true],
      [{ userId: '8', targetingKey: '7' }, false],
      [{}, false],
    ] as const) {
      const { byFlagd, byThisServer } = ask('flag', context);
      assert.deepEqual([byFlagd, byThisServer], [isOn, isOn], JSON.stringify(context));
    }
  });

  it('know parents that are the same for everybody, and leave out children of others', () => {
    const targeted = { name: 'default', constraints: [{ contextName: 'a', operator: 'IN', values: ['1'] }] };
    const childOf = (parent: string, enabled = true) =>
      feature({
        name: `of-${parent}-${enabled}`,
        dependencies: [{ feature: parent, enabled, variants: [] }],
      });
    const features = [
      feature({ name: 'on' }),
      feature({ name: 'off', enabled: false }),
      feature({ name: 'some', strategies: [targeted] }),
      ...['on', 'off', 'some', 'missing'].flatMap((parent) => [childOf(parent), childOf(parent, false)]),
    ];
    const { leftOut } = definitionsOf({ features });
    assert.deepEqual(Object.keys(leftOut).sort(), ['of-some-false', 'of-some-true']);
    const ask = comparing({ features });
    for (const { name } of features) {
      if (Object.hasOwn(leftOut, name)) continue;
      const { byFlagd, byThisServer } = ask(name, {});
      assert.equal(byFlagd, byThisServer, name);
    }
  });
});
