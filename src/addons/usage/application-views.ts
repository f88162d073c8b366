/** Applications as responses show them. One that reports from servers and from pages is shown as one. */
import { each, inTurns } from '../../actors/turn.ts';
import { compareVersions, parseSemanticVersion } from '../../domain/flags/semantic-version.ts';
import { grouped } from '../../domain/json/grouped.ts';
import { findNamed } from '../../domain/state/directory-records.ts';
import { ALL, type World } from '../../domain/state/world.ts';
import { recordView } from '../../http/admin/records.ts';
import type { RequestContext } from '../../http/serving/route.ts';
import { hiddenProjects } from '../../http/serving/visible-world.ts';
import {
  type Application,
  type ApplicationDetails,
  type ApplicationEnvironment,
  type Instance,
  NO_DETAILS,
} from './applications.ts';
import { SIDES, type Side } from './reports.ts';
import { usageIn } from './usage.ts';

interface Part {
  readonly side: Side;
  readonly application: Application;
}

export interface WholeApplication {
  readonly appName: string;
  /** At least one. */
  readonly parts: readonly Part[];
}

type Context = Pick<RequestContext<unknown>, 'usage' | 'engine' | 'caller'>;

export function applicationOf(context: Context, appName: string): WholeApplication | null {
  const hidden = new Set(hiddenProjects(context.engine.world, context.caller));
  const parts = SIDES.flatMap((side) => {
    const application = usageIn(context).applications(side).get(appName);
    return application === undefined ? [] : partWithout(hidden, { side, application });
  });
  return parts.length === 0 ? null : { appName, parts };
}

/** Leaves out what an application reported for projects that the caller does not see; nothing is left where it reported for no other. */
function partWithout(hidden: ReadonlySet<string>, part: Part): readonly Part[] {
  const { side, application } = part;
  if (hidden.size === 0) return [part];
  const environments = [...application.environments].flatMap(
    ([name, one]): [string, ApplicationEnvironment][] => {
      const projects = new Set([...one.projects].filter((id) => !hidden.has(id)));
      return projects.size === 0 && one.projects.size > 0 ? [] : [[name, { ...one, projects }]];
    },
  );
  if (environments.length === 0 && application.environments.size > 0) return [];
  return [{ side, application: { ...application, environments: new Map(environments) } }];
}

export function allApplications(context: Context): WholeApplication[] {
  const { engine, caller } = context;
  const hidden = new Set(hiddenProjects(engine.world, caller));
  const seen = SIDES.flatMap((side) =>
    [...usageIn(context).applications(side).values()].flatMap((application) =>
      partWithout(hidden, { side, application }),
    ),
  );
  return [...grouped(seen, ({ application }) => application.appName)]
    .map(([appName, found]) => ({ appName, parts: found }))
    .sort((a, b) => (a.appName < b.appName ? -1 : 1));
}

export function updatedAtMs({ parts }: WholeApplication): number {
  return Math.max(...parts.map(({ application }) => application.seenAtMs));
}

export function createdAtMs({ parts }: WholeApplication): number {
  return Math.min(...parts.map(({ application }) => application.createdAtMs));
}

interface Place {
  readonly side: Side;
  readonly environment: ApplicationEnvironment;
}

export function placesOf({ parts }: WholeApplication): readonly Place[] {
  return parts.flatMap(({ side, application }) =>
    [...application.environments.values()].map((environment) => ({ side, environment })),
  );
}

export function isInProject(application: WholeApplication, projectId: string): boolean {
  return placesOf(application).some(
    ({ environment: { projects } }) => projects.has(ALL) || projects.has(projectId),
  );
}

/** The details that people entered, which are stored with one of the application's sides. */
function detailsOf({ parts }: WholeApplication): ApplicationDetails {
  return parts.find(({ application }) => application.details !== null)?.application.details ?? NO_DETAILS;
}

export function applicationHead(application: WholeApplication) {
  const places = placesOf(application);
  const newest = places.toSorted((a, b) => b.environment.seenAtMs - a.environment.seenAtMs)[0];
  const usage = usageOf(places);
  return {
    appName: application.appName,
    createdAt: new Date(createdAtMs(application)).toISOString(),
    updatedAt: new Date(updatedAtMs(application)).toISOString(),
    ...detailsOf(application),
    createdBy: 'unknown',
    project: usage[0]?.project ?? ALL,
    environment: newest?.environment.name ?? '',
    usage,
  };
}

function usageOf(places: readonly Place[]) {
  const environments = new Map<string, Set<string>>();
  for (const { environment } of places) {
    for (const project of environment.projects) {
      environments.set(project, (environments.get(project) ?? new Set()).add(environment.name));
    }
  }
  return [...environments].map(([project, names]) => ({ project, environments: [...names].sort() }));
}

export function strategiesOf({ parts }: WholeApplication): string[] {
  return distinct(parts.flatMap(({ application }) => application.strategies));
}

export function strategyViews(world: World, application: WholeApplication) {
  return strategiesOf(application).map((name) => {
    const type = findNamed(world, 'strategyTypes', name);
    return type === undefined ? { name, notFound: true } : recordView('strategyTypes', type);
  });
}

