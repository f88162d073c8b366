/** Groups of users, which hold roles as users do (docs/specification/membership.md#groups). */
export interface Group {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
  /** A role id; null: the group gives no root role. */
  readonly rootRole: number | null;
  /** Names of groups elsewhere that stand for this one. Kept for clients, and used for nothing yet. */
  readonly mappingsSSO: readonly string[];
  /** Ids of its users, ascending. */
  readonly users: readonly number[];
  readonly createdAt: string;
  /** Name of who created it. */
  readonly createdBy: string;
}
