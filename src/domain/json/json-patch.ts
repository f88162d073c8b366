/**
 * JSON Patch (RFC 6902): all six operations, all or nothing, on a copy.
 *
 * fast-json-patch makes the single changes. What may be changed is decided here, because the library (3.1.1) by itself
 * - follows inherited properties, so that a `copy` from /constructor and an `add` below it reach every object;
 * - takes /01, /1e0 and the empty token for positions in a list, and wraps positions around at 2^31;
 * - lets the document share objects with the patch, and a moved or copied root with its own inside;
 * - calls hasOwnProperty on the document, where a field of that name breaks it;
 * - clones whatever a `move` overwrites, which makes a few hundred moves of large values stall the process.
 * So the library gets only `add`, `remove` and `replace`, with a pointer that was just resolved over own properties.
 * `move` is a removal and an addition; `copy` adds a deep copy; `test` compares without the library.
 */
import jsonPatch from 'fast-json-patch';
import * as v from 'valibot';
import { shown } from './issues.ts';
import {
  cloneJson,
  inspectJson,
  isJsonArray,
  isJsonObject,
  JSON_DEPTH_MAX,
  type JsonMeasure,
  type JsonValue,
  jsonEqual,
  type StorableIssue,
} from './json.ts';
import { arrayIndex, type ParsedPointer, parsePointer, pointerToken } from './json-pointer.ts';
import { nearestName } from './nearest-name.ts';
import { list } from './schema.ts';

/** Protects the event loop, because each operation may shift a whole list. People write a handful of operations. */
export const PATCH_OPERATIONS_MAX = 1000;

/**
 * Size of everything that the operations put into the document, even if it is removed again. Protects memory, which forty copies of
 * the root would fill, and time, since each copy costs its size. Twice the largest body.
 */
export const PATCH_SIZE_MAX = 2 * 1024 * 1024;

const PointerSchema = v.pipe(v.string('a JSON pointer'), v.description('A JSON pointer (RFC 6901).'));

const OperationSchema = v.variant(
  'op',
  [
    v.object({ op: v.picklist(['add', 'replace', 'test']), path: PointerSchema, value: v.unknown() }),
    v.object({ op: v.literal('remove'), path: PointerSchema }),
    v.object({ op: v.picklist(['move', 'copy']), from: PointerSchema, path: PointerSchema }),
  ],
  // An issue without a path is about the whole operation, and one with a path is about its field.
  ({ path }) =>
    path === undefined ? 'a JSON Patch operation' : 'one of add, remove, replace, move, copy, test',
);

export const PatchSchema = v.pipe(
  list(OperationSchema, 'a list of JSON Patch operations'),
  v.maxLength(PATCH_OPERATIONS_MAX, `a list of at most ${PATCH_OPERATIONS_MAX} operations`),
  v.title('JSON Patch'),
);

export type PatchOperation = v.InferOutput<typeof OperationSchema>;

export type PatchOutcome =
  | {
      readonly ok: true;
      readonly document: JsonValue;
      /** The fields of an object in which something was written; null when it may be any of them. */
      readonly written: ReadonlySet<string> | null;
    }
  | {
      readonly ok: false;
      /** `test-failed` means that the patch is valid, but that a `test` operation in it does not hold. */
      readonly kind: 'invalid' | 'test-failed';
      /** Position of the operation at fault. */
      readonly index: number;
      readonly message: string;
    };

/**
 * Changes neither `document` nor `operations`. The result shares no objects with the operations. It shares with the
 * document the fields in which no operation writes, because copying a whole strategy in order to change its rollout
 * costs more than the change.
 */
export function applyPatch(document: JsonValue, operations: readonly PatchOperation[]): PatchOutcome {
  const steps = operations.map(stepOf);
  const written = isJsonObject(document) ? writtenFields(steps) : null;
  const patch = new Patching(workingCopy(document, written));
  for (let index = 0; index < steps.length; index += 1) {
    const step = steps[index]!;
    const issue = patch.apply(step);
    if (issue === null) continue;
    const { kind, reason } = issue;
    return {
      ok: false,
      kind,
      index,
      message: `Operation ${index} (${step.operation.op}) ${VERBS[kind]}: ${reason}.`,
    };
  }
  return { ok: true, document: patch.document, written };
}