/** Instances that one response shows of an application, those with the newest reports. */
const INSTANCES_SHOWN_MAX = 100;

export function instanceViews(application: WholeApplication, environment: string | null) {
  return placesOf(application)
    .filter((place) => environment === null || place.environment.name === environment)
    .flatMap((place) => [...place.environment.instances.values()].map((instance) => ({ instance, place })))
    .sort((a, b) => b.instance.seenAtMs - a.instance.seenAtMs)
    .slice(0, INSTANCES_SHOWN_MAX)
    .map(({ instance, place }) => instanceView(instance, place));
}

function instanceView({ instanceId, address, sdkVersion, seenAtMs }: Instance, { environment }: Place) {
  const lastSeen = new Date(seenAtMs).toISOString();
  return { instanceId, clientIp: address, sdkVersion, lastSeen, environment: environment.name };
}

/** Names of flags that exist and that the application evaluated. There may be many counts to look through. */
export async function flagsSeen(
  context: Pick<RequestContext<unknown>, 'usage' | 'world' | 'requester'>,
  appName: string,
): Promise<string[]> {
  const { world, requester } = context;
  const names = new Set<string>();
  for (const side of SIDES) {
    const steps = usageIn(context).counts(side).flagsOf(appName);
    const add = (name: unknown): void => {
      if (typeof name === 'string' && world.flagProjects.has(name)) names.add(name);
    };
    await inTurns(each(steps, add), requester);
  }
  return [...names].sort();
}

export function overviewView(world: World, application: WholeApplication, featureCount: number) {
  const places = placesOf(application);
  const names = distinct(places.map(({ environment }) => environment.name));
  return {
    projects: usageOf(places).map(({ project }) => project),
    featureCount,
    environments: names.map((name) =>
      environmentOverview(
        name,
        places.filter(({ environment }) => environment.name === name),
      ),
    ),
    issues: {
      missingStrategies: strategiesOf(application).filter(
        (name) => findNamed(world, 'strategyTypes', name) === undefined,
      ),
    },
  };
}

function environmentOverview(name: string, places: readonly Place[]) {
  const sdksOf = (side: Side) => sdksIn(places.filter((place) => place.side === side));
  const lastSeenMs = Math.max(...places.map(({ environment }) => environment.seenAtMs));
  return {
    name,
    instanceCount: places.reduce((sum, { environment }) => sum + environment.instances.size, 0),
    sdks: sdksIn(places),
    frontendSdks: sdksOf('frontend'),
    backendSdks: sdksOf('backend'),
    lastSeen: new Date(lastSeenMs).toISOString(),
    issues: {
      missingFeatures: distinct(places.flatMap(({ environment }) => [...environment.unknownFlags])),
      outdatedSdks: sdksIn(places).filter(isOutdatedSdk),
    },
  };
}

export function outdatedSdksView(applications: readonly WholeApplication[]) {
  const uses = applications.flatMap((application) =>
    sdksIn(placesOf(application))
      .filter(isOutdatedSdk)
      .map((sdkVersion) => ({ sdkVersion, appName: application.appName })),
  );
  const sdks = [...grouped(uses, ({ sdkVersion }) => sdkVersion)].map(([sdkVersion, users]) => ({
    ...{ sdkVersion, applications: users.map(({ appName }) => appName) },
  }));
  return { sdks };
}

export function projectApplicationView(application: WholeApplication) {
  const places = placesOf(application);
  const sdks = grouped(
    sdksIn(places).map((sdk) => sdk.split(':')),
    ([name = '']) => name,
  );
  return {
    name: application.appName,
    environments: distinct(places.map(({ environment }) => environment.name)),
    instances: distinct(instanceViews(application, null).map(({ instanceId }) => instanceId)),
    sdks: [...sdks].map(([name, found]) => ({
      name,
      versions: found.flatMap(([, version]) => version ?? []),
    })),
  };
}

function sdksIn(places: readonly Place[]): string[] {
  const sdks = places.flatMap(({ environment }) =>
    [...environment.instances.values()].flatMap(({ sdkVersion }) => sdkVersion ?? []),
  );
  return distinct(sdks);
}

function distinct(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}

// Outdated SDKs: those that are older than the version from which Unleash calls them current. SDKs that are not in the table,
// and versions that are no semantic versions, are not outdated.

/** The first version that is not outdated. Newer SDKs for Node name themselves in another way, and are all current. */
const CURRENT_SINCE: ReadonlyMap<string, string> = new Map([
  ['unleash-client-node', '5.3.2'],
  ['unleash-client-java', '9.0.0'],
  ['unleash-client-go', '4.1.0'],
  ['unleash-client-python', '5.9.2'],
  ['unleash-client-ruby', '5.0.0'],
  ['unleash-client-dotnet', '4.1.3'],
  ['unleash-client-php', '1.13.0'],
]);

/** `sdk`: a name and a version, such as `unleash-client-node:6.12.1`. */
function isOutdatedSdk(sdk: string): boolean {
  const colon = sdk.indexOf(':');
  const since = parseSemanticVersion(CURRENT_SINCE.get(sdk.slice(0, colon)) ?? '');
  const version = parseSemanticVersion(sdk.slice(colon + 1));
  return since !== null && version !== null && compareVersions(version, since) < 0;
}
