/** The shapes of settings of single sign-on, as requests and responses have them. */
import * as v from 'valibot';

const Text = v.optional(v.nullable(v.string()));
const Switch = v.optional(v.nullable(v.boolean()));

const SHARED = {
  enabled: v.boolean(),
  autoCreate: v.pipe(Switch, v.description('Whether a first sign-in makes a user.')),
  defaultRootRole: v.pipe(Text, v.description('The name of the root role of users whom no group gives one.')),
  defaultRootRoleId: v.pipe(v.optional(v.nullable(v.number())), v.description('The id of that role.')),
  emailDomains: Text,
  enableGroupSyncing: Switch,
  groupJsonPath: v.pipe(Text, v.description('The claim that lists the groups of a user.')),
} as const;

export const OidcSettingsSchema = v.pipe(
  v.object({
    ...SHARED,
    discoverUrl: v.pipe(Text, v.description('Where the provider describes itself.')),
    clientId: Text,
    secret: v.pipe(Text, v.description('The SHA-256 digest of the secret; a request may have the secret.')),
    acrValues: Text,
    idTokenSigningAlgorithm: Text,
    addGroupsScope: Switch,
    enableSingleSignOut: Switch,
    enablePkce: Switch,
  }),
  v.title('OidcSettings'),
);

export const SamlSettingsSchema = v.pipe(
  v.object({
    ...SHARED,
    entityId: Text,
    signOnUrl: Text,
    certificate: Text,
    signOutUrl: Text,
    spCertificate: Text,
  }),
  v.title('SamlSettings'),
);
