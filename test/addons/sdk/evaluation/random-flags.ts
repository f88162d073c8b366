/**
 * Random flags, segments and contexts for comparing evaluators. Values come from small sets, so that constraints are
 * met about as often as not. Ids and groups are ASCII: see the head of the test for why.
 */
import { hostname } from 'node:os';
import { pick, someOf } from '../../../support/random-values.ts';
import type { SeededRandom } from '../../../support/seeded-random.ts';
import type { SdkConstraint, SdkDocument, SdkFeature, SdkSegment, SdkStrategy } from './sdk-document.ts';

const FLAG_NAMES = ['alpha', '__proto__', 'beta', 'constructor', 'gamma', 'delta/1', 'toString', 'omega'];
const SEGMENT_IDS = [1, 2, 3, 4];
const USERS = ['1', '2', '7', '12', '123', 'ada', 'Ada', 'grace hopper', ''];
const SESSIONS = ['s-1', 's-2', '97ab', '3', ''];
const ADDRESSES = ['10.0.0.1', '10.0.0.7', '192.168.1.20', '::1', '2001:db8::7', '10.0.0', 'localhost', ''];
const RANGES = [
  '10.0.0.0/29',
  '10.0.0.7',
  '192.168.0.0/16',
  '2001:db8::/32',
  '::1',
  '300.1.1.1',
  '0.0.0.0/0',
  ' 10.0.0.1 ',
];
const TIMES = ['2024-05-01T12:00:00Z', '2020-02-29T00:00:00.000Z', '2031-01-01T00:00:00+02:00', 'yesterday'];
const NUMBERS = ['0', '-1', '2.5', '10', '1e3', '', 'ten', ' 4 ', '0x10'];
const VERSIONS = [
  '1.0.0',
  '1.2.3',
  '1.2.3-beta.2',
  '1.2.3-beta.11',
  '2.0.0+build',
  '10.0.0-1',
  'v1.2.3',
  '1.2',
  '',
];
const WORDS = [
  'blue',
  'BLUE',
  'blueberry',
  'sky blue',
  '',
  ' blue ',
  'größe',
  'GRÖSSE',
  '日本',
  'constructor',
];
const PATTERNS = ['^blue', 'b(l|r)ue$', '[0-9]+', '(', '', '\\bsky\\b', '.*berry', '\\p{Lu}', '(?i)grösse'];
const FIELDS = [
  'word',
  'number',
  'version',
  'address',
  'userId',
  'sessionId',
  'appName',
  'environment',
  'missing',
  '__proto__',
];

const TEXT_OPERATORS = ['IN', 'NOT_IN', 'STR_STARTS_WITH', 'STR_ENDS_WITH', 'STR_CONTAINS'];
const NUMBER_OPERATORS = ['NUM_EQ', 'NUM_GT', 'NUM_GTE', 'NUM_LT', 'NUM_LTE'];
const DATE_OPERATORS = ['DATE_AFTER', 'DATE_BEFORE'];
const VERSION_OPERATORS = ['SEMVER_EQ', 'SEMVER_GT', 'SEMVER_GTE', 'SEMVER_LT', 'SEMVER_LTE'];

/** A kind of constraint: the fields that make sense for it, now and then another. */
const CONSTRAINT_KINDS: readonly ((random: SeededRandom) => SdkConstraint)[] = [
  (random) => {
    const contextName = pick(random, FIELDS);
    const known = contextName === 'userId' ? USERS : contextName === 'sessionId' ? SESSIONS : WORDS;
    return { contextName, operator: pick(random, TEXT_OPERATORS), values: someOf(random, known) };
  },
  (random) => single(random, 'number', NUMBER_OPERATORS, NUMBERS),
  (random) => single(random, 'currentTime', DATE_OPERATORS, TIMES),
  (random) =>
    single(
      random,
      'version',
      VERSION_OPERATORS,
      VERSIONS.filter((version) => !version.startsWith('v')),
    ),
  (random) => single(random, 'word', ['REGEX'], PATTERNS),
  (random) => ({
    contextName: pick(random, ['remoteAddress', 'address']),
    operator: 'IN_CIDR',
    values: someOf(random, RANGES),
  }),
  (random) => single(random, 'word', ['BETWEEN', 'constructor', ''], WORDS),
];

function single(
  random: SeededRandom,
  contextName: string,
  operators: readonly string[],
  values: readonly string[],
): SdkConstraint {
  const field = random.chance(0.1) ? pick(random, FIELDS) : contextName;
  return { contextName: field, operator: pick(random, operators), value: pick(random, values) };
}

function anyConstraint(random: SeededRandom): SdkConstraint {
  const constraint = pick(random, CONSTRAINT_KINDS)(random);
  return {
    ...constraint,
    ...(random.chance(0.35) ? { inverted: true } : {}),
    ...(random.chance(0.35) ? { caseInsensitive: true } : {}),
  };
}

