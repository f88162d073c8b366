/** One step of an upgrade, from a content version to the next (upgrade.ts). */
import type { RecordedEvent } from './recorded-event.ts';

export interface UpgradeStep {
  /** The change and its reason. */
  readonly reason: string;
  /** The first release whose events and records are of the version that the step leads to. */
  readonly release: string;
  /** Absent where the step changes no event. */
  event?(event: RecordedEvent): RecordedEvent;
  /** Absent where the step changes no record. */
  record?(section: string, record: unknown): unknown;
}
