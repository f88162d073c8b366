/**
 * The applications of one side that reported, with their environments, instances and SDKs, bounded in number and bytes. At a bound, those
 * that reported longest ago are forgotten; so are applications that have not reported for 90 days. What people say of an application
 * goes with it, and counts as a report.
 */
import type { ApplicationReport } from './reports.ts';
import { SavedTable } from './saved-table.ts';

export const APPLICATIONS_MAX = 1_000;
export const INSTANCES_MAX = 100;
const PROJECTS_MAX = 100;
const STRATEGIES_MAX = 100;
const FLAGS_UNKNOWN_MAX = 20;
const ENVIRONMENTS_MAX = 50;
const KEPT_MS = 90 * 24 * 3_600_000;

/** A longer text is cut: of what a client says, only its start is kept. */
export const TEXT_LENGTH_MAX = 200;

// Estimates of V8's memory, with the maps around them.
const APPLICATION_BYTES = 600;
const ENVIRONMENT_BYTES = 400;
const INSTANCE_BYTES = 300;

export interface Instance {
  readonly instanceId: string;
  readonly sdkVersion: string | null;
  readonly address: string;
  readonly seenAtMs: number;
}

export interface ApplicationEnvironment {
  readonly name: string;
  /** By id, the one with the newest report at the end. */
  readonly instances: Map<string, Instance>;
  /** Ids of those that its tokens cover; `*` stands for every one. */
  readonly projects: Set<string>;
  /** Names of flags in its reports that do not exist, or that its token does not cover. */
  readonly unknownFlags: Set<string>;
  seenAtMs: number;
}

/** People's description of an application; empty texts for nothing. */
export interface ApplicationDetails {
  readonly description: string;
  readonly url: string;
  readonly color: string;
  readonly icon: string;
}

export interface Application {
  readonly appName: string;
  /** Null until it is set. */
  details: ApplicationDetails | null;
  readonly createdAtMs: number;
  seenAtMs: number;
  /** Strategy types that it knows. */
  strategies: readonly string[];
  readonly environments: Map<string, ApplicationEnvironment>;
}

export const NO_DETAILS: ApplicationDetails = { description: '', url: '', color: '', icon: '' };

export class Applications extends SavedTable<ApplicationRow> {
  readonly #bytesMax: number;
  /** The one that reported last at the end. */
  readonly #byName = new Map<string, Application>();
  #bytes = 0;

  constructor({ bytesMax }: { readonly bytesMax: number }) {
    super();
    this.#bytesMax = bytesMax;
  }

  get size(): number {
    return this.#byName.size;
  }

  /** An estimate of the memory that they take. */
  get bytes(): number {
    return this.#bytes;
  }

  get(appName: string): Application | undefined {
    return this.#byName.get(appName);
  }

  values(): Iterable<Application> {
    return this.#byName.values();
  }

  saw(report: Omit<ApplicationReport, 'side'>, nowMs: number): void {
    const application = this.#applicationOf(report.appName, nowMs);
    this.#bytes -= bytesOf(application);
    application.seenAtMs = nowMs;
    if (report.strategies !== null) application.strategies = shortened(report.strategies);
    const environment = environmentOf(application, report.environment);
    environment.seenAtMs = nowMs;
    addInstance(environment, report, nowMs);
    for (const project of report.projects) {
      if (environment.projects.size < PROJECTS_MAX) environment.projects.add(project);
    }
    this.#put(application);
  }

  /** Records a flag that a known application named and that does not exist. */
  sawUnknownFlag(appName: string, environment: string, flag: string): void {
    const application = this.#byName.get(appName);
    const known = application?.environments.get(environment)?.unknownFlags;
    if (application === undefined || known === undefined || known.size >= FLAGS_UNKNOWN_MAX) return;
    if (flag.length > TEXT_LENGTH_MAX || known.has(flag)) return;
    this.#bytes -= bytesOf(application);
    known.add(flag);
    this.#put(application);
  }

  /** Also of one that has not reported yet. `details`: those that are said; others stay as they are. */
  describe(appName: string, details: Partial<ApplicationDetails>, nowMs: number): void {
    const application = this.#applicationOf(appName, nowMs);
    this.#bytes -= bytesOf(application);
    application.seenAtMs = nowMs;
    application.details = { ...(application.details ?? NO_DETAILS), ...details };
    this.#put(application);
  }

  forget(appName: string): void {
    this.#forget(appName);
  }

  advance(nowMs: number): void {
    for (const { appName, seenAtMs } of this.#byName.values()) {
      if (seenAtMs > nowMs - KEPT_MS) return;
      this.#forget(appName);
    }
  }

