/**
 * Kinds that add-ons bring. The core keeps their records without knowing what they hold: an event of such a kind names kind and
 * record itself, so that a server without the add-on applies, keeps and copies what the add-on has left.
 */
import type { Issue } from '../json/issues.ts';
import type { PersistentMap } from '../value/persistent-map.ts';

/** The content of a record: what responses and events show, and secrets, which nothing shows. An `id` in `data` is that of the record. */
export interface AddonContent<T extends object = object> {
  readonly data: T;
  readonly secrets: Readonly<Record<string, string>>;
}

export interface AddonKind<T extends object = object> {
  /** By which events, snapshots and state documents name it. It never changes. */
  readonly name: string;
  /** The name of the kind in sentences. */
  readonly noun: string;
  readonly events: { readonly created: string; readonly updated: string; readonly deleted: string };
  /** The steps from each version of its records to the next. Records are upgraded when they are read, and stay as they are. */
  readonly upgrades: readonly ((content: AddonContent) => AddonContent)[];
  readonly countMax: number;
  /** The largest record as JSON, secrets included. */
  readonly bytesMax: number;
  /** The environment of a project that a record is about; its events name both, so that they are hidden with the project. */
  placeOf?(data: T): { readonly project: string; readonly environment: string };
  /** Lists what is wrong with a record of a state document. Paths begin at the record. */
  issuesOf(content: AddonContent<T>): readonly Issue[];
}

export interface AddonRecord {
  readonly kind: string;
  readonly id: number;
  /** The version of its content, by the count of its kind. */
  readonly version: number;
  /** Id of the event that created it. */
  readonly createdRevision: number;
  /** Id of the last event about it. */
  readonly revision: number;
  readonly data: object;
  /** Absent where it has none. */
  readonly secrets?: AddonContent['secrets'];
}

export interface AddonRecords {
  /** The newest id. Ids are never reused. */
  readonly lastId: number;
  /** Id of the last event about one of them. */
  readonly revision: number;
  readonly byId: PersistentMap<number, AddonRecord>;
}

/** By the name of the kind: kinds that have, or had, a record. */
export type AllAddonRecords = PersistentMap<string, AddonRecords>;

/** The version of the records that this build writes. */
export const versionOf = ({ upgrades }: AddonKind): number => 1 + upgrades.length;

/** The kinds of this server, which are the same from its start to its end. */
const registered = new Map<string, AddonKind>();

export function registerKinds(kinds: readonly AddonKind[]): void {
  for (const kind of kinds) registered.set(kind.name, kind);
}

export const addonKind = (name: string): AddonKind | undefined => registered.get(name);

/** The content as this build writes it. */
export const upgradedContent = <T extends object>(
  { upgrades }: AddonKind<T>,
  content: AddonContent,
  version: number,
): AddonContent<T> =>
  upgrades.slice(version - 1).reduce((older, step) => step(older), content) as AddonContent<T>;
