/** Flags that are on, and tokens to read them with, for the suites of what applications call. */
import assert from 'node:assert/strict';
import { addStrategy, environmentPath, FEATURES, makeFlag } from './interface.ts';
import type { Call, TestServer } from './server.ts';

/** A flag with one strategy, switched on in `development`. */
export async function makeRunningFlag(call: Call, name: string, strategy: object = {}): Promise<void> {
  await makeFlag(call, name);
  await addStrategy(call, name, strategy);
  assert.equal((await call('POST', `${environmentPath(name)}/on`)).status, 200);
}

/** The same with variants of its own. */
export async function makeFlagWithVariants(
  call: Call,
  name: string,
  variants: readonly object[],
): Promise<void> {
  await makeRunningFlag(call, name);
  const { status, body } = await call(
    'PUT',
    `${FEATURES}/${name}/variants`,
    variants.map((one) => ({ weightType: 'variable', stickiness: 'default', ...one })),
  );
  assert.equal(status, 200, JSON.stringify(body));
}

/** A token made through the interface; its secret. */
export async function addToken(server: TestServer, fields: object): Promise<string> {
  const { status, body } = await server.call('POST', '/api-tokens', { tokenName: 'sdk', ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  return body.secret;
}

export const evaluateInProduction = (server: TestServer, flag: string): Promise<void> =>
  evaluateIn(server, 'production', flag);

/** Reports an evaluation of a flag, as an application there does. */
export async function evaluateIn(
  server: TestServer,
  environment: string,
  flag: string,
  appName = 'shop',
): Promise<void> {
  const token = await addToken(server, { type: 'client', environment });
  const now = new Date();
  const bucket = { start: now, stop: now, toggles: { [flag]: { yes: 0, no: 1 } } };
  const report = { appName, instanceId: 'one', bucket };
  const { status } = await server.callBelow('/api/client')('POST', '/metrics', report, { token });
  assert.equal(status, 202);
}
