/** Reports of applications: what they are, and how often they evaluated flags. Names and counts are as clients sent them. */

/**
 * The surface that an application uses. Tokens of pages are public, so what pages report is kept apart: it can be flooded,
 * and must not push out what servers report.
 */
export type Side = 'backend' | 'frontend';
export const SIDES: readonly Side[] = ['backend', 'frontend'];

/** An application that is running. */
export interface ApplicationReport {
  readonly appName: string;
  readonly environment: string;
  readonly side: Side;
  /** Null when it was not said. */
  readonly instanceId: string | null;
  /** Such as `unleash-node-sdk:6.12.1`. */
  readonly sdkVersion: string | null;
  /** Names of the strategy types that it knows; null in reports that do not tell them. */
  readonly strategies: readonly string[] | null;
  /** Ids of those that its token covers; `*` stands for every one. */
  readonly projects: readonly string[];
  /** The client's address; empty when it is not known. */
  readonly address: string;
}

/** How often one flag was evaluated. */
export interface FlagCounts {
  readonly flag: string;
  readonly yes: number;
  readonly no: number;
  /** By the name of the variant; `disabled` stands for none. */
  readonly variants: readonly (readonly [name: string, count: number])[];
}

/** How often one application evaluated flags within a span of time. */
export interface UsageReport {
  readonly appName: string;
  readonly environment: string;
  readonly side: Side;
  /** The start of the span, in milliseconds since 1970, by the clock of the client. */
  readonly startMs: number;
  /** The end of the span; absent in reports that only tell the hour. */
  readonly stopMs?: number;
  readonly counts: readonly FlagCounts[];
}

/** A part of a report that is dropped: names of variants that are longer, and variants of one flag beyond these. */
export const VARIANT_NAME_LENGTH_MAX = 100;
export const VARIANTS_PER_COUNT_MAX = 51;
