/** `apply` for events about one flag. Touches that flag, and for dependencies its parent; never the whole project. */
import { type Draft, produce, setAutoFreeze } from 'immer';
import type { EventStamp } from './apply.ts';
import type { EnvironmentVariants, FlagEvent } from './events.ts';
import type { Dependency, Flag, FlagData, FlagEnvironment } from './flag.ts';
import { bySortOrder, type Strategy } from './strategy.ts';
import type { FlagRecord, ProjectState, World } from './world.ts';

// Immutability is kept by the types (everything is readonly) and by the property tests, which freeze. Freezing
// each new object deeply in production costs more than the change itself.
setAutoFreeze(false);

type FlagDraft = Draft<Flag>;
type Recipe = (flag: FlagDraft) => void;

export function applyFlagEvent(world: World, event: FlagEvent, stamp: EventStamp): void {
  const project = world.projects.get(event.project);
  if (project === undefined) throw misfit(event, 'its project does not exist');
  project.revision = stamp.id;
  switch (event.type) {
    case 'feature-created':
      return create(world, project, event.data, event.hidden?.environments ?? [], stamp);
    case 'feature-deleted':
      return remove(world, project, event.featureName);
    case 'feature-dependency-added':
      change(project, event.data.feature, stamp, (parent) => {
        parent.children.push(event.featureName);
      });
      break;
    case 'feature-dependency-removed':
      forgetChild(project, event.featureName, [event.preData], stamp);
      break;
    case 'feature-dependencies-removed':
      forgetChild(project, event.featureName, event.preData.dependencies, stamp);
      break;
    default:
  }
  change(project, event.featureName, stamp, recipeOf(event, project, stamp));
}

/** What the event does to the flag that it names. */
function recipeOf(
  event: Exclude<FlagEvent, { type: 'feature-created' | 'feature-deleted' }>,
  project: ProjectState,
  stamp: EventStamp,
): Recipe {
  switch (event.type) {
    case 'feature-metadata-updated':
      return (flag) => {
        flag.description = event.data.description;
        flag.type = event.data.type;
        flag.stale = event.data.stale;
        flag.impressionData = event.data.impressionData;
      };
    case 'feature-stale-on':
      return (flag) => {
        flag.stale = true;
      };
    case 'feature-stale-off':
      return (flag) => {
        flag.stale = false;
      };
    case 'feature-archived':
      return (flag) => {
        flag.archivedAt = event.hidden?.archivedAt ?? stamp.createdAt;
      };
    case 'feature-revived':
      return (flag) => {
        flag.archivedAt = null;
      };
    case 'feature-environment-enabled':
      return (flag) => {
        touched(flag, event.environment).enabled = true;
      };
    case 'feature-environment-disabled':
      return (flag) => {
        touched(flag, event.environment).enabled = false;
      };
    case 'feature-variants-updated':
      return (flag) => {
        for (const name of project.settings.environments) setVariants(flag, name, event.data.variants);
      };
    case 'feature-environment-variants-updated':
      return (flag) => setVariants(flag, event.environment, event.data.variants);
    case 'feature-tagged':
      return (flag) => {
        flag.tags.push({ type: event.data.type, value: event.data.value });
      };
    case 'feature-untagged':
      return (flag) => {
        const { type, value } = event.preData;
        flag.tags = flag.tags.filter((tag) => tag.type !== type || tag.value !== value);
      };
    case 'feature-dependency-added':
      return (flag) => {
        flag.dependencies.push(event.data as Draft<Dependency>);
      };
    case 'feature-dependency-removed':
      return (flag) => {
        flag.dependencies = flag.dependencies.filter((one) => one.feature !== event.preData.feature);
      };
    case 'feature-dependencies-removed':
      return (flag) => {
        flag.dependencies = [];
      };
    default:
      return strategyRecipe(event);
  }
}

type StrategyEvent = Extract<FlagEvent, { type: `${string}strategy-${string}` }>;

