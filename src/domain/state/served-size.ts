/**
 * Bytes of flags as SDKs get them: JSON with its escapes, texts for parameters, segments inlined. Never fewer than SDKs get,
 * and for ordinary flags a few per cent more, since fields that are left out where they are empty count all the same. Disabled
 * strategies count, because enabling one must not fail.
 */
import type { Flag, FlagEnvironment } from '../flags/flag.ts';
import type { Strategy } from '../flags/strategy.ts';
import { jsonGrowth, jsonSize } from '../json/json.ts';
import type { Segment } from '../kinds/segment.ts';

/**
 * Bytes of one flag: as the admin interface gives it with all its environments, and as SDKs get it in one of them. Bounds the time
 * that one change of a flag, and one step of a response, hold the event loop: a flag of this size is written as JSON in 0.5 ms.
 * The largest real flags take a twentieth of it.
 */
export const FLAG_BYTES_MAX = 128 * 1024;

/**
 * Bytes of the flags in one document for SDKs. A document takes three times its size while it is made: as texts, as blocks and as
 * a body. The largest real ones take a twentieth of it.
 */
export const SDK_DOCUMENT_BYTES_MAX = 32 * 2 ** 20;

/** Lengths of the parts that are the same in each: names of fields, and numbers and booleans of their greatest length. */
const FLAG_FRAME =
  '{"name":,"type":,"enabled":false,"project":,"stale":false,"impressionData":false,"description":,"strategies":[],"variants":[],"dependencies":},'
    .length;
const STRATEGY_FRAME =
  '{"name":,"title":,"sortOrder":-9007199254740991,"constraints":,"parameters":{},"variants":,"segments":},'
    .length;
const SEGMENT_FRAME = '{"id":9007199254740991,"name":,"constraints":},'.length;
/** The empty list that the frame has for a list. */
const EMPTY_LIST = '[]'.length;
/** Quotes around a number. */
const QUOTES = 2;
/** A colon and a comma. */
const FIELD = 2;

/** A flag without dependencies may leave them out. */
type ServedMetadata = Pick<Flag, 'name' | 'type' | 'project' | 'description'> &
  Partial<Pick<Flag, 'dependencies'>>;

/** Bytes of a flag without its strategies and variants in an environment. */
export function metadataBytes({
  name,
  type,
  project,
  description,
  dependencies = NO_DEPENDENCIES,
}: ServedMetadata): number {
  const texts = jsonSize(name) + jsonSize(type) + jsonSize(project) + jsonSize(description);
  return FLAG_FRAME + texts + jsonSize(dependencies);
}

export const NO_DEPENDENCIES: Flag['dependencies'] = [];

/** The bytes by which the metadata of `after` is larger. Most changes touch one of its fields, or none. */
export function metadataGrowth(before: ServedMetadata, after: ServedMetadata): number {
  return (
    jsonGrowth(before.name, after.name) +
    jsonGrowth(before.type, after.type) +
    jsonGrowth(before.project, after.project) +
    jsonGrowth(before.description, after.description) +
    jsonGrowth(before.dependencies ?? NO_DEPENDENCIES, after.dependencies ?? NO_DEPENDENCIES)
  );
}

/** Bytes of the strategies and variants that a flag has in an environment, with ids for segments. */
export function environmentBytes({ strategies, variants }: FlagEnvironment): number {
  let bytes = jsonSize(variants) - EMPTY_LIST;
  for (const strategy of strategies) bytes += strategyBytes(strategy);
  return bytes;
}

/** Bytes of a strategy, with ids for segments. */
function strategyBytes(strategy: Strategy): number {
  const { name, title, constraints, parameters, variants, segments } = strategy;
  const texts = jsonSize(name) + jsonSize(title);
  const lists = jsonSize(constraints) + jsonSize(variants) + jsonSize(segments);
  return STRATEGY_FRAME + texts + lists + parametersBytes(parameters);
}

function parametersBytes(parameters: Strategy['parameters']): number {
  let bytes = 0;
  for (const key in parameters) {
    const value = parameters[key]!;
    const isStructure = typeof value === 'object' && value !== null;
    bytes += jsonSize(key) + jsonSize(isStructure ? JSON.stringify(value) : value) + QUOTES + FIELD;
  }
  return bytes;
}

/** The bytes by which the added strategies are larger than the removed ones. Two of one id are compared field by field. */
export function strategiesGrowth(gone: readonly Strategy[], come: readonly Strategy[]): number {
  let bytes = 0;
  for (const after of come) {
    const before = gone.find(({ id }) => id === after.id);
    bytes += before === undefined ? strategyBytes(after) : strategyGrowth(before, after);
  }
  for (const before of gone) if (!come.some(({ id }) => id === before.id)) bytes -= strategyBytes(before);
  return bytes;
}

function strategyGrowth(before: Strategy, after: Strategy): number {
  let bytes =
    jsonGrowth(before.name, after.name) +
    jsonGrowth(before.title, after.title) +
    jsonGrowth(before.constraints, after.constraints) +
    jsonGrowth(before.variants, after.variants) +
    jsonGrowth(before.segments, after.segments);
  if (before.parameters !== after.parameters)
    bytes += parametersBytes(after.parameters) - parametersBytes(before.parameters);
  return bytes;
}

/** Bytes of a segment in each strategy that refers to it, where segments are inlined. */
export function segmentBytes(segment: Pick<Segment, 'name' | 'constraints'>): number {
  let bytes = segmentSizes.get(segment);
  if (bytes === undefined) {
    bytes = SEGMENT_FRAME + jsonSize(segment.name) + jsonSize(segment.constraints);
    segmentSizes.set(segment, bytes);
  }
  return bytes;
}

const segmentSizes = new WeakMap<object, number>();

/** The refusal of a document that would be too large, and what can be done. */
export function documentTooLarge(bytes: number, environment: string): string {
  return `the flags that applications get in the environment "${environment}" would take ${mebibytes(bytes)} MiB, their segments inlined; a document may take ${mebibytes(SDK_DOCUMENT_BYTES_MAX)} MiB. Archive flags that are not used, make others smaller, or give applications tokens for fewer projects.`;
}

const mebibytes = (bytes: number): string => (Math.ceil((bytes * 10) / 2 ** 20) / 10).toFixed(1);
