/**
 * Compares what applications get from two servers: it reads what SDKs read, evaluates each flag for many contexts by the one evaluator, and
 * compares the definitions besides. It changes nothing on either.
 */
import type { Constraint } from '../../domain/flags/constraint.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import type { Variant } from '../../domain/flags/variant.ts';
import { compileConstraint } from '../sdk/evaluation/constraint-test.ts';
import { contextLength, contextOf } from '../sdk/evaluation/context.ts';
import { Murmur3, utf8BytesOf } from '../sdk/evaluation/murmur3.ts';
import type { Toggle } from '../sdk/evaluation/outcome.ts';
import { type EvaluationInput, Run } from '../sdk/evaluation/run.ts';
import {
  type ClientDocument,
  constraintsOf,
  definitionOf,
  evaluatorOf,
  parameterTexts,
  rulesIn,
} from './client-document.ts';

export interface Difference {
  readonly flag: string;
  /** How many of the contexts get something else; 0 where only the definitions differ. */
  readonly contexts: number;
  readonly example: Example | null;
}

/** The results of one context; null for a flag that is not there. */
export interface Example {
  readonly context: DrawnContext['fields'];
  readonly hostName: string;
  readonly source: string | null;
  readonly target: string | null;
}

export interface Comparison {
  readonly flags: number;
  /** Evaluations on each server. */
  readonly evaluations: number;
  readonly differences: readonly Difference[];
  /** Flags that the target has alone. */
  readonly onlyInTarget: readonly string[];
}

export interface ProofOptions extends Drawing {
  /** For contexts without a time. */
  readonly nowMs: number;
}

export function compareDocuments(
  source: ClientDocument,
  target: ClientDocument,
  options: ProofOptions,
): Comparison {
  const documents = [source, target] as const;
  const [ofSource, ofTarget] = [evaluatorOf(source), evaluatorOf(target)];
  const differences: Difference[] = [];
  let evaluations = 0;
  for (const [name, flag] of source.flags) {
    const present = target.flags.get(name);
    let [count, example]: [number, Example | null] = [0, null];
    for (const context of contextsFor(groupsOf(name, documents), {
      ...options,
      seed: seedOf(name, options),
    })) {
      const input = inputOf(context, options.nowMs);
      const there = resultText(ofSource.evaluate(name, input).toggle);
      const here = present === undefined ? null : resultText(ofTarget.evaluate(name, input).toggle);
      evaluations += 1;
      if (there === here) continue;
      count += 1;
      example ??= { context: context.fields, hostName: context.hostName, source: there, target: here };
    }
    const isEqual = present !== undefined && definitionOf(flag, source) === definitionOf(present, target);
    if (count > 0 || !isEqual) differences.push({ flag: name, contexts: count, example });
  }
  differences.sort((a, b) => (a.flag < b.flag ? -1 : 1));
  const onlyInTarget = [...target.flags.keys()].filter((name) => !source.flags.has(name)).toSorted();
  return { flags: source.flags.size, evaluations, differences, onlyInTarget };
}

/** A seed for each flag, so that another flag beside it changes nothing. */
const seedOf = (name: string, { seed }: Drawing): number => new Murmur3(seed).add(utf8BytesOf(name)).digest();

function groupsOf(name: string, documents: readonly ClientDocument[]): Rule[][] {
  const parents = documents.flatMap(({ flags }) => flags.get(name)?.dependencies ?? []);
  const names = new Set([name, ...parents.map(({ feature }) => feature)]);
  return [...names].map((one) =>
    unique(
      documents.flatMap((document) => {
        const flag = document.flags.get(one);
        return flag === undefined ? [] : rulesOf(flag, document);
      }),
    ),
  );
}

/** Both servers mostly have the same rules. */
const unique = <T>(items: readonly T[]): T[] => [
  ...new Map(items.map((item) => [JSON.stringify(item), item])).values(),
];

