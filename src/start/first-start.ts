/**
 * Records what a new data folder starts with: the state in `IMPORT_FILE`, or the defaults of seed-events.ts, and the
 * admin tokens from the settings, or one that is made here and shown once
 * (docs/specification/companions.md#new-data-folder).
 *
 * The marker of unfinished-import.ts is in the folder while an import is under way.
 */
import { createReadStream } from 'node:fs';
import { importState, type StateSource } from '../actors/state-file.ts';
import type { Store } from '../actors/store.ts';
import type { SentFlag } from '../domain/desired/document-issues.ts';
import { FLAG_DEPTH_MAX } from '../domain/desired/state-document.ts';
import type { Issue } from '../domain/json/issues.ts';
import type { JsonValue } from '../domain/json/json.ts';
import { SYSTEM } from '../domain/state/decision.ts';
import type { DomainEvent } from '../domain/state/events.ts';
import { initialTokenEvent, seedEvents } from '../domain/state/seed-events.ts';
import { ALL, type World } from '../domain/state/world.ts';
import { type JsonPart, JsonPartsError, type PartPath, readJsonParts } from '../http/body/json-parts.ts';
import { digestOf } from '../http/serving/access.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { importMarker } from '../persistence/recovery/unfinished-work.ts';
import { wordedFault } from '../process/file-faults.ts';
import type { Log } from '../process/log.ts';
import { ConfigError } from '../process/settings.ts';
import { makeAdminSecret } from './admin-token.ts';
import type { Config, InitialToken } from './config.ts';

/** Advice for a failure after the content of IMPORT_FILE is on disk: the folder would not start again without its tokens. */
const IMPORTED_ADVICE = ' Delete the data folder, and start again with other tokens.';

export interface FirstStartOptions {
  readonly config: Config;
  readonly log: Log;
  readonly fs: FileSystem;
  /** Shows a secret, which is shown only once and never logged. It resolves when the secret cannot be lost. */
  announceToken(secret: string): Promise<void>;
}

/** Nothing happens in a folder that has events already. */
export async function recordFirstEvents({ engine }: Store, options: FirstStartOptions): Promise<void> {
  const { config, log } = options;
  if (engine.lastId > 0) return logIgnoredSettings(engine.world, options);
  const now = new Date(engine.nextTime()).toISOString();
  if (config.importFile === null) {
    const events = seedEvents(now);
    refuseUnknownNames(config.initialTokens, namesIn(events));
    return engine.record(SYSTEM, [...events, ...tokenEvents(await tokensOf(options), now)]);
  }
  const source = await openImportFile(config.importFile);
  const marker = await placeMarker(options);
  const outcome = await importState(engine, source).catch(async (error: unknown) => {
    // Only while the file is checked: a file that changes afterwards leaves a part of it, and the marker.
    if (engine.lastId === 0) await options.fs.remove(marker);
    throw error;
  });
  if (!outcome.ok) {
    await options.fs.remove(marker);
    throw refusedImport(config.importFile, outcome.issues);
  }
  refuseUnknownNames(config.initialTokens, namesOf(engine.world), IMPORTED_ADVICE);
  const tokens = await tokensOf(options);
  if (tokens.length > 0) await engine.record(SYSTEM, tokenEvents(tokens, now));
  await options.fs.remove(marker);
  await options.fs.syncFolder(config.dataDir);
  // Operators: nothing
  log.info({ file: config.importFile, events: outcome.eventCount }, 'state imported');
}

/** Without a word about it, a token that was added to the settings later looks like one that the server lost. */
function logIgnoredSettings({ directory }: World, { config, log }: FirstStartOptions): void {
  const why = 'because the data folder already holds events';
  // Operators: remove the setting
  if (config.importFile !== null) log.info({}, `IMPORT_FILE is ignored, ${why}`);
  const unknown = config.initialTokens.filter(({ secret }) => !directory.apiTokens.has(digestOf(secret)));
  for (const variable of new Set(unknown.map((token) => token.variable))) {
    const advice =
      'make tokens at /api/admin/api-tokens, or an admin token with "flagstaff token create --admin"';
    // Operators: what it says
    log.warn({}, `${variable} has tokens that do not exist. It is ignored, ${why}; ${advice}`);
  }
}

function tokenEvents(tokens: readonly InitialToken[], now: string): readonly DomainEvent[] {
  const counts = new Map<string, number>();
  return tokens.flatMap(({ secret, ...token }) => {
    const number = (counts.get(token.type) ?? 0) + 1;
    counts.set(token.type, number);
    return initialTokenEvent({ ...token, digest: digestOf(secret) }, number, now);
  });
}

/** The tokens of the settings, and an admin token if there is none. Without authentication none is needed, so none is made. */
async function tokensOf({ config, announceToken }: FirstStartOptions): Promise<readonly InitialToken[]> {
  const { initialTokens, authType } = config;
  if (authType === 'none' || initialTokens.some(({ type }) => type === 'admin')) return initialTokens;
  const secret = makeAdminSecret();
  await announceToken(secret);
  return [{ variable: '', type: 'admin', secret, project: ALL, environment: ALL }, ...initialTokens];
}

