/** People who sign in: sessions of browsers, passwords, links, and a provider of OpenID Connect. */
import type { Addon } from '../../host/addon.ts';
import { row } from '../../process/setting-row.ts';

export const people: Addon = {
  name: 'people',
  settings: [
    row('OIDC_ISSUER', null, 'issuer, as its `/.well-known/openid-configuration` names it'),
    row('OIDC_CLIENT_ID OIDC_CLIENT_SECRET', null, 'the client, the same on all nodes of a cluster'),
    row('OIDC_BASE_URL', 'PUBLIC_URL', 'base URL of this server for browsers, without a path'),
    row('OIDC_SCOPES', 'openid email profile', 'scopes; add the one for groups, if there is one'),
    row('OIDC_GROUPS_CLAIM', 'groups', "claim that lists a user's groups"),
    row(
      'OIDC_ROLES',
      '{}',
      'root roles by group, such as `{"flag-admins":"Admin","flag-editors":"Editor"}`; the first match applies',
    ),
    row('OIDC_DEFAULT_ROLE', 'Viewer', 'root role of other users; `none` denies them access'),
    row('OIDC_ADMINS', null, 'verified emails, or subjects, of Admins, separated by commas'),
    row('OIDC_BUTTON', 'Sign in with OpenID Connect', 'text of the button'),
  ],
  configure: async (setup) => (await import('./surfaces.ts')).configurePeople(setup),
};
