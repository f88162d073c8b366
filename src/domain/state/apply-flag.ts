/**
 * `apply` for events about one flag. It changes that flag and, for dependencies, its parent, but never the whole
 * project.
 *
 * Events about a flag in one environment are the most frequent ones, and copy it by hand; the others use immer. Drafts would make a
 * switch three times as expensive as deciding, copying and rendering it together, because immer searches everything that a recipe
 * adds, constraints and variants included, for more drafts.
 */
import { type Draft as Drafted, produce, setAutoFreeze } from 'immer';
import { type Dependency, environmentOf, type Flag, type FlagEnvironment, flagOf } from '../flags/flag.ts';
import { endOfLife } from '../flags/lifetime.ts';
import { LIFETIME_DAYS } from '../flags/metadata.ts';
import { bySortOrder, type Strategy, strategyOf } from '../flags/strategy.ts';
import type { EventStamp, FlagEvent } from './events.ts';
import { changeFavorite, forgetFavorite } from './favorites.ts';
import type { FlagRecord } from './flag-record.ts';
import { dropFlag, dropRecord, keepDerived, noteFlag, putFlag, putRecord, replaceFlag } from './records.ts';
import { lifetimesIn } from './settings.ts';
import {
  type Draft,
  directoryIn,
  type ProjectDraft,
  type ProjectState,
  projectIn,
  type StalenessNote,
} from './world.ts';

// The types (everything is readonly) and the property tests, which freeze, guarantee immutability. Freezing each new
// object deeply in production would cost more than the change itself.
setAutoFreeze(false);

type FlagDraft = Drafted<Flag>;

/** `run`: one event, or several of one type about one flag in one environment. `stamp`: that of the last. */
export function applyFlagEvents(draft: Draft, run: readonly FlagEvent[], stamp: EventStamp): void {
  const event = run[0]!;
  const known = draft.projects.get(event.project);
  if (known === undefined) throw mismatch(event, 'its project does not exist');
  const project = projectIn(draft, known);
  project.revision = stamp.id;
  const touched = { draft, project, name: event.featureName, stamp };
  switch (event.type) {
    case 'feature-created':
      return create(draft, project, event, stamp);
    case 'feature-deleted':
      return remove(draft, project, event.featureName);
    case 'feature-project-change':
      // When it leaves, its name stays taken, and what is noted of it by its name stays: it arrives elsewhere with the next event.
      return event.hidden === undefined
        ? dropFlag(draft, project, recordOf(project, event.featureName, stamp))
        : arrive(draft, project, event.hidden, stamp);
    case 'feature-potentially-stale-on':
    case 'feature-potentially-stale-soon':
      return note(draft, recordOf(project, event.featureName, stamp).flag, event.type);
    case 'feature-favorited':
    case 'feature-unfavorited':
      recordOf(project, event.featureName, stamp);
      return changeFavorite(draft, {
        userId: event.data.userId,
        kind: 'flags',
        name: event.featureName,
        isMarked: event.type === 'feature-favorited',
      });
    case 'feature-commented':
      recordOf(project, event.featureName, stamp);
      return;
    case 'feature-completed':
    case 'feature-uncompleted':
      return complete(touched, event);
    case 'feature-revived':
      dropRecord(draft, directoryIn(draft), 'completions', event.featureName);
      break;
    case 'feature-metadata-updated':
      forgetNote(draft, event, stamp);
      break;
    case 'feature-dependency-added':
      changeParents(touched, [event.data], true);
      break;
    case 'feature-dependency-removed':
      changeParents(touched, [event.preData], false);
      break;
    case 'feature-dependencies-removed':
      changeParents(touched, event.preData.dependencies, false);
      break;
    default:
  }
  const record = recordOf(project, event.featureName, stamp);
  const flag = changed(record.flag, run as readonly ChangeEvent[], project, stamp);
  const growth = noteChange(draft, event, { before: record.flag, after: flag });
  replaceFlag(draft, project, record, { flag, revision: stamp.id, growth });
}

/** `noteFlag` for what the event can have changed, since most changes are switches and changes of one strategy. */
function noteChange(
  draft: Draft,
  { type, environment }: ChangeEvent,
  { before, after }: { readonly before: Flag; readonly after: Flag },
): number {
  if (environment === null) return noteFlag(draft, before, after);
  const isSwitch = type === 'feature-environment-enabled' || type === 'feature-environment-disabled';
  // The first change of a flag in an environment makes an entry for it.
  if (!isSwitch || before.environments.length !== after.environments.length)
    keepDerived(draft, before, after);
  return 0;
}

type FlagEnvironmentEvent = Extract<FlagEvent, { readonly environment: string }>;
type ChangeEvent = Exclude<
  FlagEvent,
  {
    type:
      | 'feature-created'
      | 'feature-deleted'
      | 'feature-project-change'
      | 'feature-potentially-stale-on'
      | 'feature-potentially-stale-soon'
      | 'feature-favorited'
      | 'feature-unfavorited'
      | 'feature-commented'
      | 'feature-completed'
      | 'feature-uncompleted';
  }
