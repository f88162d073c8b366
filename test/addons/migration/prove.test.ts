/** `flagstaff import-unleash --prove`: what applications get from two servers, compared. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parseDocument } from '../../../src/addons/migration/client-document.ts';
import { type Comparison, compareDocuments } from '../../../src/addons/migration/prove.ts';
import { flagstaff } from '../../support/operator.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { ADMIN_TOKEN, startTestServer, type TestServer } from '../../support/server.ts';
import {
  type PlayedUnleash,
  playUnleash,
  RECORDED_CLIENT_TOKEN,
  RECORDED_TOKEN,
  recordedUnleash,
} from '../../support/unleash/recorded-unleash.ts';
import { evaluatorOf, inputOf } from '../sdk/evaluation/inputs.ts';
import { anyContext, anyDocument } from '../sdk/evaluation/random-flags.ts';
import type { SdkDocument, SdkFeature } from '../sdk/evaluation/sdk-document.ts';

const NOW_MS = Date.UTC(2026, 0, 1);

function compare(source: SdkDocument, target: SdkDocument, count = 200): Comparison {
  return compareDocuments(parseDocument(source), parseDocument(target), { count, seed: 1, nowMs: NOW_MS });
}

const SEGMENT = { id: 1, constraints: [{ contextName: 'plan', operator: 'IN', values: ['gold', 'silver'] }] };

const withFlag = (
  parts: Partial<SdkFeature>,
  segments: SdkDocument['segments'] = [SEGMENT],
): SdkDocument => ({
  features: [
    { name: 'flag', enabled: true, strategies: [{ name: 'default' }], ...parts },
    { name: 'parent', enabled: true, strategies: [{ name: 'userWithId', parameters: { userIds: '5' } }] },
  ],
  segments,
});
const withStrategy = (...strategies: SdkFeature['strategies']): SdkDocument => withFlag({ strategies });
const withConstraint = (operator: string, parts: object): SdkDocument =>
  withStrategy({
    name: 'default',
    constraints: [
      { contextName: 'plan', operator: 'IN', values: ['gold'] },
      { contextName: operator.startsWith('DATE') ? 'currentTime' : 'field', operator, ...parts },
    ],
  });
const rollout = (parameters: Record<string, string>): SdkDocument =>
  withStrategy({ name: 'flexibleRollout', parameters: { rollout: '50', groupId: 'g', ...parameters } });
const variant = (name: string, more: object = {}) => ({
  ...{ name, weight: 500, weightType: 'variable' as const, stickiness: 'default', overrides: [], ...more },
});
const withVariants = (...variants: ReturnType<typeof variant>[]): SdkDocument => withFlag({ variants });
const many = Array.from({ length: 250 }, (_, at) => `customer-${at}`);

/** Each pair differs in one thing, which few contexts tell apart. */
const PAIRS: Readonly<Record<string, readonly [SdkDocument, SdkDocument]>> = {
  'the switch': [withFlag({ enabled: true }), withFlag({ enabled: false })],
  'a value of a list': [
    withConstraint('IN', { values: many }),
    withConstraint('IN', { values: many.slice(1) }),
  ],
  'a value of a list that excludes': [
    withConstraint('NOT_IN', { values: many }),
    withConstraint('NOT_IN', { values: many.slice(0, -1) }),
  ],
  'an inverted constraint': [
    withConstraint('IN', { values: ['a'] }),
    withConstraint('IN', { values: ['a'], inverted: true }),
  ],
  'upper and lower case': [
    withConstraint('STR_ENDS_WITH', { values: ['Berlin'] }),
    withConstraint('STR_ENDS_WITH', { values: ['Berlin'], caseInsensitive: true }),
  ],
  'where in the text': [
    withConstraint('STR_STARTS_WITH', { values: ['Berlin'] }),
    withConstraint('STR_CONTAINS', { values: ['Berlin'] }),
  ],
  'the boundary of a number': [
    withConstraint('NUM_GT', { value: '7' }),
    withConstraint('NUM_GTE', { value: '7' }),
  ],
  'two numbers close together': [
    withConstraint('NUM_LT', { value: '7.25' }),
    withConstraint('NUM_LT', { value: '7.26' }),
  ],
  'a second of a date': [
    withConstraint('DATE_AFTER', { value: '2026-01-01T00:00:00.000Z' }),
    withConstraint('DATE_AFTER', { value: '2026-01-01T00:00:01.000Z' }),
  ],
  'a patch of a version': [
    withConstraint('SEMVER_LT', { value: '1.2.3' }),
    withConstraint('SEMVER_LT', { value: '1.2.4' }),
  ],
  'a network': [
    withConstraint('IN_CIDR', { values: ['10.0.0.0/8', '192.168.0.0/16'] }),
    withConstraint('IN_CIDR', { values: ['10.0.0.0/8'] }),
  ],
  'a value of a segment': [
    withFlag({ strategies: [{ name: 'default', segments: [1] }] }),
    withFlag({ strategies: [{ name: 'default', segments: [1] }] }, [
      { id: 1, constraints: [{ contextName: 'plan', operator: 'IN', values: ['gold'] }] },
    ]),
  ],
  'a segment that is not there': [
    withFlag({ strategies: [{ name: 'default', segments: [1] }] }),
    withFlag({ strategies: [{ name: 'default', segments: [1] }] }, []),
  ],
  'a user in a list': [
    withStrategy({ name: 'userWithId', parameters: { userIds: many.join(',') } }),
    withStrategy({ name: 'userWithId', parameters: { userIds: many.slice(1).join(',') } }),
  ],
  'an address in a list': [
    withStrategy({ name: 'remoteAddress', parameters: { IPs: '10.0.0.1,10.0.0.2' } }),
    withStrategy({ name: 'remoteAddress', parameters: { IPs: '10.0.0.1' } }),
  ],
  'a host in a list': [
    withStrategy({ name: 'applicationHostname', parameters: { hostNames: 'one,two' } }),
    withStrategy({ name: 'applicationHostname', parameters: { hostNames: 'one' } }),
  ],
  'five percent': [rollout({}), rollout({ rollout: '55' })],
  'the group of a rollout': [rollout({}), rollout({ groupId: 'h' })],
  'the stickiness of a rollout': [rollout({}), rollout({ stickiness: 'sessionId' })],
  'the share of a percentage': [
    withStrategy({ name: 'gradualRolloutUserId', parameters: { percentage: '20', groupId: 'g' } }),
    withStrategy({ name: 'gradualRolloutUserId', parameters: { percentage: '30', groupId: 'g' } }),
  ],
  'the last of many strategies': [
    withStrategy(...many.slice(0, 29).map((id) => ({ name: 'userWithId', parameters: { userIds: id } }))),
    withStrategy(...many.slice(0, 30).map((id) => ({ name: 'userWithId', parameters: { userIds: id } }))),
  ],
  'the weights of variants': [
    withVariants(variant('a'), variant('b')),
    withVariants(variant('a', { weight: 400 }), variant('b', { weight: 600 })),
  ],
  'the order of variants': [
    withVariants(variant('a'), variant('b')),
    withVariants(variant('b'), variant('a')),
  ],
  'a payload': [
    withVariants(variant('a', { payload: { type: 'string', value: '1' } })),
    withVariants(variant('a', { payload: { type: 'string', value: '2' } })),
  ],
  'the type of a payload': [
    withVariants(variant('a', { payload: { type: 'number', value: '1' } })),
    withVariants(variant('a', { payload: { type: 'string', value: '1' } })),
  ],
  'whose a variant always is': [
    withVariants(
      variant('a'),
      variant('b', { overrides: [{ contextName: 'userId', values: ['ada', ...many] }] }),
    ),
    withVariants(variant('a'), variant('b', { overrides: [{ contextName: 'userId', values: ['ada'] }] })),
  ],
  'a parent': [
    withFlag({ dependencies: [{ feature: 'parent', enabled: true, variants: [] }] }),
    withFlag({}),
  ],
  'what a parent must be': [
    withFlag({ dependencies: [{ feature: 'parent', enabled: true, variants: [] }] }),
    withFlag({ dependencies: [{ feature: 'parent', enabled: false, variants: [] }] }),
  ],
  'impression data': [withFlag({ impressionData: true }), withFlag({})],
};

