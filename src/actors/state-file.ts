/**
 * Exports the state as a document and imports it elsewhere (see src/domain/desired/state-document.ts). Importing an
 * export gives a state whose export is the same.
 *
 * An import is recorded as ordinary events: in one frame, so that a crash leaves all of it or nothing, when it fits
 * in IMPORT_FRAME_MAX; a larger one in several, and then a crash in between leaves a part of it, a data folder
 * to be thrown away. Imports happen before the service listens, so no client sees a part.
 */
import assert from 'node:assert/strict';
import { DocumentIssues, flagPointer, type SentFlag } from '../domain/desired/document-issues.ts';
import {
  type CredentialsDocument,
  type FlagDocument,
  type ProjectDocument,
  STATE_FORMAT_VERSION,
  type StateDocument,
} from '../domain/desired/state-document.ts';
import type { Completion } from '../domain/flags/lifecycle.ts';
import { beyondMemory } from '../domain/growth/refuse-state.ts';
import { ISSUES_MAX, type Issue } from '../domain/json/issues.ts';
import { jsonSize, valueCount } from '../domain/json/json.ts';
import {
  DOCUMENT_KIND_NAMES,
  type KindName,
  SECRET_KIND_NAMES,
  withRootRole,
} from '../domain/kinds/kinds.ts';
import { voucherOf } from '../domain/people/identity.ts';
import { knownRole } from '../domain/people/roles-and-groups.ts';
import type { DomainEvent } from '../domain/state/events.ts';
import type { FlagRecord } from '../domain/state/flag-record.ts';
import { recordSize } from '../domain/state/state-memory.ts';
import type { DirectoryState, ProjectState, World } from '../domain/state/world.ts';
import { VALUES_MAX } from '../persistence/codec/message-pack.ts';
import { FRAME_BYTES_MAX } from '../persistence/journal/frame.ts';
import type { Engine } from './engine.ts';

/**
 * Bounds of one frame of an import: bytes, measured as the events' JSON, which MessagePack never doubles, and values, of which
 * small ones fill a frame long before its bytes do. Leaves room for what an event has beside what it was made of.
 */
export const IMPORT_FRAME_MAX = { bytes: FRAME_BYTES_MAX / 4, values: VALUES_MAX / 2 } as const;

/** The actor that records an import. */
const IMPORTER = { name: 'import', userId: -1337 } as const;

type UserDocument = StateDocument['users'][number];

export interface ExportOptions {
  /** Includes the digests of tokens and the hashes of passwords, which stay valid where the document is imported. Keep such a document secret. */
  readonly credentials: boolean;
}

/** A document whose projects and flags are made while they are read (json-pieces.ts): it may be larger than the memory. */
export interface LazyStateDocument extends Omit<StateDocument, 'projects'> {
  readonly projects: Iterable<Omit<ProjectDocument, 'flags'> & { readonly flags: Iterable<FlagDocument> }>;
}

export function exportState(
  world: World,
  options: ExportOptions = { credentials: false },
): LazyStateDocument {
  const { roles, users, groups, ...others } = kindDocuments(world, DOCUMENT_KIND_NAMES);
  return {
    formatVersion: STATE_FORMAT_VERSION,
    environments: world.directory.environments.map((one) => ({ ...one })),
    roles,
    users: users.map((user) => userDocument(world, user)),
    groups,
    projects: made(world.projects, (project) => projectDocument(world, project)),
    ...others,
    favorites: [...world.directory.favorites.values()] as unknown as StateDocument['favorites'],
    settings: [...world.directory.settings.values()] as unknown as StateDocument['settings'],
    addonRecords: addonDocuments(world, options),
    ...(options.credentials ? { credentials: credentialsDocument(world) } : {}),
  };
}

/** Can be read again. */
function made<T, U>(things: { values(): Iterable<T> }, make: (one: T) => U): Iterable<U> {
  return {
    *[Symbol.iterator]() {
      for (const one of things.values()) yield make(one);
    },
  };
}

