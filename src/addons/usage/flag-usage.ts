/** How often applications evaluated a flag (docs/specification/usage.md). */
import { each, inTurns } from '../../actors/turn.ts';
import { invalid, isRefusal, notFound, type Refusal } from '../../domain/state/refusal.ts';
import { choiceIn } from '../../http/admin/query-parameters.ts';
import { jsonResponse } from '../../http/serving/json-response.ts';
import { type ReadResponse, type RequestContext, readRoute, underTag } from '../../http/serving/route.ts';
import { MINUTE_MS, MINUTES_SHOWN, type MinuteSums } from './minute-table.ts';
import { SIDES } from './reports.ts';
import { usageIn } from './usage.ts';
import { FlagUsageSchema, RawFlagUsageSchema, UsageSumsSchema } from './usage-schemas.ts';
import { DAY_MS, type FlagCount, floorTo, HOUR_MS, type PeriodCount } from './usage-table.ts';

const FLAG_USAGE = '/client-metrics/features/:featureName';

/**
 * The revision of a response that shows only reports of applications: they are no part of the state, so it waits for
 * no event.
 */
export const NO_STATE_SHOWN = 0;

/** By hours; a longer span is by days. */
const HOURS_MAX = 48;
const DAYS_MAX = 90;
const HOURS_BACK_MAX = DAYS_MAX * 24;

/** The newest ones of a response; so many take a megabyte and some milliseconds. */
const ROWS_MAX = 5_000;

const HOURS_BACK_PHRASE = `an integer from 1 to ${HOURS_BACK_MAX}`;

function countsOf(context: RequestContext<unknown>, kind: 'hour' | 'day', sinceMs: number): PeriodCount[] {
  const { engine, params, world } = context;
  const found: PeriodCount[] = [];
  const isThere = engine.world.flagProjects.has(params.featureName);
  if (isThere && !world.flagProjects.has(params.featureName)) return found;
  for (const side of SIDES) {
    const counts = usageIn(context).counts(side).countsOf(params.featureName, kind, sinceMs);
    found.push(...someOf(counts));
  }
  return found.sort((a, b) => b.startMs - a.startMs).slice(0, ROWS_MAX);
}

/** Names of the applications that reported evaluations of the flag in the last 90 days. */
export function applicationsOf(context: RequestContext<unknown>, flag: string, max: number): string[] {
  const names = new Set<string>();
  for (const side of SIDES) {
    const table = usageIn(context).counts(side);
    const sinceMs = context.now() - DAYS_MAX * DAY_MS;
    for (const kind of ['hour', 'day'] as const)
      for (const { appName } of someOf(table.countsOf(flag, kind, sinceMs))) names.add(appName);
  }
  return [...names].sort().slice(0, max);
}

function* someOf(counts: Iterable<PeriodCount>): Generator<PeriodCount, void> {
  let taken = 0;
  for (const one of counts) {
    if (taken === ROWS_MAX) return;
    taken += 1;
    yield one;
  }
}

const timestamp = ({ startMs }: PeriodCount): string => new Date(startMs).toISOString();

const RESPONSE_HEAD = { version: 1, maturity: 'stable' } as const;

function summary(context: RequestContext<unknown>): ReadResponse {
  const { featureName } = context.params;
  const hourMs = floorTo(context.now(), HOUR_MS);
  const counts = countsOf(context, 'hour', hourMs - DAY_MS);
  const lastHour = counts.length === 0 ? [] : usageIn(context).lastHour(featureName);
  const timestamp = new Date(hourMs).toISOString();
  const body = {
    ...RESPONSE_HEAD,
    featureName,
    lastHourUsage: Array.from(lastHour, ([environment, sum]) => ({ environment, timestamp, ...sum })),
    seenApplications: [...new Set(counts.map(({ appName }) => appName))].sort(),
  };
  return { revision: NO_STATE_SHOWN, response: jsonResponse(200, body) };
}