>;

function changed(flag: Flag, run: readonly ChangeEvent[], project: ProjectState, stamp: EventStamp): Flag {
  const event = run[0]!;
  if (event.environment !== null)
    return withEnvironment(flag, event.environment, changesOf(flag, run as readonly FlagEnvironmentEvent[]));
  if (event.type === 'feature-metadata-updated') return flagOf(flag, event.data, flag.environments);
  if (event.type !== 'feature-variants-updated') return produce(flag, (after) => change(after, event, stamp));
  const { variants } = event.data;
  return project.settings.environments.reduce(
    (after, name) => withEnvironment(after, name, { variants }),
    flag,
  );
}

function changesOf(flag: Flag, run: readonly FlagEnvironmentEvent[]): Partial<FlagEnvironment> {
  const last = run.at(-1)!;
  switch (last.type) {
    case 'feature-environment-enabled':
      return { enabled: true };
    case 'feature-environment-disabled':
      return { enabled: false };
    case 'feature-environment-variants-updated':
      return { variants: last.data.variants };
    default: {
      const strategies = [...environmentOf(flag, last.environment).strategies];
      for (const event of run) changeStrategies(strategies, event);
      return { strategies };
    }
  }
}

/** Most strategies are added at the end and keep their sortOrder: no sort is needed then. */
function changeStrategies(strategies: Strategy[], event: FlagEnvironmentEvent): void {
  switch (event.type) {
    case 'feature-strategy-add': {
      const last = strategies.at(-1);
      const added = strategyOf(event.data);
      strategies.push(added);
      if (last !== undefined && last.sortOrder > added.sortOrder) strategies.sort(bySortOrder);
      return;
    }
    case 'feature-strategy-update': {
      const at = placeOf(strategies, event.data.id);
      if (at === strategies.length) return;
      const { sortOrder } = strategies[at]!;
      strategies[at] = strategyOf(event.data);
      if (event.data.sortOrder !== sortOrder) strategies.sort(bySortOrder);
      return;
    }
    case 'feature-strategy-remove':
      strategies.splice(placeOf(strategies, event.preData.id), 1);
      return;
    case 'strategy-order-changed': {
      const orders = new Map(event.data.strategies.map(({ id, sortOrder }) => [id, sortOrder]));
      for (const [at, one] of strategies.entries())
        strategies[at] = { ...one, sortOrder: orders.get(one.id) ?? one.sortOrder };
      strategies.sort(bySortOrder);
      return;
    }
    default:
      throw mismatch(event, 'this version does not know the type');
  }
}

/** The length of the list where none has the id. A loop, because a change may look for a thousand of them. */
function placeOf(strategies: readonly Strategy[], id: string): number {
  let at = 0;
  while (at < strategies.length && strategies[at]!.id !== id) at += 1;
  return at;
}

/** The flag with changed values in `environment`, whose entry is made at the first change there. */
function withEnvironment(flag: Flag, environment: string, changes: Partial<FlagEnvironment>): Flag {
  const before = environmentOf(flag, environment);
  const after: FlagEnvironment = {
    name: before.name,
    enabled: changes.enabled ?? before.enabled,
    strategies: changes.strategies ?? before.strategies,
    variants: changes.variants ?? before.variants,
  };
  const at = flag.environments.indexOf(before);
  const environments = at === -1 ? [...flag.environments, after] : flag.environments.with(at, after);
  return flagOf(flag, flag, environments);
}

/** The effect of any other event on the flag that it names. */
function change(
  flag: FlagDraft,
  event: Exclude<
    ChangeEvent,
    FlagEnvironmentEvent | { type: 'feature-metadata-updated' | 'feature-variants-updated' }
  >,
  { createdAt }: EventStamp,
): void {
  switch (event.type) {
    case 'feature-stale-on':
    case 'feature-stale-off':
      flag.stale = event.type === 'feature-stale-on';
      return;
    case 'feature-archived':
      flag.archivedAt = event.hidden?.archivedAt ?? createdAt;
      return;
    case 'feature-revived':
      flag.archivedAt = null;
      return;
    case 'feature-tagged':
      flag.tags.push({ type: event.data.type, value: event.data.value });
      return;
    case 'feature-untagged': {
      const { type, value } = event.preData;
      flag.tags = flag.tags.filter((tag) => tag.type !== type || tag.value !== value);
      return;
    }
    case 'feature-dependency-added': {
      const { feature, enabled, variants } = event.data;
      const others = flag.dependencies.filter((one) => one.feature !== feature);
      flag.dependencies = [...others, { feature, enabled, variants: [...variants] }];
      return;
    }
    case 'feature-dependency-removed':
      flag.dependencies = flag.dependencies.filter((one) => one.feature !== event.preData.feature);
      return;
    case 'feature-dependencies-removed':
      flag.dependencies = [];
      return;
    default:
      throw mismatch(event, 'this version does not know the type');
  }
}

/** All flags share one empty list, since most never get a tag, a parent or a child. */
const NONE: readonly never[] = [];