/** Invitations are in no export, so what they say of an email goes with the user. */
function userDocument(world: World, user: UserDocument): UserDocument {
  const isAlone = user.email !== null && voucherOf(world, user) === 'nobody';
  return { ...user, ...(isAlone && { emailVouchedBy: 'nobody' }) };
}

function projectDocument(
  world: World,
  { settings, members, groups, defaultStrategies, flags }: ProjectState,
) {
  return {
    ...settings,
    environments: [...settings.environments],
    members: [...members].map(([userId, roleId]) => ({ userId, role: knownRole(world, roleId).name })),
    groups: [...groups].map(([groupId, roleId]) => ({ groupId, role: knownRole(world, roleId).name })),
    // The types are those of a parsed document, as below.
    defaultStrategies: [...defaultStrategies].map(([environment, strategy]) => ({
      environment,
      ...strategy,
    })) as unknown as ProjectDocument['defaultStrategies'],
    flags: made(flags, (record) => flagDocument(record, world.directory.completions)),
  };
}

function addonDocuments({ addonRecords }: World, { credentials }: ExportOptions) {
  const records = [...addonRecords.values()].flatMap(({ byId }) => [...byId.values()]);
  return records.map(({ kind, id, version, data, secrets }) => {
    const shown = { kind, id, version, data: data as Record<string, unknown> };
    return credentials && secrets !== undefined ? { ...shown, secrets } : shown;
  });
}

/** The document's types are those of a parsed one, which is mutable; it is never changed. */
function kindDocuments<Name extends KindName & keyof (StateDocument & CredentialsDocument)>(
  world: World,
  names: readonly Name[],
) {
  const nameOf = (role: number): string => knownRole(world, role).name;
  const documents = (name: KindName) =>
    Array.from(world.directory[name].values(), (one: object) => withRootRole(one, nameOf));
  return Object.fromEntries(names.map((name) => [name, documents(name)])) as unknown as Pick<
    StateDocument & CredentialsDocument,
    Name
  >;
}

/**
 * Leaves out names that only repeat the flag's position in the document, and children, which follow from
 * dependencies.
 */
function flagDocument(
  { flag: { project: _, children: __, ...flag }, createdBy }: FlagRecord,
  completions: DirectoryState['completions'],
): FlagDocument {
  // The types are those of a parsed document, which is mutable; it is never changed.
  return {
    ...flag,
    ...(createdBy === null ? {} : { createdBy }),
    ...completedDocument(completions.get(flag.name)),
  } as unknown as FlagDocument;
}

function completedDocument(completion: Completion | undefined): Pick<FlagDocument, 'completed'> {
  if (completion === undefined) return {};
  const { flag: _, ...completed } = completion;
  return { completed };
}

function credentialsDocument(world: World): CredentialsDocument {
  const passwords = [...world.directory.passwords.values()];
  return { ...kindDocuments(world, SECRET_KIND_NAMES), passwords };
}

export type ImportOutcome =
  | { readonly ok: true; readonly eventCount: number }
  /** Nothing was recorded. `path` is a JSON pointer into the document. */
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** A document that is read flag by flag, any number of times. */
export interface StateSource {
  /** The document with empty lists of flags. */
  readonly frame: unknown;
  flags(): AsyncIterable<SentFlag> | Iterable<SentFlag>;
}

/**
 * Into an engine that holds no environment, user or project yet; tokens may be there. Resolves when it is durable. What
 * the source throws has changed nothing while the flags are read for the first time.
 */