interface KnownNames {
  readonly projects: ReadonlySet<string>;
  readonly environments: ReadonlySet<string>;
}

/** A token for what is not there would let its application in and show it nothing, without a word. */
function refuseUnknownNames(tokens: readonly InitialToken[], known: KnownNames, advice = ''): void {
  for (const { variable, project, environment } of tokens) {
    if (environment !== ALL && !known.environments.has(environment)) {
      throw new ConfigError(
        `${variable} has a token for the environment "${environment}", which does not exist; there are: ${[...known.environments].join(', ')}.${advice}`,
      );
    }
    if (project !== ALL && !known.projects.has(project)) {
      throw new ConfigError(
        `${variable} has a token for the project "${project}", which does not exist.${advice}`,
      );
    }
  }
}

function namesIn(events: readonly DomainEvent[]): KnownNames {
  const created = <T extends DomainEvent['type']>(type: T) => events.filter((event) => event.type === type);
  return {
    projects: new Set(created('project-created').flatMap(({ project }) => project ?? [])),
    environments: new Set(created('environment-created').flatMap(({ environment }) => environment ?? [])),
  };
}

function namesOf({ directory, projects }: World): KnownNames {
  const environments = new Set(directory.environments.map(({ name }) => name));
  return { projects: new Set(projects.keys()), environments };
}

async function placeMarker({ fs, config }: FirstStartOptions): Promise<string> {
  const marker = importMarker(config.dataDir);
  const file = await fs.open(marker, 'create');
  await file.sync();
  await file.close();
  await fs.syncFolder(config.dataDir);
  return marker;
}

// Reads IMPORT_FILE, whose flags may be larger than the memory: they are read one by one, as often as is asked for, and
// everything else is read once and kept.

/** Bytes of one flag, token or group; the largest that the limits allow has a hundredth of them. */
const PART_BYTES_MAX = 64 * 1024 * 1024;

const CHUNK_BYTES = 1024 * 1024;

/** Parts are read one after the other, so their number does not matter; those of one part are bounded by its bytes. */
const LIMITS = {
  depthMax: FLAG_DEPTH_MAX,
  listLengthMax: Number.POSITIVE_INFINITY,
  valuesMax: Number.POSITIVE_INFINITY,
  namesMax: Number.POSITIVE_INFINITY,
};

/** Throws `ConfigError` when it cannot be read, or is not JSON. */
async function openImportFile(file: string): Promise<StateSource> {
  let frame: JsonValue = null;
  for await (const { path, value } of partsOf(file, isFlag)) {
    if (path.length === 0) frame = value;
    else put(frame, path, value);
  }
  return { frame, flags: () => flagsOf(file) };
}

async function* flagsOf(file: string): AsyncGenerator<SentFlag> {
  for await (const { path, value } of partsOf(file)) {
    if (isFlag(path)) yield { project: path[1], index: path[3], value };
  }
}

type FlagPath = readonly ['projects', number, 'flags', number];

const isFlag = (path: PartPath): path is FlagPath =>
  path.length === 4 &&
  path[0] === 'projects' &&
  typeof path[1] === 'number' &&
  path[2] === 'flags' &&
  typeof path[3] === 'number';

/**
 * The document and every list whose length has a bound above that of a part: each item is a part of its own, so that 10,000
 * tokens of 100 projects each can be read back as 1,000 groups can.
 */
const isOpened = (path: PartPath): boolean =>
  path.length <= 1 ||
  (path[0] === 'projects' && (path.length === 2 || (path.length === 3 && path[2] === 'flags'))) ||
  (path[0] === 'credentials' && path.length === 2);

/** Containers were put in place before what is in them. */
function put(frame: JsonValue, path: PartPath, value: JsonValue): void {
  let holder = frame as Record<string | number, JsonValue>;
  for (const key of path.slice(0, -1)) holder = holder[key] as Record<string | number, JsonValue>;
  holder[path.at(-1) ?? ''] = value;
}

async function* partsOf(
  file: string,
  isSkipped: (path: PartPath) => boolean = () => false,
): AsyncGenerator<JsonPart> {
  const chunks = createReadStream(file, { highWaterMark: CHUNK_BYTES });
  const options = {
    whole: 'The document',
    isOpened,
    isSkipped,
    partBytesMax: PART_BYTES_MAX,
    limits: LIMITS,
  };
  try {
    yield* readJsonParts(chunks, options);
  } catch (error) {
    if (error instanceof JsonPartsError)
      throw refusedImport(file, [{ path: error.path, message: error.message }]);
    if (error instanceof Error && 'syscall' in error)
      throw new ConfigError(`IMPORT_FILE: ${wordedFault(error)}.`);
    throw error;
  } finally {
    chunks.destroy();
  }
}

function refusedImport(path: string, issues: readonly Issue[]): ConfigError {
  const places = issues.map((one) => `\n  at ${one.path === '' ? 'the document' : one.path}: ${one.message}`);
  return new ConfigError(`IMPORT_FILE ${path} cannot be imported; nothing was recorded.${places.join('')}`);
}
