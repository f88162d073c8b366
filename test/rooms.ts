/**
 * The rooms of `src`: what each folder is for, and which folders its files may import from. `rooms.test.ts` holds the
 * imports against this table.
 *
 * A new folder or a new arrow is a decision about the structure, so it is made here, where a reviewer sees it.
 */
export interface Room {
  readonly purpose: string;
  /** Folders below `src`. A folder does not stand for the folders inside it. */
  readonly imports: readonly string[];
}

/** The paths of folders that lie in one. */
const below = (folder: string, ...names: readonly string[]): string[] =>
  names.map((name) => `${folder}/${name}`);

/** Keyed by the path below `src`; `.` is `src` itself. */
export const ROOMS: Readonly<Record<string, Room>> = {
  'domain/access': {
    purpose: 'roles and the permissions that they hold',
    imports: [],
  },
  'domain/value': {
    purpose: 'immutable maps, and the place for what is derived from an immutable value',
    imports: [],
  },
  'domain/json': {
    purpose: 'JSON values, pointers, patches, and the list of issues found in one',
    imports: [],
  },
  'domain/flags': {
    purpose: 'a flag and its parts, the rules on them, and their state machines',
    imports: ['domain/json'],
  },
  'domain/kinds': {
    purpose: 'one row a kind: its fields, bounds, events, rules, rights and routes',
    imports: [...below('domain', 'access', 'flags', 'json', 'value')],
  },
  'domain/state': {
    purpose: 'the whole state, the events, the one function that applies them, and upgrades of older records',
    imports: [...below('domain', 'access', 'flags', 'json', 'kinds', 'value')],
  },
  'domain/desired': {
    purpose:
      'the state as one document and what is wrong with it, and the steps from one state of flags to a desired one',
    imports: [...below('domain', 'access', 'flags', 'json', 'kinds', 'state')],
  },
  'domain/growth': {
    purpose: 'limits on growth: parts of flags, evaluation time, documents and memory',
    imports: [...below('domain', 'flags', 'json', 'state')],
  },
  'domain/people': {
    purpose: 'decisions on users, their tokens and roles, and who belongs to what',
    imports: [...below('domain', 'access', 'growth', 'json', 'kinds', 'state')],
  },
  'domain/decide': {
    purpose: 'from state and command to events or a refusal, one file per kind of command',
    imports: [...below('domain', 'access', 'desired', 'flags', 'growth', 'json', 'kinds', 'people', 'state')],
  },
  process: {
    purpose: 'reading of the environment, log, exit codes, timers, the installed version',
    imports: [],
  },
  'persistence/codec': {
    purpose: 'MessagePack, and the guard that each stored value passes',
    imports: [],
  },
  'persistence/disk': {
    purpose: 'the port to the file system, the data folder and its lock',
    imports: [],
  },
  'persistence/journal': {
    purpose: 'formats of frames and segments, and the append-only journal in files',
    imports: ['domain/state', ...below('persistence', 'codec', 'disk'), 'process'],
  },
  'persistence/snapshots': {
    purpose: 'snapshots of the state, and files of usage',
    imports: [...below('domain', 'json', 'state'), ...below('persistence', 'codec', 'disk', 'journal')],
  },
  'persistence/event-log': {
    purpose: 'search in the journal: index, filters, text search, retention',
    imports: ['domain/state', ...below('persistence', 'codec', 'disk', 'journal', 'snapshots'), 'process'],
  },
  'persistence/recovery': {
    purpose: 'from a data folder to the state, or to a precise refusal',
    imports: ['domain/state', ...below('persistence', 'disk', 'journal', 'snapshots')],
  },
  'actors/state': {
    purpose: 'the state as a snapshot, and replayed',
    imports: [
      ...below('domain', 'access', 'flags', 'kinds', 'state', 'value'),
      ...below('persistence', 'event-log', 'journal', 'recovery', 'snapshots'),
    ],
  },
  actors: {
    purpose: 'mailboxes, the turn of a command, the wait for the disk, usage',
    imports: [
      'actors/state',
      ...below(
        'domain',
        'access',
        'decide',
        'desired',
        'flags',
        'growth',
        'json',
        'kinds',
        'people',
        'state',
      ),
      ...below('persistence', 'codec', 'disk', 'event-log', 'journal', 'recovery', 'snapshots'),
      'process',
    ],
  },
  'http/body': {
    purpose: 'from the bytes of a body to a JSON value, or to what is wrong with them',
    imports: ['domain/json'],
  },
  'http/transport': {
    purpose: 'the seam between HTTP engines and everything above them; imports nothing of ours',
    imports: [],
  },
  'http/serving': {
    purpose: 'from a request to its response: routes, callers, rights, conditions, errors, coding, metrics',
    imports: [
      'actors',
      ...below('domain', 'access', 'decide', 'flags', 'growth', 'json', 'people', 'state'),
      ...below('http', 'body', 'transport'),
      ...below('persistence', 'codec', 'disk', 'journal'),
    ],
  },
  'http/description': {
    purpose: 'the OpenAPI description',
    imports: ['domain/flags', ...below('http', 'admin', 'serving')],
  },
  'http/admin': {
    purpose: 'the administrative interface: who may call it, its routes, and the bodies and views of them',
    imports: [
      'actors',
      ...below('domain', 'access', 'decide', 'flags', 'json', 'kinds', 'people', 'state', 'value'),
      ...below('http', 'serving', 'transport'),
      'persistence/event-log',
    ],
  },
  control: {
    purpose: 'the channel by which commands reach a running server',
    imports: ['actors', ...below('persistence', 'disk', 'journal', 'snapshots')],
  },
  operations: {
    purpose: 'work on data folders from outside: verify, copy, restore',
    imports: [
      'actors/state',
      'control',
      'domain/state',
      ...below('persistence', 'disk', 'journal', 'recovery', 'snapshots'),
    ],
  },
  host: {
    purpose: 'the seam: what an add-on gives and is given, and the base of commands',
    imports: [
      'actors',
      'control',
      ...below('domain', 'access', 'decide', 'kinds', 'state'),
      ...below('http', 'serving', 'transport'),
      'operations',
      ...below('persistence', 'disk', 'journal'),
      'process',
    ],
  },
  'addons/sdk/evaluation': {
    purpose: 'flags compiled into rules, and evaluated for a context',
    imports: [
      'actors',
      ...below('domain', 'flags', 'json', 'state'),
      ...below('http', 'serving', 'transport'),
    ],
  },
  'addons/sdk': {
    purpose:
      'flags for applications: the interfaces of SDKs and of OpenFeature, their streams, and what they report',
    imports: [
      'actors',
      'addons/sdk/evaluation',
      ...below('domain', 'flags', 'json', 'kinds', 'state'),
      'host',
      ...below('http', 'serving', 'transport'),
      'process',
    ],
  },
  'addons/audit': {
    purpose: 'the chain of hashes over a history, and its signed heads',
    imports: [
      'actors',
      'host',
      'http/serving',
      'operations',
      ...below('persistence', 'disk', 'journal'),
      'process',
    ],
  },
  'addons/usage': {
    purpose: 'what applications report: counts by hour, times of use, applications',
    imports: [
      'actors',
      ...below('domain', 'flags', 'json', 'state'),
      'host',
      ...below('http', 'admin', 'serving', 'transport'),
      ...below('persistence', 'codec', 'disk'),
      'process',
    ],
  },
  'addons/people': {
    purpose: 'how people sign in: sessions, passwords, links, OpenID Connect',
    imports: [
      'actors',
      ...below('domain', 'access', 'decide', 'flags', 'json', 'kinds', 'people', 'state'),
      'host',
      ...below('http', 'admin', 'serving', 'transport'),
      'process',
    ],
  },
  'addons/change-requests': {
    purpose:
      'changes that others approve before they are applied, and the guard of environments that take them',
    imports: [
      'actors',
      ...below('domain', 'access', 'decide', 'flags', 'growth', 'json', 'kinds', 'state'),
      'host',
      ...below('http', 'admin', 'serving'),
      'process',
    ],
  },
  'addons/integrations/providers': {
    purpose: 'from an event to the requests that tell a receiver of it, one file a provider',
    imports: [...below('domain', 'json', 'state'), 'persistence/event-log'],
  },
  'addons/integrations': {
    purpose: 'events told to others: integrations, and the courier that delivers',
    imports: [
      'actors',
      'addons/integrations/providers',
      ...below('domain', 'decide', 'flags', 'json', 'kinds', 'state'),
      'host',
      ...below('http', 'admin', 'serving'),
      ...below('persistence', 'disk', 'event-log'),
      'process',
    ],
  },
  'addons/flags-as-code': {
    purpose:
      'flags in files beside the code that asks for them, compared with a project and carried out in it',
    imports: [
      'addons/transfer',
      ...below('domain', 'access', 'decide', 'desired', 'flags', 'json', 'state'),
      'host',
      ...below('http', 'admin', 'serving'),
      'process',
    ],
  },
  'addons/pages': {
    purpose: 'the pages for people, and their files: the console, the description, what links lead to',
    imports: ['host', ...below('http', 'serving', 'transport')],
  },
  'addons/playground': {
    purpose: 'flags evaluated for a context that somebody makes up, and why they are on or off',
    imports: [
      'actors',
      'addons/sdk',
      'addons/sdk/evaluation',
      ...below('domain', 'flags', 'json', 'state'),
      'host',
      ...below('http', 'admin', 'serving', 'transport'),
    ],
  },
  'addons/reports': {
    purpose: 'figures of a project, and of the whole service',
    imports: [
      'actors',
      'addons/sdk/evaluation',
      'addons/usage',
      ...below('domain', 'flags', 'json', 'people', 'state'),
      'host',
      ...below('http', 'admin', 'serving'),
    ],
  },
  'addons/edge': {
    purpose: 'SDKs served from copies of what an upstream has',
    imports: [
      'actors',
      'addons/node-http',
      'addons/sdk',
      'addons/usage',
      ...below('domain', 'flags', 'json', 'kinds', 'state'),
      'host',
      ...below('http', 'body', 'serving', 'transport'),
      'persistence/disk',
      'process',
    ],
  },
  'addons/migration': {
    purpose: 'import from an Unleash',
    imports: [
      'addons/sdk',
      'addons/sdk/evaluation',
      ...below('domain', 'access', 'desired', 'flags', 'json', 'kinds'),
      'host',
      'process',
    ],
  },
  'addons/repair': {
    purpose: 'repair of damaged data folders: from a copy, or by a cut at the damage',
    imports: [
      'actors/state',
      'host',
      'operations',
      ...below('persistence', 'disk', 'journal', 'recovery'),
      'process',
    ],
  },
  'addons/replication': {
    purpose: 'the cluster: shared log, leadership, archive, NATS JetStream',
    imports: [
      'actors',
      'domain/state',
      'host',
      ...below('http', 'serving', 'transport'),
      'operations',
      ...below('persistence', 'disk', 'journal', 'recovery', 'snapshots'),
      'process',
    ],
  },
  'addons/node-http': {
    purpose: 'HTTP on node:http',
    imports: ['host', 'http/transport', 'process'],
  },
  'addons/tracing': {
    purpose: 'traces of requests, by OpenTelemetry',
    imports: ['host', ...below('http', 'serving', 'transport'), 'process'],
  },
  'addons/transfer': {
    purpose: 'flags in a file, to take them to another environment, project or service',
    imports: [
      ...below('domain', 'access', 'decide', 'desired', 'flags', 'json', 'kinds', 'state'),
      'host',
      ...below('http', 'admin', 'serving'),
    ],
  },
  'addons/openfeature-manifest': {
    purpose: "flags with types for code, as OpenFeature's command line reads and writes them",
    imports: [
      'addons/sdk',
      ...below('domain', 'access', 'decide', 'flags', 'json', 'state'),
      'host',
      ...below('http', 'admin', 'serving', 'transport'),
    ],
  },
  'start/addons.ts': {
    purpose: 'the list of add-ons, and the only file of the core that imports one',
    imports: [
      'addons/audit',
      'addons/change-requests',
      'addons/edge',
      'addons/flags-as-code',
      'addons/integrations',
      'addons/migration',
      'addons/node-http',
      'addons/openfeature-manifest',
      'addons/pages',
      'addons/people',
      'addons/playground',
      'addons/repair',
      'addons/replication',
      'addons/reports',
      'addons/sdk',
      'addons/tracing',
      'addons/transfer',
      'addons/usage',
      ...below('domain', 'decide', 'kinds', 'state'),
      'host',
      'process',
      'start',
    ],
  },
  start: {
    purpose: 'the steps of a start: settings, first events, surfaces, sign-in, store, cluster',
    imports: [
      'actors',
      'control',
      ...below('domain', 'desired', 'flags', 'growth', 'json', 'state'),
      'host',
      ...below('http', 'admin', 'body', 'serving', 'transport'),
      ...below('persistence', 'disk', 'event-log', 'journal', 'recovery'),
      'process',
    ],
  },
  '.': {
    purpose: 'the server, put together from all the other rooms, and its process: arguments and signals',
    imports: [
      'actors',
      'control',
      'domain/state',
      'host',
      ...below('http', 'description', 'serving', 'transport'),
      ...below('persistence', 'disk', 'recovery'),
      'process',
      'start',
      'start/addons.ts',
    ],
  },
  cli: {
    purpose: 'the commands of `flagstaff`',
    imports: [
      '.',
      'actors',
      'actors/state',
      'control',
      'domain/state',
      'host',
      'http/transport',
      'operations',
      ...below('persistence', 'disk', 'journal', 'recovery', 'snapshots'),
      'process',
      'start/addons.ts',
    ],
  },
};

/**
 * Add-ons that go with others: an edge serves SDKs and passes on what they report, a playground and a migration evaluate as SDKs
 * are served, a manifest has the values that SDKs get, files of flags are checked as imports are, and statistics count applications.
 */
export const NEEDED: Readonly<Record<string, readonly string[]>> = {
  edge: ['node-http', 'sdk', 'usage'],
  'flags-as-code': ['transfer'],
  migration: ['sdk'],
  'openfeature-manifest': ['sdk'],
  playground: ['sdk'],
  reports: ['sdk', 'usage'],
};
