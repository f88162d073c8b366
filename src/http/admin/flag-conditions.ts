/**
 * The conditions of the search for flags (docs/specification/flags.md#search), from the query string to a function that
 * says whether a flag is wanted. All conditions of a request must hold.
 */
import { environmentOf, type Flag } from '../../domain/flags/flag.ts';
import { stalenessOf } from '../../domain/flags/lifetime.ts';
import { shown } from '../../domain/json/issues.ts';
import { invalid, isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import { lifetimesIn } from '../../domain/state/settings.ts';
import type { World } from '../../domain/state/world.ts';
import type { QueryParameter, RequestContext } from '../serving/route.ts';
import type { ShownFlag } from './chunk-walk.ts';
import { segmentNames } from './found-flag.ts';
import { type Condition, conditionParameter, conditionsOf, dayOf } from './query-parameters.ts';
import { stageView } from './views.ts';

const IS = ['IS', 'IS_NOT', 'IS_ANY_OF', 'IS_NONE_OF'] as const;
const INCLUDES = [
  'INCLUDE',
  'DO_NOT_INCLUDE',
  'INCLUDE_ALL_OF',
  'INCLUDE_ANY_OF',
  'EXCLUDE_IF_ANY_OF',
  'EXCLUDE_ALL',
] as const;
const BEFORE_OR_AFTER = ['IS_BEFORE', 'IS_ON_OR_AFTER'] as const;

const OPERATORS = {
  project: IS,
  state: IS,
  type: IS,
  createdBy: IS,
  lifecycle: IS,
  favorite: ['IS', 'IS_ANY_OF'],
  tag: INCLUDES,
  segment: INCLUDES,
  createdAt: BEFORE_OR_AFTER,
  lastSeenAt: BEFORE_OR_AFTER,
  archived: ['IS'],
} as const;

/** The most environments with their switches that one request names. */
const STATUSES_MAX = 50;

/** Each is looked for in all that a flag says, within one turn. */
const TEXTS_MAX = 50;

export const CONDITION_PARAMETERS: Readonly<Record<string, QueryParameter>> = {
  query: {
    description:
      'Text to look for in the name, the description and the tags, whatever its case; several with commas between them: any will do.',
  },
  project: conditionParameter('Id of the project', IS),
  state: conditionParameter('active, stale or potentially-stale', IS),
  type: conditionParameter('Type of the flag', IS),
  createdBy: conditionParameter('Id of the user who created the flag', IS),
  lifecycle: conditionParameter('Stage of the flag, such as live', IS),
  favorite: conditionParameter('true or false: whether the caller has marked the flag', OPERATORS.favorite),
  tag: conditionParameter('A tag as type:value', INCLUDES),
  segment: conditionParameter('Name of a segment that a strategy of the flag uses', INCLUDES),
  status: {
    description:
      'A switch, such as production:enabled or production:disabled. Repeated, also as status[]: any of them.',
    schema: { type: 'array', items: { type: 'string' }, maxItems: STATUSES_MAX },
  },
  createdAt: conditionParameter('A day of UTC', BEFORE_OR_AFTER),
  lastSeenAt: conditionParameter('A day of UTC on which a flag that was used was used last', BEFORE_OR_AFTER),
  archived: {
    description:
      'IS:true lists archived flags only, IS:false none of them; without it they are listed where lifecycle asks for them.',
  },
};

/** Whether a flag is wanted. */
export type FlagTest = (record: ShownFlag['record']) => boolean;

export function flagConditions(
  context: RequestContext<unknown>,
  favorites: ReadonlySet<string>,
): FlagTest | Refusal {
  const conditions = conditionsOf(context, OPERATORS);
  if (isRefusal(conditions)) return conditions;
  const { project, state, type, createdBy, lifecycle, favorite, tag, segment, archived } = conditions;
  const { world } = context;
  const { seen } = context.usage;
  const created = timeTest('createdAt', conditions.createdAt, ({ createdAt }) => Date.parse(createdAt));
  const used = timeTest('lastSeenAt', conditions.lastSeenAt, ({ name }) => seen.flag(name)?.atMs);
  const switched = switchTest(world, [...context.queryAll('status'), ...context.queryAll('status[]')]);
  const texts = textTest(context.query('query'));
  for (const one of [tag && refuseNoTag(tag), created, used, switched, texts]) if (isRefusal(one)) return one;
  const nowMs = context.now();
  const tests: (FlagTest | null)[] = [
    archivedTest(archived, lifecycle),
    project && isTest(project, ({ flag }) => flag.project),
    state && isTest(state, ({ flag }) => stalenessOf(flag, lifetimesIn(world, flag.project), nowMs)),
    type && isTest(type, ({ flag }) => flag.type),
    createdBy && isTest(createdBy, (record) => String(record.createdBy)),
    lifecycle && isTest(lifecycle, ({ flag }) => stageView(world, flag, seen.flag(flag.name)).stage),
    favorite && isTest(favorite, ({ flag }) => String(favorites.has(flag.name))),
    tag && includesTest(tag, ({ tags }) => tags.map((one) => `${one.type}:${one.value}`)),
    segment && includesTest(segment, (flag) => segmentNames(world, flag)),
    created as FlagTest | null,
    used as FlagTest | null,
    switched as FlagTest | null,
    texts as FlagTest | null,
  ];
  const all = tests.filter((test) => test !== null);
  return (record) => all.every((test) => test(record));
}

function isTest(
  { operator, values }: Condition<(typeof IS)[number]>,
  fieldOf: (record: ShownFlag['record']) => string,
): FlagTest {
  const wanted = new Set(values);
  const isNegated = operator === 'IS_NOT' || operator === 'IS_NONE_OF';
  return (record) => wanted.has(fieldOf(record)) !== isNegated;
}

function includesTest(
  { operator, values }: Condition<(typeof INCLUDES)[number]>,
  listOf: (flag: Flag) => readonly string[],
): FlagTest {
  const areAllMeant = operator === 'INCLUDE_ALL_OF' || operator === 'EXCLUDE_ALL';
  const isNegated = !operator.startsWith('INCLUDE');
  return ({ flag }) => {
    const list = new Set(listOf(flag));
    const isIn = (value: string): boolean => list.has(value);
    return (areAllMeant ? values.every(isIn) : values.some(isIn)) !== isNegated;
  };
}

function refuseNoTag({ values }: Condition<string>): Refusal | null {
  const wrong = values.find((value) => !/^[^:]+:./.test(value));
  if (wrong === undefined) return null;
  return invalid(`The query parameter tag must hold tags as type:value, not ${shown(wrong)}.`, '/query/tag');
}

/** Leaves out archived flags, or all others. Null where the stages that are asked for decide. */
function archivedTest(
  archived: Condition<'IS'> | null,
  lifecycle: Condition<(typeof IS)[number]> | null,
): FlagTest | null {
  const isAsked = lifecycle?.operator === 'IS' || lifecycle?.operator === 'IS_ANY_OF';
  if (archived === null && isAsked && lifecycle.values.includes('archived')) return null;
  const isWanted = archived?.values[0] === 'true';
  return ({ flag }) => (flag.archivedAt !== null) === isWanted;
}

/** Flags that have no such time are not wanted. */
function timeTest(
  name: string,
  condition: Condition<(typeof BEFORE_OR_AFTER)[number]> | null,
  timeOf: (flag: Flag) => number | undefined,
): FlagTest | Refusal | null {
  const startMs = condition && dayOf(name, condition);
  if (startMs === null || isRefusal(startMs)) return startMs;
  return ({ flag }) => {
    const atMs = timeOf(flag);
    return atMs !== undefined && atMs < startMs === (condition?.operator === 'IS_BEFORE');
  };
}

function switchTest(world: World, texts: readonly string[]): FlagTest | null | Refusal {
  if (texts.length === 0) return null;
  const statuses = texts.map((text) => /^(.+):(enabled|disabled)$/.exec(text));
  const wrong = statuses.indexOf(null);
  if (wrong >= 0 || texts.length > STATUSES_MAX) {
    return invalid(
      `The query parameter status must be a name of an environment with :enabled or :disabled, at most ${STATUSES_MAX} times, not ${shown(texts[Math.max(wrong, 0)])}.`,
      '/query/status',
    );
  }
  return ({ flag }) => {
    const environments = world.projects.get(flag.project)?.settings.environments ?? [];
    return statuses.some((one) => {
      const name = one?.[1] ?? '';
      return environments.includes(name) && environmentOf(flag, name).enabled === (one?.[2] === 'enabled');
    });
  };
}

function textTest(query: string): FlagTest | Refusal | null {
  const wanted = query
    .toLowerCase()
    .split(',')
    .map((text) => text.trim());
  const texts = wanted.filter((text) => text !== '');
  if (texts.length === 0) return null;
  if (texts.length > TEXTS_MAX) {
    return invalid(
      `The query parameter query must hold at most ${TEXTS_MAX} texts with commas between them, not ${texts.length}.`,
      '/query/query',
    );
  }
  return ({ flag: { name, description, tags } }) =>
    [name, description ?? '', ...tags.map(({ type, value }) => `${type}:${value}`)].some((field) => {
      const folded = field.toLowerCase();
      return texts.some((text) => folded.includes(text));
    });
}