describe('comparing what applications get from two servers', () => {
  for (const [what, [source, target]] of Object.entries(PAIRS)) {
    it(`names the flag, and a context that tells them apart, when they differ in ${what}`, () => {
      for (const [one, other] of [
        [source, target],
        [target, source],
      ] as const) {
        const { differences } = compare(one, other);
        assert.deepEqual(
          differences.map(({ flag }) => flag),
          ['flag'],
        );
        assert.notEqual(differences[0]?.example, null);
        assert.notEqual(differences[0]?.example?.source, differences[0]?.example?.target);
        assert.deepEqual(compare(one, one).differences, []);
      }
    });
  }

  it('names a flag whose definitions differ where no context can tell them apart', () => {
    const custom = (tenant: string) => withStrategy({ name: 'of-ours', parameters: { tenant } });
    const { differences } = compare(custom('one'), custom('two'));
    assert.deepEqual(differences, [{ flag: 'flag', contexts: 0, example: null }]);
  });

  it('takes for equal what is written in another way and the same for every application', () => {
    const source = withStrategy({
      name: 'default',
      segments: [1],
      constraints: [{ contextName: 'currentTime', operator: 'DATE_AFTER', value: '2026-01-01', values: [] }],
    });
    const target = withFlag(
      {
        strategies: [
          {
            ...{ id: 'another', title: 'Title', sortOrder: 7, name: 'default', segments: [44] },
            constraints: [
              { contextName: 'currentTime', operator: 'DATE_AFTER', value: '2026-01-01T00:00:00.000Z' },
            ],
          },
        ],
      },
      [{ id: 44, constraints: [{ ...SEGMENT.constraints[0]!, values: ['silver', 'gold'] }] }],
    );
    assert.deepEqual(compare(source, target).differences, []);
    assert.deepEqual(compare(withStrategy(), withStrategy({ name: 'default' })).differences, []);
  });

  it('names flags that only one server has: as a difference where applications would miss them', () => {
    const both = withFlag({});
    const one = { ...both, features: both.features.slice(1) };
    assert.equal(compare(both, one).differences[0]?.example?.target, null);
    const { differences, onlyInTarget } = compare(one, both);
    assert.deepEqual([differences, onlyInTarget], [[], ['flag']]);
  });

  it('finds every difference between random documents that random contexts find', () => {
    const random = seededRandom(20_261_123);
    let found = 0;
    for (let round = 0; round < 60; round += 1) {
      const [source, other] = [anyDocument(random), anyDocument(random)];
      // The same names, so that rules are compared and not what is there.
      const features = source.features.map((feature, at) => ({
        ...(random.chance(0.5) ? feature : (other.features[at] ?? feature)),
        name: feature.name,
      }));
      const target = { ...source, features };
      const named = new Set(compare(source, target, 50).differences.map(({ flag }) => flag));
      const [here, there] = [source, target].map(evaluatorOf);
      for (let at = 0; at < 20; at += 1) {
        const input = inputOf(anyContext(random), { random: 0.5 });
        for (const { name } of source.features) {
          const [a, b] = [here!.evaluate(name, input), there!.evaluate(name, input)];
          if (JSON.stringify(a.toggle) === JSON.stringify(b.toggle)) continue;
          found += 1;
          assert(named.has(name), `round ${round}, flag ${name}: ${JSON.stringify(input.context)}`);
        }
      }
      assert.deepEqual(compare(target, target, 50).differences, []);
    }
    assert(found > 100, `the documents differ: ${found}`);
  });
});

