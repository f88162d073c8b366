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

/** Keyed by the path below `src`; `.` is `src` itself. */
export const ROOMS: Readonly<Record<string, Room>> = {
  'domain/access': {
    purpose: 'roles and the permissions that they hold',
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
  'domain/evaluation': {
    purpose: 'flags compiled into rules, and evaluated for a context',
    imports: ['domain/flags', 'domain/json'],
  },
  'domain/kinds': {
    purpose: 'one row a kind: its fields, bounds, events, rules, rights and routes',
    imports: ['domain/access', 'domain/evaluation', 'domain/flags', 'domain/json'],
  },
  'domain/state': {
    purpose: 'the whole state, the events, the one function that applies them, and upgrades of older records',
    imports: ['domain/access', 'domain/flags', 'domain/json', 'domain/kinds'],
  },
  'domain/desired': {
    purpose:
      'the state as one document and what is wrong with it, and the steps from one state of flags to a desired one',
    imports: ['domain/access', 'domain/flags', 'domain/json', 'domain/kinds', 'domain/state'],
  },
  'domain/growth': {
    purpose: 'limits on growth: parts of flags, evaluation time, and memory',
    imports: ['domain/evaluation', 'domain/flags', 'domain/json', 'domain/kinds', 'domain/state'],
  },
  'domain/people': {
    purpose: 'decisions on users, their tokens and roles, and who belongs to what',
    imports: ['domain/access', 'domain/growth', 'domain/json', 'domain/kinds', 'domain/state'],
  },
  'domain/decide': {
    purpose: 'from state and command to events or a refusal, one file per kind of command',
    imports: ['domain/access', 'domain/desired', 'domain/flags', 'domain/growth', 'domain/json', 'domain/kinds', 'domain/people', 'domain/state'],
  },
  process: {
    purpose: 'reading of the environment, log, exit codes, the installed version',
    imports: [],
  },
  passwords: {
    purpose: 'passwords hashed and checked',
    imports: ['domain/access', 'domain/flags', 'domain/people', 'domain/state'],
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
    imports: ['domain/state', 'persistence/codec', 'persistence/disk'],
  },
  'persistence/proof': {
    purpose: 'the chain of hashes over a history, and its signed heads',
    imports: ['persistence/disk', 'persistence/journal'],
  },
  'persistence/snapshots': {
    purpose: 'snapshots of the state, and files of usage',
    imports: ['domain/json', 'domain/state', 'persistence/codec', 'persistence/disk', 'persistence/journal'],
  },
  'persistence/event-log': {
    purpose: 'search in the journal: index files, filters, text search, retention',
    imports: ['domain/state', 'persistence/codec', 'persistence/disk', 'persistence/journal', 'persistence/snapshots', 'process'],
  },
  'persistence/recovery': {
    purpose: 'from a data folder to the state, or to a precise refusal',
    imports: ['persistence/disk', 'persistence/journal', 'persistence/snapshots'],
  },
  'actors/state': {
    purpose: 'the state as a snapshot, replayed, and audited',
    imports: ['domain/access', 'domain/flags', 'domain/json', 'domain/kinds', 'domain/people', 'domain/state', 'persistence/event-log', 'persistence/journal', 'persistence/recovery', 'persistence/snapshots'],
  },
  actors: {
    purpose: 'mailboxes, the turn of a command, the wait for the disk, usage',
    imports: ['actors/state', 'domain/access', 'domain/decide', 'domain/desired', 'domain/flags', 'domain/growth', 'domain/json', 'domain/kinds', 'domain/people', 'domain/state', 'persistence/codec', 'persistence/disk', 'persistence/event-log', 'persistence/journal', 'persistence/proof', 'persistence/recovery', 'persistence/snapshots'],
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
    imports: ['actors', 'domain/access', 'domain/decide', 'domain/evaluation', 'domain/flags', 'domain/growth', 'domain/json', 'domain/people', 'domain/state', 'http/body', 'http/transport', 'passwords', 'persistence/codec', 'persistence/disk', 'persistence/journal'],
  },
  'http/description': {
    purpose: 'the OpenAPI description, its page, and the files of the console',
    imports: ['domain/flags', 'http/admin', 'http/serving', 'http/transport'],
  },
  'http/admin': {
    purpose: 'the administrative interface: who may call it, its routes, and the bodies and views of them',
    imports: ['actors', 'domain/access', 'domain/decide', 'domain/flags', 'domain/json', 'domain/kinds', 'domain/people', 'domain/state', 'http/serving', 'http/transport', 'persistence/event-log'],
  },
  control: {
    purpose: 'the channel by which commands reach a running server',
    imports: ['actors', 'persistence/disk', 'persistence/journal', 'persistence/snapshots'],
  },
  operations: {
    purpose: 'work on data folders from outside: verify, copy, restore',
    imports: ['actors/state', 'control', 'domain/state', 'persistence/disk', 'persistence/journal', 'persistence/proof', 'persistence/recovery', 'persistence/snapshots'],
  },
  host: {
    purpose: 'the seam: what an add-on gives and is given, and the base of commands',
    imports: ['actors', 'control', 'http/serving', 'http/transport', 'operations', 'persistence/disk', 'persistence/journal', 'process'],
  },
  'addons/sdk': {
    purpose:
      'flags for applications: the interfaces of SDKs and of OpenFeature, their streams, and what they report',
    imports: ['actors', 'domain/evaluation', 'domain/flags', 'domain/json', 'domain/state', 'host', 'http/serving', 'http/transport', 'process'],
  },
  'addons/usage': {
    purpose: 'what applications report: counts by hour, times of use, applications',
    imports: ['actors', 'domain/evaluation', 'domain/json', 'domain/state', 'host', 'http/admin', 'http/serving', 'http/transport', 'persistence/codec', 'persistence/disk'],
  },
  'addons/people': {
    purpose: 'how people sign in: sessions, passwords, links, OpenID Connect',
    imports: ['domain/access', 'domain/decide', 'domain/json', 'domain/people', 'domain/state', 'host', 'http/admin', 'http/serving', 'http/transport', 'process'],
  },
  'addons/playground': {
    purpose: 'flags evaluated for a context that somebody makes up, and why they are on or off',
    imports: ['actors', 'domain/evaluation', 'domain/flags', 'domain/json', 'domain/state', 'host', 'http/admin', 'http/serving', 'http/transport'],
  },
  'addons/reports': {
    purpose: 'figures of a project, and of the whole service',
    imports: ['actors', 'addons/usage', 'domain/flags', 'domain/json', 'domain/people', 'domain/state', 'host', 'http/admin', 'http/serving'],
  },
  'addons/edge': {
    purpose: 'SDKs served from copies of what an upstream has',
    imports: ['actors', 'addons/sdk', 'addons/usage', 'domain/flags', 'domain/json', 'domain/kinds', 'domain/state', 'host', 'http/body', 'http/serving', 'http/transport', 'persistence/disk', 'process'],
  },
  'addons/migration': {
    purpose: 'import from an Unleash',
    imports: ['domain/access', 'domain/desired', 'domain/evaluation', 'domain/flags', 'host', 'process'],
  },
  'addons/repair': {
    purpose: 'repair of damaged data folders: from a copy, or by a cut at the damage',
    imports: ['actors/state', 'domain/state', 'host', 'operations', 'persistence/disk', 'persistence/journal', 'persistence/proof', 'persistence/recovery', 'process'],
  },
  'addons/replication': {
    purpose: 'the cluster: shared log, leadership, archive, NATS JetStream',
    imports: ['actors', 'domain/state', 'host', 'http/serving', 'http/transport', 'operations', 'persistence/disk', 'persistence/journal', 'persistence/recovery', 'persistence/snapshots', 'process'],
  },
  'addons/tracing': {
    purpose: 'traces of requests, by OpenTelemetry',
    imports: ['host', 'http/serving', 'http/transport', 'process'],
  },
  'start/addons.ts': {
    purpose: 'the list of add-ons, and the only file of the core that imports one',
    imports: ['addons/edge', 'addons/migration', 'addons/people', 'addons/playground', 'addons/repair', 'addons/replication', 'addons/reports', 'addons/sdk', 'addons/tracing', 'addons/usage', 'host', 'process', 'start'],
  },
  start: {
    purpose: 'the steps of a start: settings, first events, surfaces, sign-in, store, cluster',
    imports: ['actors', 'addons/replication', 'domain/desired', 'domain/flags', 'domain/growth', 'domain/json', 'domain/state', 'host', 'http/admin', 'http/body', 'http/serving', 'http/transport', 'persistence/disk', 'persistence/event-log', 'persistence/journal', 'persistence/proof', 'persistence/recovery', 'process'],
  },
  '.': {
    purpose: 'the server, put together from all the other rooms, and its process: arguments and signals',
    imports: ['actors', 'control', 'domain/access', 'host', 'http/description', 'http/serving', 'http/transport', 'passwords', 'persistence/disk', 'persistence/recovery', 'process', 'start', 'start/addons.ts'],
  },
  cli: {
    purpose: 'the commands of `flagstaff`',
    imports: ['.', 'actors', 'actors/state', 'control', 'domain/state', 'host', 'http/transport', 'operations', 'persistence/disk', 'persistence/event-log', 'persistence/journal', 'persistence/proof', 'persistence/recovery', 'persistence/snapshots', 'process', 'start', 'start/addons.ts'],
  },
};
