/** Where reports of applications go: what they are, and which flags they evaluated. Reports may be lost; no response waits for them. */

/** An application that has started. */
export interface ApplicationReport {
  readonly appName: string;
  readonly environment: string;
  readonly instanceId: string | null;
  readonly connectionId: string | null;
  /** Such as `unleash-node-sdk:6.12.1`. */
  readonly sdkVersion: string | null;
  /** Names of the strategy types that it knows. */
  readonly strategies: readonly string[];
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  /** Which surface it uses. */
  readonly side: 'backend' | 'frontend';
}

/** How often one application evaluated one flag within a span of time. */
export interface UsageReport {
  readonly appName: string;
  readonly environment: string;
  readonly flag: string;
  /** When the span began, in milliseconds since 1970. */
  readonly startMs: number;
  readonly yes: number;
  readonly no: number;
  /** By the name of the variant; `disabled` stands for none. */
  readonly variants: ReadonlyMap<string, number>;
}

export interface UsageSink {
  /** Must not throw, and must bound what it keeps: names and counts are those that clients sent. */
  application(report: ApplicationReport): void;
  usage(reports: readonly UsageReport[]): void;
}

/** Forgets every report. */
export const NO_USAGE: UsageSink = { application: () => undefined, usage: () => undefined };
