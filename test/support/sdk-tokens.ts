/** Tokens of applications, for the suites of what applications call. */
import assert from 'node:assert/strict';
import type { TestServer } from './server.ts';

/** A token made through the interface; its secret. */
export async function addToken(server: TestServer, fields: object): Promise<string> {
  const { status, body } = await server.call('POST', '/api-tokens', { tokenName: 'sdk', ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  return body.secret;
}
