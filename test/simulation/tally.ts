/** The tally of simulations: shows that the faults and commands that they are there for do occur. */
export interface Tally {
  seeds: number;
  lives: number;
  cleanEnds: number;
  kills: number;
  powerCuts: number;
  failedCalls: number;
  stops: number;
  fullDisks: number;
  clockJumps: number;
  cutRecoveries: number;
  acknowledged: number;
  events: number;
  refused: number;
  /** Refused because the state would not fit in its memory budget. */
  refusedForMemory: number;
  /** Refused because the change, or what it changes, would be too large. */
  refusedForSize: number;
  unavailable: number;
  retriesFromMemory: number;
  reads: number;
  searches: number;
  snapshots: number;
  retentions: number;
  tornTails: number;
  damagesRefused: number;
  /** Found by the check after the start. */
  damagesFoundLater: number;
  damagesHarmless: number;
  /** Counts of the events that were left at last, by type. */
  readonly eventTypes: Map<string, number>;
}

export function emptyTally(): Tally {
  return {
    seeds: 0,
    lives: 0,
    cleanEnds: 0,
    kills: 0,
    powerCuts: 0,
    failedCalls: 0,
    stops: 0,
    fullDisks: 0,
    clockJumps: 0,
    cutRecoveries: 0,
    acknowledged: 0,
    events: 0,
    refused: 0,
    refusedForMemory: 0,
    refusedForSize: 0,
    unavailable: 0,
    retriesFromMemory: 0,
    reads: 0,
    searches: 0,
    snapshots: 0,
    retentions: 0,
    tornTails: 0,
    damagesRefused: 0,
    damagesFoundLater: 0,
    damagesHarmless: 0,
    eventTypes: new Map(),
  };
}

/** The counts alone, without those by type. */
export function countsOf(tally: Tally): Record<string, number> {
  const counts = Object.entries(tally).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );
  return Object.fromEntries(counts);
}