  *rows(): Generator<ApplicationRow> {
    for (const one of this.#byName.values()) yield rowOf(one);
  }

  load([appName, createdAtMs, seenAtMs, strategies, rows, details = null]: ApplicationRow): void {
    const environments = new Map(rows.map(environmentIn).map((one) => [one.name, one] as const));
    const wasSaved = this.isSaved;
    this.#put({ appName, details, createdAtMs, seenAtMs, strategies, environments });
    this.isSaved = wasSaved;
  }

  #applicationOf(appName: string, nowMs: number): Application {
    const known = this.#byName.get(appName);
    if (known !== undefined) return known;
    const fresh: Application = {
      ...{ appName, details: null, createdAtMs: nowMs, seenAtMs: nowMs },
      ...{ strategies: [], environments: new Map<string, ApplicationEnvironment>() },
    };
    this.#bytes += bytesOf(fresh);
    return fresh;
  }

  /** At the end of the list, with its bytes recounted; others go if there is no room. */
  #put(application: Application): void {
    // Throws for a row that no application has, before that is among the others.
    const bytes = bytesOf(application);
    this.#byName.delete(application.appName);
    this.#byName.set(application.appName, application);
    this.#bytes += bytes;
    this.isSaved = false;
    for (const { appName } of this.#byName.values()) {
      if (this.#byName.size <= APPLICATIONS_MAX && this.#bytes <= this.#bytesMax) return;
      this.#forget(appName);
    }
  }

  #forget(appName: string): void {
    const application = this.#byName.get(appName);
    if (application === undefined) return;
    this.#byName.delete(appName);
    this.#bytes -= bytesOf(application);
    this.isSaved = false;
  }
}

function environmentOf(application: Application, name: string): ApplicationEnvironment {
  const { environments } = application;
  const known = environments.get(name);
  environments.delete(name);
  const environment = known ?? environmentIn([name, 0, [], [], []]);
  environments.set(name, environment);
  dropFirst(environments, ENVIRONMENTS_MAX);
  return environment;
}

function addInstance(
  { instances }: ApplicationEnvironment,
  { instanceId, sdkVersion, address }: Omit<ApplicationReport, 'side'>,
  nowMs: number,
): void {
  const id = cut(instanceId ?? 'default');
  const sdk = sdkVersion === null ? (instances.get(id)?.sdkVersion ?? null) : cut(sdkVersion);
  instances.delete(id);
  instances.set(id, { instanceId: id, sdkVersion: sdk, address: cut(address), seenAtMs: nowMs });
  dropFirst(instances, INSTANCES_MAX);
}

function dropFirst(map: Map<string, unknown>, sizeMax: number): void {
  for (const key of map.keys()) {
    if (map.size <= sizeMax) return;
    map.delete(key);
  }
}

function shortened(strategies: readonly string[]): readonly string[] {
  return [...new Set(strategies.slice(0, STRATEGIES_MAX).map(cut))];
}

function cut(text: string): string {
  return text.slice(0, TEXT_LENGTH_MAX);
}

function bytesOf({ appName, details, strategies, environments }: Application): number {
  let bytes = APPLICATION_BYTES + textBytes([appName, ...strategies, ...Object.values(details ?? {})]);
  for (const { name, projects, unknownFlags, instances } of environments.values()) {
    bytes += ENVIRONMENT_BYTES + textBytes([name, ...projects, ...unknownFlags]);
    for (const { instanceId, sdkVersion, address } of instances.values()) {
      bytes += INSTANCE_BYTES + textBytes([instanceId, sdkVersion ?? '', address]);
    }
  }
  return bytes;
}

function textBytes(texts: readonly string[]): number {
  return texts.reduce((bytes, text) => bytes + 2 * text.length + 40, 0);
}

/** An application as it is saved; earlier releases saved no details. */
const rowOf = ({ appName, createdAtMs, seenAtMs, strategies, environments, details }: Application) =>
  [
    appName,
    createdAtMs,
    seenAtMs,
    strategies,
    [...environments.values()].map(environmentRow),
    details,
  ] as const;

type ApplicationRow = ReturnType<typeof rowOf>;

const environmentRow = ({ name, seenAtMs, projects, unknownFlags, instances }: ApplicationEnvironment) =>
  [name, seenAtMs, [...projects], [...unknownFlags], [...instances.values()].map(instanceRow)] as const;

const instanceRow = ({ instanceId, sdkVersion, address, seenAtMs }: Instance) =>
  [instanceId, sdkVersion, address, seenAtMs] as const;

function environmentIn([name, seenAtMs, projects, unknownFlags, rows]: ReturnType<
  typeof environmentRow
>): ApplicationEnvironment {
  const instances = rows.map(
    ([instanceId, sdkVersion, address, at]) =>
      [instanceId, { instanceId, sdkVersion, address, seenAtMs: at }] as const,
  );
  return {
    ...{ name, seenAtMs, projects: new Set(projects), unknownFlags: new Set(unknownFlags) },
    instances: new Map(instances),
  };
}
