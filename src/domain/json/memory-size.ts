/**
 * How much memory values of the state take once they have been read from disk, where nothing is shared: a flag and its clone
 * share their constraints while the server runs, and have one copy each after a restart. The numbers are those of V8 on 64 bits
 * without compressed pointers, measured over decoded values of each kind: from 0.8 to 1.5 of what the heap grew by, and up
 * to 3 for what V8 happens to share.
 *
 * A value must be JSON. Two versions of a thing share most of it, so `memoryGrowth` skips what they share.
 */
import { growthIn, type SizeUnit } from './growth.ts';
import { isJsonArray, type JsonObject } from './json.ts';

const SLOT_BYTES = 8;
const ARRAY_BYTES = 48;
const OBJECT_BYTES = 56;
/** Fields that an object holds within itself; a list beside it has the others. */
const FIELDS_WITHIN = 4;
const FIELD_LIST_BYTES = 16;
/** A number that is no integer of 32 bits. */
const NUMBER_BYTES = 16;
const STRING_BYTES = 16;

/** The field that holds what users name themselves. Each new name makes V8 describe a new kind of object. */
const FREE_FORM_FIELD = 'parameters';
const FREE_FORM_OBJECT_BYTES = 100;
const FREE_FORM_FIELD_BYTES = 130;
/** Parameters of the predefined strategies, which nearly all objects share. */
const COMMON_FIELDS: ReadonlySet<string> = new Set([
  ...['rollout', 'stickiness', 'groupId', 'percentage', 'userIds', 'IPs', 'hostNames'],
]);

/** Bytes of `value` and all that it holds. */
export function memorySize(value: unknown): number {
  return sizeOf(value, false);
}

/** Bytes of `value`, all that it holds, and its place in a list. */
export function itemSize(value: unknown): number {
  return SLOT_BYTES + memorySize(value);
}

/** By how many bytes `after` is larger than `before`: the difference of their sizes. */
export function memoryGrowth(before: unknown, after: unknown): number {
  return growthIn(MEMORY, before, after);
}

function sizeOf(value: unknown, isFreeForm: boolean): number {
  if (typeof value === 'string') return stringSize(value);
  if (typeof value === 'number') return (value | 0) === value ? 0 : NUMBER_BYTES;
  if (typeof value !== 'object' || value === null) return 0;
  if (isJsonArray(value)) {
    let size = listSize(value.length);
    for (const item of value) size += sizeOf(item, isFreeForm);
    return size;
  }
  const fields = value as JsonObject;
  let count = 0;
  let size = 0;
  for (const key in fields) {
    count += 1;
    size += fieldSize(fields, key, isFreeForm);
  }
  return size + objectSize(count, isFreeForm);
}

const listSize = (length: number): number => ARRAY_BYTES + SLOT_BYTES * length;

function objectSize(fieldCount: number, isFreeForm: boolean): number {
  const list = fieldCount <= FIELDS_WITHIN ? 0 : FIELD_LIST_BYTES + SLOT_BYTES * (fieldCount - FIELDS_WITHIN);
  return OBJECT_BYTES + list + (isFreeForm ? FREE_FORM_OBJECT_BYTES : 0);
}

function fieldSize(fields: Readonly<Record<string, unknown>>, key: string, isFreeForm: boolean): number {
  const own = isFreeForm && !COMMON_FIELDS.has(key) ? FREE_FORM_FIELD_BYTES + stringSize(key) : 0;
  return own + sizeOf(fields[key], isFreeForm || key === FREE_FORM_FIELD);
}

/** V8 has one object for the empty string and for each string of one character that takes one byte. */
function stringSize(text: string): number {
  if (text.length <= 1) return 0;
  const bytes = isOfOneByteCharacters(text) ? text.length : 2 * text.length;
  return STRING_BYTES + Math.ceil(bytes / SLOT_BYTES) * SLOT_BYTES;
}

const WIDE_CHARACTER = /[^\0-\xff]/;
/** Up to this length a loop is quicker than the start of a regular expression. */
const LOOPED_LENGTH_MAX = 40;

function isOfOneByteCharacters(text: string): boolean {
  if (text.length > LOOPED_LENGTH_MAX) return !WIDE_CHARACTER.test(text);
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0xff) return false;
  return true;
}

const MEMORY: SizeUnit = { sizeOf, listSize, objectSize, fieldSize, freeFormField: FREE_FORM_FIELD };
