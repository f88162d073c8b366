/**
 * Random flags within the limits, made of the rules that take longest, and a search for the contexts for which they do. Nothing of it is
 * likely in earnest; whoever may write flags, or holds the token of a page, can send all of it. A few flags are beyond the limits: those of
 * an older server load.
 */

import { Evaluator } from '../../../../src/addons/sdk/evaluation/evaluator.ts';
import type { Outcome } from '../../../../src/addons/sdk/evaluation/outcome.ts';
import type { EvaluationInput } from '../../../../src/addons/sdk/evaluation/run.ts';
import { constraintCost, segmentCost, strategyCost } from '../../../../src/domain/flags/evaluation-cost.ts';
import { DEFAULT_GROWTH_LIMITS } from '../../../../src/domain/flags/growth-limits.ts';
import { FLAG_BYTES_MAX } from '../../../../src/domain/growth/refuse-growth.ts';
import {
  SEGMENT_BYTES_MAX,
  SEGMENT_COST_MAX,
  SEGMENT_VALUES_MAX,
} from '../../../../src/domain/kinds/segment.ts';
import { threadMicros } from '../../../support/processor-time.ts';
import type { SeededRandom } from '../../../support/seeded-random.ts';
import { inputOf } from './inputs.ts';
import {
  ENVIRONMENT,
  flagOf,
  type SdkConstraint,
  type SdkDocument,
  type SdkFeature,
  type SdkSegment,
  type SdkStrategy,
  segmentsOf,
  strategyOf,
} from './sdk-document.ts';

const LIMITS = DEFAULT_GROWTH_LIMITS;

/** Room for a flag: bytes as applications get it, with its segments, and microseconds of its evaluation at worst. */
interface Room {
  readonly bytes: number;
  readonly cost: number;
}

/** The room that the limits leave; names, ids and the flag itself take the rest. */
const WITHIN_LIMITS: Room = { bytes: FLAG_BYTES_MAX - 8 * 1024, cost: LIMITS.evaluationCost };

/** The room of older servers. */
export const BEYOND_LIMITS: Room = { bytes: 500 * 1024, cost: Number.POSITIVE_INFINITY };

/** One of so many flags is beyond the limits. */
const BEYOND_EVERY = 16;

const anyRoom = (random: SeededRandom): Room =>
  random.below(BEYOND_EVERY) === 1 ? BEYOND_LIMITS : WITHIN_LIMITS;

/** The length of names and values of a context; the names take the rest. */
const CONTEXT_LENGTH = 16_300;

type Make = (random: SeededRandom) => string;

const repeated = (unit: string, length: number): string =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
const of = (random: SeededRandom, units: string, length: number): string =>
  Array.from({ length }, () => units[random.below(units.length)]).join('');

/** Texts of contexts, as long as there may be. */
const TEXTS: readonly Make[] = [
  () => repeated('a', CONTEXT_LENGTH),
  () => repeated('ab', CONTEXT_LENGTH),
  () => repeated('€', CONTEXT_LENGTH),
  () => repeated('İ', CONTEXT_LENGTH),
  (random) => of(random, 'ab', CONTEXT_LENGTH),
  (random) => of(random, 'ab', 200 + random.below(2_000)),
  (random) => of(random, 'abcxyz.-01', 100 + random.below(700)),
  (random) =>
    Array.from({ length: CONTEXT_LENGTH }, () => String.fromCharCode(random.below(0xd800))).join(''),
  () => `1.0.0-${repeated('a.', CONTEXT_LENGTH - 8)}a`,
  () => repeated('9', CONTEXT_LENGTH),
  () => '2001:db8::1',
  () => '10.1.2.3',
];

const FIELDS = ['userId', 'sessionId', 'remoteAddress', 'plan'] as const;

/** Parts that occur nowhere and almost everywhere. */
function part(random: SeededRandom, length: number): string {
  switch (random.below(4)) {
    case 0:
      return `ab${repeated('a', length)}`;
    case 1:
      return `${repeated('a', length)}b${random.below(1_000)}`;
    case 2:
      return `${repeated('ab', length)}${random.below(1_000)}`;
    default:
      return `${repeated('€', length)}${random.below(1_000)}`;
  }
}

const PATTERNS: readonly string[] = [
  '[ab]*a[ab]{60}c',
  '(?:a|b)*a(?:a|b){20}c(?:[ab]*a[ab]{30}d)',
  '\\pL{200}$',
  '(?:\\pL|\\pN|\\pS){60}$',
  `${'\\w'.repeat(240)}$`,
  '(.*a){40}$',
  '(?s).{200}$',
  `${'[^\\pL]'.repeat(20)}z`,
  '(a|aa)*'.repeat(20),
  '(\\b\\w+\\b.*){20}$',
];

