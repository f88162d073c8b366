/**
 * The plan of files: what they have otherwise than the server, apart from what others changed after the files' base event. Three
 * states meet in it. A part that differs is changed if its newest event is not after the base, or was made by an apply of the same
 * caller; otherwise it is a conflict, which is named and not overwritten. So no state of the past is kept anywhere.
 */

import { grouped } from '../../domain/json/grouped.ts';
import { jsonEqual } from '../../domain/json/json.ts';
import type { AdminClient } from '../../host/admin-client.ts';
import {
  type Change,
  ENVIRONMENT_FIELDS,
  type Field,
  type FileFlag,
  FLAG_FIELDS,
  partOf,
  type ShownFlag,
} from './flag-file.ts';
import type { ReadFile } from './read-files.ts';

export interface Author {
  readonly name: string;
  readonly userId: number;
}

/** A project as the server shows it. */
export interface ShownProject {
  readonly id: string;
  readonly eventId: number;
  readonly actor: Author;
  readonly flags: ReadonlyMap<string, ShownFlag>;
}

/** The newest change of a part; null where its event is not kept any more. */
type Touch = Pick<FoundEvent, 'id' | 'createdBy' | 'createdAt'> | null;

export type Conflict = Pick<Change, 'flag' | 'environment' | 'field'> & { readonly event: Touch };

export interface ProjectPlan {
  readonly project: string;
  readonly changes: readonly Change[];
  readonly conflicts: readonly Conflict[];
}

export type Tell = (phase: string, done: number, total: number | null) => void;

const pathOf = (project: string): string => `/projects/${encodeURIComponent(project)}/flags-as-code`;

export async function readProject(client: AdminClient, id: string, tell: Tell): Promise<ShownProject> {
  const flags = new Map<string, ShownFlag>();
  let first: Omit<ShownProject, 'id' | 'flags'> | null = null;
  for (let offset: number | null = 0; offset !== null; ) {
    const page = (await client.get(`${pathOf(id)}?offset=${offset}`)) as Omit<ShownProject, 'flags'> & {
      readonly flags: readonly ShownFlag[];
      readonly nextOffset?: number;
    };
    first ??= { eventId: page.eventId, actor: page.actor };
    for (const flag of page.flags) flags.set(flag.name, flag);
    tell('reading', flags.size, null);
    offset = page.nextOffset ?? null;
  }
  return { id, flags, ...(first as NonNullable<typeof first>) };
}

/** One plan for each project. With `prunes`, active flags that no file has are archived. */
export async function planFiles(
  client: AdminClient,
  files: readonly ReadFile[],
  { prunes, tell }: { readonly prunes: boolean; readonly tell: Tell },
): Promise<readonly ProjectPlan[]> {
  const plans: ProjectPlan[] = [];
  for (const [project, ofProject] of grouped(files, ({ file }) => file.project)) {
    const shown = await readProject(client, project, tell);
    const wanted = ofProject.flatMap(({ file }) =>
      file.flags.flatMap((flag) =>
        changesOf(flag, shown.flags.get(flag.name), new Set(file.managed), file.base),
      ),
    );
    const base = Math.min(...ofProject.map(({ file }) => file.base));
    const named = new Set(ofProject.flatMap(({ file }) => file.flags.map(({ name }) => name)));
    if (prunes)
      for (const flag of shown.flags.values())
        if (flag.presence === 'active' && !named.has(flag.name)) wanted.push({ base, ...archiving(flag) });
    plans.push(await withoutConflicts(client, shown, wanted));
  }
  return plans;
}

type Wanted = Change & { readonly base: number };

const archiving = ({ name: flag, presence }: ShownFlag): Change => ({
  ...{ flag, environment: null, field: 'presence', before: presence, after: 'archived' },
});

/** The parts that the file has otherwise. Absent fields, and those that it does not manage, stay as they are. */
function changesOf(
  wanted: FileFlag,
  now: ShownFlag | undefined,
  managed: ReadonlySet<Field>,
  base: number,
): readonly Wanted[] {
  const flag = wanted.name;
  const changes: Wanted[] = [];
  const compare = (environment: string | null, field: Change['field'], after: unknown): void => {
    const before = partOf(now, { environment, field });
    if (after !== undefined && !jsonEqual(comparable(field, before), comparable(field, after)))
      changes.push({ flag, environment, field, before, after, base });
  };
  compare(null, 'presence', 'active');
  for (const field of Object.keys(FLAG_FIELDS) as (keyof typeof FLAG_FIELDS)[])
    if (managed.has(field)) compare(null, field, wanted[field]);
  for (const { name, ...here } of wanted.environments)
    for (const field of Object.keys(ENVIRONMENT_FIELDS) as (keyof typeof ENVIRONMENT_FIELDS)[])
      if (managed.has(field)) compare(name, field, here[field]);
  return changes;
}

/** Tags and parents have no order. */
function comparable(field: Change['field'], value: unknown): unknown {
  if (field !== 'tags' && field !== 'dependencies') return value;
  const texts = (value as readonly object[]).map((one) => JSON.stringify(Object.entries(one).sort()));
  return texts.sort();
}

// Conflicts.

interface FoundEvent {
  readonly id: number;
  readonly type: string;
  readonly createdBy: string;
  readonly createdByUserId: number;
  readonly createdAt: string;
  readonly featureName: string | null;
  readonly environment: string | null;
  readonly data: { readonly [field: string]: unknown } | null;
  readonly preData: { readonly [field: string]: unknown } | null;
}

