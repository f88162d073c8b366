/**
 * Upgrading what older builds recorded: from each content version to the next, step by step, whenever it is read.
 *
 * The content version says what events and snapshot records hold: their types, their fields, and what these mean.
 * Each frame and each snapshot carries the content version of the build that wrote it. Files are never rewritten:
 * a reader upgrades what it decodes (`decodePayload`, `readSnapshot`), so everything behind those two functions knows
 * the newest content only.
 *
 * To change the content: append a step here, and keep every earlier step as it is. A new field of a flag's metadata
 * needs no step: its row in the table says what older flags get (flags/metadata.ts). A step is pure, never throws on
 * what its version held, and changes neither the id, the author nor the time of an event. What `apply` does with the
 * same event is another matter, see replay-rules.ts.
 */
import { withAddedFields } from './added-fields.ts';
import type { RecordedEvent } from './recorded-event.ts';
import type { UpgradeStep } from './upgrade-step.ts';

/** The first step leads from version 1 to version 2, and so on. Version 1 is the content of release 0.1.0. */
const WRITTEN_STEPS: readonly UpgradeStep[] = [
  {
    reason:
      'Custom roles, groups, service accounts, passwords, sessions, identities at providers and who vouches for an email came in, with events and records of their own, and events of exports and imports of flags.',
    release: '0.2.0',
  },
];

const UPGRADE_STEPS = withAddedFields(WRITTEN_STEPS);

/** The content version that this build records. */
export const CONTENT_VERSION = 1 + UPGRADE_STEPS.length;

export function upgradeEvents(
  events: readonly RecordedEvent[],
  contentVersion: number,
): readonly RecordedEvent[] {
  if (contentVersion === CONTENT_VERSION) return events;
  return events.map((event) =>
    stepsFrom(contentVersion).reduce((upgraded, step) => step.event?.(upgraded) ?? upgraded, event),
  );
}

export function upgradeRecord(section: string, record: unknown, contentVersion: number): unknown {
  return stepsFrom(contentVersion).reduce(
    (upgraded, step) => (step.record === undefined ? upgraded : step.record(section, upgraded)),
    record,
  );
}

/** Whether events of this version read otherwise than their bytes say: readers that do not decode have to know. */
export function changesEvents(contentVersion: number): boolean {
  return stepsFrom(contentVersion).some((step) => step.event !== undefined);
}

const stepsFrom = (contentVersion: number): readonly UpgradeStep[] => UPGRADE_STEPS.slice(contentVersion - 1);
