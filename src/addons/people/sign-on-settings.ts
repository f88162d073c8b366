/**
 * Settings of single sign-on, as clients of the Unleash Admin API ask for them. Those of this server are in its environment: whoever names
 * the provider decides who is an Admin, so no Admin can. These routes show them, and take only what they are already, so that a
 * description of the service elsewhere can hold them (docs/specification/rights.md#settings-of-sign-on).
 */
import * as v from 'valibot';
import { described, titled } from '../../domain/json/schema.ts';
import { allRoles } from '../../domain/people/roles-and-groups.ts';
import { invalidOperation, type Refusal } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import { settledResponse } from '../../http/admin/responses.ts';
import { digestOf } from '../../http/serving/access.ts';
import { readRoute, underTag } from '../../http/serving/route.ts';
import type { OidcSettings } from './provider.ts';

// The shapes of settings of single sign-on, as requests and responses have them.

const Text = v.optional(v.nullable(v.string()));
const Switch = v.optional(v.nullable(v.boolean()));

const SHARED_FIELDS = {
  enabled: v.boolean(),
  autoCreate: described(Switch, 'Whether a first sign-in makes a user.'),
  defaultRootRole: described(Text, 'The name of the root role of users whom no group gives one.'),
  defaultRootRoleId: described(v.optional(v.nullable(v.number())), 'The id of that role.'),
  emailDomains: Text,
  enableGroupSyncing: Switch,
  groupJsonPath: described(Text, 'The claim that lists the groups of a user.'),
} as const;

const OidcSettingsSchema = titled('OidcSettings', {
  ...SHARED_FIELDS,
  discoverUrl: described(Text, 'Where the provider describes itself.'),
  clientId: Text,
  secret: described(Text, 'The SHA-256 digest of the secret; a request may have the secret.'),
  acrValues: Text,
  idTokenSigningAlgorithm: Text,
  addGroupsScope: Switch,
  enableSingleSignOut: Switch,
  enablePkce: Switch,
});

const SamlSettingsSchema = titled('SamlSettings', {
  ...SHARED_FIELDS,
  entityId: Text,
  signOnUrl: Text,
  certificate: Text,
  signOutUrl: Text,
  spCertificate: Text,
});

const OIDC = '/auth/oidc/settings';
const SAML = '/auth/saml/settings';

const NO_SAML = invalidOperation(
  'This server has no sign-in by SAML. Set OIDC_ISSUER in its environment for OpenID Connect, which most providers of SAML speak too.',
);
const NO_OIDC = invalidOperation(
  'OpenID Connect is not configured. Set OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and OIDC_BASE_URL in the environment of the server, and restart it.',
);
const OIDC_IS_ON = invalidOperation(
  'People sign in by OpenID Connect here. Remove OIDC_ISSUER from the environment of the server, and start it again.',
);

type Settings = Readonly<Record<string, unknown>> & { readonly enabled: boolean };

/** The environment variable behind each field. */
const VARIABLES: Readonly<Record<string, string>> = {
  discoverUrl: 'OIDC_ISSUER',
  clientId: 'OIDC_CLIENT_ID',
  secret: 'OIDC_CLIENT_SECRET',
  autoCreate: 'OIDC_DEFAULT_ROLE',
  defaultRootRole: 'OIDC_DEFAULT_ROLE',
  defaultRootRoleId: 'OIDC_DEFAULT_ROLE',
  groupJsonPath: 'OIDC_GROUPS_CLAIM',
};

/** Asks for nothing: clients send an empty text, zero or false for unset fields. */
const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || value === 0 || value === false;

function oidcSettings(world: World, signOn: OidcSettings | null): Settings {
  if (signOn === null) return { enabled: false };
  const { issuer, clientId, clientSecret, defaultRole, groupsClaim } = signOn;
  const role = allRoles(world).find((one) => one.name === defaultRole);
  return {
    enabled: true,
    discoverUrl: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
    clientId,
    secret: digestOf(clientSecret),
    autoCreate: defaultRole !== null,
    ...(role === undefined ? {} : { defaultRootRole: role.name, defaultRootRoleId: role.id }),
    enableGroupSyncing: true,
    groupJsonPath: groupsClaim,
    enableSingleSignOut: true,
    enablePkce: true,
  };
}

/** Refuses settings that differ from those the server runs with; null when they agree. */
function oidcRefusal(signOn: OidcSettings | null, own: Settings, sent: Settings): Refusal | null {
  if (!sent.enabled) return own.enabled ? OIDC_IS_ON : null;
  if (signOn === null) return NO_OIDC;
  for (const [field, value] of Object.entries(sent)) {
    const isSame = value === own[field] || (field === 'secret' && value === signOn.clientSecret);
    if (isSame || isAbsent(value)) continue;
    const variable = VARIABLES[field];
    return invalidOperation(
      variable === undefined
        ? `The field ${field} cannot be set here. Leave it out, or send what GET ${OIDC} shows.`
        : `The field ${field} is not what the environment of the server says. Change ${variable} there and start the server again, or send what GET ${OIDC} shows.`,
    );
  }
  return null;
}

/** `signOn`: the provider of OpenID Connect; null for none. */
export const signOnRoutes = (signOn: OidcSettings | null) =>
  underTag('Instance', [
    readRoute(`GET ${OIDC}`, {
      permission: 'admin',
      operationId: 'getOidcSettings',
      summary:
        'Show how people sign in by OpenID Connect, with the SHA-256 digest of the secret in its place.',
      success: { status: 200, schema: OidcSettingsSchema },
      shows: ({ world }) => oidcSettings(world, signOn),
    }),
    readRoute(`POST ${OIDC}`, {
      permission: 'admin',
      operationId: 'setOidcSettings',
      summary:
        'Say how people should sign in by OpenID Connect: taken if it is so; the environment of the server decides it.',
      body: OidcSettingsSchema,
      success: { status: 200, schema: OidcSettingsSchema },
      refusals: ['InvalidOperationError'],
      read: (context) => {
        const own = oidcSettings(context.world, signOn);
        const refusal = oidcRefusal(signOn, own, context.body as Settings);
        return refusal ?? settledResponse(context, own);
      },
    }),
    readRoute(`GET ${SAML}`, {
      permission: 'admin',
      operationId: 'getSamlSettings',
      summary: 'Show that SAML is not supported.',
      success: { status: 200, schema: SamlSettingsSchema },
      shows: () => ({ enabled: false }),
    }),
    readRoute(`POST ${SAML}`, {
      permission: 'admin',
      operationId: 'setSamlSettings',
      summary: 'Accept settings without SAML; all others are refused.',
      body: SamlSettingsSchema,
      success: { status: 200, schema: SamlSettingsSchema },
      refusals: ['InvalidOperationError'],
      read: (context) => (context.body.enabled ? NO_SAML : settledResponse(context, { enabled: false })),
    }),
  ]);
