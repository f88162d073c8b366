/**
 * The rooms of `src`: what each folder is for, and which folders its files may import from. `rooms.test.ts` holds the
 * imports against this table, and the table in ARCHITECTURE.md is printed from it:
 *
 *   node --import tsx test/rooms.ts
 *
 * A new folder or a new arrow is a decision about the structure, so it is made here, where a reviewer sees it.
 */
import { pathToFileURL } from 'node:url';

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
    purpose: 'one row a kind: its fields and bounds, its events, what of it is always there',
    imports: ['domain/access', 'domain/flags', 'domain/json'],
  },
  'domain/state': {
    purpose:
      'the whole state, the events, the one function that applies them, and what older releases recorded in another way',
    imports: ['domain/access', 'domain/flags', 'domain/json', 'domain/kinds'],
  },
  'domain/desired': {
    purpose:
      'what is desired: the state as one document and what is wrong with such a document, and the steps between what is there and what is desired',
    imports: ['domain/access', 'domain/flags', 'domain/json', 'domain/kinds', 'domain/state'],
  },
  'domain/growth': {
    purpose:
      'what changes may make larger: parts of flags, the time of their evaluation, and the memory of the state',
    imports: ['domain/evaluation', 'domain/flags', 'domain/json', 'domain/kinds', 'domain/state'],
  },
  'domain/people': {
    purpose: 'decisions on users, their tokens and roles, and who belongs to what',
    imports: ['domain/access', 'domain/growth', 'domain/json', 'domain/kinds', 'domain/state'],
  },
  'domain/decide': {
    purpose: 'from state and command to events or a refusal, one file per kind of command',
    imports: [
      'domain/access',
      'domain/desired',
      'domain/evaluation',
      'domain/flags',
      'domain/growth',
      'domain/json',
      'domain/kinds',
      'domain/people',
      'domain/state',
    ],
  },
  'domain/usage': {
    purpose:
      'what applications report: counts by hour, applications, times of use; bounded, with the time as an input',
    imports: [],
  },
  process: {
    purpose:
      'what concerns the process and not its work: settings of the environment, log, exit codes, the version that is installed',
    imports: [],
  },
  passwords: {
    purpose: 'passwords hashed and checked, slowly for whoever guesses',
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
  'persistence/snapshots': {
    purpose: 'snapshots of the state, and the files of usage, each of which is replaced as a whole',
    imports: ['domain/json', 'domain/state', 'persistence/codec', 'persistence/disk', 'persistence/journal'],
  },
  'persistence/event-log': {
    purpose: 'search in the journal: index files, filters, text search, retention',
    imports: [
      'domain/state',
      'persistence/codec',
      'persistence/disk',
      'persistence/journal',
      'persistence/snapshots',
      'process',
    ],
  },
  'persistence/recovery': {
    purpose: 'from a data folder to the state, or to a precise refusal',
    imports: ['persistence/disk', 'persistence/journal', 'persistence/snapshots'],
  },
  'actors/state': {
    purpose: 'the state between memory and disk: as a snapshot, replayed, and audited',
    imports: [
      'domain/access',
      'domain/flags',
      'domain/json',
      'domain/kinds',
      'domain/people',
      'domain/state',
      'persistence/event-log',
      'persistence/journal',
      'persistence/recovery',
      'persistence/snapshots',
    ],
  },
  actors: {
    purpose: 'mailboxes, the turn of a command, and the wait for the disk; what applications report',
    imports: [
      'actors/state',
      'domain/access',
      'domain/decide',
      'domain/desired',
      'domain/flags',
      'domain/growth',
      'domain/json',
      'domain/kinds',
      'domain/people',
      'domain/state',
      'domain/usage',
      'persistence/codec',
      'persistence/disk',
      'persistence/event-log',
      'persistence/journal',
      'persistence/recovery',
      'persistence/snapshots',
    ],
  },
  'http/admin/schemas': {
    purpose: 'the schemas of responses',
    imports: ['domain/access', 'domain/flags', 'domain/kinds', 'domain/state'],
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
    purpose:
      'from a request to its response: routes, callers and their rights, conditions, bodies, errors, coding, probes and metrics',
    imports: [
      'actors',
      'domain/access',
      'domain/decide',
      'domain/evaluation',
      'domain/flags',
      'domain/growth',
      'domain/json',
      'domain/people',
      'domain/state',
      'domain/usage',
      'http/body',
      'http/transport',
      'passwords',
      'persistence/codec',
      'persistence/disk',
      'persistence/journal',
    ],
  },
  'http/admin/requests': {
    purpose: 'what the paths name and the bodies hold',
    imports: [
      'domain/access',
      'domain/decide',
      'domain/flags',
      'domain/json',
      'domain/people',
      'domain/state',
      'http/serving',
    ],
  },
  'http/admin/views': {
    purpose: 'responses made from the state, and the bytes kept of them',
    imports: [
      'domain/access',
      'domain/decide',
      'domain/flags',
      'domain/kinds',
      'domain/people',
      'domain/state',
      'domain/usage',
      'http/admin/requests',
      'http/serving',
      'http/transport',
    ],
  },
  'http/admin/flags': {
    purpose: 'routes about flags',
    imports: [
      'actors',
      'domain/access',
      'domain/decide',
      'domain/flags',
      'domain/json',
      'domain/kinds',
      'domain/state',
      'domain/usage',
      'http/admin/requests',
      'http/admin/schemas',
      'http/admin/views',
      'http/serving',
      'http/transport',
    ],
  },
  'http/admin/projects': {
    purpose: 'routes about projects and their members',
    imports: [
      'domain/flags',
      'domain/json',
      'domain/state',
      'http/admin/requests',
      'http/admin/schemas',
      'http/admin/views',
      'http/serving',
    ],
  },
  'http/admin/service': {
    purpose: 'routes about environments, events and the running process',
    imports: [
      'domain/decide',
      'domain/flags',
      'domain/json',
      'domain/kinds',
      'domain/people',
      'domain/state',
      'http/admin/projects',
      'http/admin/requests',
      'http/admin/schemas',
      'http/admin/usage',
      'http/admin/views',
      'http/serving',
      'http/transport',
    ],
  },
  'http/admin/targeting': {
    purpose: 'routes about segments, context fields and strategy types',
    imports: [
      'domain/decide',
      'domain/flags',
      'domain/json',
      'domain/kinds',
      'domain/state',
      'http/admin/requests',
      'http/admin/schemas',
      'http/admin/views',
      'http/serving',
    ],
  },
  'http/admin/usage': {
    purpose: 'routes about what applications reported',
    imports: [
      'domain/decide',
      'domain/evaluation',
      'domain/state',
      'domain/usage',
      'http/admin/requests',
      'http/admin/schemas',
      'http/admin/views',
      'http/serving',
    ],
  },
  'http/admin/users': {
    purpose: 'routes about users and tokens',
    imports: [
      'domain/access',
      'domain/decide',
      'domain/flags',
      'domain/json',
      'domain/kinds',
      'domain/people',
      'domain/state',
      'http/admin/requests',
      'http/admin/schemas',
      'http/admin/views',
      'http/serving',
    ],
  },
  'http/description': {
    purpose: 'the OpenAPI description, its page, and the files of the console',
    imports: ['domain/flags', 'http/admin/schemas', 'http/serving', 'http/transport'],
  },
  'http/sdk/documents': {
    purpose: 'flags as server-side SDKs get them',
    imports: ['actors', 'domain/decide', 'domain/evaluation', 'domain/flags', 'domain/state', 'http/serving'],
  },
  'http/sdk/evaluation': {
    purpose: 'flags evaluated for the context of a request',
    imports: [
      'actors',
      'domain/decide',
      'domain/evaluation',
      'domain/flags',
      'domain/json',
      'domain/state',
      'http/serving',
      'http/transport',
    ],
  },
  'http/admin/playground': {
    purpose: 'routes that say why flags are on or off',
    imports: [
      'actors',
      'domain/decide',
      'domain/evaluation',
      'domain/flags',
      'domain/json',
      'domain/state',
      'http/admin/flags',
      'http/admin/schemas',
      'http/sdk/evaluation',
      'http/serving',
      'http/transport',
    ],
  },
  'http/sdk/streams': {
    purpose: 'streams of changes, and how thousands of them are told',
    imports: [
      'actors',
      'domain/evaluation',
      'domain/state',
      'http/sdk/documents',
      'http/serving',
      'http/transport',
    ],
  },
  'http/admin/events': {
    purpose: 'routes about events: searches, lists, and the stream of them',
    imports: [
      'actors',
      'domain/json',
      'domain/state',
      'http/admin/requests',
      'http/admin/schemas',
      'http/admin/views',
      'http/sdk/streams',
      'http/serving',
      'http/transport',
      'persistence/event-log',
    ],
  },
  'http/admin': {
    purpose: 'the administrative interface: who may call it, and the table of its routes',
    imports: [
      'domain/access',
      'domain/decide',
      'domain/state',
      'http/admin/events',
      'http/admin/flags',
      'http/admin/playground',
      'http/admin/projects',
      'http/admin/service',
      'http/admin/targeting',
      'http/admin/usage',
      'http/admin/users',
      'http/serving',
    ],
  },
  'http/people': {
    purpose: 'how people sign in: sessions, passwords, links, OpenID Connect',
    imports: [
      'domain/access',
      'domain/people',
      'domain/state',
      'http/admin',
      'http/admin/requests',
      'http/admin/schemas',
      'http/admin/views',
      'http/serving',
      'http/transport',
    ],
  },
  'http/sdk': {
    purpose:
      'what SDKs and OpenFeature clients call: client, frontend, OFREP, flagd, Edge, and reports of use',
    imports: [
      'actors',
      'domain/decide',
      'domain/evaluation',
      'domain/flags',
      'domain/json',
      'domain/state',
      'domain/usage',
      'http/sdk/documents',
      'http/sdk/evaluation',
      'http/sdk/streams',
      'http/serving',
      'http/transport',
    ],
  },
  control: {
    purpose: 'the channel by which commands reach a running server',
    imports: ['actors', 'persistence/disk', 'persistence/journal', 'persistence/snapshots'],
  },
  operations: {
    purpose:
      'what is done with data folders from outside: reading, verifying, copying, restoring, repairing, comparing',
    imports: [
      'actors/state',
      'control',
      'domain/flags',
      'domain/kinds',
      'domain/people',
      'domain/state',
      'persistence/disk',
      'persistence/journal',
      'persistence/recovery',
      'persistence/snapshots',
    ],
  },
  'addons/migration': {
    purpose: 'what an Unleash holds, brought to a server',
    imports: ['domain/access', 'domain/desired', 'domain/evaluation', 'domain/flags'],
  },
  'addons/replication': {
    purpose:
      'a shared log for several nodes, one of which leads: records, leadership, the archive, NATS JetStream',
    imports: ['persistence/disk', 'persistence/journal', 'persistence/recovery', 'persistence/snapshots'],
  },
  'addons/tracing': {
    purpose: 'traces of requests, by OpenTelemetry',
    imports: ['http/serving', 'http/transport', 'process'],
  },
  start: {
    purpose:
      'what a start does before and while the server opens: settings, first events, what listens, who may sign in, the store, the cluster, exit codes',
    imports: [
      'actors',
      'addons/replication',
      'addons/tracing',
      'domain/decide',
      'domain/desired',
      'domain/flags',
      'domain/growth',
      'domain/json',
      'domain/state',
      'http/admin',
      'http/body',
      'http/people',
      'http/sdk',
      'http/serving',
      'http/transport',
      'persistence/disk',
      'persistence/event-log',
      'persistence/journal',
      'persistence/recovery',
      'persistence/snapshots',
      'process',
    ],
  },
  '.': {
    purpose: 'the server, put together from all the other rooms, and its process: arguments and signals',
    imports: [
      'actors',
      'addons/tracing',
      'control',
      'domain/access',
      'http/description',
      'http/serving',
      'http/transport',
      'passwords',
      'persistence/disk',
      'persistence/recovery',
      'process',
      'start',
    ],
  },
  cli: {
    purpose: 'the commands of `flagstaff`',
    imports: [
      '.',
      'actors',
      'actors/state',
      'addons/migration',
      'addons/replication',
      'control',
      'domain/state',
      'operations',
      'persistence/disk',
      'persistence/event-log',
      'persistence/journal',
      'persistence/recovery',
      'persistence/snapshots',
      'process',
      'start',
    ],
  },
};

export function roomsTable(): string {
  const rows = Object.entries(ROOMS).map(
    ([name, { purpose, imports }]) =>
      `| \`${name === '.' ? 'src' : name}\` | ${purpose} | ${imports.map((one) => `\`${one}\``).join(', ') || 'nothing'} |`,
  );
  return ['| folder | purpose | imports from |', '|---|---|---|', ...rows].join('\n');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(roomsTable());