describe('flagstaff import-unleash --prove', () => {
  const recorded = recordedUnleash();
  let unleash: PlayedUnleash;
  let server: TestServer;
  before(async () => {
    unleash = await playUnleash(recorded);
    server = await startTestServer({ env: { INIT_CLIENT_API_TOKENS: RECORDED_CLIENT_TOKEN } });
  });
  after(async () => {
    unleash.close();
    await server.stop();
  });
  const tokens = { UNLEASH_CLIENT_TOKENS: RECORDED_CLIENT_TOKEN };
  const prove = (
    options: readonly string[] = [],
    env: Readonly<Record<string, string>> = tokens,
    url = unleash.url,
  ) =>
    flagstaff(
      [
        'import-unleash',
        url,
        '--to',
        server.origin,
        '--prove',
        '--settle',
        '0',
        '--contexts',
        '100',
        ...options,
      ],
      { env },
    );

  it('ends with 65 and names the flags before a migration, and with 0 after it; it only reads', async () => {
    const before = await prove();
    assert.equal(before.code, 65, before.err);
    assert.match(before.out, /^production: 34 flags, \d+ evaluations on each server: 34 differ\.$/m);
    assert.match(
      before.out,
      /^- flag "flag-0000" for \d+ contexts, such as \{.*\}: .* in Unleash, not there in Flagstaff\.$/m,
    );
    const env = { UNLEASH_TOKEN: RECORDED_TOKEN, FLAGSTAFF_TOKEN: ADMIN_TOKEN };
    assert.equal((await flagstaff(['import-unleash', unleash.url, '--to', server.origin], { env })).code, 0);
    const events = server.server.store.engine.lastId;
    const { code, out } = await prove();
    assert.deepEqual(
      [code, out.replace(/\d+ eval/, 'N eval')],
      [0, 'production: 34 flags, N evaluations on each server: no flag differs.'],
    );
    assert.equal(server.server.store.engine.lastId, events);
    assert(unleash.received.every((request) => request.startsWith('GET ')));
  });

  it('names the one flag that was changed, with what both servers say, and the same in each run', async () => {
    const path = '/projects/default/features/flag-0028/environments/production';
    await server.call('POST', `${path}/off`);
    const { code, out } = await prove();
    assert.equal(code, 65);
    assert.match(
      out,
      /34 flags, .*: 1 differ\.\n- flag "flag-0028" for \d+ contexts, .*: on, variant .* in Unleash, off in Flagstaff\.$/,
    );
    assert.equal((await prove()).out, out);
    const { json } = await prove(['--json', '--seed', '2']);
    assert.deepEqual(
      json.environments.map(
        ({ environment, differences }: { environment: string; differences: Comparison['differences'] }) => [
          environment,
          differences.map(({ flag }) => flag),
        ],
      ),
      [['production', ['flag-0028']]],
    );
    await server.call('POST', `${path}/on`);
    await server.call('POST', '/projects/default/features', { name: 'ours' });
    const ours = await prove();
    assert.deepEqual(
      [ours.code, ours.out.includes('Note: Flagstaff alone has in production: "ours".')],
      [0, true],
    );
  });

  it('says in one line what is wrong with tokens, addresses and options, and never a secret', async () => {
    const cases: readonly [readonly string[], Readonly<Record<string, string>>, string, number, RegExp][] = [
      [[], {}, unleash.url, 64, /Set UNLEASH_CLIENT_TOKENS to client tokens, one for each environment/],
      [
        [],
        { UNLEASH_CLIENT_TOKENS: '*:*.s3cret' },
        unleash.url,
        64,
        /Token 1 of UNLEASH_CLIENT_TOKENS is an admin token/,
      ],
      [
        [],
        { UNLEASH_CLIENT_TOKENS: 's3cret' },
        unleash.url,
        64,
        /Token 1 of UNLEASH_CLIENT_TOKENS is no client token/,
      ],
      [
        [],
        { ...tokens, FLAGSTAFF_CLIENT_TOKENS: '*:development.s3cret' },
        unleash.url,
        64,
        /UNLEASH_CLIENT_TOKENS is for production, and FLAGSTAFF_CLIENT_TOKENS for development/,
      ],
      [
        [],
        { UNLEASH_CLIENT_TOKENS: '*:production.s3cret' },
        unleash.url,
        69,
        /http.*, with its token for production: .*401/,
      ],
      [[], { ...tokens, FLAGSTAFF_CLIENT_TOKENS: '*:production.s3cret' }, unleash.url, 69, /401/],
      [['--dry-run'], tokens, unleash.url, 64, /takes no --dry-run/],
      [['--contexts', 'many'], tokens, unleash.url, 64, /--contexts takes a whole number, not "many"/],
      [[], tokens, 'export.json', 64, /compares with a running Unleash, and export\.json is no address/],
      [[], tokens, 'http://127.0.0.1:9', 69, /got no response/],
    ];
    for (const [options, env, url, code, message] of cases) {
      const ran = await prove(options, env, url);
      assert.deepEqual([ran.code, ran.out, ran.err.split('\n').length], [code, '', 1], String(message));
      assert.match(ran.err, message);
      assert.doesNotMatch(ran.err, /s3cret/);
    }
  });
});
