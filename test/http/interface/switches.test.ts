/** Endpoints 13 and 14: enabling and disabling a flag in an environment (docs/specification/switches.md). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-answers.ts';
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
    assert.equal(on.answer.status, 200);
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
    assert.equal((await press('dimmed', 'on')).answer.status, 200);
  });

  it('records nothing when the switch is where it should be', async () => {
    await makeFlag(server().call, 'settled');
    assert.deepEqual((await press('settled', 'off')).events, []);
    await addStrategy(server().call, 'settled');
    await press('settled', 'on');
    const again = await press('settled', 'on');
    assert.deepEqual({ status: again.answer.status, events: again.events }, { status: 200, events: [] });
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
    const answer = await server().call('POST', `${environmentPath('deaf')}/on`, '{"enabled": fal');
    assert.equal(answer.status, 200);
    assert.deepEqual(await enabledIn('deaf'), [true, false]);
  });
});