function create(
  draft: Draft,
  project: ProjectState,
  { data, hidden }: Extract<FlagEvent, { type: 'feature-created' }>,
  stamp: EventStamp,
): void {
  if (draft.flagProjects.has(data.name)) throw new Error(`the flag ${data.name} is created twice`);
  const body = {
    name: data.name,
    project: data.project,
    createdAt: data.createdAt,
    archivedAt: null,
    environments: NONE,
    tags: NONE,
    dependencies: NONE,
    children: NONE,
  };
  const flagEnvironments = (hidden?.environments ?? []).map(({ name, variants }) => ({
    name,
    enabled: false,
    strategies: [],
    variants,
  }));
  const flag = flagOf(body, data, flagEnvironments);
  putFlag(draft, project, { flag, revision: stamp.id, createdBy: hidden?.createdBy ?? null });
}

function remove(draft: Draft, project: ProjectState, name: string): void {
  const record = project.flags.get(name);
  if (record === undefined) throw new Error(`the flag ${name} is deleted, but does not exist`);
  const directory = directoryIn(draft);
  dropFlag(draft, project, record);
  draft.flagProjects = draft.flagProjects.without(name, draft.edit);
  dropRecord(draft, directory, 'potentiallyStale', name);
  dropRecord(draft, directory, 'completions', name);
  forgetFavorite(draft, 'flags', name);
}

function arrive(
  draft: Draft,
  project: ProjectState,
  { flag, createdBy }: { readonly flag: Flag; readonly createdBy: number | null },
  stamp: EventStamp,
): void {
  if (project.flags.has(flag.name)) throw new Error(`the flag ${flag.name} is in its new project already`);
  putFlag(draft, project, { flag, revision: stamp.id, createdBy });
}

/** Nothing of the flag changes, nor do its responses. */
function note(draft: Draft, { name, project, type }: Flag, event: FlagEvent['type']): void {
  const directory = directoryIn(draft);
  const days = lifetimesIn(draft, project)[type];
  const noted: StalenessNote = {
    flag: name,
    ...(days === LIFETIME_DAYS[type] ? {} : { days }),
    ...(event === 'feature-potentially-stale-soon' ? { isSoon: true } : {}),
  };
  putRecord(draft, directory, 'potentiallyStale', [name, noted]);
}

/** The flag shows it, so its revision is another one, although the flag itself is not. */
function complete(
  { draft, project, name, stamp }: Touched,
  event: Extract<FlagEvent, { type: 'feature-completed' | 'feature-uncompleted' }>,
): void {
  const record = recordOf(project, name, stamp);
  const directory = directoryIn(draft);
  if (event.type === 'feature-uncompleted') dropRecord(draft, directory, 'completions', name);
  else {
    const at = event.hidden?.completedAt ?? stamp.createdAt;
    putRecord(draft, directory, 'completions', [name, { ...event.data, flag: name, at }]);
  }
  replaceFlag(draft, project, record, { flag: record.flag, revision: stamp.id, growth: 0 });
}

/** A flag of another type may outlive that one later, and is then noted again. */
function forgetNote(
  draft: Draft,
  { project, featureName, data, preData }: Extract<FlagEvent, { type: 'feature-metadata-updated' }>,
  { createdAt }: EventStamp,
): void {
  const { potentiallyStale } = draft.directory;
  if (data.type === preData.type || !potentiallyStale.has(featureName)) return;
  if (endOfLife(data, lifetimesIn(draft, project)) <= Date.parse(createdAt)) return;
  dropRecord(draft, directoryIn(draft), 'potentiallyStale', featureName);
}

/** The flag that an event touches. */
interface Touched {
  readonly draft: Draft;
  readonly project: ProjectDraft;
  readonly name: string;
  readonly stamp: EventStamp;
}

/** Lists the flag among the children of its parents, as the last of them, or takes it out. */
function changeParents(
  { draft, project, name, stamp }: Touched,
  parents: readonly Pick<Dependency, 'feature'>[],
  isChild: boolean,
): void {
  for (const { feature } of parents) {
    const record = recordOf(project, feature, stamp);
    const others = record.flag.children.filter((child) => child !== name);
    const flag = produce(record.flag, (parent) => {
      parent.children = isChild ? [...others, name] : others;
    });
    replaceNoted(draft, project, record, { flag, revision: stamp.id });
  }
}

function recordOf(project: ProjectState, name: string, stamp: EventStamp): FlagRecord {
  const record = project.flags.get(name);
  if (record !== undefined) return record;
  throw new Error(`event ${stamp.id} changes the flag ${name}, which does not exist`);
}

function replaceNoted(
  draft: Draft,
  project: ProjectState,
  record: FlagRecord,
  { flag, revision }: Pick<FlagRecord, 'flag' | 'revision'>,
): void {
  replaceFlag(draft, project, record, { flag, revision, growth: noteFlag(draft, record.flag, flag) });
}

function mismatch(event: { type: string; project: string | null }, reason: string): Error {
  return new Error(`the event ${event.type} in project ${event.project} does not fit the state: ${reason}`);
}