function rulesOf(flag: Flag, document: ClientDocument): Rule[] {
  const { strategies, variants } = rulesIn(flag);
  const rules = strategies.map((strategy) => ({
    ...{ name: strategy.name, variants: strategy.variants, parameters: parameterTexts(strategy) },
    constraints: constraintsOf(strategy, document) ?? [],
  }));
  return [...rules, { name: 'default', parameters: {}, constraints: [], variants }];
}

/** The result as text, as an application tells results apart. */
function resultText({ enabled, impressionData, variant }: Toggle): string {
  const { payload } = variant;
  return [
    enabled ? 'on' : 'off',
    ...(variant.enabled ? [`variant ${JSON.stringify(variant.name)}`] : []),
    ...(variant.enabled && payload
      ? [`payload of type ${payload.type} ${JSON.stringify(payload.value)}`]
      : []),
    ...(impressionData ? ['impression data'] : []),
  ].join(', ');
}

// Contexts that tell apart what the rules of a flag tell apart: each value of a constraint, both sides of each boundary, users with and
// without an id to be sticky on. The same seed gives the same contexts.

/** A strategy, with the constraints of its segments; or the variants of a flag. */
interface Rule {
  readonly variants: readonly Variant[];
  readonly constraints: readonly Constraint[];
  readonly name: string;
  readonly parameters: Readonly<Record<string, string>>;
}

interface DrawnContext {
  readonly fields: Readonly<Record<string, string>>;
  /** The machine that evaluates, for the strategy applicationHostname. */
  readonly hostName: string;
  /** The random number for rules that decide by chance, in [0, 1). */
  readonly chance: number;
}

interface Drawing {
  /** Contexts drawn beside those of each value and boundary. */
  readonly count: number;
  readonly seed: number;
}

function inputOf({ fields, hostName, chance }: DrawnContext, nowMs: number): EvaluationInput {
  const context = contextOf(fields);
  return { context, contextLength: contextLength(context), nowMs, hostName, random: () => chance };
}

/** Draws contexts for groups of rules: those of the flag on both servers, and those of each of its parents. */
function* contextsFor(
  groups: readonly (readonly Rule[])[],
  { count, seed }: Drawing,
): Generator<DrawnContext> {
  const random = randomOf(seed);
  const grounds = groups.map((rules) => rules.map(groundOf)).filter((rules) => rules.length > 0);
  const all = grounds.flat();
  const everywhere = joined(all.map(({ candidates }) => candidates));
  const sticky = [...new Set(['userId', 'sessionId', ...all.flatMap((ground) => ground.sticky)])];
  const hosts = all.flatMap((ground) => ground.hosts);
  const one = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

  /** Fields for which one rule of each group holds, that of `ground` above all. */
  const held = (ground: Ground | null): Map<string, string> => {
    const fields = new Map<string, string>();
    const idOdds = random() < 0.9 ? 1 : 0.5;
    for (const name of sticky) if (random() < idOdds) fields.set(name, String(Math.floor(random() * 1e9)));
    const chosen = grounds.map(one);
    for (const { holding } of ground === null ? chosen : [...chosen, ground])
      for (const [name, values] of holding) fields.set(name, one(values));
    return fields;
  };
  const drawn = (fields: ReadonlyMap<string, string>): DrawnContext => ({
    fields: Object.fromEntries(fields),
    hostName: hosts.length > 0 && random() < 0.7 ? one(hosts) : 'elsewhere',
    chance: random(),
  });

  for (const ground of all)
    for (const [name, values] of ground.candidates)
      for (const value of values) yield drawn(held(ground).set(name, value));
  for (let at = 0; at < count; at += 1) {
    const fields = held(null);
    // Half of them hold all of a rule; the others leave it in some fields.
    if (random() < 0.5) {
      for (const [name, values] of everywhere) {
        const choice = random();
        if (choice < 0.3) fields.set(name, one(values));
        else if (choice < 0.4) fields.delete(name);
      }
    }
    yield drawn(fields);
  }
}

/** The values that a rule's constraints compare with, by field. */
interface Ground {
  /** Values on all sides of each constraint. */
  readonly candidates: ReadonlyMap<string, readonly string[]>;
  /** Values among them for which all constraints on the field hold; all of them where there are none. */
  readonly holding: ReadonlyMap<string, readonly string[]>;
  /** Fields whose values decide the bucket. */
  readonly sticky: readonly string[];
  readonly hosts: readonly string[];
}

