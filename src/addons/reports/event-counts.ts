/** Figures of a project from the event log: how much was changed, and how long new flags took to production. */
import { inTurns } from '../../actors/turn.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import type { EventType } from '../../domain/state/event-types.ts';
import type { FlagChunk } from '../../domain/state/project-flags.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { ProjectState } from '../../domain/state/world.ts';
import type { RequestContext } from '../../http/serving/route.ts';
import { hiddenProjects } from '../../http/serving/visible-world.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Days of a window of time; the window before it is as long. */
export const WINDOW_DAYS = 30;

/** Flags whose way to production is looked up, newest first: one search of the log for each. */
export const LEAD_TIME_FLAGS_MAX = 50;
/** Switches of one flag: the first of a flag that was switched more often is that of its oldest events. */
const SWITCHES_MAX = 100;

type Context = RequestContext<unknown>;

interface Counted {
  readonly type?: EventType | readonly EventType[];
  readonly project?: string;
  /** Both included, in milliseconds since 1970. */
  readonly fromMs?: number;
  readonly untilMs?: number;
}

/** How many events match. */
export async function countEvents(
  { reads, engine, caller, requester }: Context,
  counted: Counted,
): Promise<number | Refusal> {
  const hidden = hiddenProjects(engine.world, caller);
  const query = { ...counted, hiddenProjects: hidden, limit: 0, offset: 0 };
  const page = await reads.search(query, engine.durableId, requester);
  return isRefusal(page) ? page : page.totalEvents;
}

/** The start of the window that ends now, and of the one before it, in milliseconds since 1970. */
export const windowStarts = (nowMs: number) => ({
  current: nowMs - WINDOW_DAYS * DAY_MS,
  past: nowMs - 2 * WINDOW_DAYS * DAY_MS,
});

/** Counts under their names, one after the other, or the first refusal. */
export async function countAll<Name extends string>(
  context: Context,
  wanted: Readonly<Record<Name, Counted>>,
): Promise<Record<Name, number> | Refusal> {
  const counts: Partial<Record<Name, number>> = {};
  for (const [name, counted] of Object.entries(wanted) as [Name, Counted][]) {
    const count = await countEvents(context, counted);
    if (isRefusal(count)) return count;
    counts[name] = count;
  }
  return counts as Record<Name, number>;
}

/** Events on each of the last days in UTC, oldest first; days without any are left out. */
export async function activityByDate(
  context: Context,
  project: string,
): Promise<readonly { readonly date: string; readonly count: number }[] | Refusal> {
  const today = Math.floor(context.now() / DAY_MS) * DAY_MS;
  const days: { date: string; count: number }[] = [];
  for (let ago = WINDOW_DAYS - 1; ago >= 0; ago -= 1) {
    const fromMs = today - ago * DAY_MS;
    const count = await countEvents(context, { project, fromMs, untilMs: fromMs + DAY_MS - 1 });
    if (isRefusal(count)) return count;
    if (count > 0) days.push({ date: new Date(fromMs).toISOString().slice(0, 10), count });
  }
  return days;
}

/** Weeks that are counted, the running one included. */
const WEEKS = 12;

/** Flags that were created and archived in each of the last weeks, oldest first; weeks begin on Monday in UTC. */
export async function flagsByWeek(
  context: Context,
  project: string,
): Promise<
  readonly { readonly date: string; readonly created: number; readonly archived: number }[] | Refusal
> {
  const today = Math.floor(context.now() / DAY_MS);
  // Day 0 was a Thursday.
  const monday = today - ((today + 3) % 7);
  const weeks = [];
  for (let ago = WEEKS - 1; ago >= 0; ago -= 1) {
    const fromMs = (monday - 7 * ago) * DAY_MS;
    const span = { project, fromMs, untilMs: fromMs + 7 * DAY_MS - 1 };
    const counts = await countAll(context, {
      created: { ...span, type: 'feature-created' },
      archived: { ...span, type: 'feature-archived' },
    });
    if (isRefusal(counts)) return counts;
    weeks.push({ date: new Date(fromMs).toISOString().slice(0, 10), ...counts });
  }
  return weeks;
}

interface LeadTime {
  readonly name: string;
  /** Days from the creation to the first time that the flag was switched on in an environment of the type production. */
  readonly timeToProduction: number;
  /** The time at which it was switched on there, in milliseconds since 1970. */
  readonly atMs: number;
}

/** The lead times of the newest release flags that have come to production, newest first. */
export async function leadTimes(
  context: Context,
  project: ProjectState,
): Promise<readonly LeadTime[] | Refusal> {
  const { world } = context;
  const production = new Set(
    world.directory.environments.filter(({ type }) => type === 'production').map(({ name }) => name),
  );
  const times: LeadTime[] = [];
  for (const { name, createdAt } of await inTurns(newestReleases(project), context.requester)) {
    const atMs = await firstSwitch(context, { project: project.settings.id, feature: name }, production);
    if (isRefusal(atMs)) return atMs;
    if (atMs === null) continue;
    const days = Math.max(0, atMs - Date.parse(createdAt)) / DAY_MS;
    times.push({ name, timeToProduction: Math.round(days * 10) / 10, atMs });
  }
  return times;
}

/** The newest release flags as they are at the moment of the call, in steps. */
function newestReleases({ flags }: ProjectState): Generator<void, readonly Flag[]> {
  return newestIn(flags.chunks.toReversed());
}

function* newestIn(chunks: readonly FlagChunk[]): Generator<void, readonly Flag[]> {
  const newest: Flag[] = [];
  for (const { values } of chunks) {
    for (const { flag } of values.toReversed()) {
      if (flag.type === 'release') newest.push(flag);
      if (newest.length === LEAD_TIME_FLAGS_MAX) return newest;
    }
    yield;
  }
  return newest;
}

/** The first time that the flag was switched on in one of the environments; null: never, as far as the log reaches. */
async function firstSwitch(
  { reads, engine, requester }: Context,
  flag: { readonly project: string; readonly feature: string },
  environments: ReadonlySet<string>,
): Promise<number | null | Refusal> {
  const query = { ...flag, type: 'feature-environment-enabled', limit: SWITCHES_MAX, offset: 0 } as const;
  let page = await reads.search(query, engine.durableId, requester);
  if (isRefusal(page)) return page;
  const skip = page.totalEvents - SWITCHES_MAX;
  if (skip > 0) page = await reads.search({ ...query, skip }, engine.durableId, requester);
  if (isRefusal(page)) return page;
  const switches = JSON.parse(Buffer.from(page.json).toString()) as readonly SwitchShown[];
  const first = switches.findLast(({ environment }) => environments.has(environment));
  return first === undefined ? null : Date.parse(first.createdAt);
}

interface SwitchShown {
  readonly createdAt: string;
  readonly environment: string;
}
