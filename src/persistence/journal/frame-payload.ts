/**
 * The payload of a frame: encoding, and decoding that trusts nothing.
 *
 * A MessagePack map with the keys `id`, `at`, `by`, `userId`, `events` and, where there are such, `lineage` and
 * `answer`, in this order. `id` comes first, because recovery reads it without decoding the rest, and because the bytes `a2 69 64`
 * are what it looks for when it searches damaged bytes for a frame.
 */
import assert from 'node:assert/strict';
import type { RecordedEvent } from '../../domain/state/events.ts';
import { isLineageName } from '../../domain/state/lineage.ts';
import { upgradeEvents } from '../../domain/state/upgrade.ts';
import { FIRST, FIX_COUNT_MAX, numberAt } from '../codec/first-bytes.ts';
import { countMapEntries, EncodingError, guard, pack, unpack, VALUES_MAX } from '../codec/message-pack.ts';
import { MessagePackCursor } from '../codec/message-pack-cursor.ts';
import { FRAME_BYTES_MAX, type Frame, type RecordedFrame } from './frame.ts';
import type { PayloadStamp } from './frame-format.ts';

/** The key `id`, which every payload has from its second byte on. */
export const PAYLOAD_MARK = Buffer.from([0xa2, 0x69, 0x64]);

const ID_AT = 1 + PAYLOAD_MARK.length;

/** Encodes a frame. Throws on what could not be read back. */
export function encodePayload(frame: Frame): Buffer {
  const encoder = new FrameEncoder();
  const payload = encoder.encode(frame, FRAME_BYTES_MAX);
  return refuseUnreadable(frame.answer === undefined ? payload : encoder.addResponse(frame.answer));
}

/** The bytes of this many events fit into memory a few times, however large their flags are. */
const EVENTS_AT_ONCE_MAX = 64;

/** Encodes frames in two steps: the events, before they are applied, and then the response, which is only known after. */
export class FrameEncoder {
  #payload: Buffer | null = null;

  /**
   * Encodes all but the response, and stops at the first event that exceeds `bytesMax`. Throws `EncodingError` on what is over a
   * limit. Values have to be storable (json.ts); where that is not checked yet, `refuseUnreadable` does.
   */
  encode(frame: Frame, bytesMax: number): Buffer {
    assert(bytesMax > 0 && bytesMax <= FRAME_BYTES_MAX, 'a reader accepts every frame that may be encoded');
    const shape = isMap(frame) ? frameProblem(frame) : 'not a map';
    if (shape !== null) assert.fail(`a frame that recovery would refuse: ${shape}`);
    // What is cut off by an error is completed by no response.
    this.#payload = null;
    const { id, at, by, userId, events, lineage } = frame;
    if (events.length > EVENTS_AT_ONCE_MAX) refuseLarge(events, bytesMax);
    const fields = { id, at, by, userId, events };
    this.#payload = bounded(pack(lineage === undefined ? fields : { ...fields, lineage }), bytesMax);
    return this.#payload;
  }