async function withoutConflicts(
  client: AdminClient,
  shown: ShownProject,
  wanted: readonly Wanted[],
): Promise<ProjectPlan> {
  const isUnsure = ({ flag, base }: Wanted) => (shown.flags.get(flag)?.revision ?? shown.eventId) > base;
  const unsure = wanted.filter(isUnsure);
  const history = unsure.length === 0 ? null : await historyOf(client, shown, unsure);
  const conflicts = unsure.flatMap((change): readonly Conflict[] => {
    const { flag, environment, field } = change;
    const event = history?.othersTouch(change);
    return event === undefined ? [] : [{ flag, environment, field, event }];
  });
  const gone = new Set(conflicts.flatMap(({ flag, field }) => (field === 'presence' ? flag : [])));
  const keys = new Set(conflicts.map(keyOf));
  return {
    project: shown.id,
    changes: wanted
      .filter((one) => !gone.has(one.flag) && !keys.has(keyOf(one)))
      .map(({ base: _, ...change }) => change),
    conflicts: conflicts.filter(({ flag, field }) => field === 'presence' || !gone.has(flag)),
  };
}

const keyOf = ({ flag, environment, field }: Pick<Change, 'flag' | 'environment' | 'field'>): string =>
  JSON.stringify([flag, environment, field]);

/** Names of flags in one search. */
const NAMES_MAX = 50;
const EVENTS_MAX = 1_000;

interface History {
  /** Somebody else's newest change of the part after the base; undefined where there is none. */
  othersTouch(change: Wanted): Touch | undefined;
}

async function historyOf(
  client: AdminClient,
  { id, actor, flags }: ShownProject,
  wanted: readonly Wanted[],
): Promise<History> {
  const base = Math.min(...wanted.map((one) => one.base));
  const own = await ownApplies(client, id, actor, base);
  const newest = new Map<string, FoundEvent>();
  const names = [...new Set(wanted.map(({ flag }) => flag))];
  for (let at = 0; at < names.length; at += NAMES_MAX) {
    const some = names
      .slice(at, at + NAMES_MAX)
      .map(encodeURIComponent)
      .join(',');
    for await (const event of eventsAfter(client, `feature=IS_ANY_OF:${some}`, base))
      for (const part of partsTouched(event)) if (!newest.has(part)) newest.set(part, event);
  }
  const oldest = (await client.get(`/events?limit=1&offset=${base + 1}`)) as {
    readonly events: readonly unknown[];
  };
  const isWhole = oldest.events.length > 0;
  return {
    othersTouch(change) {
      const { flag, environment, field } = change;
      const any = field === 'presence' && change.after === 'archived' ? 'any' : field;
      const touches = [
        newest.get(JSON.stringify([flag, environment, any])),
        newest.get(JSON.stringify([flag, null, 'all'])),
        environment === null ? undefined : newest.get(JSON.stringify([flag, null, field])),
      ].filter((one) => one !== undefined);
      const last = touches.toSorted((a, b) => b.id - a.id)[0];
      if (last === undefined) return isWhole || !flags.has(flag) ? undefined : null;
      return last.id <= change.base || own(last) ? undefined : last;
    },
  };
}

/** Whether an event belongs to an apply by the same user or token. */
async function ownApplies(client: AdminClient, project: string, { name, userId }: Author, base: number) {
  const ranges: (readonly [from: number, to: number])[] = [];
  const query = `type=IS:features-applied&project=IS:${encodeURIComponent(project)}`;
  for await (const { id, createdBy, createdByUserId, data } of eventsAfter(client, query, base))
    if (createdBy === name && createdByUserId === userId) ranges.push([id - Number(data?.['events']), id]);
  return ({ id }: FoundEvent): boolean => ranges.some(([from, to]) => from <= id && id <= to);
}

/** Newest first. */
async function* eventsAfter(client: AdminClient, query: string, base: number): AsyncGenerator<FoundEvent> {
  for (let offset: number | null = 0; offset !== null; ) {
    const page = (await client.get(`/search/events?${query}&limit=${EVENTS_MAX}&offset=${offset}`)) as {
      readonly events: readonly FoundEvent[];
      readonly nextOffset?: number;
    };
    for (const event of page.events) {
      if (event.id <= base) return;
      yield event;
    }
    offset = page.nextOffset ?? null;
  }
}

const METADATA = ['description', 'type', 'stale', 'impressionData', 'links'] as const;

/** Events that change nothing that a file can have. */
const ASIDE =
  /^feature-(?:favorited|unfavorited|commented|completed|uncompleted|potentially-stale-.*)$|^change-|^features-/;

/** The parts of a flag that an event changes; an event of a kind that is not known counts for all of them. */
function partsTouched({
  type,
  featureName: flag,
  environment,
  data,
  preData,
}: FoundEvent): readonly string[] {
  if (ASIDE.test(type)) return [];
  const parts = (...fields: readonly string[]) =>
    [...fields, 'any'].map((field) => JSON.stringify([flag, null, field]));
  const here = (field: Field) => [JSON.stringify([flag, environment, field]), ...parts()];
  if (type.startsWith('feature-strategy-') || type === 'strategy-order-changed') return here('strategies');
  if (type === 'feature-environment-variants-updated') return here('variants');
  if (type === 'feature-environment-enabled' || type === 'feature-environment-disabled')
    return here('enabled');
  if (type === 'feature-variants-updated') return parts('variants');
  if (type === 'feature-tagged' || type === 'feature-untagged') return parts('tags');
  if (type.startsWith('feature-dependenc')) return parts('dependencies');
  if (type === 'feature-stale-on' || type === 'feature-stale-off') return parts('stale');
  if (type === 'feature-archived' || type === 'feature-revived')
    return parts('presence', 'enabled', 'dependencies');
  if (type === 'feature-metadata-updated' && data !== null && preData !== null)
    return parts(...METADATA.filter((field) => !jsonEqual(data[field], preData[field])));
  return parts('all', 'presence');
}
