/**
 * The steps of the upgrade that give older flags the metadata that later releases added. They follow from the table
 * (flags/metadata.ts), whose rows say where a field came in and what older flags have in its place.
 */
import { ADDED_FIELDS, type AddedField } from '../flags/metadata.ts';
import type { RecordedEvent } from './recorded-event.ts';
import type { UpgradeStep } from './upgrade-step.ts';

/** The events whose data holds a flag's metadata. */
export const METADATA_EVENT_TYPES = [
  'feature-created',
  'feature-metadata-updated',
  'feature-deleted',
] as const;

/** The written steps, with those of added fields: one for each content version. */
export function withAddedFields(
  written: readonly UpgradeStep[],
  added: readonly AddedField[] = ADDED_FIELDS,
): readonly UpgradeStep[] {
  const newest = Math.max(1 + written.length, ...added.map(({ contentVersion }) => contentVersion));
  return Array.from({ length: newest - 1 }, (_, index) => {
    const step = written[index];
    const fields = added.filter(({ contentVersion }) => contentVersion === index + 2);
    if (fields.length > 0) return withFields(step, fields);
    if (step !== undefined) return step;
    throw new Error(
      `no step leads to the content version ${index + 2}, and no field of flags came in with it`,
    );
  });
}

/** Adds fields to what the step itself makes of older content. */
function withFields(step: UpgradeStep | undefined, added: readonly AddedField[]): UpgradeStep {
  const fields = Object.fromEntries(added.map(({ field, older }) => [field, older]));
  return {
    reason: [step?.reason, `Flags have got: ${Object.keys(fields).join(', ')}.`].join(' ').trim(),
    release: [...new Set(added.map(({ release }) => release))].join(', '),
    event: (event) => eventWith(step?.event?.(event) ?? event, fields),
    record: (section, record) => {
      const before = step?.record === undefined ? record : step.record(section, record);
      if (section !== 'flags') return before;
      const held = before as { readonly flag: object };
      return { ...held, flag: { ...held.flag, ...fields } };
    },
  };
}

const METADATA_EVENTS: ReadonlySet<string> = new Set(METADATA_EVENT_TYPES);

function eventWith(event: RecordedEvent, fields: object): RecordedEvent {
  if (event.type === 'feature-project-change') return { ...event, hidden: hiddenWith(event.hidden, fields) };
  if (!METADATA_EVENTS.has(event.type)) return event;
  return { ...event, data: dataWith(event.data, fields), preData: dataWith(event.preData, fields) };
}

const dataWith = (data: unknown, fields: object): unknown => (data === null ? null : { ...data, ...fields });

/** A flag that moves is recorded whole. */
function hiddenWith(hidden: unknown, fields: object): unknown {
  const { flag, ...rest } = (hidden ?? {}) as { readonly flag?: object };
  return flag === undefined ? hidden : { ...rest, flag: { ...flag, ...fields } };
}
