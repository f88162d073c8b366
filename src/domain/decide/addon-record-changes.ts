/** Decisions on the records of kinds that add-ons bring, for the commands of these. */
import { refuseLargerThan } from '../growth/refuse-size.ts';
import { jsonEqual } from '../json/json.ts';
import type { AddonContent, AddonKind } from '../kinds/addon-kind.ts';
import { countOfRecords, locateAddonRecord, nextRecordId } from '../state/addon-records.ts';
import { type Decision, UNCHANGED } from '../state/decision.ts';
import { recordEvent } from '../state/events.ts';
import { invalidOperation, isRefusal, type Refusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';

export function recordCreated<T extends object>(
  world: World,
  kind: AddonKind<T>,
  make: (id: number) => AddonContent<T>,
): Decision {
  const { noun, countMax } = kind;
  if (countOfRecords(world, kind) >= countMax)
    return invalidOperation(`The limit is ${countMax} ${noun}s. Delete one first.`);
  const id = nextRecordId(world, kind);
  const content = make(id);
  return refuseLarge(kind, content) ?? [recordEvent(kind, id, [null, content])];
}

export function recordUpdated<T extends object>(
  world: World,
  kind: AddonKind<T>,
  id: number,
  change: (before: AddonContent<T>) => AddonContent<T> | Refusal,
): Decision {
  const record = locateAddonRecord(world, kind, id);
  if (isRefusal(record)) return record;
  const before = { data: record.data, secrets: record.secrets };
  const after = change(before);
  if (isRefusal(after)) return after;
  if (jsonEqual(before, after)) return UNCHANGED;
  return refuseLarge(kind, after) ?? [recordEvent(kind, id, [before, after])];
}

export function recordDeleted(world: World, kind: AddonKind, id: number): Decision {
  const record = locateAddonRecord(world, kind, id);
  return isRefusal(record) ? record : [recordEvent(kind, id, [record, null])];
}

const refuseLarge = ({ noun, bytesMax }: AddonKind, content: AddonContent): Refusal | null =>
  refuseLargerThan(bytesMax, `The ${noun}`, content);
