/** What the operator says of the provider of OpenID Connect (src/start/oidc-config.ts reads it from the environment). */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Where browsers reach this server: an origin, such as `https://flags.example`. */
  readonly origin: string;
  readonly scopes: string;
  /** The claim that lists a user's groups. */
  readonly groupsClaim: string;
  /** Pairs of a group and the name of a root role; the first that applies does. Empty: groups decide nothing about root roles. */
  readonly roles: readonly (readonly [group: string, role: string])[];
  /** The root role of users whom no group gives one; null: they are turned away. */
  readonly defaultRole: string | null;
  /** Emails that the provider has verified, and subjects, of users who are Admins. */
  readonly admins: readonly string[];
  /** What the button says. */
  readonly button: string;
}
