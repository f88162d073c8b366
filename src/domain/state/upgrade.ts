/**
 * Upgrading what older builds recorded: from each content version to the next, step by step, whenever it is read.
 *
 * The content version is that of events and snapshot records: their types, their fields, and what these mean.
 * Each frame and each snapshot carries the content version of the build that wrote it. Files are never rewritten:
 * a reader upgrades what it decodes (`decodePayload`, `readSnapshot`), so everything behind those two functions knows
 * the newest content only. Records of kinds that add-ons bring have versions of their own, because a server without the add-on
 * keeps them as they are: the add-on upgrades what it reads (kinds/addon-kind.ts).
 *
 * To change the content: append a step here, and keep every earlier step as it is. A new kind, and a new field of one or of a
 * flag's metadata, needs no step: its row says what older records get (kinds/, flags/metadata.ts). A step is pure, never throws on
 * what its version held, and changes neither the id, the author nor the time of an event. What `apply` does with the
 * same event is another matter, see replay-rules.ts.
 */
import { ADDED_METADATA, type Added } from '../flags/metadata.ts';
import { addonKind, versionOf } from '../kinds/addon-kind.ts';
import { ADDED_TO_KINDS, EFFECTS } from '../kinds/kinds.ts';
import type { RecordedEvent } from './events.ts';

// The steps of the upgrade that give older flags and records the fields that later releases added. They follow from the rows of
// these (flags/metadata.ts, kinds/), which say where a field came in and what older records have in its place.

/** The events whose data holds a flag's metadata. */
export const METADATA_EVENT_TYPES = [
  'feature-created',
  'feature-metadata-updated',
  'feature-deleted',
] as const;

/** The written steps, with those of all that was added: one for each content version. */
export function withAdded(
  written: readonly UpgradeStep[],
  all: readonly Added[] = [...ADDED_METADATA, ...ADDED_TO_KINDS],
): readonly UpgradeStep[] {
  const newest = Math.max(1 + written.length, ...all.map(({ contentVersion }) => contentVersion));
  return Array.from({ length: newest - 1 }, (_, index) => {
    const added = all.filter(({ contentVersion }) => contentVersion === index + 2);
    if (added.length > 0) return withFields(written[index], added);
    const step = written[index];
    if (step !== undefined) return step;
    throw new Error(`no step leads to the content version ${index + 2}, and nothing came in with it`);
  });
}

/** Adds fields to what the step itself makes of older content. */
function withFields(step: UpgradeStep | undefined, added: readonly Added[]): UpgradeStep {
  const names = added.map(({ section, field }) =>
    field === undefined ? section : `${field.name} of ${section}`,
  );
  const later = {
    reason: [step?.reason, `Added: ${names.join(', ')}.`].join(' ').trim(),
    release: [...new Set(added.map(({ release }) => release))].join(', '),
  };
  const fields: Fields = new Map();
  for (const { section, field } of added)
    if (field !== undefined) fields.set(section, { ...fields.get(section), [field.name]: field.older });
  if (fields.size === 0) return { ...step, ...later };
  return {
    ...later,
    event: (event) => eventWith(step?.event?.(event) ?? event, fields),
    record: (section, record) => {
      const before = step?.record === undefined ? record : step.record(section, record);
      if (section !== 'flags') return recordWith(before, fields.get(section));
      const held = before as { readonly flag: object };
      return { ...held, flag: recordWith(held.flag, fields.get(section)) };
    },
  };
}

/** By section, what its older records have in the fields that are new. */
type Fields = Map<string, object>;

const METADATA_EVENTS: ReadonlySet<string> = new Set(METADATA_EVENT_TYPES);

function eventWith(event: RecordedEvent, fields: Fields): RecordedEvent {
  const ofFlags = fields.get('flags');
  if (event.type === 'feature-project-change') return { ...event, hidden: hiddenWith(event.hidden, ofFlags) };
  const added = METADATA_EVENTS.has(event.type) ? ofFlags : fields.get(EFFECTS.get(event.type)?.kind ?? '');
  if (added === undefined) return event;
  return { ...event, data: recordWith(event.data, added), preData: recordWith(event.preData, added) };
}

const recordWith = (record: unknown, added: object | undefined): unknown =>
  record === null || added === undefined ? record : { ...record, ...added };

/** A flag that moves is recorded whole. */
function hiddenWith(hidden: unknown, added: object | undefined): unknown {
  const { flag, ...rest } = (hidden ?? {}) as { readonly flag?: object };
  return flag === undefined ? hidden : { ...rest, flag: recordWith(flag, added) };
}

/** The first step leads from version 1 to version 2, and so on. Version 1 is the content of release 0.1.0. */
const WRITTEN_STEPS: readonly UpgradeStep[] = [
  {
    reason:
      'Service accounts, passwords, sessions, identities at providers and who vouches for an email came in, with events and records of their own, and events of exports and imports of flags.',
    release: '0.2.0',
  },
  {
    reason:
      'Projects can be private, and have a naming rule, a limit of flags and templates of links: a build that does not know these would show private projects to everybody. Records of kinds that add-ons bring came in, and events of changes from files of flags.',
    release: '0.3.0',
  },
];

const UPGRADE_STEPS = withAdded(WRITTEN_STEPS);

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

/** Written by a newer version of the server. */
export class NewerContent extends Error {}

/** Throws for a version that only a newer build of the add-on reads. Where the add-on is not there, nothing reads the record. */
export function refuseNewerContent(name: string, version: number): void {
  const kind = addonKind(name);
  if (kind === undefined || version <= versionOf(kind)) return;
  throw new NewerContent(
    `the ${kind.noun} has content version ${version}, this server knows ${versionOf(kind)}`,
  );
}

/** One step of an upgrade, from a content version to the next (upgrade.ts). */
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
