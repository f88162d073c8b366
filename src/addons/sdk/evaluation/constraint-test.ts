/**
 * A constraint compiled into a test. What cannot hold, such as a field not given or a value of the wrong kind, is
 * false and then subject to `inverted`; only an unknown operator is false regardless of `inverted`, as in every SDK.
 */

import { type Cost, constraintCost } from '../../../domain/flags/evaluation-cost.ts';
import { PatternCache, PatternKey } from '../../../domain/flags/pattern.ts';
import { compareVersions, parseSemanticVersion } from '../../../domain/flags/semantic-version.ts';
import { AddressList } from './address-list.ts';
import { type ContextReader, contextReader } from './context.ts';
import { Interned, KEY_LENGTH_MAX } from './interned.ts';
import type { Run, Steps, Test } from './run.ts';
import { occursAny, prepareSearch } from './text-index.ts';

/** A constraint of a strategy or a segment; the operator is any text, because newer ones must not stop an evaluation. */
export interface ConstraintSource {
  readonly contextName: string;
  readonly operator: string;
  readonly caseInsensitive?: boolean;
  readonly inverted?: boolean;
  readonly values?: readonly string[];
  readonly value?: string;
}

let lastId = 0;

export class CompiledConstraint {
  /** No other one has the same. */
  readonly id: number;
  readonly source: ConstraintSource;
  readonly read: ContextReader;
  readonly cost: Cost;
  /** Made when it is first needed: a flag may have a thousand of them, of hundreds of values each. */
  #made: PreparedTest | null = null;
  #runId = 0;
  #holds = false;

  constructor(source: ConstraintSource) {
    lastId += 1;
    this.id = lastId;
    this.source = source;
    this.read = contextReader(source.contextName);
    this.cost = constraintCost(source);
  }

  /** Tested once in a run, however many strategies have it. */
  holds(run: Run): boolean {
    if (this.#runId !== run.id) {
      this.#made ??= testOf(this.source, this.read);
      this.#holds = this.#made.test(run);
      this.#runId = run.id;
    }
    return this.#holds;
  }

  /** Tests in steps, where many constraints are tested. */
  *holdsInSteps(run: Run): Steps<boolean> {
    this.#made ??= testOf(this.source, this.read);
    while (!this.#made.prepare(run)) yield;
    const holds = this.holds(run);
    if (run.hasSpent(this.cost)) yield;
    return holds;
  }
}

const constraints = new Interned<CompiledConstraint>();

export function compileConstraint(source: ConstraintSource): CompiledConstraint {
  const { contextName, operator, caseInsensitive, inverted, values, value } = source;
  if (values !== undefined && values.length > KEY_LENGTH_MAX) return new CompiledConstraint(source);
  const key = JSON.stringify([contextName, operator, caseInsensitive, inverted, values, value]);
  return constraints.of(key, () => new CompiledConstraint(source));
}

/** `prepare` readies some of what the test needs, if that takes long; true when all is ready. */
interface PreparedTest {
  readonly test: Test;
  prepare(run: Run): boolean;
}

const alwaysReady = (): boolean => true;

function testOf(source: ConstraintSource, read: ContextReader): PreparedTest {
  const made = OPERATORS.get(source.operator)?.(source, read) ?? (() => false);
  const { test, prepare } = typeof made === 'function' ? { test: made, prepare: alwaysReady } : made;
  const isNegated = source.inverted === true && OPERATORS.has(source.operator);
  return { test: isNegated ? negated(test) : test, prepare };
}

type CompileOperator = (source: ConstraintSource, read: ContextReader) => Test | PreparedTest;

const OPERATORS: ReadonlyMap<string, CompileOperator> = new Map<string, CompileOperator>([
  ['IN', isIn],
  ['NOT_IN', (source, read) => negated(isIn(source, read))],
  ['STR_STARTS_WITH', textOperator((text, parts) => parts.some((part) => text.startsWith(part)))],
  ['STR_ENDS_WITH', textOperator((text, parts) => parts.some((part) => text.endsWith(part)))],
  ['STR_CONTAINS', textOperator(occursAny, prepareSearch)],
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
  ['IN_CIDR', isCovered],
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

/** `partsLength` is that of all parts together. */
type CompareTexts = (text: string, parts: readonly string[], partsLength: number) => boolean;

function textOperator(
  compare: CompareTexts,
  prepareText: (text: string, partsLength: number) => boolean = () => true,
): CompileOperator {
  return (source, read) => {
    const values = cleanValues(source);
    const folds = source.caseInsensitive === true;
    const parts = folds ? values.map((value) => value.toLowerCase()) : values;
    const partsLength = parts.reduce((sum, { length }) => sum + length, 0);
    const textIn = (run: Run): string | undefined => {
      const text = read(run.context);
      return text !== undefined && folds ? run.lowerCase.of(text) : text;
    };
    const test: Test = (run) => {
      const text = textIn(run);
      return text !== undefined && compare(text, parts, partsLength);
    };
    const prepare = (run: Run): boolean => {
      const text = textIn(run);
      return text === undefined || prepareText(text, partsLength) || !run.mayIndex();
    };
    return { test, prepare };
  };
}

function numberOperator(compare: (number: number, limit: number) => boolean): CompileOperator {
  return ({ value }, read) => {
    const limit = Number(value);
    // No comparison holds for NaN, as which a text that is no number counts, and a missing field.
    return (run) => {
      const text = read(run.context);
      return text !== undefined && compare(run.numbers.of(text), limit);
    };
  };
}

/** Compares the time of the evaluation, regardless of the field that the constraint names, as the SDKs do. */
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

const patterns = new PatternCache();

function matchesPattern(
  { value, caseInsensitive = false }: ConstraintSource,
  read: ContextReader,
): Test | PreparedTest {
  if (value === undefined) return () => false;
  const key = new PatternKey(value, caseInsensitive);
  const test: Test = ({ context }) => {
    const text = read(context);
    return text !== undefined && patterns.occursIn(key, text);
  };
  return { test, prepare: () => patterns.prepare(key) };
}

function isCovered({ values = [] }: ConstraintSource, read: ContextReader): PreparedTest {
  const addresses = new AddressList(values);
  const test: Test = (run) => {
    const text = read(run.context);
    const address = text === undefined ? null : run.addresses.of(text);
    return address !== null && addresses.covers(address);
  };
  return { test, prepare: () => addresses.prepare() };
}
