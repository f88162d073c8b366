/** Endpoints 13 and 14: enabling and disabling a flag in an environment (docs/specification/switches.md). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import {
  addStrategy,
  environmentPath,
  FEATURES,
  flagEvent,
  makeFlag,
  recording,
  refused,
} from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('switches', (server) => {
  const press = (flag: string, position: string, environment = 'development') =>
    recording(server(), () => server().call('POST', `${environmentPath(flag, environment)}/${position}`));

  const enabledIn = async (flag: string): Promise<boolean[]> => {
    const { body } = await server().call('GET', `${FEATURES}/${flag}`);
    return body.environments.map(({ enabled }: { enabled: boolean }) => enabled);
  };

  it('switches on and off where there is a strategy, in that environment only, each with its event', async () => {
    await makeFlag(server().call, 'lamp');
    await addStrategy(server().call, 'lamp', {}, 'production');
    const on = await press('lamp', 'on', 'production');
    assert.equal(on.response.status, 200);
    assert.deepEqual(on.events, [
      flagEvent('feature-environment-enabled', 'lamp', { environment: 'production' }),
    ]);
    assert.deepEqual(await enabledIn('lamp'), [false, true]);
    const off = await press('lamp', 'off', 'production');
    assert.deepEqual(off.events, [
      flagEvent('feature-environment-disabled', 'lamp', { environment: 'production' }),
    ]);
    assert.deepEqual(await enabledIn('lamp'), [false, false]);
  });

  it('refuses to switch on where there are no strategies, whatever other environments have', async () => {
    await makeFlag(server().call, 'unwired');
    await addStrategy(server().call, 'unwired', {}, 'production');
    const { body } = await refused(server(), 409, 'InvalidOperationError', {
      method: 'POST',
      path: `${environmentPath('unwired')}/on`,
    });
    assert.match(body.message, /"unwired".*"development"/);
  });

  it('accepts a disabled strategy as a strategy', async () => {
    await makeFlag(server().call, 'dimmed');
    await addStrategy(server().call, 'dimmed', { disabled: true });
    assert.equal((await press('dimmed', 'on')).response.status, 200);
  });

  const switchedOff = (flag: string) =>
    flagEvent('feature-environment-disabled', flag, { environment: 'development' });

  it('goes off when the last enabled strategy is disabled by a PUT or a PATCH, or removed', async () => {
    const { call } = server();
    const changes = {
      put: (path: string) => call('PUT', path, { name: 'default', disabled: true }),
      patch: (path: string) => call('PATCH', path, [{ op: 'replace', path: '/disabled', value: true }]),
      remove: (path: string) => call('DELETE', path),
    };
    for (const [name, change] of Object.entries(changes)) {
      await makeFlag(call, `last.${name}`);
      await addStrategy(call, `last.${name}`, { disabled: true });
      const first = await addStrategy(call, `last.${name}`);
      const last = await addStrategy(call, `last.${name}`);
      await press(`last.${name}`, 'on');
      const strategies = `${environmentPath(`last.${name}`)}/strategies`;
      const one = await recording(server(), () => change(`${strategies}/${first.id}`));
      assert.equal(one.events.length, 1, `${name}: an enabled strategy is left`);
      const two = await recording(server(), () => change(`${strategies}/${last.id}`));
      assert.equal(two.response.status, 200);
      assert.deepEqual(two.events.slice(1), [switchedOff(`last.${name}`)], name);
      assert.deepEqual(await enabledIn(`last.${name}`), [false, false]);
    }
  });

  it('stays on where it was switched on with disabled strategies only, until none is left', async () => {
    const { call } = server();
    await makeFlag(call, 'all.disabled');
    const one = await addStrategy(call, 'all.disabled', { disabled: true });
    const two = await addStrategy(call, 'all.disabled', { disabled: true });
    await press('all.disabled', 'on');
    const { body } = await call('GET', `${FEATURES}/all.disabled`);
    const [shown] = body.environments;
    assert.deepEqual([shown.enabled, shown.hasStrategies, shown.hasEnabledStrategies], [true, true, false]);
    const path = (id: string) => `${environmentPath('all.disabled')}/strategies/${id}`;
    const titled = await recording(server(), () =>
      call('PUT', path(one.id), { name: 'default', disabled: true, title: 'still disabled' }),
    );
    assert.equal(titled.events.length, 1);
    assert.equal((await recording(server(), () => call('DELETE', path(one.id)))).events.length, 1);
    const last = await recording(server(), () => call('DELETE', path(two.id)));
    assert.deepEqual(last.events.slice(1), [switchedOff('all.disabled')]);
  });

  it('records nothing when the switch is where it should be', async () => {
    await makeFlag(server().call, 'settled');
    assert.deepEqual((await press('settled', 'off')).events, []);
    await addStrategy(server().call, 'settled');
    await press('settled', 'on');
    const again = await press('settled', 'on');
    assert.deepEqual({ status: again.response.status, events: again.events }, { status: 200, events: [] });
    assert.deepEqual(await enabledIn('settled'), [true, false]);
  });

  it('does not find a flag or an environment that does not exist, nor any other position', async () => {
    await makeFlag(server().call, 'somewhere');
    for (const path of [
      `${environmentPath('nobody')}/on`,
      `${environmentPath('somewhere', 'staging')}/on`,
      `${environmentPath('somewhere', 'Development')}/off`,
      `${environmentPath('somewhere')}/toggle`,
    ]) {
      await refused(server(), 404, 'NotFoundError', { method: 'POST', path });
    }
  });

  it('ignores a body', async () => {
    await makeFlag(server().call, 'deaf');
    await addStrategy(server().call, 'deaf');
    const response = await server().call('POST', `${environmentPath('deaf')}/on`, '{"enabled": fal');
    assert.equal(response.status, 200);
    assert.deepEqual(await enabledIn('deaf'), [true, false]);
  });
});
