/** Decisions on the records of managed kinds: created, changed and deleted as the row of their kind says. */
import { refuseLargerThan } from '../growth/refuse-size.ts';
import { jsonEqual } from '../json/json.ts';
import type { AddonContent, AddonKind } from '../kinds/addon-kind.ts';
import { type ManagedKind, recordWith, referencesOf, withFields } from '../kinds/kind.ts';
import {
  type IdOf,
  type KindCounter,
  kindOf,
  MANAGED_KIND_NAMES,
  type ManagedKindName,
  managedKindOf,
  type RecordOf,
  type SentTo,
} from '../kinds/kinds.ts';
import { endsWithGroup, refuseGroup } from '../people/group-commands.ts';
import { endsWithRole, refuseRole } from '../people/role-commands.ts';
import { countOfRecords, locateAddonRecord, nextRecordId } from '../state/addon-records.ts';
import { type DecideContext, type Decision, UNCHANGED } from '../state/decision.ts';
import { findNamed, locateRecord, recordsOf } from '../state/directory-records.ts';
import {
  ABOUT_NOTHING,
  type DomainEvent,
  type KindEvent,
  recordChange,
  recordEvent,
} from '../state/events.ts';
import { noProject } from '../state/locate.ts';
import { invalid, invalidOperation, isRefusal, nameExists, type Refusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { nameOfProject } from './guards.ts';

// Commands about a record of any managed kind.

export type CreateRecord = {
  [Name in ManagedKindName]: { readonly kind: Name; readonly fields: SentTo<Name> };
}[ManagedKindName];

/** A field that is absent keeps its value. */
type UpdateRecord = {
  [Name in ManagedKindName]: {
    readonly kind: Name;
    readonly id: IdOf<Name>;
    readonly fields: Partial<SentTo<Name>>;
  };
}[ManagedKindName];

type DeleteRecord = {
  [Name in ManagedKindName]: { readonly kind: Name; readonly id: IdOf<Name> };
}[ManagedKindName];

/** A record of any managed kind, as far as they are alike. */
type Named = { readonly name: string };

/** Both records are of the kind. */
const changeIn = (kind: ManagedKindName, before: Named | null, after: Named | null): KindEvent[] =>
  recordChange(kind, before as RecordOf<ManagedKindName> | null, after as RecordOf<ManagedKindName> | null);

/** Rules of a kind that need more of the state than its row sees. */
interface Hooks<T> {
  /** `record`: as it was sent, before it has its normal form. */
  refuse(world: World, record: T): Refusal | null;
  /** The events by which other things end with a record. */
  endsWith(world: World, record: T): readonly DomainEvent[] | Refusal;
}

const HOOKS: { readonly [Name in ManagedKindName]?: Hooks<RecordOf<Name>> } = {
  roles: { refuse: refuseRole, endsWith: endsWithRole },
  groups: { refuse: refuseGroup, endsWith: endsWithGroup },
};

const hooksOf = (kind: ManagedKindName): Hooks<Named> | undefined =>
  HOOKS[kind] as unknown as Hooks<Named> | undefined;

interface Change {
  readonly sent: Named;
  /** The record that was sent in its normal form. */
  readonly after: Named;
  /** Null for a record that is new. */
  readonly before: Named | null;
}

export function createRecord(
  world: World,
  { kind, fields }: CreateRecord,
  context: Pick<DecideContext, 'now' | 'actor'>,
): Decision {
  const row = managedKindOf(kind);
  const { noun, countMax } = row;
  const added = { id: nextId(world, kind), createdBy: context.actor.name, createdAt: context.now };
  const change = changeOf(row, recordWith(row, { ...fields, ...added }), null);
  const refusal = refuseNameOrProject(world, kind, change);
  if (refusal !== null) return refusal;
  if (world.directory[kind].size >= countMax) {
    return invalidOperation(`The limit is ${countMax} ${noun}s. Delete one first.`);
  }
  return refuseRecord(world, kind, change) ?? changeIn(kind, null, change.after);
}

/** Never an id that a strategy names already: releases without segments kept whatever ids clients sent. */
function nextId({ directory, references }: World, kind: ManagedKindName): number | undefined {
  const { lastId, use, predefined, idOf } = managedKindOf(kind);
  if (lastId === undefined) return undefined;
  let id = Math.max(directory[lastId as KindCounter], ...predefined.map((one) => Number(idOf(one)))) + 1;
  while (use !== undefined && references.flagCounts(use.by, id).size > 0) id += 1;
  return id;
}

export function updateRecord(world: World, { kind, id, fields }: UpdateRecord): Decision {
  const before: Named | Refusal = locateRecord(world, kind, id);
  if (isRefusal(before)) return before;
  const row = managedKindOf(kind);
  const { canChangePredefined } = row;
  if (!canChangePredefined && isPredefined(kind, before)) return predefined(kind, before, 'changed');
  const change = changeOf(row, withFields(before, fields), before);
  if (jsonEqual(change.after, before)) return UNCHANGED;
  const refusal = refuseNameOrProject(world, kind, change) ?? refuseRecord(world, kind, change);
  return refusal ?? changeIn(kind, before, change.after);
}

const changeOf = ({ normal }: ManagedKind, sent: Named, before: Named | null): Change => ({
  sent,
  after: normal?.(sent) ?? sent,
  before,
});

export function deleteRecord(world: World, { kind, id }: DeleteRecord): Decision {
  const record: Named | Refusal = locateRecord(world, kind, id);
  if (isRefusal(record)) return record;
  if (isPredefined(kind, record)) return predefined(kind, record, 'deleted');
  const { noun, use } = managedKindOf(kind);
  const users = use?.advice === undefined ? [] : usesOf(world, kind, record);
  if (users.length > 0) {
    return invalidOperation(
      `The ${noun} "${record.name}" is used by flags: ${users.join(', ')}, archived ones included. ${use?.advice} before deleting it.`,
    );
  }
  const ended = hooksOf(kind)?.endsWith(world, record) ?? [];
  return isRefusal(ended) ? ended : [...ended, ...changeIn(kind, record, null)];
}

function projectsOf(kind: ManagedKindName, record: Named) {
  return referencesOf(kindOf(kind), record)
    .filter(({ referred }) => referred === 'project')
    .map(({ path, value }) => ({ path, value: String(value) }));
}

/** The events by which the records that belong to a project end with it. */
export function recordsOfProjectDeleted({ directory }: World, project: string): KindEvent[] {
  return MANAGED_KIND_NAMES.flatMap((kind) =>
    [...directory[kind].values()]
      .filter((record) => projectsOf(kind, record).some(({ value }) => value === project))
      .flatMap((record) => changeIn(kind, record, null)),
  );
}

/** Refuses a name that another record of the kind has, except `own`. */
export function refuseTaken(
  world: World,
  kind: ManagedKindName,
  name: string,
  own: Named | null = null,
): Refusal | null {
  const { noun, uniqueFolded } = managedKindOf(kind);
  if (name === own?.name) return null;
  const named =
    uniqueFolded === undefined
      ? findNamed(world, kind, name)
      : recordsOf(world, kind).find((one) => one !== own && one.name.toLowerCase() === name.toLowerCase());
  return named === undefined ? null : nameExists(`A ${noun} named "${name}" exists already.`);
}

function refuseNameOrProject(world: World, kind: ManagedKindName, change: Change): Refusal | null {
  const { after, before } = change;
  const taken = refuseTaken(world, kind, after.name, before);
  if (taken !== null) return taken;
  const unknown = projectsOf(kind, after).find(({ value }) => !world.projects.has(value));
  return unknown === undefined ? null : invalid(noProject(world, unknown.value), `/body${unknown.path}`);
}

function refuseRecord(world: World, kind: ManagedKindName, change: Change): Refusal | null {
  const { sent, after, before } = change;
  const { noun, bytesMax, faultOf } = managedKindOf(kind);
  const refusal = hooksOf(kind)?.refuse(world, sent) ?? null;
  if (refusal !== null) return refusal;
  const tooLarge =
    bytesMax === null ? null : refuseLargerThan(bytesMax, `The ${noun} "${after.name}"`, after);
  if (tooLarge !== null) return tooLarge;
  const usedIn = (except?: string) => usesOf(world, kind, after, except);
  const fault = faultOf?.({ after, before, usedIn }) ?? null;
  if (fault === null) return null;
  return typeof fault === 'string' ? invalidOperation(fault) : invalid(fault.message, fault.path);
}

/** `3 in the project "x"`, for each project but `except` in which flags use the record. */
function usesOf(world: World, kind: ManagedKindName, record: Named, except?: string): string[] {
  const { use, idOf } = managedKindOf(kind);
  if (use === undefined) return [];
  return [...world.references.flagCounts(use.by, idOf(record))]
    .filter(([project]) => project !== except)
    .map(([project, count]) => `${count} in ${nameOfProject(world, project)}`);
}

const isPredefined = (kind: ManagedKindName, { name }: Named): boolean =>
  managedKindOf(kind).predefined.some((one) => one.name === name);

const predefined = (kind: ManagedKindName, { name }: Named, what: 'changed' | 'deleted'): Refusal =>
  invalidOperation(`The ${managedKindOf(kind).noun} "${name}" is predefined and cannot be ${what}.`);

// Commands that only strategy types have: they are deprecated, and reactivated.

interface DeprecateStrategyType {
  readonly name: string;
  /** False: reactivate it. */
  readonly deprecated: boolean;
}

/** A deprecated type goes on working; forms stop offering it. */
export function deprecateStrategyType(world: World, { name, deprecated }: DeprecateStrategyType): Decision {
  const preData = locateRecord(world, 'strategyTypes', name);
  if (isRefusal(preData)) return preData;
  if (preData.deprecated === deprecated) return UNCHANGED;
  const type = deprecated ? 'strategy-deprecated' : 'strategy-reactivated';
  return [{ type, ...ABOUT_NOTHING, data: { ...preData, deprecated }, preData }];
}

// Changes of records of kinds that add-ons bring, by whose commands they are decided.

export function recordCreated<T extends object>(
  world: World,
  kind: AddonKind<T>,
  make: (id: number) => AddonContent<T> | Refusal,
): Decision {
  const { noun, countMax } = kind;
  if (countOfRecords(world, kind) >= countMax)
    return invalidOperation(`The limit is ${countMax} ${noun}s. Delete one first.`);
  const id = nextRecordId(world, kind);
  const content = make(id);
  if (isRefusal(content)) return content;
  return refuseLargeContent(kind, content) ?? [recordEvent(kind, id, [null, content])];
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
  return refuseLargeContent(kind, after) ?? [recordEvent(kind, id, [before, after])];
}

export function recordDeleted(world: World, kind: AddonKind, id: number): Decision {
  const record = locateAddonRecord(world, kind, id);
  return isRefusal(record) ? record : [recordEvent(kind, id, [record, null])];
}

const refuseLargeContent = ({ noun, bytesMax }: AddonKind, content: AddonContent): Refusal | null =>
  refuseLargerThan(bytesMax, `The ${noun}`, content);
