import assert from 'node:assert/strict';
import { it } from 'node:test';
import { people } from '../../../src/addons/people/addon.ts';
import { oidcConfig } from '../../../src/addons/people/oidc-config.ts';
import { misspeltSettings } from '../../../src/start/misspelt-settings.ts';

it('takes the settings of OpenID Connect together, and only safe addresses', () => {
  const env = {
    ...{ OIDC_ISSUER: 'https://login.example/realms/main', OIDC_BASE_URL: 'https://flags.example/' },
    ...{ OIDC_CLIENT_ID: 'flagstaff', OIDC_CLIENT_SECRET: 'secret' },
  };
  assert.equal(oidcConfig({}, false), null);
  const oidc = oidcConfig(
    {
      ...env,
      ...{ OIDC_ROLES: '{"cn=a,dc=b":"Admin"}', OIDC_DEFAULT_ROLE: 'none', OIDC_ADMINS: 'a@b.example, c' },
    },
    false,
  );
  assert.deepEqual(oidc, {
    ...{ issuer: env.OIDC_ISSUER, origin: 'https://flags.example' },
    ...{ clientId: 'flagstaff', clientSecret: 'secret', scopes: 'openid email profile' },
    ...{ groupsClaim: 'groups', roles: [['cn=a,dc=b', 'Admin']], defaultRole: null },
    ...{ admins: ['a@b.example', 'c'], button: 'Sign in with OpenID Connect' },
  });
  assert.equal(oidcConfig({ ...env, OIDC_ISSUER: 'http://localhost:9000' }, false)?.defaultRole, 'Viewer');
  for (const [wrong, message] of [
    [{ OIDC_ISSUER: '' }, /^OIDC_BASE_URL has no meaning without OIDC_ISSUER/],
    [{ OIDC_ISSUER: 'http://login.example' }, /^OIDC_ISSUER must be an https address .*, not "http:/],
    [{ OIDC_BASE_URL: 'https://flags.example/flags' }, /^OIDC_BASE_URL .* without a path/],
    [{ OIDC_CLIENT_SECRET: '' }, /^OIDC_CLIENT_SECRET must be set/],
    [{ OIDC_SCOPES: 'email' }, /^OIDC_SCOPES .* openid among them/],
    [{ OIDC_ROLES: '["a"]' }, /^OIDC_ROLES must be a JSON object/],
    [{ OIDC_ROLES: '{"a":1}' }, /^OIDC_ROLES must be a JSON object/],
  ] as const) {
    assert.throws(() => oidcConfig({ ...env, ...wrong }, false), { name: 'ConfigError', message });
  }
  assert.throws(() => oidcConfig(env, true), /OIDC_ISSUER has no meaning with AUTH_TYPE=none/);
});

it('is named where a variable is at most two letters from it', () => {
  const [sentence = ''] = misspeltSettings({ OIDC_ISUER: '1' }, [people]);
  assert.match(sentence, /Did you mean OIDC_ISSUER/);
});
