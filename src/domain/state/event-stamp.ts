export interface EventStamp {
  /** Id of the event: its position in the journal. */
  readonly id: number;
  /** When it was recorded: ISO 8601, UTC. */
  readonly createdAt: string;
  /** The rules that it is applied by: the newest ones live, and at replay those of its frame (replay-rules.ts). */
  readonly rules: number;
}