function strategyRecipe(event: StrategyEvent): Recipe {
  const { environment } = event;
  switch (event.type) {
    case 'feature-strategy-add':
      return (flag) => {
        const part = touched(flag, environment);
        part.strategies.push(withoutFeatureName(event.data));
        part.strategies.sort(bySortOrder);
      };
    case 'feature-strategy-update':
      return (flag) => {
        const part = touched(flag, environment);
        part.strategies = part.strategies.map((one) =>
          one.id === event.data.id ? withoutFeatureName(event.data) : one,
        );
        part.strategies.sort(bySortOrder);
      };
    case 'feature-strategy-remove':
      return (flag) => {
        const part = touched(flag, environment);
        part.strategies = part.strategies.filter((one) => one.id !== event.preData.id);
      };
    case 'strategy-order-changed':
      return (flag) => {
        const part = touched(flag, environment);
        for (const { id, sortOrder } of event.data.strategies) {
          const strategy = part.strategies.find((one) => one.id === id);
          if (strategy !== undefined) strategy.sortOrder = sortOrder;
        }
        part.strategies.sort(bySortOrder);
      };
    default:
      throw misfit(event, 'this version does not know the type');
  }
}

function create(
  world: World,
  project: ProjectState,
  data: FlagData,
  environments: readonly EnvironmentVariants[],
  stamp: EventStamp,
): void {
  if (world.directory.flagProjects.has(data.name)) throw new Error(`the flag ${data.name} is created twice`);
  const flag: Flag = {
    name: data.name,
    project: data.project,
    description: data.description,
    type: data.type,
    stale: data.stale,
    impressionData: data.impressionData,
    createdAt: data.createdAt,
    archivedAt: null,
    environments: environments.map(({ name, variants }) => ({
      name,
      enabled: false,
      strategies: [],
      variants,
    })),
    tags: [],
    dependencies: [],
    children: [],
  };
  project.flags.set(flag.name, { flag, revision: stamp.id, bytes: null });
  world.directory.flagProjects.set(flag.name, data.project);
}

function remove(world: World, project: ProjectState, name: string): void {
  if (!project.flags.delete(name)) throw new Error(`the flag ${name} is deleted, but does not exist`);
  world.directory.flagProjects.delete(name);
}

function forgetChild(
  project: ProjectState,
  child: string,
  dependencies: readonly Dependency[],
  stamp: EventStamp,
): void {
  for (const { feature } of dependencies) {
    change(project, feature, stamp, (parent) => {
      parent.children = parent.children.filter((name) => name !== child);
    });
  }
}

function change(project: ProjectState, name: string, stamp: EventStamp, recipe: Recipe): void {
  const record = project.flags.get(name);
  if (record === undefined)
    throw new Error(`event ${stamp.id} changes the flag ${name}, which does not exist`);
  replaceFlag(record, produce(record.flag, recipe), stamp.id);
}

/** Puts the new flag in the old one's place; what was rendered of the old one is dropped. */
export function replaceFlag(record: FlagRecord, flag: Flag, eventId: number): void {
  record.flag = flag;
  record.revision = eventId;
  record.bytes = null;
}

/** The flag's entry for `environment`, made when it is the first touch. */
function touched(flag: FlagDraft, environment: string): Draft<FlagEnvironment> {
  const present = flag.environments.find((one) => one.name === environment);
  if (present !== undefined) return present;
  flag.environments.push({ name: environment, enabled: false, strategies: [], variants: [] });
  return flag.environments[flag.environments.length - 1] as Draft<FlagEnvironment>;
}

function setVariants(flag: FlagDraft, environment: string, variants: FlagEnvironment['variants']): void {
  touched(flag, environment).variants = variants as Draft<FlagEnvironment>['variants'];
}

function withoutFeatureName({
  featureName: _,
  ...strategy
}: Strategy & { featureName: string }): Draft<Strategy> {
  return strategy as Draft<Strategy>;
}

function misfit(event: { type: string; project: string | null }, reason: string): Error {
  return new Error(`the event ${event.type} in project ${event.project} does not fit the state: ${reason}`);
}
