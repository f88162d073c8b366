/**
 * Exports the state as a document and imports it elsewhere (see src/domain/document/state-document.ts). Importing an
 * export gives a state whose export is the same.
 *
 * An import is recorded as ordinary events: in one frame, so that a crash leaves all of it or nothing, when it fits
 * in IMPORT_FRAME_BYTES_MAX; a larger one in several, and then a crash in between leaves a part of it, a data folder
 * to be thrown away. Imports happen before the service listens, so nobody sees a part.
 */

import {
  type CredentialsDocument,
  type FlagDocument,
  type ProjectDocument,
  STATE_FORMAT_VERSION,
  type StateDocument,
} from '../domain/document/state-document.ts';
import { planImport } from '../domain/document/state-import.ts';
import type { Flag } from '../domain/flags/flag.ts';
import { ISSUES_MAX, type Issue } from '../domain/json/issues.ts';
import { jsonSize } from '../domain/json/json.ts';
import type { DomainEvent } from '../domain/state/events.ts';
import { knownRole } from '../domain/state/roles.ts';
import type { ProjectState, User, World } from '../domain/state/world.ts';
import { FRAME_BYTES_MAX } from '../persistence/journal/frame.ts';
import type { Engine } from './engine.ts';

/** Measured as the events' JSON, which MessagePack never doubles. Far above the state of most services. */
export const IMPORT_FRAME_BYTES_MAX = FRAME_BYTES_MAX / 4;

/** Who records an import. */
const IMPORTER = { name: 'import', userId: -1337 } as const;

export interface ExportOptions {
  /** Includes the digests of tokens, which stay valid where the document is imported. Keep such a document secret. */
  readonly credentials: boolean;
}

export function exportState(world: World, options: ExportOptions = { credentials: false }): StateDocument {
  return {
    formatVersion: STATE_FORMAT_VERSION,
    environments: world.directory.environments.map((one) => ({ ...one })),
    users: [...world.directory.users.values()].map(userDocument),
    projects: [...world.projects.values()].map(projectDocument),
    ...targetingDocument(world),
    ...(options.credentials ? { credentials: credentialsDocument(world) } : {}),
  };
}

function userDocument({ rootRole, ...user }: User): StateDocument['users'][number] {
  return { ...user, rootRole: knownRole(rootRole).name };
}

function projectDocument({ settings, members, flags }: ProjectState): ProjectDocument {
  return {
    ...settings,
    environments: [...settings.environments],
    members: [...members].map(([userId, roleId]) => ({ userId, role: memberRole(roleId) })),
    flags: [...flags.values()].map(({ flag }) => flagDocument(flag)),
  };
}

/** The document's types are those of a parsed one, which is mutable; nobody changes it all the same. */
function targetingDocument({
  directory,
}: World): Pick<StateDocument, 'segments' | 'contextFields' | 'strategyTypes'> {
  return {
    segments: [...directory.segments.values()],
    contextFields: [...directory.contextFields.values()],
    strategyTypes: [...directory.strategyTypes.values()],
  } as unknown as StateDocument;
}

function memberRole(roleId: number): 'Owner' | 'Member' {
  const { name } = knownRole(roleId);
  if (name === 'Owner' || name === 'Member') return name;
  throw new Error(`the state has a member with the role ${name}, which no member can have`);
}

/**
 * Leaves out names that only repeat the flag's position in the document, and children, which follow from
 * dependencies.
 */
function flagDocument({ project: _, children: __, ...flag }: Flag): FlagDocument {
  // The types are those of a parsed document, which is mutable, but nobody changes it.
  return flag as unknown as FlagDocument;
}

function credentialsDocument({ directory }: World): CredentialsDocument {
  return {
    apiTokens: [...directory.apiTokens.values()].map((one) => ({ ...one, projects: [...one.projects] })),
    personalTokens: [...directory.personalTokens.values()],
  };
}

export type ImportOutcome =
  | { readonly ok: true; readonly eventCount: number }
  /** Nothing was recorded. `path` is a JSON pointer into the document. */
  | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * Into an engine that holds no environment, user or project yet; tokens may be there. Resolves when it is durable.
 */
export async function importState(engine: Engine, document: unknown): Promise<ImportOutcome> {
  const { directory, projects } = engine.world;
  if (directory.environments.length + directory.users.size + directory.segments.size + projects.size > 0) {
    const message = 'A state can only be imported into an empty data folder; this one is in use.';
    return { ok: false, issues: [{ path: '', message }] };
  }
  const plan = planImport(document);
  if (!plan.ok) return plan;
  const issues = oversized(plan.events);
  if (issues.length > 0) return { ok: false, issues };
  for (const frame of frames(plan.events)) await engine.record(IMPORTER, frame);
  return { ok: true, eventCount: plan.events.length };
}

function oversized(events: readonly DomainEvent[]): Issue[] {
  return events
    .filter((event) => jsonSize(event) > IMPORT_FRAME_BYTES_MAX)
    .slice(0, ISSUES_MAX)
    .map((event) => {
      const about = event.featureName ?? event.project ?? event.environment ?? 'the service';
      const limit = IMPORT_FRAME_BYTES_MAX / 2 ** 20;
      return {
        path: '',
        message: `The event ${event.type} of "${about}" would take more than ${limit} MiB.`,
      };
    });
}

function* frames(events: readonly DomainEvent[]): Generator<readonly DomainEvent[]> {
  let frame: DomainEvent[] = [];
  let bytes = 0;
  for (const event of events) {
    const size = jsonSize(event);
    if (frame.length > 0 && bytes + size > IMPORT_FRAME_BYTES_MAX) {
      yield frame;
      frame = [];
      bytes = 0;
    }
    frame.push(event);
    bytes += size;
  }
  if (frame.length > 0) yield frame;
}
