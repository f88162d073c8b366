/**
 * Reads IMPORT_FILE, whose flags may be larger than the memory: they are read one by one, as often as is asked for, and
 * everything else is read once and kept.
 */
import { createReadStream } from 'node:fs';
import type { StateSource } from '../actors/state-file.ts';
import { FLAG_DEPTH_MAX } from '../domain/desired/state-document.ts';
import type { SentFlag } from '../domain/desired/state-import.ts';
import type { Issue } from '../domain/json/issues.ts';
import type { JsonValue } from '../domain/json/json.ts';
import { type JsonPart, JsonPartsError, type PartPath, readJsonParts } from '../http/body/json-parts.ts';
import { ConfigError } from '../process/settings.ts';

/** Of one flag, token or group; the largest that the limits allow has a hundredth of it. */
const PART_BYTES_MAX = 64 * 1024 * 1024;

const CHUNK_BYTES = 1024 * 1024;

/** Parts are read one after the other, so their number does not matter; those of one part are bounded by its bytes. */
const LIMITS = {
  depthMax: FLAG_DEPTH_MAX,
  listLengthMax: Number.POSITIVE_INFINITY,
  valuesMax: Number.POSITIVE_INFINITY,
};

/** Throws `ConfigError` when it cannot be read, or is not JSON. */
export async function openImportFile(file: string): Promise<StateSource> {
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
      throw new ConfigError(`IMPORT_FILE cannot be read: ${error.message}.`);
    throw error;
  } finally {
    chunks.destroy();
  }
}

export function refusedImport(path: string, issues: readonly Issue[]): ConfigError {
  const places = issues.map((one) => `\n  at ${one.path === '' ? 'the document' : one.path}: ${one.message}`);
  return new ConfigError(`IMPORT_FILE ${path} cannot be imported; nothing was recorded.${places.join('')}`);
}
