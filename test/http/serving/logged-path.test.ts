import assert from 'node:assert/strict';
import { it } from 'node:test';
import { loggedPath } from '../../../src/http/serving/request-log.ts';

it('a logged path holds no token, wherever it stands and however it is encoded', () => {
  const secret = 'deadbeefdeadbeef';
  for (const token of [
    `*:*.${secret}`,
    encodeURIComponent(`*:*.${secret}`),
    `default%3adevelopment%2e${secret}`,
    `[]:production.${secret}`,
    `user:${secret}`,
    `user%3A${secret}`,
    secret,
  ]) {
    for (const path of [
      `/api/admin/api-tokens/${token}`,
      `/flags/api/admin/api-tokens/${token}/more`,
      `/invite/${token}/signup`,
      `/api/admin/invite-link/tokens/${token}`,
    ]) {
      assert(!loggedPath(path).includes(secret), path);
    }
    if (token === secret) continue;
    for (const path of [`/api/admin/${token}`, `/${token}/x`, `/api/admin/user-admin/1/tokens/${token}`]) {
      assert(!loggedPath(path).includes(secret), path);
    }
  }
});

it('other paths are logged as they are', () => {
  for (const path of [
    '/api/admin/api-tokens',
    '/api/admin/projects/default/features/a.b.c/environments/production/on',
    '/api/admin/user/tokens/5',
    '/',
  ]) {
    assert.equal(loggedPath(path), path);
  }
});