  /** Completes what `encode` made last. */
  addResponse(answer: unknown): Buffer {
    assert(this.#payload !== null, 'a response completes what was encoded before');
    const payload = Buffer.concat([this.#payload, pack('answer'), pack(answer)]);
    // One entry more.
    payload[0]! += 1;
    this.#payload = null;
    return bounded(payload, FRAME_BYTES_MAX);
  }
}

function refuseLarge(events: readonly RecordedEvent[], bytesMax: number): void {
  let bytes = 0;
  for (const event of events) {
    bytes += pack(event).length;
    if (bytes > bytesMax) throw new EncodingError(overLimit(bytesMax));
  }
}

/** Throws where a reader would refuse the payload. A request's values were checked when it arrived, so only very many values can be too many. */
export function refuseUnreadable(payload: Buffer): Buffer {
  const { problem } = guard(payload);
  if (problem !== null) throw new EncodingError(problem);
  return payload;
}

function bounded(payload: Buffer, bytesMax: number): Buffer {
  if (payload.length > bytesMax) throw new EncodingError(overLimit(bytesMax));
  return payload.length > VALUES_MAX ? refuseUnreadable(payload) : payload;
}

/** The depth of a field of an event: in a map in a list in a map. */
const EVENT_DEPTH = 3;

const overLimit = (bytesMax: number): string => `more than ${bytesMax / 2 ** 20} MiB`;

export const FRAME_FIELDS: ReadonlySet<string> = new Set([
  ...['id', 'at', 'by', 'userId', 'events', 'lineage', 'answer'],
]);
export const EVENT_FIELDS: ReadonlySet<string> = new Set([
  ...['type', 'project', 'featureName', 'environment', 'data', 'preData', 'tags', 'hidden'],
]);

/** The id of the first event of the payload at `offset`, without decoding the rest; null when it does not begin as it should. */
export function peekId(bytes: Buffer, offset = 0): number | null {
  if (!beginsLikePayload(bytes, offset)) return null;
  const id = numberAt(bytes, offset + ID_AT);
  return id !== null && isId(id) ? id : null;
}

/** Whether a payload could begin at `offset`: a small map whose first key is `id`. */
export function beginsLikePayload(bytes: Buffer, offset: number): boolean {
  const first = bytes[offset];
  if (first === undefined || first < FIRST.fixMap || first > FIRST.fixMap + FIX_COUNT_MAX) return false;
  return PAYLOAD_MARK.every((byte, at) => bytes[offset + 1 + at] === byte);
}

export type Decoded =
  | { readonly frame: RecordedFrame; readonly problem: null }
  | { readonly problem: string };

/**
 * Decodes and checks a payload whose checksum held, and upgrades its events to what this build records. Never throws:
 * content may be hostile. Nothing else decodes events.
 */
export function decodePayload(payload: Buffer, stamp: PayloadStamp): Decoded {
  const verdict = guard(payload);
  if (verdict.problem !== null) return { problem: verdict.problem };
  const value = unpackOrNull(payload);
  if (value === null) return { problem: 'not a MessagePack value' };
  if (countMapEntries(value) !== verdict.mapEntries) return { problem: 'a map that holds a key twice' };
  const problem = frameProblem(value);
  return problem === null ? upgraded(value, stamp) : { problem };
}

/**
 * Decodes a payload in steps of one event, or of a third of a long one. Each yields the offset that it has reached: megabytes
 * decoded at once would hold the event loop. `decodePayload` reports what is wrong with a payload.
 */
export function* decodePayloadInSteps(payload: Buffer, stamp: PayloadStamp): Generator<number, Decoded> {
  const cursor = new MessagePackCursor(payload);
  let keysLeft = cursor.readMap();
  for (; keysLeft > 0; keysLeft -= 1) {
    cursor.readString();
    if (payload.toString('latin1', cursor.stringStart, cursor.stringEnd) === 'events') break;
    cursor.skip();
  }
  const eventsAt = cursor.at;
  const events: Part['value'][] = [];
  let values = 0;
  for (let left = keysLeft === 0 ? 0 : cursor.readArray(); left > 0; left -= 1) {
    const start = cursor.at;
    cursor.skip();
    const part = yield* partInSteps(payload.subarray(start, cursor.at), EVENT_DEPTH - 1, start);
    if (part === null || eventProblem(part.value) !== null) return decodePayload(payload, stamp);
    events.push(part.value);
    values += part.values;
    yield cursor.at;
  }
  const frame = withoutEvents(payload, eventsAt, cursor.at);
  values += frame?.values ?? 0;
  if (cursor.failed || frame === null || values > VALUES_MAX) return decodePayload(payload, stamp);
  if (frameProblem({ ...frame.value, events: events.slice(0, 1) }) !== null)
    return decodePayload(payload, stamp);
  frame.value.events = events;
  return upgraded(frame.value, stamp);
}

function upgraded(value: Record<string, unknown>, { contentVersion, rules }: PayloadStamp): Decoded {
  const { length } = value.events as Frame['events'];
  const events = upgradeEvents(value.events as Frame['events'], contentVersion);
  assert(events.length === length, 'an upgraded event keeps its id');
  value.events = events;
  value.rules = rules;
  return { frame: value as unknown as RecordedFrame, problem: null };
}

/** A map, and how many values it holds. */
interface Part {
  readonly value: Record<string, unknown>;
  readonly values: number;
}

/** Null where anything is wrong with it. */
function partOf(bytes: Buffer, outerDepth: number): Part | null {
  const steps = partInSteps(bytes, outerDepth, 0);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** A long part takes three passes over the bytes, with a step behind each. */
function* partInSteps(bytes: Buffer, outerDepth: number, start: number): Generator<number, Part | null> {
  const verdict = guard(bytes, outerDepth);
  if (bytes.length > LONG_PART_BYTES) yield start + (bytes.length >> 1);
  const value = verdict.problem === null ? unpackOrNull(bytes) : null;
  if (verdict.problem !== null || value === null) return null;
  if (bytes.length > LONG_PART_BYTES) yield start + bytes.length;
  return countMapEntries(value) === verdict.mapEntries ? { value, values: verdict.values } : null;
}

/** A part of more bytes takes milliseconds. */
const LONG_PART_BYTES = 64 * 1024;

const EMPTY_LIST = Uint8Array.from(pack([]));

/** The frame with an empty list in place of the events, which stand from `from` to `to`. */
function withoutEvents(payload: Buffer, from: number, to: number): Part | null {
  assert(from <= to && to <= payload.length, 'the events of a frame lie within its payload');
  return partOf(Buffer.concat([payload.subarray(0, from), EMPTY_LIST, payload.subarray(to)]), 0);
}

function unpackOrNull(payload: Buffer): Record<string, unknown> | null {
  try {
    const value = unpack(payload);
    return isMap(value) ? value : null;
  } catch {
    // The decoder's own message would tell an operator no more than "not a MessagePack value".
    return null;
  }
}

/** The milliseconds before and after 1970 of which a `Date` knows the day. */
const TIME_MS_MAX = 8.64e15;

function frameProblem(value: Record<string, unknown>): string | null {
  for (const key in value) if (!FRAME_FIELDS.has(key)) return `an unknown field "${key}"`;
  if (!isId(value.id)) return 'no event id';
  if (typeof value.at !== 'number' || !(Math.abs(value.at) <= TIME_MS_MAX)) return 'no time';
  if (typeof value.by !== 'string') return 'no author';
  if (!Number.isSafeInteger(value.userId)) return 'no user id';
  if (!Array.isArray(value.events) || value.events.length === 0) return 'no events';
  for (const event of value.events) {
    const problem = isMap(event) ? eventProblem(event) : 'an event that is not a map';
    if (problem !== null) return problem;
  }
  if (value.lineage !== undefined && !isLineageMark(value.lineage)) return 'a lineage without a name';
  return null;
}

function isLineageMark(value: unknown): boolean {
  if (!isMap(value) || !isLineageName(value.name)) return false;
  return value.before === undefined || isLineageName(value.before);
}

function eventProblem(event: Record<string, unknown>): string | null {
  for (const key in event) if (!EVENT_FIELDS.has(key)) return `an unknown field "${key}" of an event`;
  if (typeof event.type !== 'string') return 'an event without a type';
  for (const key of ['project', 'featureName', 'environment'] as const) {
    if (event[key] !== null && typeof event[key] !== 'string') return `an event whose ${key} is not a name`;
  }
  if (!('data' in event) || !('preData' in event)) return 'an event without data';
  if (event.tags !== undefined && !areTags(event.tags)) return 'an event whose tags are not tags';
  return null;
}

function areTags(tags: unknown): boolean {
  if (!Array.isArray(tags)) return false;
  return tags.every((tag) => isMap(tag) && typeof tag.type === 'string' && typeof tag.value === 'string');
}

const isId = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
