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
    imports: [
      'domain/access',
      'domain/desired',
      'domain/flags',
      'domain/growth',
      'domain/json',
      'domain/kinds',
      'domain/people',
      'domain/state',
    ],
  },
  'domain/usage': {
    purpose: 'reports of applications: counts by hour, times of use',
    imports: [],
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
  'persistence/snapshots': {
    purpose: 'snapshots of the state, and files of usage',
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
    purpose: 'the state as a snapshot, replayed, and audited',
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
    purpose: 'mailboxes, the turn of a command, the wait for the disk, usage',
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
    purpose: 'from a request to its response: routes, callers, rights, conditions, errors, coding, metrics',
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
      'domain/kinds',
      'domain/people',
      'domain/state',
      'http/serving',
    ],
  },
  'http/admin/views': {
    purpose: 'responses made from the state, and their cached bytes',
    imports: [
      'actors',
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
      'actors',
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
    purpose: 'routes about what belongs to segments, context fields and strategy types',
    imports: [
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
      'actors',
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
      'actors',
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
      'domain/kinds',
      'domain/state',
      'http/admin/events',
      'http/admin/flags',
      'http/admin/playground',
      'http/admin/projects',
      'http/admin/requests',
      'http/admin/schemas',
      'http/admin/service',
      'http/admin/targeting',
      'http/admin/usage',
      'http/admin/users',
      'http/admin/views',
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
    purpose: 'routes of SDKs and OpenFeature: client, frontend, OFREP, flagd, Edge, reports',
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
    purpose: 'work on data folders from outside: verify, copy, restore, repair, compare',
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
    purpose: 'import from an Unleash',
    imports: ['domain/access', 'domain/desired', 'domain/evaluation', 'domain/flags'],
  },
  'addons/replication': {
    purpose: 'the cluster: shared log, leadership, archive, NATS JetStream',
    imports: ['persistence/disk', 'persistence/journal', 'persistence/recovery', 'persistence/snapshots'],
  },
  'addons/tracing': {
    purpose: 'traces of requests, by OpenTelemetry',
    imports: ['http/serving', 'http/transport', 'process'],
  },
  start: {
    purpose: 'the steps of a start: settings, first events, surfaces, sign-in, store, cluster',
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

/** Folders of one wing together: `domain/{flags,json}`. */
function grouped(imports: readonly string[]): string {
  const wings = new Map<string, string[]>();
  for (const one of imports) {
    const [wing = '', ...inner] = one.split('/');
    wings.set(wing, [...(wings.get(wing) ?? []), inner.join('/')]);
  }
  const texts = [...wings].map(([wing, inner]) => {
    const own = inner.includes('') ? [wing] : [];
    const below = inner.filter((one) => one !== '');
    if (below.length === 0) return own;
    return [...own, below.length === 1 ? `${wing}/${below[0]}` : `${wing}/{${below.join(',')}}`];
  });
  return texts
    .flat()
    .map((one) => `\`${one}\``)
    .join(', ');
}

export function roomsTable(): string {
  const rows = Object.entries(ROOMS).map(
    ([name, { purpose, imports }]) =>
      `| \`${name === '.' ? 'src' : name}\` | ${purpose} | ${grouped(imports) || '–'} |`,
  );
  return ['| folder | purpose | imports from |', '|---|---|---|', ...rows].join('\n');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(roomsTable());
