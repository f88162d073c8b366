/** An integration: where events are sent, and which ones. */
export interface Integration {
  readonly id: number;
  /** Id of the event that created it: what happened before is not sent. */
  readonly createdRevision: number;
  /** Name of a provider in providers/table.ts. */
  readonly provider: string;
  readonly description: string | null;
  readonly enabled: boolean;
  /** By the names of the provider's parameters. Those that are sensitive leave the server only towards the receiver. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Types of the events that are sent. */
  readonly events: readonly string[];
  /** None, or one that is `*`, means all of them, as for the environments. */
  readonly projects: readonly string[];
  readonly environments: readonly string[];
}