interface Step {
  readonly operation: PatchOperation;
  readonly path: ParsedPointer;
  /** Equals `path` when the operation has no `from`. */
  readonly from: ParsedPointer;
}

function stepOf(operation: PatchOperation): Step {
  const path = parsePointer(operation.path);
  return { operation, path, from: 'from' in operation ? parsePointer(operation.from) : path };
}

const VERBS = { invalid: 'cannot be applied', 'test-failed': 'does not hold' } as const;

/** `reason` is a clause: "there is nothing at …". */
interface OperationIssue {
  readonly kind: 'invalid' | 'test-failed';
  readonly reason: string;
}

type Tokens = readonly string[];

/** A value that is to be put into the document. */
interface Sized {
  readonly value: JsonValue;
  readonly measure: JsonMeasure;
}

/** Measures a value that is in the document already. */
const sizedOf = (value: JsonValue): Sized => ({ value, measure: inspectJson(value) });

/** The copy that the operations change. After a fault it may be half changed, and is discarded. */
class Patching {
  document: JsonValue;
  #addedSize = 0;

  constructor(copy: JsonValue) {
    this.document = copy;
  }

  apply({ operation, path, from }: Step): OperationIssue | null {
    if (!path.ok) return badPointer('path', operation.path, path.reason);
    switch (operation.op) {
      case 'add':
      case 'replace':
      case 'test':
        return this.#applyValue(operation.op, path.tokens, operation.value);
      case 'remove':
        return this.#remove(path.tokens);
      case 'move':
      case 'copy':
        if (!from.ok) return badPointer('from', operation.from, from.reason);
        return operation.op === 'move'
          ? this.#move(from.tokens, path.tokens)
          : this.#copy(from.tokens, path.tokens);
    }
  }

  /** An operation with a value that the client sent: it is walked once for all that is asked of it. */
  #applyValue(op: 'add' | 'replace' | 'test', path: Tokens, value: unknown): OperationIssue | null {
    const inspected = inspectJson(value);
    if (inspected.issue !== null) return unstorable(inspected.issue);
    const sized: Sized = { value: value as JsonValue, measure: inspected };
    if (op === 'add') return this.#add(path, sized);
    return op === 'test' ? this.#test(path, sized.value) : this.#replace(path, sized);
  }

  #add(path: Tokens, sized: Sized): OperationIssue | null {
    return placeIssue(this.document, path) ?? this.#insert('add', path, sized);
  }

  #replace(path: Tokens, sized: Sized): OperationIssue | null {
    if (valueAt(this.document, path) === undefined) return nothingAt(this.document, path);
    return this.#insert('replace', path, sized);
  }

  #test(path: Tokens, value: JsonValue): OperationIssue | null {
    const found = valueAt(this.document, path);
    if (found === undefined) return nothingAt(this.document, path);
    if (jsonEqual(found, value)) return null;
    return {
      kind: 'test-failed',
      reason: `at ${written(path)} there is ${shown(found)}, not ${shown(value)}`,
    };
  }

  #remove(path: Tokens): OperationIssue | null {
    if (valueAt(this.document, path) === undefined) return nothingAt(this.document, path);
    this.document = jsonPatch.applyOperation(this.document, {
      op: 'remove',
      path: pointerOf(path),
    }).newDocument;
    return null;
  }

  #copy(from: Tokens, path: Tokens): OperationIssue | null {
    const value = valueAt(this.document, from);
    return value === undefined ? nothingAt(this.document, from) : this.#add(path, sizedOf(value));
  }

  #move(from: Tokens, path: Tokens): OperationIssue | null {
    const value = valueAt(this.document, from);
    if (value === undefined) return nothingAt(this.document, from);
    if (startsWith(path, from)) {
      if (path.length === from.length) return null;
      return invalid(`${written(from)} cannot be moved into itself`);
    }
    return this.#remove(from) ?? this.#add(path, sizedOf(value));
  }

  /** The place has been checked. The limits are checked before the copy is made. */
  #insert(op: 'add' | 'replace', path: Tokens, { value, measure }: Sized): OperationIssue | null {
    const { depth, size } = measure;
    if (path.length + depth > JSON_DEPTH_MAX) {
      return invalid(`the result would be nested more than ${JSON_DEPTH_MAX} levels deep`);
    }
    this.#addedSize += size;
    if (this.#addedSize > PATCH_SIZE_MAX) {
      return invalid(`all that is put into the document would exceed ${PATCH_SIZE_MAX} bytes`);
    }
    const change = { op, path: pointerOf(path), value: cloneJson(value) };
    this.document = jsonPatch.applyOperation(this.document, change).newDocument;
    return null;
  }
}