function groundOf(rule: Rule): Ground {
  const { name, parameters, variants } = rule;
  const constraints = [...rule.constraints, ...kindConstraints(rule)];
  const overrides = variants.flatMap((variant) => variant.overrides);
  const candidates = joined([
    ...constraints.map((one) => new Map([[one.contextName, candidatesOf(one)]])),
    ...overrides.map(({ contextName, values }) => new Map([[contextName, values]])),
  ]);
  const holding = [...candidates].map(([field, values]) => {
    const asked = constraints.filter(({ contextName }) => contextName === field).map(compileConstraint);
    const kept = values.filter((value) => {
      const input = inputOf({ fields: { [field]: value }, hostName: '', chance: 0 }, 0);
      return asked.every((constraint) => constraint.holds(new Run(input)));
    });
    return [field, kept.length > 0 ? kept : values] as const;
  });
  const stickiness = [parameters['stickiness'], ...variants.map((variant) => variant.stickiness)];
  return {
    candidates,
    holding: new Map(holding),
    sticky: stickiness.filter((field) => field !== undefined && !NO_FIELDS.has(field)) as string[],
    hosts: name === 'applicationHostname' ? listed(parameters['hostNames']) : [],
  };
}

/** Kinds of stickiness that name no field. */
const NO_FIELDS = new Set(['', 'default', 'random']);

const listed = (text = ''): string[] => text.split(',').map((item) => item.trim());

/** The list of a strategy's kind, as a constraint. */
function kindConstraints({ name, parameters }: Rule): Constraint[] {
  const common = { inverted: false, caseInsensitive: false };
  if (name === 'userWithId')
    return [{ ...common, contextName: 'userId', operator: 'IN', values: listed(parameters['userIds']) }];
  if (name === 'remoteAddress')
    return [
      { ...common, contextName: 'remoteAddress', operator: 'IN_CIDR', values: listed(parameters['IPs']) },
    ];
  return [];
}

function joined(
  maps: readonly ReadonlyMap<string, readonly string[]>[],
): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, Set<string>>();
  for (const map of maps)
    for (const [field, some] of map) {
      const known = values.get(field) ?? new Set();
      for (const value of some) known.add(value);
      values.set(field, known);
    }
  return new Map([...values].map(([field, known]) => [field, [...known]]));
}

/** A value that is in no list. */
const OTHER = '~';

function candidatesOf({ operator, values, value = '' }: Constraint): readonly string[] {
  if (operator === 'IN_CIDR')
    return [...values.map((range) => range.split('/')[0] ?? ''), '203.0.113.77', '::'];
  if (operator.startsWith('STR_')) return [...values.flatMap(around), OTHER];
  if (operator.startsWith('NUM_')) return [...[-1, 0, 1].map((more) => String(Number(value) + more)), OTHER];
  if (operator.startsWith('DATE_')) return timesAround(Date.parse(value));
  if (operator.startsWith('SEMVER_')) return versionsAround(value);
  if (operator === 'REGEX')
    return [...value.split('|').map((part) => part.replace(/[\\^$()?*+[\]{}]/g, '')), OTHER];
  return [...values, OTHER];
}

const around = (text: string): string[] => [
  ...[text, `${OTHER}${text}`, `${text}${OTHER}`, `${OTHER}${text}${OTHER}`],
  ...[text.toUpperCase(), text.toLowerCase()],
];

const timesAround = (timeMs: number): string[] =>
  Number.isNaN(timeMs) ? [OTHER] : [-1, 0, 1].map((more) => new Date(timeMs + more).toISOString());

function versionsAround(version: string): string[] {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  const release = `${major}.${minor}.${patch}`;
  return [version, release, `${release}-0`, `${major}.${minor}.${Number(patch) + 1}`, '0.0.0', OTHER];
}

/** Random numbers in [0, 1) by mulberry32, which is small and good enough to choose contexts. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
