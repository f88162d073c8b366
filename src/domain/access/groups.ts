/** Groups of users, which hold roles as users do (docs/specification/membership.md#groups). */
export interface Group {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
  /** A role id; null: the group gives no root role. */
  readonly rootRole: number | null;
  /** Names of groups of a provider of OpenID Connect: whoever is in one of them joins this one when signing in. */
  readonly mappingsSSO: readonly string[];
  /** Ids of its users, ascending. */
  readonly users: readonly number[];
  readonly createdAt: string;
  /** Name of who created it. */
  readonly createdBy: string;
}
