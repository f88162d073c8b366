/** Flags, projects and tokens of which applications report use, as the rest of the interface shows them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { addToken } from '../../support/applications.ts';
import { addProject, addUser, archive, FEATURES, makeFlag, refused } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('what applications use', (server) => {
  const report = async (flag: string, environment: string): Promise<void> => {
    const token = await addToken(server(), { type: 'client', environment });
    const now = new Date().toISOString();
    const toggles = { [flag]: { yes: 1, no: 0, variants: {} } };
    const body = { appName: 'shop', bucket: { start: now, stop: now, toggles } };
    const { status } = await server().callBelow('/api/client')('POST', '/metrics', body, { token });
    assert.equal(status, 202);
  };

  it('is found by the day of the last use, in whichever environment, and without flags that were never used', async () => {
    const { call } = server();
    for (const flag of ['used', 'unused']) await makeFlag(call, flag);
    await report('used', 'production');
    const names = async (query: string): Promise<string[]> =>
      (await call('GET', `/search/features?${query}`)).body.features.map(
        ({ name }: { name: string }) => name,
      );
    const [yesterday, tomorrow] = [-1, 1].map((days) =>
      new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10),
    );
    assert.deepEqual(await names(`lastSeenAt=IS_ON_OR_AFTER:${yesterday}`), ['used']);
    assert.deepEqual(await names(`lastSeenAt=IS_BEFORE:${tomorrow}`), ['used']);
    assert.deepEqual(await names(`lastSeenAt=IS_BEFORE:${yesterday}`), []);
    assert.deepEqual(await names('lifecycle=IS:live'), ['used']);
  });

  it('moves the life of a flag on, which begins anew when the flag is revived', async () => {
    const { call } = server();
    const stages = async (): Promise<readonly string[]> => {
      const { body } = await call('GET', `${FEATURES}/shop.life/lifecycle`);
      const whole = await call('GET', `${FEATURES}/shop.life`);
      const found = await call('GET', '/search/features?query=shop.life&archived=IS:true');
      const active = await call('GET', '/search/features?query=shop.life');
      const [searched] = [...found.body.features, ...active.body.features];
      for (const { lifecycle } of [whole.body, searched]) assert.deepEqual(lifecycle, body.at(-1));
      return body.map(({ stage }: { readonly stage: string }) => stage);
    };
    await makeFlag(call, 'shop.life');
    assert.deepEqual(await stages(), ['initial']);
    await report('shop.life', 'development');
    assert.deepEqual(await stages(), ['initial', 'pre-live']);
    await report('shop.life', 'production');
    assert.deepEqual(await stages(), ['initial', 'pre-live', 'live']);
    const kept = { status: 'kept', statusValue: 'blue' };
    await call('POST', `${FEATURES}/shop.life/lifecycle/complete`, kept);
    await archive(call, 'shop.life');
    const all = ['initial', 'pre-live', 'live', 'completed', 'archived'];
    assert.deepEqual(await stages(), all);
    await server().restart();
    assert.deepEqual(await stages(), all);
    await server().call('POST', '/archive/revive/shop.life');
    assert.deepEqual(await stages(), ['initial']);
    // Within the minute in which the time of use does not move.
    await report('shop.life', 'production');
    assert.deepEqual(await stages(), ['initial', 'live']);
  });

  it('makes a project one that is onboarded', async () => {
    await addProject(server(), 'young');
    await server().call('POST', '/projects/young/features', { name: 'young.first' });
    await report('young.first', 'development');
    const { onboardingStatus } = (await server().call('GET', '/projects/young/overview')).body;
    assert.deepEqual(onboardingStatus, { status: 'onboarded' });
  });

  it('includes personal tokens, with the time of their last use', async () => {
    const { token } = await addUser(server(), 3);
    const [pat] = (await server().call('GET', '/user/tokens', undefined, { token })).body.pats;
    assert.equal(new Date(pat.seenAt).toISOString(), pat.seenAt);
  });

  it('is described by nobody during maintenance', async () => {
    const maintenance = (enabled: boolean) => server().call('POST', '/maintenance', { enabled });
    assert.equal((await maintenance(true)).status, 204);
    const body = { description: 'changed' };
    const change = { method: 'POST', path: '/metrics/applications/shop', body };
    const { headers } = await refused(server(), 503, 'ServiceUnavailableError', change);
    assert(headers.has('retry-after'));
    await maintenance(false);
  });
});
