/**
 * The evaluator held against unleash-client, the SDK for Node. The two are known to differ where the SDK has a quirk
 * that others do not share, or where chance decides; the generator leaves these out, and evaluator.test.ts states what
 * this project does:
 *
 * - Hashes are taken over UTF-8; unleash-client takes the low byte of each UTF-16 unit. They differ beyond ASCII.
 * - Variants with the stickiness `default` and no user and session are drawn; unleash-client then takes the
 *   remoteAddress. With the stickiness `random` they are always drawn; unleash-client looks for a property so named.
 * - Strategy variants without a groupId are hashed with the flag's name; unleash-client hashes the word "undefined".
 * - The strategy remoteAddress takes IPv6 ranges; to unleash-client they match nothing but the same text.
 * - Spaces at the ends of userIds, IPs and hostNames do not count; to unleash-client they do.
 * - Versions are compared as Semantic Versioning 2.0.0 has them, without a "v" or spaces in the constraint or in the
 *   context, and numbers of any size; unleash-client allows some of the former and not the latter.
 * - Patterns of REGEX are bounded in size, and so is their product with the text; beyond that they match nothing.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluatorOf } from './inputs.ts';
import type { SdkDocument, SdkFeature, SdkStrategy } from './sdk-document.ts';
import { compareWithUnleashClient } from './unleash-oracle.ts';

const SEED = Number(process.env.SEED ?? 1);
const COMPARISONS = 2_000;

test(`${COMPARISONS} random flags and contexts are evaluated as by unleash-client (seed ${SEED})`, async (t) => {
  const counts = await compareWithUnleashClient({ seed: SEED, comparisons: COMPARISONS });
  t.diagnostic(JSON.stringify(counts));
  const { compared, on, withVariant, drawn } = counts;
  assert(compared >= COMPARISONS && drawn < compared);
  assert(on > compared * 0.2 && on < compared * 0.8, `${on} of ${compared} were on`);
  assert(withVariant > compared * 0.03, `${withVariant} of ${compared} had a variant`);
});

type Change = (feature: SdkFeature) => SdkFeature;

const inStrategies =
  (change: (strategy: SdkStrategy) => SdkStrategy): Change =>
  (feature) => ({ ...feature, strategies: feature.strategies.map(change) });

const inParameters = (change: (key: string, value: string) => string): Change =>
  inStrategies(({ parameters = {}, ...strategy }) => ({
    ...strategy,
    parameters: Object.fromEntries(
      Object.entries(parameters).map(([key, value]) => [key, change(key, value)]),
    ),
  }));

/** The flag as an evaluator would see it if it had the fault. */
const FAULTS: Readonly<Record<string, Change>> = {
  'forgets dependencies': (feature) => ({ ...feature, dependencies: [] }),
  'forgets the variants of flags': (feature) => ({ ...feature, variants: [] }),
  'forgets segments': inStrategies((strategy) => ({ ...strategy, segments: [] })),
  'evaluates disabled strategies': inStrategies((strategy) => ({ ...strategy, disabled: false })),
  'does not invert': inStrategies(({ constraints = [], ...strategy }) => ({
    ...strategy,
    constraints: constraints.map((constraint) => ({ ...constraint, inverted: false })),
  })),
  'minds upper and lower case': inStrategies(({ constraints = [], ...strategy }) => ({
    ...strategy,
    constraints: constraints.map((constraint) => ({ ...constraint, caseInsensitive: false })),
  })),
  'rolls out to 70 % instead of 75 %': inParameters((_, value) => (value === '75' ? '70' : value)),
  'hashes another group': inParameters((key, value) => (key === 'groupId' ? `${value}x` : value)),
  'is sticky on the user by default': inParameters((_, value) => (value === 'default' ? 'userId' : value)),
};

for (const [fault, change] of Object.entries(FAULTS)) {
  test(`an evaluator that ${fault} is found out`, async () => {
    const evaluatorFor = (document: SdkDocument) =>
      evaluatorOf({ ...document, features: document.features.map(change) });
    const comparing = compareWithUnleashClient({ seed: SEED, comparisons: 10 * COMPARISONS, evaluatorFor });
    await assert.rejects(comparing, /is evaluated differently/);
  });
}