type MakeConstraint = (random: SeededRandom) => Omit<SdkConstraint, 'contextName'>;

const list = (count: number, make: (at: number) => string): string[] =>
  Array.from({ length: count }, (_, at) => make(at));

const CONSTRAINTS: readonly MakeConstraint[] = [
  ...['STR_CONTAINS', 'STR_STARTS_WITH', 'STR_ENDS_WITH'].map(
    (operator): MakeConstraint =>
      (random) => {
        const length = [2, 8, 40, 480, 4_000][random.below(5)]!;
        const count = Math.min(LIMITS.values, Math.floor(60_000 / (length + 4)));
        const values = list(1 + random.below(count), () => part(random, length));
        return { operator, values, caseInsensitive: random.below(2) === 0 };
      },
  ),
  (random) => ({ operator: 'IN', values: list(LIMITS.values, () => part(random, 100)) }),
  (random) => ({ operator: 'NOT_IN', values: list(LIMITS.values, (at) => `${at}-${random.below(9)}`) }),
  (random) => ({ operator: 'NUM_GT', value: `${random.below(1_000_000)}` }),
  (random) => ({ operator: 'SEMVER_GT', value: `1.0.0-${repeated('a.', 2 * random.below(20_000))}a` }),
  (random) => ({
    operator: 'IN_CIDR',
    values: list(LIMITS.values, (at) => `2001:db8:${at.toString(16)}:${random.below(9)}::/64`),
  }),
  (random) => ({
    operator: 'IN_CIDR',
    values: list(LIMITS.values, (at) => `10.${at}.${random.below(255)}.0/24`),
  }),
  (random) => ({
    operator: 'REGEX',
    value: `${PATTERNS[random.below(PATTERNS.length)]}${random.below(100)}`,
    caseInsensitive: random.below(2) === 0,
  }),
  (random) => ({ operator: 'DATE_AFTER', value: `20${10 + random.below(80)}-01-01T00:00:00Z` }),
];

