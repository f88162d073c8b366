/** By how much one version of a JSON value is larger than another, in any unit. Versions share most of their parts, which are skipped. */

/** The sizes of values in a unit. `isFreeForm`: whether users name the fields themselves, which matters to some units. */
export interface SizeUnit {
  sizeOf(value: unknown, isFreeForm: boolean): number;
  /** A list without its items. */
  listSize(length: number): number;
  /** An object without its fields. */
  objectSize(fieldCount: number, isFreeForm: boolean): number;
  fieldSize(fields: Fields, key: string, isFreeForm: boolean): number;
  readonly freeFormField?: string;
}

type Fields = Readonly<Record<string, unknown>>;

export function growthIn(unit: SizeUnit, before: unknown, after: unknown, isFreeForm = false): number {
  if (before === after) return 0;
  if (Array.isArray(before) && Array.isArray(after)) return listGrowth(unit, before, after, isFreeForm);
  if (isObject(before) && isObject(after)) return objectGrowth(unit, before, after, isFreeForm);
  return unit.sizeOf(after, isFreeForm) - unit.sizeOf(before, isFreeForm);
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Skips what both have at their ends: most changes add, replace or remove one item. */
function listGrowth(
  unit: SizeUnit,
  before: readonly unknown[],
  after: readonly unknown[],
  isFreeForm: boolean,
): number {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  let growth = unit.listSize(after.length) - unit.listSize(before.length);
  const isPaired = before.length === after.length;
  for (let at = start; at < after.length - end; at += 1)
    growth += isPaired
      ? growthIn(unit, before[at], after[at], isFreeForm)
      : unit.sizeOf(after[at], isFreeForm);
  if (isPaired) return growth;
  for (let at = start; at < before.length - end; at += 1) growth -= unit.sizeOf(before[at], isFreeForm);
  return growth;
}

function objectGrowth(unit: SizeUnit, before: Fields, after: Fields, isFreeForm: boolean): number {
  let growth = 0;
  let come = 0;
  let shared = 0;
  for (const key in after) {
    come += 1;
    // JSON has no undefined, so an equal value is that of a field which both have. Most are equal.
    const isSame = before[key] === after[key];
    if (isSame || Object.hasOwn(before, key)) {
      shared += 1;
      if (!isSame)
        growth += growthIn(unit, before[key], after[key], isFreeForm || key === unit.freeFormField);
    } else growth += unit.fieldSize(after, key, isFreeForm);
  }
  let gone = 0;
  for (const _ in before) gone += 1;
  if (gone > shared)
    for (const key in before)
      if (!Object.hasOwn(after, key)) growth -= unit.fieldSize(before, key, isFreeForm);
  return gone === come
    ? growth
    : growth + unit.objectSize(come, isFreeForm) - unit.objectSize(gone, isFreeForm);
}
