/**
 * The guard of protected environments (docs/specification/change-requests.md#protection). It stands on events and not on commands,
 * so whatever a command is called, and however indirectly it works, it is inside.
 */
import { nameOfProject } from '../../domain/decide/guards.ts';
import { environmentOf, type Flag } from '../../domain/flags/flag.ts';
import { jsonEqual } from '../../domain/json/json.ts';
import type { Actor } from '../../domain/state/decision.ts';
import { type DomainEvent, isRecordEvent, type RecordEvent } from '../../domain/state/events.ts';
import { type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import { APPLIED, REQUEST, SCHEDULED_APPLIED, type StoredRequest } from './kind.ts';
import {
  hasProtections,
  type Place,
  projectsProtecting,
  protectionEvent,
  protectionOf,
  SKIPPED,
} from './protection.ts';
import { userMay } from './rights.ts';

type GuardedType = Exclude<DomainEvent['type'], RecordEvent['type']>;
type Guarded<Type extends GuardedType> = Extract<DomainEvent, { readonly type: Type }>;

/** The places in which an event changes what applications are served, as the state was before it. */
type Reach<Type extends GuardedType> = (world: World, event: Guarded<Type>) => readonly Place[];

const inEach = (project: string, environments: readonly string[]): readonly Place[] =>
  environments.map((environment) => ({ project, environment }));

const itsEnvironment = (_: World, event: { readonly project: string; readonly environment: string }) => [
  event,
];

const flagOf = (world: World, event: { readonly project: string; readonly featureName: string }) =>
  world.projects.get(event.project)?.flags.get(event.featureName)?.flag;

/** Places in which the flag is on. Elsewhere it serves nobody, whatever becomes of it as a whole. */
const whereOn = (world: World, event: { readonly project: string; readonly featureName: string }) => {
  const { environments = [] } = flagOf(world, event) ?? {};
  return inEach(
    event.project,
    environments.flatMap(({ name, enabled }) => (enabled ? name : [])),
  );
};

/** Places in which anything is set: a flag that is off could be changed in another project, and come back. */
const whereSet = ({ project, environments }: Pick<Flag, 'project' | 'environments'>) =>
  inEach(
    project,
    environments.flatMap(({ name, enabled, strategies, variants }) =>
      enabled || strategies.length + variants.length > 0 ? name : [],
    ),
  );

const whereProjectsHave = (world: World, environment: string): readonly Place[] =>
  projectsProtecting(world, environment).flatMap((project) =>
    world.projects.get(project)?.settings.environments.includes(environment) === true
      ? { project, environment }
      : [],
  );

const whereSegmentIsUsed = (world: World, id: number): readonly Place[] =>
  [...world.references.flagCounts('segment', id).keys()].flatMap((project) =>
    inEach(project, world.references.environmentsOf('segment', id, project)),
  );

const nowhere = <Type extends GuardedType>(...types: readonly Type[]): { [T in Type]: Reach<T> } =>
  Object.fromEntries(types.map((type) => [type, () => []])) as unknown as { [T in Type]: Reach<T> };

/** Each type of event must be here: the compiler refuses a new one that is not. */
const REACHES: { readonly [Type in GuardedType]: Reach<Type> } = {
  'feature-strategy-add': itsEnvironment,
  'feature-strategy-update': itsEnvironment,
  'feature-strategy-remove': itsEnvironment,
  'strategy-order-changed': itsEnvironment,
  'feature-environment-enabled': itsEnvironment,
  'feature-environment-disabled': itsEnvironment,
  'feature-environment-variants-updated': itsEnvironment,
  'feature-variants-updated': (world, event) => {
    const flag = flagOf(world, event);
    const { environments = [] } = world.projects.get(event.project)?.settings ?? {};
    const isOther = (name: string) =>
      flag === undefined || !jsonEqual(environmentOf(flag, name).variants, event.data.variants);
    return inEach(event.project, environments.filter(isOther));
  },
  'feature-created': (_, { project, hidden }) =>
    inEach(
      project,
      (hidden?.environments ?? []).flatMap(({ name, variants }) => (variants.length > 0 ? name : [])),
    ),
  'feature-project-change': (world, event) => {
    const flag = event.hidden?.flag ?? flagOf(world, event);
    return flag === undefined ? [] : whereSet(flag);
  },
  'feature-archived': whereOn,
  'feature-revived': whereOn,
  'feature-deleted': (world, event) =>
    flagOf(world, event)?.archivedAt === null ? whereOn(world, event) : [],
  'feature-dependency-added': whereOn,
  'feature-dependency-removed': whereOn,
  'feature-dependencies-removed': whereOn,
  'project-updated': (_, { project, data, preData }) =>
    inEach(
      project,
      preData.environments.filter((name) => !data.environments.includes(name)),
    ),
  'project-deleted': (world, { project }) => {
    const known = world.projects.get(project);
    if (known === undefined) return [];
    const isServing = (environment: string) => known.flags.enabledCount(environment) > 0;
    return inEach(project, known.settings.environments.filter(isServing));
  },
  'project-environment-removed': itsEnvironment,
  'environment-updated': (world, { environment, data, preData }) =>
    data.enabled === preData.enabled && data.name === preData.name
      ? []
      : whereProjectsHave(world, environment),
  'environment-deleted': (world, { environment }) => whereProjectsHave(world, environment),
  'segment-created': (world, { data }) => whereSegmentIsUsed(world, data.id),
  'segment-updated': (world, { data, preData }) =>
    data.name === preData.name && jsonEqual(data.constraints, preData.constraints)
      ? []
      : whereSegmentIsUsed(world, data.id),
  'segment-deleted': (world, { preData }) => whereSegmentIsUsed(world, preData.id),
  ...nowhere(
    'feature-metadata-updated',
    'feature-tagged',
    'feature-type-updated',
    'feature-completed',
    'feature-uncompleted',
    'feature-untagged',
    'feature-stale-on',
    'feature-stale-off',
    'strategy-created',
    'strategy-deleted',
    'strategy-deprecated',
    'strategy-reactivated',
    'strategy-updated',
    'context-field-created',
    'context-field-updated',
    'context-field-deleted',
    'project-created',
    'project-user-added',
    'project-user-removed',
    'project-user-role-changed',
    'project-group-role-changed',
    'project-group-added',
    'project-group-removed',
    'role-created',
    'role-updated',
    'role-deleted',
    'tag-created',
    'tag-deleted',
    'tag-type-created',
    'tag-type-deleted',
    'tag-type-updated',
    'user-created',
    'user-updated',
    'user-deleted',
    'environment-created',
    'group-created',
    'group-updated',
    'group-deleted',
    'setting-created',
    'setting-updated',
    'pat-created',
    'pat-deleted',
    'public-signup-token-created',
    'public-signup-token-user-added',
    'public-signup-token-updated',
    'api-token-created',
    'api-token-updated',
    'api-token-deleted',
    'feature-favorited',
    'feature-unfavorited',
    'project-favorited',
    'project-unfavorited',
    'feature-commented',
    'features-exported',
    'features-imported',
    'features-applied',
    'service-account-created',
    'service-account-deleted',
    'service-account-updated',
    'feature-potentially-stale-on',
    'feature-potentially-stale-soon',
    'project-environment-added',
    'default-strategy-updated',
  ),
};

interface Skips {
  readonly place: Place;
  readonly reason: 'permission' | 'switch-off';
  readonly events: DomainEvent[];
}

/** Names of flags that one event about skips lists. */
const NAMES_MAX = 50;

export function guardEnvironments(
  world: World,
  events: readonly DomainEvent[],
  actor: Actor,
): readonly DomainEvent[] | Refusal {
  if (!hasProtections(world)) return [];
  const applied = appliedIn(events);
  const skips = new Map<string, Skips>();
  for (const event of events) {
    if (isRecordEvent(event)) continue;
    const reach = REACHES[event.type] as (world: World, event: DomainEvent) => readonly Place[];
    for (const { project, environment } of reach(world, event)) {
      const place = { project, environment };
      const protection = protectionOf(world, place);
      if (protection === null || isSame(applied, place)) continue;
      const isSwitchOff =
        event.type === 'feature-environment-disabled' &&
        protection.data.allowsSwitchOff &&
        !switchesOthersOn(world, event);
      if (!isSwitchOff && !userMay(world, actor.userId, 'SKIP_CHANGE_REQUEST', place))
        return refusalOf(world, place);
      const key = `${project} ${environment}`;
      const before = skips.get(key);
      const reason = isSwitchOff && before?.reason !== 'permission' ? 'switch-off' : 'permission';
      const skipping = before?.events ?? [];
      skipping.push(event);
      skips.set(key, { place, reason, events: skipping });
    }
  }
  return [...skips.values()].map((one) => skippedEvent(world, one));
}

/** Whether a flag that is on there waits for this one to be off. */
function switchesOthersOn(world: World, event: Guarded<'feature-environment-disabled'>): boolean {
  const flags = world.projects.get(event.project)?.flags;
  return (flagOf(world, event)?.children ?? []).some((name) => {
    const child = flags?.get(name)?.flag;
    return (
      child !== undefined &&
      environmentOf(child, event.environment).enabled &&
      child.dependencies.some(({ feature, enabled }) => feature === event.featureName && !enabled)
    );
  });
}

/** The request that the events apply. Only its decision makes such an event, in front of all others. */
function appliedIn([first]: readonly DomainEvent[]): Place | null {
  if (first === undefined || !isRecordEvent(first)) return null;
  const type: string = first.type;
  const isApplication =
    first.hidden.kind === REQUEST.name && (type === APPLIED || type === SCHEDULED_APPLIED);
  return isApplication ? (first.data as StoredRequest) : null;
}

const isSame = (one: Place | null, other: Place): boolean =>
  one?.project === other.project && one.environment === other.environment;

function refusalOf(world: World, { project, environment }: Place): Refusal {
  const isPrivate = world.projects.get(project)?.settings.mode === 'private';
  const path = `/projects/${isPrivate ? '…' : project}/environments/${environment}/change-requests`;
  return refuse(
    'NoAccessError',
    `The environment "${environment}" of ${nameOfProject(world, project)} takes changes by change request alone: propose the change with POST ${path}. To change it without one, the permission SKIP_CHANGE_REQUEST is needed there, which only custom roles give.`,
  );
}

function skippedEvent(world: World, { place, reason, events }: Skips): DomainEvent {
  const { id, data } = protectionOf(world, place)!;
  const features = [...new Set(events.flatMap(({ featureName }) => featureName ?? []))].slice(0, NAMES_MAX);
  const types = [...new Set(events.map(({ type }) => type as string))];
  const after = { ...data, skips: data.skips + 1, skip: { reason, features, events: types } };
  return protectionEvent(SKIPPED, id, [data, after]);
}