/** Holds for nearly everybody, so that the next one is tested too. */
function constraint(random: SeededRandom, make: MakeConstraint): SdkConstraint {
  return {
    contextName: FIELDS[random.below(FIELDS.length)]!,
    ...make(random),
    inverted: random.below(8) > 0,
  };
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Constraints, as many of one kind, or of all, as there is room for. */
function constraints(random: SeededRandom, countMax: number, bytesMax: number): SdkConstraint[] {
  const made: SdkConstraint[] = [];
  const only = random.below(2) === 0 ? CONSTRAINTS[random.below(CONSTRAINTS.length)]! : null;
  let bytes = 0;
  for (let at = 0; at < countMax; at += 1) {
    const one = constraint(random, only ?? CONSTRAINTS[random.below(CONSTRAINTS.length)]!);
    bytes += bytesOf(one) + 40;
    if (bytes > bytesMax) break;
    made.push(one);
  }
  return made;
}

const KINDS: readonly ((random: SeededRandom, bytes: number) => Pick<SdkStrategy, 'name' | 'parameters'>)[] =
  [
    () => ({ name: 'default', parameters: {} }),
    (random) => ({
      name: 'flexibleRollout',
      parameters: { groupId: `${random.below(1e6)}`, rollout: '0', stickiness: FIELDS[random.below(4)]! },
    }),
    (random, bytes) => ({
      name: 'remoteAddress',
      parameters: {
        IPs: list(bytes / 14, () => `${random.below(9)}::${random.below(60_000).toString(16)}`).join(),
      },
    }),
    (random, bytes) => ({
      name: 'remoteAddress',
      parameters: { IPs: list(bytes / 8, () => random.below(1e7).toString(36)).join() },
    }),
    (random, bytes) => ({
      name: 'userWithId',
      parameters: { userIds: list(bytes / 8, () => random.below(1e7).toString(36)).join() },
    }),
  ];

function strategies(random: SeededRandom, segments: readonly SdkSegment[], room: Room): SdkStrategy[] {
  const made: SdkStrategy[] = [];
  const share = random.below(3) === 0 ? LIMITS.strategyBytes : room.bytes / LIMITS.strategies;
  let { bytes, cost } = room;
  for (let tried = 0; tried < LIMITS.strategies; tried += 1) {
    const kind = KINDS[random.below(KINDS.length)]!(random, Math.min(share, LIMITS.parameterBytes) / 2);
    const rest = share - bytesOf(kind);
    const strategy: SdkStrategy = {
      ...kind,
      constraints: random.below(4) === 0 ? [] : constraints(random, LIMITS.constraints, rest),
      segments:
        random.below(3) === 0
          ? list(LIMITS.segments, () => '').map(() => 1 + random.below(segments.length))
          : [],
    };
    const used = roomOf(strategy, segments);
    if (used.bytes > bytes || used.cost > cost) continue;
    bytes -= used.bytes;
    cost -= used.cost;
    made.push(strategy);
  }
  return made;
}

function roomOf(strategy: SdkStrategy, segments: readonly SdkSegment[]): Room {
  let [bytes, cost] = [bytesOf(strategy), strategyCost(strategyOf(strategy)).worst];
  for (const id of strategy.segments ?? []) {
    const used = segments[id - 1]!;
    bytes += bytesOf(used);
    cost += segmentCost({ name: '', ...used }).worst;
  }
  return { bytes, cost };
}

/** Bytes of segments: as large as there may be, or so small that many of a strategy fit into a flag. */
const SEGMENT_BYTES: readonly number[] = [SEGMENT_BYTES_MAX, 8 * 1024, 2 * 1024];

function segment(random: SeededRandom, id: number): SdkSegment {
  const made = constraints(random, 30, SEGMENT_BYTES[random.below(SEGMENT_BYTES.length)]!);
  let [values, cost] = [0, 0];
  const within = made.filter((one) => {
    values += one.values?.length ?? 0;
    cost += constraintCost(one).worst;
    return values <= SEGMENT_VALUES_MAX && cost <= SEGMENT_COST_MAX;
  });
  return { id, name: `segment ${id}`, constraints: within };
}

/** A flag, its parents, and segments that it uses. */
export function worstDocument(random: SeededRandom, room: Room = anyRoom(random)): SdkDocument {
  const segments = Array.from({ length: 20 }, (_, at) => segment(random, at + 1));
  const parents = Array.from(
    { length: random.below(4) },
    (_, at): SdkFeature => ({
      ...{ name: `parent-${at}`, enabled: true, strategies: strategies(random, segments, room) },
    }),
  );
  const child: SdkFeature = {
    name: 'flag',
    enabled: true,
    strategies: strategies(random, segments, room),
    dependencies: parents.map(({ name }) => ({ feature: name, enabled: random.below(2) === 0 })),
  };
  return { features: [child, ...parents], segments };
}

type Context = Readonly<Record<string, string>>;

export function anyContext(random: SeededRandom): Context {
  const context: Record<string, string> = {};
  let left = CONTEXT_LENGTH;
  for (const field of [...FIELDS].sort(() => random.below(3) - 1)) {
    const text = TEXTS[random.below(TEXTS.length)]!(random).slice(0, left);
    context[field] = text;
    left -= text.length;
  }
  return context;
}

/** Another context beside one: a field of it is another text, or shorter. */
function mutated(random: SeededRandom, context: Context): Context {
  const field = FIELDS[random.below(FIELDS.length)]!;
  const others = FIELDS.filter((name) => name !== field).reduce(
    (sum, name) => sum + (context[name]?.length ?? 0),
    0,
  );
  const known = context[field] ?? '';
  const text =
    random.below(2) === 0 ? known.slice(0, known.length >> 1) : TEXTS[random.below(TEXTS.length)]!(random);
  return { ...context, [field]: text.slice(0, CONTEXT_LENGTH - others) };
}

/** Work in steps: what is done between two looks at the clock. */
export type Work = { readonly what: string; step(): boolean };

/** The work of every surface: made anew as for a moment of the past, lists, one flag, and an explanation. */
export function* workOf(document: SdkDocument, input: EvaluationInput): Generator<Work, void> {
  const segments = segmentsOf(document);
  const evaluator = new Evaluator({
    environment: ENVIRONMENT,
    environmentEnabled: true,
    flags: [],
    segments,
  });
  const flags = document.features.map(flagOf);
  for (const flag of flags) {
    const compile = (): boolean => {
      evaluator.set(flag);
      return true;
    };
    yield { what: 'compile', step: compile };
  }
  const outcomes: Outcome[] = [];
  const walk = evaluator.walk(input, false);
  yield { what: 'list', step: () => walk.advance(outcomes) };
  const one = evaluator.evaluation('flag', input);
  yield { what: 'one', step: () => one.next().done === true };
  const explanation = evaluator.explanation('flag', input)!;
  yield { what: 'explanation', step: () => explanation.next().done === true };
}

export interface Found {
  readonly flags: number;
  readonly contexts: number;
  readonly turns: number;
  /** The slowest turn in microseconds of processor time. */
  readonly slowestTurn: number;
}

/** Repetitions of a slow turn. What is slow in each of them is slow by itself; what is slow in one alone met a garbage collection. */
const REPETITIONS = 2;

/** Microseconds from which on a turn is repeated: a slice takes most of them. */
const REPEATED_FROM = 12_000;

interface Slowest {
  readonly micros: number;
  readonly what: string;
}

interface SlowestOfMany extends Slowest {
  /** The number of turns. */
  readonly turns: number;
}

/** The slowest turn for a context, and the number of turns. */
export function slowestTurn(document: SdkDocument, context: Context): SlowestOfMany {
  const first = slowestByWhat(document, context);
  let slowest = slowestOf(first.byWhat);
  for (let time = 0; time < REPETITIONS && slowest.micros > REPEATED_FROM; time += 1) {
    const again = slowestByWhat(salted(document), context).byWhat;
    for (const [what, micros] of first.byWhat)
      first.byWhat.set(what, Math.min(micros, again.get(what) ?? micros));
    slowest = slowestOf(first.byWhat);
  }
  return { ...slowest, turns: first.turns };
}

function slowestByWhat(document: SdkDocument, context: Context) {
  const byWhat = new Map<string, number>();
  let turns = 0;
  for (const { what, step } of workOf(document, inputOf(context, { random: 0.5 }))) {
    for (let isDone = false; !isDone; turns += 1) {
      const before = threadMicros();
      isDone = slice(step);
      byWhat.set(what, Math.max(byWhat.get(what) ?? 0, threadMicros() - before));
    }
  }
  return { byWhat, turns };
}

/** Milliseconds after which a server ends a turn (src/actors/turn.ts). */
const SLICE_MS = 5;

/** Takes steps as a server does: steps until the time of a slice is over, and the last one to its end. */
function slice(step: () => boolean): boolean {
  const begunAt = performance.now();
  for (;;) {
    if (step()) return true;
    if (performance.now() >= begunAt + SLICE_MS) return false;
  }
}

function slowestOf(byWhat: ReadonlyMap<string, number>): Slowest {
  let slowest: Slowest = { micros: 0, what: '' };
  for (const [what, micros] of byWhat) if (micros > slowest.micros) slowest = { micros, what };
  return slowest;
}

let salts = 0;

/** The same rules with other values, so that nothing that was made ready for them is there yet. */
function salted(document: SdkDocument): SdkDocument {
  salts += 1;
  const one = (constraint: SdkConstraint): SdkConstraint => ({
    ...constraint,
    ...(constraint.operator === 'REGEX' ? { value: `${constraint.value}${salts}` } : {}),
    ...(constraint.values === undefined ? {} : { values: [...constraint.values, `salt ${salts}`] }),
  });
  return {
    features: document.features.map((feature) => ({
      ...feature,
      strategies: feature.strategies.map((strategy) => ({
        ...strategy,
        constraints: strategy.constraints?.map(one) ?? [],
      })),
    })),
    segments: document.segments?.map((part) => ({ ...part, constraints: part.constraints.map(one) })) ?? [],
  };
}

/** A flag, and the context that a search found to be the worst for it. */
export interface WorstCase {
  readonly document: SdkDocument;
  readonly context: Context;
  readonly micros: number;
}

/** Climbs from one context to a worse one, for each of so many flags. The worst cases come first. */
export function searchWorst(
  random: SeededRandom,
  flags: number,
  contextsEach = 6,
): Found & { readonly what: string; readonly worst: readonly WorstCase[] } {
  let found = { flags, contexts: 0, turns: 0, slowestTurn: 0, what: '' };
  const cases: WorstCase[] = [];
  for (let at = 0; at < flags; at += 1) {
    const document = worstDocument(random);
    let worst: WorstCase = { document, context: anyContext(random), micros: 0 };
    for (let tried = 0; tried < contextsEach; tried += 1) {
      const next =
        tried === 0 ? worst.context : tried % 2 === 0 ? anyContext(random) : mutated(random, worst.context);
      const { micros, turns, what } = slowestTurn(document, next);
      found = { ...found, contexts: found.contexts + 1, turns: found.turns + turns };
      if (micros > found.slowestTurn) found = { ...found, slowestTurn: micros, what };
      if (micros > worst.micros) worst = { document, context: next, micros };
    }
    cases.push(worst);
  }
  return { ...found, worst: cases.sort((a, b) => b.micros - a.micros) };
}