/** The query parameter; what it cannot be is refused. */
function hoursBackIn(context: RequestContext<unknown>): number | Refusal {
  const text = context.query('hoursBack');
  const hours = text === '' ? HOURS_MAX : /^[0-9]{1,4}$/.test(text) ? Number(text) : 0;
  if (hours < 1 || hours > HOURS_BACK_MAX) {
    return invalid(
      `The query parameter hoursBack must be ${HOURS_BACK_PHRASE}, not "${text}".`,
      '/query/hoursBack',
    );
  }
  return hours;
}

function raw(context: RequestContext<unknown>): ReadResponse | Refusal {
  const hours = hoursBackIn(context);
  if (isRefusal(hours)) return hours;
  const sinceMs = context.now() - hours * HOUR_MS;
  const byHour = countsOf(context, 'hour', floorTo(sinceMs, hours > HOURS_MAX ? DAY_MS : HOUR_MS));
  const counts =
    hours > HOURS_MAX ? byDay(byHour, countsOf(context, 'day', floorTo(sinceMs, DAY_MS))) : byHour;
  const data = counts.map((one) => ({
    featureName: context.params.featureName,
    appName: one.appName,
    environment: one.environment,
    timestamp: timestamp(one),
    yes: one.yes,
    no: one.no,
    ...(one.variants === null ? {} : { variants: Object.fromEntries(one.variants) }),
  }));
  return {
    revision: NO_STATE_SHOWN,
    response: jsonResponse(200, { ...RESPONSE_HEAD, data }),
  };
}

interface Sum {
  readonly startMs: number;
  readonly environment: string;
  yes: number;
  no: number;
}

/** Sums over all flags that the caller sees, over those of one project, or of one flag. There may be many counts to look through. */
async function sums(context: RequestContext<unknown>): Promise<ReadResponse | Refusal> {
  const { world } = context;
  const step = choiceIn(context, 'step', ['minute'], null);
  if (isRefusal(step)) return step;
  const hours = step === 'minute' && context.query('hoursBack') === '' ? 1 : hoursBackIn(context);
  if (isRefusal(hours)) return hours;
  if (step === 'minute' && hours !== 1)
    return invalid(
      `Minutes are counted for one hour, so hoursBack must be 1, not ${hours}.`,
      '/query/hoursBack',
    );
  const [project, feature] = [context.query('project'), context.query('feature')];
  if (project !== '' && !world.projects.has(project)) return notFound(`There is no project "${project}".`);
  if (feature !== '' && !world.flagProjects.has(feature)) return notFound(`There is no flag "${feature}".`);
  const isWanted = (flag: string): boolean => {
    const home = world.flagProjects.get(flag);
    return home !== undefined && (project === '' || home === project) && (feature === '' || flag === feature);
  };
  const found =
    step === 'minute' ? await minuteSums(context, isWanted) : await periodSums(context, hours, isWanted);
  const data = found
    .sort((a, b) => b.startMs - a.startMs)
    .map(({ startMs, ...sum }) => ({ ...sum, timestamp: new Date(startMs).toISOString() }));
  return { revision: NO_STATE_SHOWN, response: jsonResponse(200, { ...RESPONSE_HEAD, data }) };
}

async function minuteSums(
  context: RequestContext<unknown>,
  isWanted: (flag: string) => boolean,
): Promise<Sum[]> {
  const nowMs = context.now();
  const found: MinuteSums = new Map();
  const feature = context.query('feature');
  for (const side of SIDES) {
    const minutes = usageIn(context).minutes(side);
    if (feature === '') await inTurns(minutes.sum(found, nowMs, isWanted), context.requester);
    else if (isWanted(feature)) minutes.sumOf(found, nowMs, feature);
  }
  const firstMs = floorTo(nowMs, MINUTE_MS) - (MINUTES_SHOWN - 1) * MINUTE_MS;
  return [...found].flatMap(([environment, counts]) =>
    Array.from({ length: MINUTES_SHOWN }, (_, at) => ({
      ...{ startMs: firstMs + at * MINUTE_MS, environment },
      ...{ yes: counts[2 * at] ?? 0, no: counts[2 * at + 1] ?? 0 },
    })).filter(({ yes, no }) => yes + no > 0),
  );
}