function upTo<T>(random: SeededRandom, most: number, make: (random: SeededRandom) => T): T[] {
  return Array.from({ length: random.below(most + 1) }, () => make(random));
}

const STICKINESS = ['default', 'userId', 'sessionId', 'version', 'number', 'missing', 'random'];
const SHARES = ['0', '1', '30', '50', '75', '99', '100', '', 'half', '12.5', '-1', '200'];

type Variant = NonNullable<SdkFeature['variants']>[number];

function anyVariants(random: SeededRandom): Variant[] {
  const stickiness = pick(random, STICKINESS);
  return upTo(random, 3, (random) => ({
    name: pick(random, ['red', 'green', 'blue', 'disabled']),
    weight: pick(random, [0, 1, 250, 333, 500, 1000]),
    weightType: 'variable',
    stickiness,
    overrides: random.chance(0.2)
      ? [{ contextName: pick(random, FIELDS), values: someOf(random, [...USERS, ...WORDS]) }]
      : [],
    ...(random.chance(0.5) ? { payload: { type: 'string', value: pick(random, WORDS) } } : {}),
  }));
}

const KINDS = [
  'default',
  'userWithId',
  'remoteAddress',
  'applicationHostname',
  'flexibleRollout',
  'flexibleRollout',
  'gradualRolloutUserId',
  'gradualRolloutSessionId',
  'gradualRolloutRandom',
  'ofAnotherServer',
  'constructor',
];

function anyStrategy(random: SeededRandom): SdkStrategy {
  const variants = random.chance(0.3) ? anyVariants(random) : [];
  const parameters = Object.fromEntries(
    Object.entries(anyParameters(random)).filter(() => random.chance(0.9)),
  );
  return {
    name: pick(random, KINDS),
    // A missing group of a strategy with variants is one of the known differences.
    parameters: variants.length > 0 ? { ...parameters, groupId: 'group' } : parameters,
    constraints: random.chance(0.5) ? upTo(random, 2, anyConstraint) : [],
    segments: random.chance(0.25) ? someOf(random, SEGMENT_IDS) : [],
    variants,
    disabled: random.chance(0.1),
  };
}

function anyParameters(random: SeededRandom): Record<string, string> {
  return {
    groupId: pick(random, ['group', 'alpha', '']),
    rollout: pick(random, SHARES),
    percentage: pick(random, SHARES),
    stickiness: pick(random, STICKINESS),
    userIds: pick(random, ['1, 2,7', 'ada,grace hopper', '', '1,,2', '123']),
    // IPv6 ranges here are one of the known differences.
    IPs: pick(random, ['10.0.0.0/29,192.168.1.20', '10.0.0.1', '', 'localhost, 10.0.0.7', '::1']),
    hostNames: pick(random, [`build-1, ${HOST_NAME.toUpperCase()}`, '', HOST_NAME]),
  };
}

/** The name of the machine as unleash-client finds it out. */
export const HOST_NAME = process.env.HOSTNAME || hostname();

function anyFlag(random: SeededRandom, name: string, others: readonly string[]): SdkFeature {
  return {
    name,
    enabled: random.chance(0.9),
    impressionData: random.chance(0.5),
    strategies: upTo(random, 3, anyStrategy),
    variants: random.chance(0.4) ? anyVariants(random) : [],
    dependencies: random.chance(0.25)
      ? [
          {
            feature: pick(random, [...others, 'not-there']),
            ...(random.chance(0.5) ? { enabled: random.chance(0.6) } : {}),
            ...(random.chance(0.3) ? { variants: someOf(random, ['red', 'green', 'disabled']) } : {}),
          },
        ]
      : [],
  };
}

function anySegment(random: SeededRandom, id: number): SdkSegment {
  return { id, name: `segment ${id}`, constraints: upTo(random, 2, anyConstraint) };
}

/** Every parent comes before its children, so that no flag depends on itself. One of the segments is missing. */
export function anyDocument(random: SeededRandom): SdkDocument {
  const features = FLAG_NAMES.map((name, index) => anyFlag(random, name, FLAG_NAMES.slice(0, index)));
  return { features, segments: SEGMENT_IDS.slice(0, 3).map((id) => anySegment(random, id)) };
}

export type RandomContext = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

export function anyContext(random: SeededRandom): RandomContext {
  const properties = {
    word: pick(random, WORDS),
    number: pick(random, NUMBERS),
    version: pick(random, VERSIONS),
    address: pick(random, ADDRESSES),
  };
  const fields = {
    userId: pick(random, USERS),
    sessionId: pick(random, SESSIONS),
    remoteAddress: pick(random, ADDRESSES),
    appName: pick(random, ['web', 'blue']),
    environment: pick(random, ['development', 'sky blue']),
  };
  const kept = (fields: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(fields).filter(() => random.chance(0.8)));
  // Without a time, unleash-client would take that of the clock.
  const always = { appName: 'web', environment: 'development', currentTime: pick(random, TIMES) };
  return { ...always, ...kept(fields), properties: kept(properties) };
}
