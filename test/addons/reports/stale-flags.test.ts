/** Flags that may go: which, and what speaks for it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { addStrategy, addUser, FEATURES, invalidAt, makeFlag } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('flags that may go', (server) => {
  const staleFlags = async (path = '/projects/default/stale-flags') => {
    const { status, body } = await server().call('GET', path);
    assert.equal(status, 200, body?.message);
    return body;
  };
  const flag = async (wanted: string) => {
    const { features } = await staleFlags();
    return features.find(({ name }: { readonly name: string }) => name === wanted);
  };

  it('are those marked as stale or completed, and no others', async () => {
    const { call } = server();
    for (const name of ['stale', 'done', 'live']) await makeFlag(call, name);
    assert.deepEqual(await staleFlags(), { features: [], total: 0, reports: { since: null, lastAt: null } });
    await call('PUT', `${FEATURES}/stale`, { stale: true });
    await call('POST', `${FEATURES}/done/lifecycle/complete`, { status: 'kept' });
    const { features, total } = await staleFlags('/stale-flags');
    const shown = features.map((one: Record<string, unknown>) => [
      one.name,
      one.state,
      typeof one.stateSince,
    ]);
    assert.deepEqual(shown.sort(), [
      ['done', 'completed', 'string'],
      ['stale', 'stale', 'string'],
    ]);
    assert.equal(total, 2);
    const page = await staleFlags('/stale-flags?limit=1&offset=1');
    assert.deepEqual([page.features.length, page.total, page.nextOffset], [1, 2, undefined]);
    assert.equal((await staleFlags('/stale-flags?limit=1')).nextOffset, 1);
    await invalidAt(server(), '/query/limit', { method: 'GET', path: '/stale-flags?limit=51' });
  });

  it('say where the outcome is the same for all, since which event, and where it is not', async () => {
    const { call } = server();
    const outcomes = async () => {
      const { environments } = await flag('stale');
      return environments.map(({ name, outcome, since }: Record<string, never>) => [name, outcome, since]);
    };
    const newest = async () => (await call('POST', '/events/search', { limit: 1 })).body.events[0];
    const [[, , sinceCreated]] = await outcomes();
    await addStrategy(call, 'stale', {}, 'production');
    await call('POST', `${FEATURES}/stale/environments/production/on`);
    const { id: eventId, createdAt: at } = await newest();
    await call('PUT', `${FEATURES}/stale`, { description: 'changes no outcome' });
    const off = ['development', { enabled: false, variant: null }, sinceCreated];
    const on = ['production', { enabled: true, variant: null }, { at, eventId }];
    assert(sinceCreated.eventId < eventId);
    assert.deepEqual(await outcomes(), [off, on]);
    await server().restart();
    assert.deepEqual(await outcomes(), [off, on]);
    await call('POST', '/environments/production/off');
    const [, [, switchedOff, offSince]] = await outcomes();
    assert.deepEqual(
      [switchedOff, offSince.eventId],
      [{ enabled: false, variant: null }, (await newest()).id],
    );
    await call('POST', '/environments/production/on');
    const [, [, , switchedOn]] = await outcomes();
    assert.equal(switchedOn.eventId, (await newest()).id);
    const share = {
      name: 'flexibleRollout',
      parameters: { rollout: '50', stickiness: 'default', groupId: 'a' },
    };
    await addStrategy(call, 'done', share, 'production');
    await call('POST', `${FEATURES}/done/environments/production/on`);
    const { environments } = await flag('done');
    assert.deepEqual([environments[1].outcome, environments[1].since], [null, null]);
  });

  it('name the applications that asked for them, when, and since when any has reported', async () => {
    const { call } = server();
    await makeFlag(call, 'child');
    await call('POST', `${FEATURES}/child/dependencies`, { feature: 'stale' });
    const token = { tokenName: 'sdk', type: 'client', projects: ['default'], environment: 'production' };
    const { secret } = (await call('POST', '/api-tokens', token)).body;
    const start = new Date().toISOString();
    const { status } = await fetch(`${server().origin}/api/client/metrics`, {
      method: 'POST',
      headers: { authorization: secret, 'content-type': 'application/json' },
      body: JSON.stringify({
        appName: 'shop',
        instanceId: 'a',
        bucket: { start, stop: start, toggles: { stale: { yes: 3, no: 0 } } },
      }),
    });
    assert.equal(status, 202);
    const { reports } = await staleFlags();
    assert(reports.since !== null && reports.lastAt !== null);
    const { applications, dependents, environments } = await flag('stale');
    assert.deepEqual([applications, dependents], [['shop'], ['child']]);
    assert.equal(environments[0].lastSeenAt, null);
    assert(environments[1].lastSeenAt !== null);
    assert.deepEqual((await flag('done')).applications, []);
  });

  it('are those of the projects that the caller sees', async () => {
    const { call } = server();
    await call('POST', '/projects', { id: 'closed', name: 'Closed', mode: 'private' });
    await call('POST', '/projects/closed/features', { name: 'hidden', stale: true });
    const { token } = await addUser(server(), 2);
    const { body } = await call('GET', '/stale-flags', undefined, { token });
    assert.equal(body.total, 2);
    const hidden = await call('GET', '/projects/closed/stale-flags', undefined, { token });
    const absent = await call('GET', '/projects/absent/stale-flags', undefined, { token });
    assert.deepEqual([hidden.status, absent.status], [404, 404]);
    const { features, total } = await staleFlags('/stale-flags');
    assert.equal(total, 3);
    const { createdAt, stateSince } = features.at(-1);
    assert.equal(stateSince, createdAt, 'it was created as stale');
  });
});