/**
 * The fields of an object in which operations write; null when an operation may write to the whole object, or when a
 * pointer is malformed. Reading (`test`, `from` of `copy`) does not count.
 */
function writtenFields(steps: readonly Step[]): ReadonlySet<string> | null {
  const fields = new Set<string>();
  for (const { operation, path, from } of steps) {
    if (operation.op === 'test') continue;
    const field = firstToken(path);
    const source = operation.op === 'move' ? firstToken(from) : field;
    if (field === undefined || source === undefined) return null;
    fields.add(field);
    fields.add(source);
  }
  return fields;
}

function firstToken(pointer: ParsedPointer): string | undefined {
  return pointer.ok ? pointer.tokens[0] : undefined;
}

function workingCopy(document: JsonValue, fields: ReadonlySet<string> | null): JsonValue {
  if (fields === null || !isJsonObject(document)) return cloneJson(document);
  const copy: Record<string, JsonValue> = { ...document };
  for (const field of fields) {
    const value = Object.hasOwn(document, field) ? document[field] : undefined;
    if (value !== undefined) copy[field] = cloneJson(value);
  }
  return copy;
}

/** Undefined when there is nothing. Looks only at own fields and items, so nothing inherited can be reached. */
function valueAt(document: JsonValue, path: Tokens): JsonValue | undefined {
  let value: JsonValue | undefined = document;
  for (const token of path) {
    if (value === undefined) return undefined;
    value = childOf(value, token);
  }
  return value;
}

function childOf(value: JsonValue, token: string): JsonValue | undefined {
  if (isJsonArray(value)) {
    const index = arrayIndex(token);
    return index === undefined ? undefined : value[index];
  }
  return isJsonObject(value) && Object.hasOwn(value, token) ? value[token] : undefined;
}

/** The reason why nothing can be added at `path`: its parent is missing, or the position lies beyond the end. */
function placeIssue(document: JsonValue, path: Tokens): OperationIssue | null {
  const last = path.at(-1);
  if (last === undefined) return null;
  const parentPath = path.slice(0, -1);
  const parent = valueAt(document, parentPath);
  if (parent === undefined) return nothingAt(document, parentPath);
  if (isJsonObject(parent)) return null;
  if (!isJsonArray(parent)) return invalid(`at ${written(parentPath)} there is neither an object nor a list`);
  if (last === '-') return null;
  const index = arrayIndex(last);
  if (index !== undefined && index <= parent.length) return null;
  return invalid(
    `${shown(last)} is not a position in the list of ${parent.length} at ${written(parentPath)}`,
  );
}

function unstorable({ message }: StorableIssue): OperationIssue {
  return invalid(`its value cannot be kept. ${message.slice(0, -1)}`);
}

function badPointer(field: 'path' | 'from', pointer: string, reason: string): OperationIssue {
  return invalid(`its ${field} ${shown(pointer)} is not a valid pointer: ${reason}`);
}

function nothingAt(document: JsonValue, path: Tokens): OperationIssue {
  const depth = path.findIndex((_, at) => valueAt(document, path.slice(0, at + 1)) === undefined);
  const parent = valueAt(document, path.slice(0, depth));
  const meant = isJsonObject(parent) ? nearestName(path[depth] ?? '', Object.keys(parent)) : null;
  const hint = meant === null ? '' : ` (did you mean ${written(path.with(depth, meant))}?)`;
  return invalid(`there is nothing at ${written(path)}${hint}`);
}

function invalid(reason: string): OperationIssue {
  return { kind: 'invalid', reason };
}

function startsWith(path: Tokens, start: Tokens): boolean {
  return start.length <= path.length && start.every((token, index) => token === path[index]);
}

function pointerOf(path: Tokens): string {
  return path.map((token) => `/${pointerToken(token)}`).join('');
}

function written(path: Tokens): string {
  return path.length === 0 ? 'the root' : shown(pointerOf(path));
}
