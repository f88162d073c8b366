export interface EventStamp {
  /** Id of the event: its position in the journal. */
  readonly id: number;
  /** When it was recorded: ISO 8601, UTC. */
  readonly createdAt: string;
}
