/** The description of how to sign in, as a running server shows it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { serverFor } from '../../support/server.ts';

it('the description lists the ways to sign in that a server has', async (t) => {
  const server = await serverFor(t, {
    env: {
      ...{ OIDC_ISSUER: 'http://127.0.0.1:1/', OIDC_BASE_URL: 'http://127.0.0.1:2' },
      ...{ OIDC_CLIENT_ID: 'flagstaff', OIDC_CLIENT_SECRET: 'secret' },
    },
  });
  // biome-ignore lint/suspicious/noExplicitAny: a document of many shapes.
  const document: any = await (await fetch(`${server.origin}/docs/openapi.json`)).json();
  for (const operation of [
    ...['post /auth/session', 'delete /auth/session', 'get /auth/sessions', 'delete /auth/sessions'],
    ...['delete /auth/sessions/{id}', 'post /auth/simple/login', 'get /auth/sign-ins', 'get /auth/console'],
    ...['get /auth/oidc/login', 'get /auth/oidc/callback'],
  ]) {
    const [method = '', path = ''] = operation.split(' ');
    assert(document.paths[path]?.[method] !== undefined, operation);
  }
  const { valid, errors } = await new Validator().validate(document);
  assert.deepEqual({ valid, errors }, { valid: true, errors: undefined });
});
