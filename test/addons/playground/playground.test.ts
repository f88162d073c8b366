/** Why flags are on or off: for many flags at once as Unleash's playground has it, and for one flag at any moment. */
import assert from 'node:assert/strict';
import { it, test } from 'node:test';
import '../../support/check-responses.ts';
import { VALUES_MAX } from '../../../src/addons/playground/combinations.ts';
import { bodyOf } from '../../../src/addons/playground/explanation-view.ts';
import { EVALUATIONS_MAX } from '../../../src/addons/playground/playground.ts';
import type { DomainEvent } from '../../../src/domain/state/events.ts';
import { isRefusal } from '../../../src/domain/state/refusal.ts';
import { addToken, makeFlagWithVariants, makeRunningFlag } from '../../support/applications.ts';
import {
  addProject,
  addStrategy,
  addUser,
  environmentPath,
  FEATURES,
  makeFlag,
  record,
} from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const rollout = (percentage: number, groupId: string) => ({
  name: 'flexibleRollout',
  parameters: { rollout: percentage, stickiness: 'userId', groupId },
});

interface Shown {
  readonly environments: Readonly<Record<string, readonly object[]>>;
}

describeInterface('the playground', (server) => {
  const play = async (body: object) => {
    const answer = await server().call('POST', '/playground/advanced', body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  };
  /** The evaluations of all flags of one project for one context in one environment. */
  const playIn = async (environment: string, context: object) => {
    const { features } = await play({ environments: [environment], projects: ['default'], context });
    return { features: features.map((one: Shown) => one.environments[environment]?.[0]) };
  };
  // biome-ignore lint/suspicious/noExplicitAny: a body of the interface.
  const featureIn = (body: any, name: string) =>
    body.features.find((one: { name: string }) => one.name === name);
  const explain = (name: string, body: object, query = '') =>
    server().call('POST', `${FEATURES}/${name}/explain${query}`, body);
  const explainIn = (project: string, name: string, token: string) =>
    server().call(
      'POST',
      `/projects/${project}/features/${name}/explain`,
      { environment: 'development' },
      { token },
    );
  const newestEvent = async (): Promise<number> => (await server().call('GET', '/events')).body.events[0].id;

  it('says of each flag what decided: strategy, constraint, segment and bucket', async () => {
    const { call } = server();
    const segment = await call('POST', '/segments', {
      name: 'europe',
      constraints: [{ contextName: 'region', operator: 'IN', values: ['eu'] }],
    });
    await makeRunningFlag(call, 'targeted', {
      ...rollout(50, 'g'),
      segments: [segment.body.id],
      constraints: [{ contextName: 'appName', operator: 'STR_STARTS_WITH', values: ['sh'] }],
    });
    const context = { appName: 'shop', userId: '7', properties: { region: 'eu' } };
    const seen = featureIn(await playIn('development', context), 'targeted');
    const [strategy] = seen.strategies.data;
    const { bucket } = strategy.rollout;
    assert.equal(strategy.rollout.result, bucket <= 50);
    assert.deepEqual([seen.isEnabled, seen.strategies.result], [bucket <= 50, bucket <= 50]);
    assert.deepEqual(
      [seen.contextValues, strategy.constraints[0].result, strategy.segments[0].result],
      [{ appName: 'shop', region: 'eu' }, true, true],
    );
    const elsewhere = { ...context, properties: { region: 'us' } };
    const missed = featureIn(await playIn('development', elsewhere), 'targeted');
    assert.deepEqual([missed.isEnabled, missed.decidedBy.kind], [false, 'no-strategy-matched']);
    assert.equal(missed.contextValues.region, 'us');
    const off = featureIn(await playIn('production', context), 'targeted');
    assert.deepEqual([off.isEnabledInCurrentEnvironment, off.decidedBy.kind], [false, 'flag-disabled']);
  });

  it('agrees with what an application gets, for every flag and user', async () => {
    const { call, callBelow } = server();
    for (let at = 0; at < 8; at += 1) await makeRunningFlag(call, `shared-${at}`, rollout(40, `g${at}`));
    await makeFlagWithVariants(call, 'shared-variants', [
      { name: 'a', weight: 500 },
      { name: 'b', weight: 500 },
    ]);
    const token = await addToken(server(), { type: 'frontend', environment: 'development' });
    const results = new Set<boolean>();
    for (let user = 0; user < 10; user += 1) {
      const context = { userId: `u${user}` };
      const { features } = await playIn('development', context);
      const { body } = await callBelow('/api/frontend')('POST', '', { context }, { token });
      const toggles = new Map<string, { variant: { name: string } }>(
        body.toggles.map((one: { name: string }) => [one.name, one]),
      );
      for (const { name, isEnabled, variant } of features) {
        if (!name.startsWith('shared-')) continue;
        results.add(isEnabled);
        assert.equal(isEnabled, toggles.has(name), `${name} for u${user}`);
        if (isEnabled) assert.equal(variant.name, toggles.get(name)?.variant.name);
      }
    }
    assert.deepEqual([...results].sort(), [false, true]);
  });

  it('shows nothing of a private project to those who do not see it', async () => {
    const { call } = server();
    const { token } = await addUser(server(), 2);
    await call('POST', '/projects', { id: 'hush', name: 'hush', mode: 'private' });
    await call('POST', '/projects/hush/features', { name: 'hush.flag' });
    const playedBy = async (projects: string | readonly string[]): Promise<string> => {
      const body = { environments: ['development'], projects, context: { appName: 'x' } };
      const answer = await call('POST', '/playground/advanced', body, { token });
      return `${answer.status} ${answer.body.message ?? JSON.stringify(answer.body)}`;
    };
    assert.equal((await playedBy(['hush'])).replaceAll('hush', 'none'), await playedBy(['none']));
    const all = await playedBy('*');
    assert(all.startsWith('200') && !all.includes('hush'));
    const { status } = await explainIn('hush', 'hush.flag', token);
    assert.equal(status, 404);
  });

  it('tries every combination of values and environments', async () => {
    const { call } = server();
    await makeRunningFlag(call, 'combined', {
      constraints: [{ contextName: 'userId', operator: 'IN', values: ['2'] }],
    });
    const body = await play({
      environments: ['development', 'production'],
      projects: ['default'],
      context: {
        userId: '1, 2',
        appName: 'shop',
        team: ['a'],
        properties: { plan: 'free,paid', cart: {} },
      },
    });
    assert.deepEqual(body.warnings, { invalidContextProperties: ['team', 'cart'] });
    const { environments } = featureIn(body, 'combined');
    const tried = environments.development.map(
      (one: { context: { userId: string; properties: { plan: string } }; isEnabled: boolean }) => [
        one.context.userId,
        one.context.properties.plan,
        one.isEnabled,
      ],
    );
    assert.deepEqual(tried, [
      ['1', 'free', false],
      ['1', 'paid', false],
      ['2', 'free', true],
      ['2', 'paid', true],
    ]);
    assert.equal(environments.production.length, 4);
    for (const { context } of environments.development) {
      const { team, properties } = context;
      assert.deepEqual([team, properties.cart], [undefined, undefined], 'as it was evaluated');
    }
    assert.deepEqual(body.input.context.team, ['a'], 'as it was sent');
    assert(environments.production.every(({ isEnabled }: { isEnabled: boolean }) => !isEnabled));
  });

  it('refuses what it cannot evaluate, and more than it would, and says what is wrong', async () => {
    const context = { userId: '1' };
    const many = Array.from({ length: 200 }, (_, at) => at).join(',');
    const environments = ['development'];
    const cases: readonly (readonly [object, string])[] = [
      [{ environments, projects: ['none'], context }, '/body/projects/0'],
      [{ environments, projects: 'default', context }, '/body/projects'],
      [{ environments, context: [] }, '/body/context'],
      [{ environments, context: { userId: 'x'.repeat(20_000) } }, '/body/context'],
      [{ environments: [], context }, '/body/environments'],
      [{ environments: ['nowhere'], context }, '/body/environments'],
      [{ environments, context: { a: many, b: many } }, '/body'],
      [{ environments, context: { userId: ','.repeat(VALUES_MAX) } }, '/body/context'],
    ];
    for (const [body, at] of cases) {
      const answer = await server().call('POST', '/playground/advanced', body);
      assert.deepEqual(
        [answer.status, answer.body.details?.[0].path],
        [400, at],
        JSON.stringify(answer.body),
      );
    }
  });

  it('refuses contexts with more fields over all evaluations than it goes through', async () => {
    const { call } = server();
    await addProject(server(), 'lonely');
    const properties = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`p${at}`, 1]));
    const valuesOf = (count: number) => Array.from({ length: count }, (_, at) => at).join(',');
    for (const [count, status] of [
      [900, 200],
      [1_000, 400],
    ] as const) {
      const { status: given, body } = await call('POST', '/playground/advanced', {
        ...{ projects: ['lonely'], environments: ['development'] },
        context: { userId: valuesOf(count), properties },
      });
      assert.equal(given, status, body.message);
      if (status === 400) assert.equal(body.details[0].path, '/body/context');
    }
  });

  it('refuses projects that have more flags than it evaluates', async () => {
    const { call } = server();
    await addProject(server(), 'crowded');
    await makeFlag(call, 'one-of-many');
    const { body: found } = await call('POST', '/events/search', { type: 'feature-created', limit: 1 });
    const { type, environment, data, preData } = found.events[0];
    const created = (name: string): DomainEvent => ({
      ...{ type, project: 'crowded', featureName: name, environment, preData },
      data: { ...data, name, project: 'crowded' },
    });
    await record(server(), ...Array.from({ length: EVALUATIONS_MAX + 1 }, (_, at) => created(`many-${at}`)));
    const body = { environments: ['development'], projects: ['crowded'], context: {} };
    const { status, body: refusal } = await call('POST', '/playground/advanced', body);
    assert.deepEqual([status, refusal.details?.[0].path], [400, '/body/projects'], refusal.message);
  });

  it('explains a flag as it was at any moment, with the segments and parents of that moment', async () => {
    const { call } = server();
    const segment = await call('POST', '/segments', {
      name: 'early',
      constraints: [{ contextName: 'userId', operator: 'IN', values: ['1'] }],
    });
    await makeRunningFlag(call, 'parent');
    await makeRunningFlag(call, 'past', { ...rollout(100, 'past'), segments: [segment.body.id] });
    const linked = await call('POST', `${FEATURES}/past/dependencies`, { feature: 'parent' });
    assert.equal(linked.status, 200);
    const before = await newestEvent();
    const path = `/segments/${segment.body.id}`;
    const changed = await call('PUT', path, {
      name: 'early',
      constraints: [{ contextName: 'userId', operator: 'IN', values: ['2'] }],
    });
    assert.equal(changed.status, 204);
    const between = await newestEvent();
    await call('POST', `${environmentPath('parent')}/off`);
    const body = { environment: 'development', context: { userId: '1' } };
    const at = async (eventId: number | null) => {
      const query = eventId === null ? '' : `?at=${eventId}`;
      const answer = await explain('past', body, query);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return [answer.body.isEnabled, answer.body.decidedBy.kind, answer.body.eventId];
    };
    assert.deepEqual(await at(before), [true, 'strategy', before]);
    assert.deepEqual(await at(between), [false, 'no-strategy-matched', between]);
    assert.deepEqual(await at(null), [false, 'parent', null]);
    const now = await explain('past', body);
    assert.deepEqual(now.body.parentResults, [
      { feature: 'parent', enabled: true, variants: [], result: false },
    ]);
    assert.equal((await server().call('DELETE', `${FEATURES}/past/dependencies`)).status, 200);
    assert.deepEqual(await at(before), [true, 'strategy', before], 'the past does not change');
  });

  it('shows a long value of the context once, however many constraints compare it', async () => {
    const constraint = (at: number) => ({
      contextName: 'plan',
      operator: 'IN',
      values: [`${at}`],
      inverted: true,
    });
    const constraints = Array.from({ length: 30 }, (_, at) => constraint(at));
    await makeRunningFlag(server().call, 'compared', { name: 'default', constraints });
    const plan = 'x'.repeat(16_000);
    const { status, body } = await explain('compared', { environment: 'development', context: { plan } });
    assert.deepEqual([status, body.contextValues], [200, { plan }]);
    assert.equal(JSON.stringify(body).split(plan).length - 1, 1);
  });

  it('explains by the clock of that moment', async () => {
    const { call } = server();
    await makeFlag(call, 'timed');
    const after = new Date().toISOString();
    await addStrategy(call, 'timed', {
      name: 'default',
      constraints: [
        { contextName: 'currentTime', operator: 'DATE_AFTER', value: '2999-01-01T00:00:00.000Z' },
      ],
    });
    await call('POST', `${environmentPath('timed')}/on`);
    const body = { environment: 'development' };
    const answer = await explain('timed', body, `?at=${await newestEvent()}`);
    assert.deepEqual([answer.status, answer.body.isEnabled], [200, false]);
    const later = { ...body, context: { currentTime: '2999-01-02T00:00:00.000Z' } };
    assert.equal((await explain('timed', later)).body.isEnabled, true);
    assert(after < '2999');
  });

  it('refuses to explain what is not there', async () => {
    await makeRunningFlag(server().call, 'gone');
    const body = { environment: 'development' };
    assert.equal((await explain('none', body)).status, 404);
    assert.equal((await explain('gone', body, '?at=0')).body.details[0].path, '/query/at');
    assert.equal((await explain('gone', body, '?at=999999')).status, 404);
    const elsewhere = await explain('gone', { environment: 'nowhere' });
    assert.deepEqual([elsewhere.status, elsewhere.body.details[0].path], [400, '/body/environment']);
    await server().call('DELETE', `${FEATURES}/gone`);
    assert.equal((await explain('gone', body)).status, 404);
  });
});

test('an explanation is refused once more than 8 MiB of it are made, and no more of it is made', async () => {
  let made = 0;
  function* pieces(): Generator<string, void> {
    for (; made < 100; made += 1) yield 'x'.repeat(2 ** 20);
  }
  const refusal = await bodyOf(pieces(), { requester: {} } as never, 'ask for less');
  assert(isRefusal(refusal));
  assert.match(refusal.message, /longer than 8388608 characters; ask for less/);
  assert.equal(made, 8);
});