export async function importState(engine: Engine, source: StateSource): Promise<ImportOutcome> {
  const { directory, projects } = engine.world;
  if (directory.environments.length + directory.users.size + directory.segments.size + projects.size > 0) {
    const message = 'A state can only be imported into an empty data folder; this one is in use.';
    return { ok: false, issues: [{ path: '', message }] };
  }
  const checked = DocumentIssues.begin(source.frame);
  if (!(checked instanceof DocumentIssues)) return { ok: false, issues: checked };
  const issues = await issuesIn(checked, source, engine.memoryBudgetBytes);
  if (issues.length > 0) return { ok: false, issues };
  let eventCount = 0;
  const recorder = new FrameRecorder(async (events) => {
    await engine.record(IMPORTER, events);
    eventCount += events.length;
  });
  for await (const events of eventsIn(checked, source)) await recorder.add(events);
  await recorder.end();
  assert(engine.durableId === engine.lastId, 'an import is on disk');
  assert(engine.lastId >= eventCount, 'each event of an import is in the journal');
  return { ok: true, eventCount };
}

async function issuesIn(
  checked: DocumentIssues,
  source: StateSource,
  memoryBudgetBytes: number,
): Promise<readonly Issue[]> {
  const oversized: Issue[] = [];
  let flagBytes = 0;
  for await (const flag of source.flags()) {
    flagBytes += recordSize(flag.value);
    // No event of a flag is larger than the flag by more than a frame has room for.
    oversized.push(...tooLarge(flag.value, flagPointer(flag), 'The flag'));
    if (!checked.check(flag) || oversized.length === ISSUES_MAX) break;
  }
  const issues = [...oversized, ...checked.end()];
  if (issues.length > 0) return issues.slice(0, ISSUES_MAX);
  if (flagBytes > memoryBudgetBytes)
    return [{ path: '', message: `The flags ${beyondMemory(flagBytes, memoryBudgetBytes)}.` }];
  const events = checked.events();
  return [...events.begin(), ...events.end()]
    .flatMap((event) => tooLarge(event, '', `The event ${event.type} of "${event.project ?? 'the service'}"`))
    .slice(0, ISSUES_MAX);
}

async function* eventsIn(
  checked: DocumentIssues,
  source: StateSource,
): AsyncGenerator<readonly DomainEvent[]> {
  const events = checked.events();
  yield events.begin();
  for await (const flag of source.flags()) yield events.flag(flag);
  yield events.end();
}

function tooLarge(value: unknown, path: string, what: string): Issue[] {
  const { bytes, values } = IMPORT_FRAME_MAX;
  if (jsonSize(value) > bytes)
    return [{ path, message: `${what} would take more than ${bytes / 2 ** 20} MiB.` }];
  if (valueCount(value) > values)
    return [{ path, message: `${what} would have more than ${values} values.` }];
  return [];
}

/** Gathers events into frames of IMPORT_FRAME_MAX. */
class FrameRecorder {
  readonly #record: (events: readonly DomainEvent[]) => Promise<void>;
  #frame: DomainEvent[] = [];
  #bytes = 0;
  #values = 0;

  constructor(record: (events: readonly DomainEvent[]) => Promise<void>) {
    this.#record = record;
  }

  async add(events: readonly DomainEvent[]): Promise<void> {
    for (const event of events) {
      const [bytes, values] = [jsonSize(event), valueCount(event)];
      if (this.#bytes + bytes > IMPORT_FRAME_MAX.bytes || this.#values + values > IMPORT_FRAME_MAX.values) {
        await this.end();
      }
      this.#frame.push(event);
      this.#bytes += bytes;
      this.#values += values;
    }
  }

  async end(): Promise<void> {
    if (this.#frame.length === 0) return;
    const { bytes, values } = IMPORT_FRAME_MAX;
    const frame = this.#frame;
    assert(this.#values >= frame.length && this.#bytes > 0, 'each event of a frame was measured');
    assert(
      frame.length === 1 || (this.#bytes <= bytes && this.#values <= values),
      'a frame of several events has room for them',
    );
    const { length } = frame;
    await this.#record(frame);
    assert(frame.length === length, 'no event is added to a frame that is being recorded');
    this.#frame = [];
    this.#bytes = 0;
    this.#values = 0;
  }
}