async function periodSums(
  context: RequestContext<unknown>,
  hours: number,
  isWanted: (flag: string) => boolean,
): Promise<Sum[]> {
  const stepMs = hours > HOURS_MAX ? DAY_MS : HOUR_MS;
  const sinceMs = floorTo(context.now() - hours * HOUR_MS, stepMs);
  const found = new Map<string, Sum>();
  const add = ({ flag, startMs: begunMs, count }: FlagCount): void => {
    if (!isWanted(flag)) return;
    const { environment, yes, no } = count;
    const startMs = floorTo(begunMs, stepMs);
    const key = `${startMs} ${environment}`;
    let sum = found.get(key);
    if (sum === undefined) {
      sum = { startMs, environment, yes: 0, no: 0 };
      found.set(key, sum);
    }
    sum.yes += yes;
    sum.no += no;
  };
  const kinds = stepMs === DAY_MS ? (['hour', 'day'] as const) : (['hour'] as const);
  for (const side of SIDES)
    for (const kind of kinds)
      await inTurns(
        each(usageIn(context).counts(side).countsSince(kind, sinceMs, context.query('feature')), add),
        context.requester,
      );
  return [...found.values()];
}

/** The days that are not over for long are there as hours. */
function byDay(hours: readonly PeriodCount[], days: readonly PeriodCount[]): PeriodCount[] {
  const sums = new Map<string, PeriodCount>();
  for (const hour of hours) {
    const startMs = floorTo(hour.startMs, DAY_MS);
    const key = JSON.stringify([startMs, hour.appName, hour.environment]);
    const before = sums.get(key);
    sums.set(key, before === undefined ? { ...hour, startMs } : added(before, hour));
  }
  return [...sums.values(), ...days].sort((a, b) => b.startMs - a.startMs);
}

function added(a: PeriodCount, b: PeriodCount): PeriodCount {
  const variants = new Map(a.variants);
  for (const [name, count] of b.variants ?? []) variants.set(name, (variants.get(name) ?? 0) + count);
  return { ...a, yes: a.yes + b.yes, no: a.no + b.no, variants: variants.size === 0 ? null : variants };
}

const HOURS_BACK = {
  description: `How far to go back: up to ${HOURS_MAX} hours by hours, beyond them by days.`,
  schema: { type: 'integer', minimum: 1, maximum: HOURS_BACK_MAX, default: HOURS_MAX },
} as const;

export const flagUsageRoutes = underTag('Usage', [
  readRoute(`GET ${FLAG_USAGE}`, {
    operationId: 'getFeatureUsageSummary',
    summary: 'Read how often a flag was evaluated in the last hour, and by which applications within a day.',
    success: { status: 200, schema: FlagUsageSchema },
    read: summary,
  }),
  readRoute(`GET ${FLAG_USAGE}/raw`, {
    operationId: 'getRawFeatureMetrics',
    summary: 'List how often each application evaluated a flag, by hours or by days, the newest first.',
    query: { hoursBack: HOURS_BACK },
    success: { status: 200, schema: RawFlagUsageSchema },
    refusals: ['ValidationError'],
    read: raw,
  }),
  readRoute('GET /client-metrics/usage', {
    operationId: 'getUsage',
    summary:
      'List how often flags were evaluated in each environment, by minutes, hours or days, the newest first.',
    query: {
      hoursBack: HOURS_BACK,
      project: { description: 'The project of the flags; without it all flags that the caller sees count.' },
      feature: { description: 'The one flag that counts.' },
      step: {
        description: 'Of the last hour by minutes; without it by hours or by days.',
        schema: { type: 'string', enum: ['minute'] },
      },
    },
    success: { status: 200, schema: UsageSumsSchema },
    refusals: ['ValidationError', 'NotFoundError'],
    read: sums,
  }),
]);
