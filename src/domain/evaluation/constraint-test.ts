/**
 * A constraint compiled into a test. What cannot hold, such as a field not given or a value of the wrong kind, is
 * false and then subject to `inverted`; only an unknown operator is false whatever `inverted` says, as in every SDK.
 */
import { type AddressRange, isWithin, parseAddress } from '../flags/address.ts';
import { KeptPatterns, PatternKey } from '../flags/pattern.ts';
import { type ContextReader, contextReader } from './context.ts';
import { Interned } from './interned.ts';
import type { Run, Test } from './run.ts';
import { compareVersions, parseSemanticVersion } from './semantic-version.ts';

/** A constraint of a strategy or a segment; the operator is any text, because newer ones must not stop an evaluation. */
export interface ConstraintSource {
  readonly contextName: string;
  readonly operator: string;
  readonly caseInsensitive?: boolean;
  readonly inverted?: boolean;
  readonly values?: readonly string[];
  readonly value?: string;
}

/** About how many microseconds a test takes at worst, with the longest text that a context may hold. */
export function effortOf({ operator, values = [] }: ConstraintSource): number {
  switch (operator) {
    case 'REGEX':
      return PATTERN_EFFORT;
    case 'STR_CONTAINS':
      return 1 + values.length;
    case 'IN_CIDR':
      return 1 + values.length / 4;
    default:
      return 1 + values.length / 50;
  }
}

/** Mostly of compiling the pattern, where it was forgotten. */
const PATTERN_EFFORT = 500;

/** Of the last constraint that was compiled. */
let lastId = 0;

export class CompiledConstraint {
  /** No other one has the same. */
  readonly id: number;
  readonly source: ConstraintSource;
  readonly read: ContextReader;
  readonly effort: number;
  readonly #test: Test;
  #runId = 0;
  #holds = false;

  constructor(source: ConstraintSource) {
    lastId += 1;
    this.id = lastId;
    this.source = source;
    this.read = contextReader(source.contextName);
    this.effort = effortOf(source);
    this.#test = testOf(source, this.read);
  }

  /** Tested once in a run, however many strategies have it. */
  holds(run: Run): boolean {
    if (this.#runId !== run.id) {
      this.#holds = run.resultOf(this) ?? this.#test(run);
      this.#runId = run.id;
    }
    return this.#holds;
  }
}

const constraints = new Interned<CompiledConstraint>();

/** The same object for constraints that say the same. */
export function compileConstraint(source: ConstraintSource): CompiledConstraint {
  const { contextName, operator, caseInsensitive, inverted, values, value } = source;
  const key = JSON.stringify([contextName, operator, caseInsensitive, inverted, values, value]);
  return constraints.of(key, () => new CompiledConstraint(source));
}

function testOf(source: ConstraintSource, read: ContextReader): Test {
  const compile = OPERATORS.get(source.operator);
  if (compile === undefined) return () => false;
  const test = compile(source, read);
  return source.inverted ? negated(test) : test;
}

type CompileOperator = (source: ConstraintSource, read: ContextReader) => Test;

const OPERATORS: ReadonlyMap<string, CompileOperator> = new Map<string, CompileOperator>([
  ['IN', isIn],
  ['NOT_IN', (source, read) => negated(isIn(source, read))],
  ['STR_STARTS_WITH', textOperator((text, part) => text.startsWith(part))],
  ['STR_ENDS_WITH', textOperator((text, part) => text.endsWith(part))],
  ['STR_CONTAINS', textOperator((text, part) => text.includes(part))],
  ['NUM_EQ', numberOperator((number, limit) => number === limit)],
  ['NUM_GT', numberOperator((number, limit) => number > limit)],
  ['NUM_GTE', numberOperator((number, limit) => number >= limit)],
  ['NUM_LT', numberOperator((number, limit) => number < limit)],
  ['NUM_LTE', numberOperator((number, limit) => number <= limit)],
  ['DATE_AFTER', dateOperator((timeMs, limitMs) => timeMs > limitMs)],
  ['DATE_BEFORE', dateOperator((timeMs, limitMs) => timeMs < limitMs)],
  ['SEMVER_EQ', versionOperator((order) => order === 0)],
  ['SEMVER_GT', versionOperator((order) => order > 0)],
  ['SEMVER_GTE', versionOperator((order) => order >= 0)],
  ['SEMVER_LT', versionOperator((order) => order < 0)],
  ['SEMVER_LTE', versionOperator((order) => order <= 0)],
  ['REGEX', matchesPattern],
  ['IN_CIDR', isInRange],
]);

const negated =
  (test: Test): Test =>
  (run) =>
    !test(run);

/** Empty values match nothing and spaces around the others do not count, as in the SDKs. */
function cleanValues({ values = [] }: ConstraintSource): string[] {
  return values.filter((value) => value !== '').map((value) => value.trim());
}

function isIn(source: ConstraintSource, read: ContextReader): Test {
  const values: ReadonlySet<string | undefined> = new Set(cleanValues(source));
  return ({ context }) => values.has(read(context));
}

function textOperator(compare: (text: string, part: string) => boolean): CompileOperator {
  return (source, read) => {
    const values = cleanValues(source);
    const fold = source.caseInsensitive ? (text: string) => text.toLowerCase() : (text: string) => text;
    const parts = values.map(fold);
    return ({ context }) => {
      const text = read(context);
      if (text === undefined) return false;
      const folded = fold(text);
      return parts.some((part) => compare(folded, part));
    };
  };
}

function numberOperator(compare: (number: number, limit: number) => boolean): CompileOperator {
  return ({ value }, read) => {
    const limit = Number(value);
    // No comparison holds for NaN, which is what a missing field, like any other text that is no number, becomes.
    return ({ context }) => compare(Number(read(context)), limit);
  };
}

/** Compares the moment of the evaluation, whatever field the constraint names, as the SDKs do. */
function dateOperator(compare: (timeMs: number, limitMs: number) => boolean): CompileOperator {
  return ({ value }) => {
    const limitMs = Date.parse(value ?? '');
    return (run) => compare(run.currentTimeMs, limitMs);
  };
}

function versionOperator(accepts: (order: number) => boolean): CompileOperator {
  return ({ value = '' }, read) => {
    const limit = parseSemanticVersion(value);
    return (run) => {
      const text = read(run.context);
      const version = text === undefined ? null : run.versions.of(text);
      return version !== null && limit !== null && accepts(compareVersions(version, limit));
    };
  };
}

const patterns = new KeptPatterns();

function matchesPattern({ value, caseInsensitive = false }: ConstraintSource, read: ContextReader): Test {
  if (value === undefined) return () => false;
  const key = new PatternKey(value, caseInsensitive);
  return ({ context }) => {
    const text = read(context);
    return text !== undefined && patterns.occursIn(key, text);
  };
}

function isInRange(source: ConstraintSource, read: ContextReader): Test {
  // Parsed when they are first needed: that takes far longer than comparing them.
  let ranges: readonly AddressRange[] | null = null;
  return (run) => {
    const text = read(run.context);
    const address = text === undefined ? null : run.addresses.of(text);
    if (address === null) return false;
    ranges ??= cleanValues(source).flatMap((value) => parseAddress(value) ?? []);
    return ranges.some((range) => isWithin(address, range));
  };
}
