/** The messages of an upstream, in one shape for all programs and versions: flags of one environment and segments, as SDKs get them. */
import * as v from 'valibot';
import { ownTurn } from '../../actors/turn.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import { isJsonObject } from '../../domain/json/json.ts';
import type { Segment } from '../../domain/kinds/segment.ts';
import { type JsonPart, JsonPartsError, type PartPath, readJsonParts } from '../../http/body/json-parts.ts';
import { FLAG, flagOf, listOf, SEGMENT, segmentOf } from '../sdk/sent-flag.ts';

const DOCUMENT = v.object({
  features: v.array(FLAG),
  segments: listOf(SEGMENT),
  query: v.nullish(v.object({ environment: v.nullish(v.string()) })),
  meta: v.nullish(v.object({ revisionId: v.nullish(v.number()) })),
});

const EVENT_ID = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const EVENT = v.variant('type', [
  v.object({
    type: v.literal('hydration'),
    eventId: EVENT_ID,
    features: v.array(FLAG),
    segments: listOf(SEGMENT),
  }),
  v.object({ type: v.literal('feature-updated'), eventId: EVENT_ID, feature: FLAG }),
  v.object({ type: v.literal('feature-removed'), eventId: EVENT_ID, featureName: v.string() }),
  v.object({ type: v.literal('segment-updated'), eventId: EVENT_ID, segment: SEGMENT }),
  v.object({ type: v.literal('segment-removed'), eventId: EVENT_ID, segmentId: v.number() }),
]);

const EVENTS = v.object({ events: v.array(v.unknown()) });

export interface UpstreamDocument {
  readonly flags: readonly Flag[];
  readonly segments: readonly Segment[];
  /** Null in documents of servers that have no event ids. */
  readonly revisionId: number | null;
}

export type UpstreamEvent =
  | ({ readonly type: 'hydration'; readonly eventId: number } & Pick<UpstreamDocument, 'flags' | 'segments'>)
  | { readonly type: 'feature-updated'; readonly eventId: number; readonly flag: Flag }
  | { readonly type: 'feature-removed'; readonly eventId: number; readonly name: string }
  | { readonly type: 'segment-updated'; readonly eventId: number; readonly segment: Segment }
  | { readonly type: 'segment-removed'; readonly eventId: number; readonly id: number };

export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
}

/** Throws `UnreadableError`. */
export async function readDocument(body: Uint8Array, environment: string): Promise<UpstreamDocument> {
  const whole = new PartsOfDocument(environment);
  for await (const { path, value } of partsOf(body, ([field]) => isListOfMany(field), 1))
    whole.take(path, value, path);
  const { meta } = checked(DOCUMENT, whole.rest, []);
  return { flags: whole.flags, segments: whole.segments, revisionId: meta?.revisionId ?? null };
}

/** Reads the body of a delta, or the data of an event of a stream. Throws `UnreadableError`. */
export async function readEvents(body: Uint8Array, environment: string): Promise<readonly UpstreamEvent[]> {
  const isOpened = ([top, , field]: PartPath): boolean =>
    top === 'events' && (field === undefined || isListOfMany(field));
  const events: PartsOfDocument[] = [];
  let sent: unknown;
  for await (const { path, value } of partsOf(body, isOpened, 3)) {
    const [top, , ...within] = path;
    if (path.length === 1 && top === 'events') sent = value;
    if (top !== 'events' || path.length === 1) continue;
    if (within.length === 0) events.push(new PartsOfDocument(environment, value));
    else events.at(-1)!.take(within, value, path);
  }
  checked(EVENTS, { events: sent }, []);
  return events.map((one, at) => eventOf(checked(EVENT, one.rest, ['events', at]), one, environment));
}

// A document is read one flag at a time, in turns, so that a large one delays no other request.

/** Bytes of one turn; reading them takes a millisecond or two. */
const TURN_BYTES = 64 * 1024;

const LIMITS = {
  depthMax: 100,
  listLengthMax: Number.POSITIVE_INFINITY,
  valuesMax: Number.POSITIVE_INFINITY,
  namesMax: Number.POSITIVE_INFINITY,
};

const isListOfMany = (field: PartPath[number] | undefined): boolean =>
  field === 'features' || field === 'segments';

async function* partsOf(
  body: Uint8Array,
  isOpened: (path: PartPath) => boolean,
  depth: number,
): AsyncGenerator<JsonPart> {
  try {
    yield* readJsonParts(chunksInTurns(body), {
      ...{ whole: 'The document', partBytesMax: body.byteLength, limits: LIMITS, isStored: false },
      isOpened: (path) => path.length === 0 || (path.length <= depth && isOpened(path)),
    });
  } catch (cause) {
    if (!(cause instanceof JsonPartsError)) throw cause;
    throw new UnreadableError(`the upstream sent something that is no JSON: ${cause.message}`, { cause });
  }
}

async function* chunksInTurns(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += TURN_BYTES) {
    await ownTurn();
    yield bytes.subarray(at, at + TURN_BYTES);
  }
}

/** The parts that were read of a document, or of an event that holds one. */
class PartsOfDocument {
  readonly flags: Flag[] = [];
  readonly segments: Segment[] = [];
  readonly #environment: string;
  readonly #fields = new Map<string, unknown>();
  /** The value in its place where it is no object. */
  readonly #other: unknown;

  constructor(environment: string, value: unknown = {}) {
    this.#environment = environment;
    this.#other = isJsonObject(value) ? undefined : value;
  }

  get rest(): unknown {
    return this.#other ?? Object.fromEntries(this.#fields);
  }

  /** `whole`: the path from the top. */
  take([field, item]: PartPath, value: unknown, whole: PartPath): void {
    if (field === undefined) return;
    if (item === undefined) this.#fields.set(String(field), value);
    else if (field === 'features') this.flags.push(flagOf(checked(FLAG, value, whole), this.#environment));
    else this.segments.push(segmentOf(checked(SEGMENT, value, whole)));
  }
}

function eventOf(
  event: v.InferOutput<typeof EVENT>,
  { flags, segments }: PartsOfDocument,
  environment: string,
): UpstreamEvent {
  const { type, eventId } = event;
  switch (type) {
    case 'hydration':
      return { type, eventId, flags, segments };
    case 'feature-updated':
      return { type, eventId, flag: flagOf(event.feature, environment) };
    case 'feature-removed':
      return { type, eventId, name: event.featureName };
    case 'segment-updated':
      return { type, eventId, segment: segmentOf(event.segment) };
    case 'segment-removed':
      return { type, eventId, id: event.segmentId };
  }
}

function checked<S extends v.GenericSchema>(schema: S, value: unknown, path: PartPath): v.InferOutput<S> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const place = [...path, ...(v.getDotPath(issue)?.split('.') ?? [])].join('.') || 'the top';
  throw new UnreadableError(`the upstream sent something else than flags: at ${place}, ${issue.message}`);
}
