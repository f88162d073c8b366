/**
 * Every limit of the server: what is counted, how much there may be, the setting if there is one, and what happens beyond it.
 * The numbers are those of the code, so docs/limits.md, which render.ts writes from this table, cannot differ from it.
 */
import { RING_BYTES_MAX, RING_CHANGES_MAX } from '../../src/actors/change-feed.ts';
import { CHANGE_BYTES_MAX, QUEUE_DEADLINE_MS } from '../../src/actors/command-decider.ts';
import { UNSYNCED_BYTES_MAX } from '../../src/actors/engine.ts';
import { READS, TEXT_SEARCHES, WALKS } from '../../src/actors/log-reads.ts';
import { WAITING_BYTES_MAX } from '../../src/actors/loop-accounts.ts';
import {
  CACHE_BYTES_MIN,
  cacheBytesMax,
  defaultMemoryBudget,
  OTHERS_BYTES,
  WORK_BYTES_MIN,
  YOUNG_BYTES,
} from '../../src/actors/memory-budget.ts';
import { MAILBOX_LENGTH_MAX } from '../../src/actors/scheduler.ts';
import { EVENTS_PER_SNAPSHOT } from '../../src/actors/snapshot-keeper.ts';
import { APPLICATIONS_BYTES_MAX, COUNTS_BYTES_MAX, SAVED_BYTES_A_SECOND } from '../../src/actors/usage.ts';
import {
  EVENT_CHARGE_BYTES_MIN,
  WRITE_BURST_BYTES,
  WRITTEN_BYTES_A_SECOND,
} from '../../src/actors/write-allowances.ts';
import { SNAPSHOTS_ARCHIVED } from '../../src/addons/replication/archivist.ts';
import { ARCHIVE_FILE_BYTES } from '../../src/addons/replication/file-archive.ts';
import { SESSIONS_MAX, SESSIONS_PER_CALLER_MAX } from '../../src/domain/access/sessions.ts';
import { PARENTS_PER_FLAG_MAX } from '../../src/domain/decide/dependency-commands.ts';
import { ENVIRONMENTS_MAX } from '../../src/domain/decide/environment-commands.ts';
import { IMPORT_EVENTS_MAX, TRANSFER_FLAGS_MAX } from '../../src/domain/decide/import-issues.ts';
import { FAVORITES_MAX } from '../../src/domain/decide/preference-commands.ts';
import {
  DEFAULT_STRATEGY_BYTES_MAX,
  FLAGS_DELETED_WITH_PROJECT_MAX,
} from '../../src/domain/decide/project-commands.ts';
import { TAG_CHANGES_MAX } from '../../src/domain/decide/tag-commands.ts';
import { API_TOKENS_MAX } from '../../src/domain/decide/token-commands.ts';
import { TEXT_INDEXES_MAX } from '../../src/domain/evaluation/text-index.ts';
import {
  DEFAULT_GROWTH_LIMITS,
  GROWTH_LIMIT_NAMES,
  GROWTH_LIMITS,
} from '../../src/domain/flags/growth-limits.ts';
import { LINKS_MAX } from '../../src/domain/flags/link.ts';
import { PATTERN_CACHE_BYTES_MAX } from '../../src/domain/flags/pattern.ts';
import { NAMING_PATTERN_LENGTH_MAX } from '../../src/domain/flags/project-rules.ts';
import { MEMORY_BUDGET_SETTING } from '../../src/domain/growth/refuse-memory.ts';
import { CHECK_UNITS_MAX } from '../../src/domain/json/check-budget.ts';
import { ISSUES_MAX } from '../../src/domain/json/issues.ts';
import { JSON_DEPTH_MAX } from '../../src/domain/json/json.ts';
import { PATCH_OPERATIONS_MAX, PATCH_SIZE_MAX } from '../../src/domain/json/json-patch.ts';
import {
  CONTEXT_FIELD_BYTES_MAX,
  CONTEXT_FIELDS_MAX,
  LEGAL_VALUES_MAX,
} from '../../src/domain/kinds/context-field.ts';
import { GROUP_BYTES_MAX, GROUP_USERS_MAX, GROUPS_MAX } from '../../src/domain/kinds/group.ts';
import { INVITATIONS_MAX, INVITED_USERS_MAX } from '../../src/domain/kinds/invitation.ts';
import { CUSTOM_ROLES_MAX, ROLE_BYTES_MAX } from '../../src/domain/kinds/role.ts';
import { SEGMENT_BYTES_MAX, SEGMENT_COST_MAX, SEGMENTS_MAX } from '../../src/domain/kinds/segment.ts';
import { STRATEGY_TYPE_BYTES_MAX, STRATEGY_TYPES_MAX } from '../../src/domain/kinds/strategy-type.ts';
import { TAG_TYPES_MAX, TAGS_MAX } from '../../src/domain/kinds/tag-type.ts';
import { PERSONAL_TOKENS_PER_USER_MAX } from '../../src/domain/people/personal-token-commands.ts';
import {
  RESPONSE_BODY_BYTES_MAX,
  RESPONSE_LIFETIME_MS,
  RESPONSES_BYTES_MAX,
  RESPONSES_MAX,
} from '../../src/domain/state/idempotency-cache.ts';
import { FLAG_BYTES_MAX, SDK_DOCUMENT_BYTES_MAX } from '../../src/domain/state/served-bytes.ts';
import { APPLICATIONS_MAX, INSTANCES_MAX } from '../../src/domain/usage/applications.ts';
import { EVENTS_LIMIT_MAX } from '../../src/http/admin/events/events.ts';
import { EVENTS_TOLD_MAX, TOLD_LENGTH_MAX } from '../../src/http/admin/events/recorded-news.ts';
import {
  STREAMS_MAX as EVENT_STREAMS_MAX,
  STREAMS_PER_CALLER_MAX,
} from '../../src/http/admin/events/recorded-streams.ts';
import { PAGE_BYTES_MAX as ARCHIVE_PAGE_BYTES_MAX } from '../../src/http/admin/flags/archive.ts';
import {
  FLAGS_MAX as ROLLED_BACK_FLAGS_MAX,
  SIZE_MAX as ROLLED_BACK_SIZE_MAX,
} from '../../src/http/admin/flags/history.ts';
import { EXPORT_SIZE_MAX } from '../../src/http/admin/flags/transfer.ts';
import { VALUES_MAX as COMBINED_VALUES_MAX } from '../../src/http/admin/playground/combinations.ts';
import { RESPONSE_LENGTH_MAX } from '../../src/http/admin/playground/explanation-view.ts';
import { EVALUATIONS_MAX, TRIED_FIELDS_MAX } from '../../src/http/admin/playground/playground.ts';
import { BULK_FLAGS_MAX } from '../../src/http/admin/requests/bodies.ts';
import { LIST_BYTES_MAX } from '../../src/http/admin/views/list-response.ts';
import { LIST_LENGTH_MAX, VALUES_MAX } from '../../src/http/body/json-shape.ts';
import { RUNNING_MAX as SIGN_INS_RUNNING_MAX } from '../../src/http/people/oidc-surface.ts';
import { REPLY_BYTES_MAX as PROVIDER_REPLY_BYTES_MAX } from '../../src/http/people/provider.ts';
import { FLAGS_AT_ONCE } from '../../src/http/sdk/evaluation/evaluated.ts';
import { LONG_LISTS } from '../../src/http/sdk/evaluation/scope-evaluators.ts';
import { BULK_APPLICATIONS_MAX, BULK_COUNTS_MAX } from '../../src/http/sdk/reports.ts';
import {
  BEGINNING_TICKS_MAX,
  PAGE_STREAMS_MAX,
  PAST_HYDRATIONS_MAX,
} from '../../src/http/sdk/streams/flag-streams.ts';
import {
  NARROWED_STREAMED_MAX,
  NARROWED_STREAMED_PER_TOKEN_MAX,
} from '../../src/http/sdk/streams/query-watches.ts';
import { LOG_CHARACTERS_MAX, LOGS_CHARACTERS_MAX } from '../../src/http/sdk/streams/watch-log.ts';
import {
  STRANGERS_WAITING_MAX,
  WAITING_BODIES_BYTES_MAX,
  WAITING_MAX,
} from '../../src/http/serving/cluster.ts';
import { COMPRESSING_BYTES_MAX } from '../../src/http/serving/compressor.ts';
import { FORWARDED_BYTES_MAX, FORWARDED_MAX } from '../../src/http/serving/leader-client.ts';
import { METRICS_AGE_MS_MAX } from '../../src/http/serving/probes.ts';
import { RESPONSE_BYTES_MAX } from '../../src/http/serving/read-path.ts';
import { REFUSED_LOGINS_LOGGED_MAX, REFUSED_LOGINS_PERIOD_MS } from '../../src/http/serving/request-log.ts';
import { SMALL_BODY_BYTES_MAX } from '../../src/http/transport/body-budget.ts';
import {
  CONNECTIONS_BESIDE_STREAMS_MAX,
  DESCRIPTORS_RESERVED,
  HEADER_BLOCK_BYTES_MAX,
  HEADERS_MAX,
  resolveLimits,
  STREAMS_MAX,
  UWS_BODY_BYTES_PER_SECOND_MIN,
  UWS_READER_PAUSE_MS_MAX,
} from '../../src/http/transport/transport-limits.ts';
import { type AttemptLimit, ENTRIES_MAX } from '../../src/passwords/attempt-limits.ts';
import {
  FROM_ADDRESS,
  GOOD_SIGN_INS_MAX,
  LINKS_FROM_ADDRESS,
  OF_USER,
  USER_FROM_ADDRESS,
} from '../../src/passwords/passwords.ts';
import { NEW_WAITING_MAX, WAITING_MAX as PASSWORDS_WAITING_MAX } from '../../src/passwords/scrypt-queue.ts';
import { PAGE_BYTES_MAX } from '../../src/persistence/event-log/event-page.ts';
import { RESERVE_BYTES_DEFAULT } from '../../src/persistence/journal/free-space.ts';
import { LOG_BYTES } from '../../src/start/setting-rows.ts';

export interface LimitRow {
  readonly counted: string;
  readonly limit: string;
  /** Null: a constant. */
  readonly setting: string | null;
  readonly beyond: string;
}

export interface LimitSection {
  readonly title: string;
  readonly introduction: string;
  readonly rows: readonly LimitRow[];
}

export const number = (count: number): string => count.toLocaleString('en');

export function bytes(count: number): string {
  if (count % 2 ** 20 === 0) return `${number(count / 2 ** 20)} MiB`;
  return count % 1024 === 0 ? `${number(count / 1024)} KiB` : `${number(count)} bytes`;
}

const seconds = (ms: number): string => (ms === 1000 ? '1 second' : `${ms / 1000} seconds`);

const attempts = ({ burst, refillMs }: AttemptLimit): string =>
  `${burst}, and one more every ${seconds(refillMs)}`;

const row = (counted: string, limit: string, beyond: string, setting: string | null = null): LimitRow => ({
  ...{ counted, limit, setting, beyond },
});

const transport = resolveLimits();

/** What is kept in V8's heap beside the state and the cache, at most. */
export const OTHER_PARTS: readonly (readonly [what: string, bytes: number])[] = [
  ['responses kept for `Idempotency-Key`', RESPONSES_BYTES_MAX],
  ['compiled regular expressions', PATTERN_CACHE_BYTES_MAX],
  ['changes kept for caches and streams', RING_BYTES_MAX],
  ['counts of evaluations', COUNTS_BYTES_MAX.backend + COUNTS_BYTES_MAX.frontend],
  ['applications', 2 * APPLICATIONS_BYTES_MAX],
  ['changes that streams may have missed, two bytes a character', 2 * LOGS_CHARACTERS_MAX],
];

/** Bytes that V8's heap does not hold, at most. */
export const BESIDE_PARTS: readonly (readonly [what: string, bytes: number])[] = [
  ['unread bytes of responses', transport.unreadBytesMax],
  ['unfinished bodies', transport.bodiesBytesMax],
  ['bodies that wait for being compressed', COMPRESSING_BYTES_MAX],
  ['requests of callers who held the event loop for long', WAITING_BYTES_MAX],
  ['requests for long lists of evaluated flags', LONG_LISTS.waitingMax],
  ['changes that are not on disk yet', UNSYNCED_BYTES_MAX],
];

export const totalOf = (parts: typeof OTHER_PARTS): number => parts.reduce((sum, [, one]) => sum + one, 0);

export interface HeapShares {
  readonly heap: number;
  readonly state: number;
  readonly cache: number;
  readonly work: number;
}

/** How a heap with so many bytes of old space is shared out, with default settings unless `state` is given. */
export function heapShares(oldSpaceBytes: number, state?: number): HeapShares {
  const heap = oldSpaceBytes + YOUNG_BYTES;
  const stateBytes = state ?? defaultMemoryBudget(heap);
  const cache = cacheBytesMax(heap, stateBytes);
  return { heap, state: stateBytes, cache, work: oldSpaceBytes - stateBytes - cache - OTHERS_BYTES };
}

const DAY_SECONDS = 86_400;
const USER_A_DAY = WRITE_BURST_BYTES + DAY_SECONDS * WRITTEN_BYTES_A_SECOND;
const SAVED_AT_ONCE = COUNTS_BYTES_MAX.backend + COUNTS_BYTES_MAX.frontend + 2 * APPLICATIONS_BYTES_MAX;
const SNAPSHOTS_A_DAY = Math.ceil(USER_A_DAY / EVENT_CHARGE_BYTES_MIN / EVENTS_PER_SNAPSHOT);

export interface DailyWrites {
  readonly who: string;
  readonly rate: string;
  /** The most that the rate and the size of what is written come to, in a day. */
  readonly bytes: number;
  readonly beyond: string;
}

/** Whoever may do everything may also fill the disk, and is not in it. */
export const DAILY_WRITES: readonly DailyWrites[] = [
  {
    who: `a user who is no Admin (such as a Viewer or a Member), whatever the requests: exports, sessions, tokens, favorites, changes of flags. An event counts as ${bytes(EVENT_CHARGE_BYTES_MIN)} at least, so a day has ${SNAPSHOTS_A_DAY} snapshots of the state besides`,
    rate: `${bytes(WRITE_BURST_BYTES)} at once, ${bytes(WRITTEN_BYTES_A_SECOND)} a second; one more change`,
    bytes: USER_A_DAY + CHANGE_BYTES_MAX,
    beyond: '503 says in how many seconds it goes on',
  },
  {
    who: 'all tokens of applications and of pages together: reports are saved as whole files, and a pause follows in proportion',
    rate: `${bytes(SAVED_AT_ONCE)} at once, ${bytes(SAVED_BYTES_A_SECOND)} a second`,
    bytes: SAVED_AT_ONCE + DAY_SECONDS * SAVED_BYTES_A_SECOND,
    beyond: 'a crash loses the reports since the last save',
  },
  {
    who: 'nobody: requests without a valid token are logged, with their paths',
    rate: `${REFUSED_LOGINS_LOGGED_MAX} in ${seconds(REFUSED_LOGINS_PERIOD_MS)}, ${bytes(HEADER_BLOCK_BYTES_MAX)} each`,
    bytes:
      ((DAY_SECONDS * 1000) / REFUSED_LOGINS_PERIOD_MS) * REFUSED_LOGINS_LOGGED_MAX * HEADER_BLOCK_BYTES_MAX,
    beyond: 'they are counted',
  },
];

export const SECTIONS: readonly LimitSection[] = [
  {
    title: 'Parts of a flag',
    introduction: `These limits refuse growth only: a larger flag, older, imported, or from before the setting was lowered, loads, can be read and switched, and can be made smaller. Each refusal names the number, the limit and the setting:
\`The flag "checkout" in the environment "production" would have 31 strategies; the limit is 30 (STRATEGIES_PER_ENVIRONMENT_MAX).\``,
    rows: GROWTH_LIMIT_NAMES.map((name) => {
      const { counted, setting, settingMax } = GROWTH_LIMITS[name];
      const most = `400; the setting takes up to ${number(settingMax)}`;
      return row(counted, number(DEFAULT_GROWTH_LIMITS[name]), most, setting);
    }),
  },
  {
    title: 'Other parts of the state',
    introduction: 'Constants. Each refusal names the limit.',
    rows: [
      row(
        'size of a flag as JSON with its escapes, tags not counted: with all its environments, and as applications get it in one, with its segments',
        bytes(FLAG_BYTES_MAX),
        '413; growth only, as above',
      ),
      row(
        'size of the flags that a client token covers, as applications get them, with their segments',
        bytes(SDK_DOCUMENT_BYTES_MAX),
        '413 for what would make them larger, and for reading them where they are',
      ),
      row('parents of a flag', number(PARENTS_PER_FLAG_MAX), '409'),
      row('environments', number(ENVIRONMENTS_MAX), '409'),
      row(
        'segments, and the size of one',
        `${number(SEGMENTS_MAX)}, ${bytes(SEGMENT_BYTES_MAX)}`,
        '409, 413',
      ),
      row('milliseconds for which a segment is evaluated at worst', number(SEGMENT_COST_MAX / 1_000), '400'),
      row(
        'context fields, and the size of one',
        `${number(CONTEXT_FIELDS_MAX)}, ${bytes(CONTEXT_FIELD_BYTES_MAX)}`,
        '409, 413',
      ),
      row('legal values of a context field', number(LEGAL_VALUES_MAX), '409'),
      row(
        'strategy types, and the size of one',
        `${number(STRATEGY_TYPES_MAX)}, ${bytes(STRATEGY_TYPE_BYTES_MAX)}`,
        '409, 413',
      ),
      row(
        'default strategy of a project in an environment, as JSON',
        bytes(DEFAULT_STRATEGY_BYTES_MAX),
        '413',
      ),
      row('links of a flag', number(LINKS_MAX), '409'),
      row('link templates of a project', number(LINKS_MAX), '400'),
      row('characters of a naming pattern of flags', number(NAMING_PATTERN_LENGTH_MAX), '400'),
      row('tag types', number(TAG_TYPES_MAX), '409'),
      row('tags that were made by themselves', number(TAGS_MAX), '409'),
      row('favorites of a user: flags, and projects', number(FAVORITES_MAX), '409'),
      row(
        'custom roles, and the size of one',
        `${number(CUSTOM_ROLES_MAX)}, ${bytes(ROLE_BYTES_MAX)}`,
        '409, 413',
      ),
      row('groups, and the size of one', `${number(GROUPS_MAX)}, ${bytes(GROUP_BYTES_MAX)}`, '409, 413'),
      row('users of a group', number(GROUP_USERS_MAX), '400'),
      row('API tokens', number(API_TOKENS_MAX), '409'),
      row('personal tokens of a user', number(PERSONAL_TOKENS_PER_USER_MAX), '409'),
      row(
        'people who come back from a provider of OpenID Connect at once',
        number(SIGN_INS_RUNNING_MAX),
        'they are told to try again',
      ),
      row('reply of such a provider', bytes(PROVIDER_REPLY_BYTES_MAX), 'nobody is signed in'),
      row(
        'sessions of a user or an API token, and of all',
        `${number(SESSIONS_PER_CALLER_MAX)}, ${number(SESSIONS_MAX)}`,
        'the oldest ends',
      ),
    ],
  },
  {
    title: 'Memory',
    introduction: `The state counts as after a restart, when clones share nothing any more, so that a server
can load with the same settings whatever it accepted. Beyond the budget, changes that make the state larger get 507; everything else goes on. [operating.md](operating.md) says how to get below it.`,
    rows: [
      row(
        'the state, as it will be after a restart',
        `half of what V8 may use beside ${bytes(YOUNG_BYTES)} for young objects and ${bytes(OTHERS_BYTES)} for [others](#sum-of-the-memory), and at least an eighth of all; the setting takes what the others leave, but for ${bytes(CACHE_BYTES_MIN + WORK_BYTES_MIN)}`,
        '507',
        MEMORY_BUDGET_SETTING,
      ),
      row(
        'responses kept for `Idempotency-Key`',
        `${number(RESPONSES_MAX)} and ${bytes(RESPONSES_BYTES_MAX)}, each for ${RESPONSE_LIFETIME_MS / 3_600_000} hours`,
        `the oldest are forgotten; one above ${bytes(RESPONSE_BODY_BYTES_MAX)} is kept as done`,
      ),
      row(
        'the cache: documents, deltas and texts of flags for SDKs, what evaluates flags, lists of evaluated flags, summaries of flags for overviews and lists of projects, responses in compressed form, callers by their tokens, events that were listed, and states of flags of the past',
        `a quarter of what V8 may use beside young objects and others, and at least ${bytes(CACHE_BYTES_MIN)}, or a quarter of what the state leaves of a smaller heap; a quarter of the cache for what one caller can multiply, as by a query string`,
        'what was used longest ago is made anew',
      ),
      row(
        'documents and deltas that are made in turns at a time, callers in turn',
        '1',
        'others wait, as many as have connections',
      ),
      row(
        'bodies that wait for being compressed',
        bytes(COMPRESSING_BYTES_MAX),
        'further ones are sent as they are',
      ),
      row(
        'indexes of long texts in contexts, which constraints with many values search',
        `${number(TEXT_INDEXES_MAX)}, some 8 MiB`,
        'the one that was used longest ago is made anew',
      ),
      row(
        'regular expressions of the constraints in one request; one with \\p counts 40 times',
        `${number(CHECK_UNITS_MAX)} characters`,
        '400 names the first that is too many',
      ),
      row(
        'regular expressions kept in compiled form, with what they have learned of texts',
        bytes(PATTERN_CACHE_BYTES_MAX),
        'the one that was used longest ago is compiled again',
      ),
      row(
        'changes kept for caches and streams that fall behind',
        `${number(RING_CHANGES_MAX)} and ${bytes(RING_BYTES_MAX)}`,
        'they read the state anew',
      ),
      row(
        'counts of evaluations that servers report, and that pages report',
        `${bytes(COUNTS_BYTES_MAX.backend)} and ${bytes(COUNTS_BYTES_MAX.frontend)}`,
        'the oldest hours or days are dropped',
      ),
      row(
        'applications that report as servers, and as pages',
        `${number(APPLICATIONS_MAX)} and ${bytes(APPLICATIONS_BYTES_MAX)} each`,
        'the one that reported longest ago is forgotten',
      ),
      row(
        'instances of an application in an environment',
        number(INSTANCES_MAX),
        'the one that reported longest ago is forgotten',
      ),
      row(
        'bytes of a response, compressed where it is',
        bytes(RESPONSE_BYTES_MAX),
        '413, before the first byte',
      ),
      row(
        'unread bytes of responses, over all connections',
        bytes(transport.unreadBytesMax),
        'the client that costs most is disconnected',
      ),
      row(
        'unfinished bodies, over all requests',
        bytes(transport.bodiesBytesMax),
        `503 for the slowest; bodies up to ${bytes(SMALL_BODY_BYTES_MAX)} have a quarter for themselves`,
      ),
    ],
  },
  {
    title: 'Requests',
    introduction: 'Constants. [common.md](specification/common.md) has the names of the errors.',
    rows: [
      row('request line and headers', `${bytes(HEADER_BLOCK_BYTES_MAX)}, ${HEADERS_MAX} headers`, '431'),
      row('path and query', bytes(transport.targetBytesMax), '414'),
      row('body', bytes(transport.bodyBytesMax), '413'),
      row('nesting of a body', `${JSON_DEPTH_MAX} levels`, '400'),
      row('values in a body', number(VALUES_MAX), '400'),
      row('items in a list, or fields in an object', number(LIST_LENGTH_MAX), '400'),
      row('operations in a JSON Patch', number(PATCH_OPERATIONS_MAX), '400'),
      row('a patched document and all that is put into it', bytes(PATCH_SIZE_MAX), '400'),
      row('flags in a request for many', number(BULK_FLAGS_MAX), '400'),
      row(
        'flags in a request about tags, times the tags that it adds or removes',
        number(TAG_CHANGES_MAX),
        '409',
      ),
      row(
        'archived flags that are deleted with their project',
        number(FLAGS_DELETED_WITH_PROJECT_MAX),
        '409',
      ),
      row('flags that lose a tag when it is deleted', number(BULK_FLAGS_MAX), '409'),
      row(
        'applications, and counts, in a bulk report',
        `${number(BULK_APPLICATIONS_MAX)}, ${number(BULK_COUNTS_MAX)}`,
        '400',
      ),
      row('evaluations of a request to the playground', number(EVALUATIONS_MAX), '400'),
      row('values of a context to combine', number(COMBINED_VALUES_MAX), '400'),
      row('fields of their contexts, over all evaluations', number(TRIED_FIELDS_MAX), '400'),
      row(
        'characters of a response of the playground, and of an explanation',
        number(RESPONSE_LENGTH_MAX),
        '400',
      ),
      row('events of one change in the journal', bytes(CHANGE_BYTES_MAX), '413'),
      row('issues that a refusal lists', number(ISSUES_MAX), 'the first ones are listed'),
      row('time until a request is complete', seconds(transport.requestDeadlineMs), '408'),
      row(
        'time until a response has been read',
        seconds(transport.responseDeadlineMs),
        'the connection is closed',
      ),
      row(
        'pace of a body, on uWebSockets.js',
        `at least ${bytes(UWS_BODY_BYTES_PER_SECOND_MIN)} a second over each 10 seconds`,
        'the connection is closed',
      ),
      row(
        'pause of a reader, on uWebSockets.js',
        seconds(UWS_READER_PAUSE_MS_MAX),
        'the connection is closed',
      ),
    ],
  },
  {
    title: 'Connections and queues',
    introduction: 'Two of these are settings.',
    rows: [
      row(
        'connections',
        `${number(CONNECTIONS_BESIDE_STREAMS_MAX)} more than streams, or ${DESCRIPTORS_RESERVED} fewer than the process may have open files`,
        'the new one is closed, and the log warns once',
      ),
      row(
        'connections of one address, on node:http',
        'none, unless set',
        'the new one is closed, and the log warns once',
        'CONNECTIONS_PER_ADDRESS',
      ),
      row('silence of a connection', seconds(transport.idleMs), 'it is closed'),
      row('streams', `${number(STREAMS_MAX)}, or 5 of 6 connections`, '503', 'STREAMS_MAX'),
      row('streams of pages, for OFREP', number(PAGE_STREAMS_MAX), '503'),
      row(
        'streams of events, for the console',
        `${number(EVENT_STREAMS_MAX)}, ${number(STREAMS_PER_CALLER_MAX)} of one caller`,
        '503, and the console asks every 2 seconds',
      ),
      row(
        'events that such a stream tells at once',
        `${number(EVENTS_TOLD_MAX)}, and ${number(TOLD_LENGTH_MAX)} characters`,
        'it says that more happened, and its client reads anew',
      ),
      row(
        'flags that the rollback of a project changes, and their size as they are and as they were',
        `${number(ROLLED_BACK_FLAGS_MAX)}, ${bytes(ROLLED_BACK_SIZE_MAX)}`,
        '409',
      ),
      row(
        'flags in one export or import, and the size of those that are exported',
        `${number(TRANSFER_FLAGS_MAX)}, ${bytes(EXPORT_SIZE_MAX)}`,
        '409 for the export, 400 for the import',
      ),
      row('events that one import of flags may record', number(IMPORT_EVENTS_MAX), '409'),
      row(
        'queries narrowed by a query string that streams are open for',
        `${number(NARROWED_STREAMED_MAX)}, ${number(NARROWED_STREAMED_PER_TOKEN_MAX)} of one token`,
        '503',
      ),
      row(
        'changes that a stream, or a client of `/api/client/delta`, may have missed',
        `${number(LOG_CHARACTERS_MAX)} characters, ${number(LOGS_CHARACTERS_MAX)} for all queries of streams together`,
        'the client gets all flags again',
      ),
      row(
        'what open streams know of the flags of their queries, shared by the streams of a query',
        'half of the cache, some 48 bytes for each flag of each query',
        '503 for a new query',
      ),
      row(
        'time until a new stream has taken the flags that it begins with',
        `${BEGINNING_TICKS_MAX} seconds`,
        'it is disconnected',
      ),
      row(
        'past moments that streams are beginning with while newer streams of their query begin with a newer one',
        number(PAST_HYDRATIONS_MAX),
        'the streams of the oldest are disconnected',
      ),
      row(
        'what waits for the client of a stream',
        bytes(transport.streamBufferBytesMax),
        'it is disconnected',
      ),
      row('changes that wait for one project, or for the directory', number(MAILBOX_LENGTH_MAX), '503'),
      row('time that a change waits before it is begun', seconds(QUEUE_DEADLINE_MS), '503'),
      row('changes that are not on disk yet', bytes(UNSYNCED_BYTES_MAX), 'further changes wait'),
      row(
        'reads of the event log under way: event lists, `?at=`, rollbacks',
        `${READS.runningMax}, ${READS.runningPerRequesterMax} of one caller`,
        `${READS.waitingMax} more wait; beyond that, 503 for the caller with the most`,
      ),
      row(
        'text searches under way',
        number(TEXT_SEARCHES.runningMax),
        `${TEXT_SEARCHES.waitingMax} more wait; beyond that, 503 for the caller with the most`,
      ),
      row(
        'requests of callers whose earlier ones held the event loop for long',
        '1',
        `${bytes(WAITING_BYTES_MAX)} more wait; beyond that, 503 for the caller with the most`,
      ),
      row(
        'walks over all flags under way: uses of segments and context fields, the archive',
        `${WALKS.runningMax}, ${WALKS.runningPerRequesterMax} of one caller`,
        `${WALKS.waitingMax} more wait; beyond that, 503 for the caller with the most`,
      ),
      row(
        `lists of more than ${number(FLAGS_AT_ONCE)} evaluated flags under way, for pages and for OpenFeature`,
        `${LONG_LISTS.runningMax}, ${LONG_LISTS.runningPerRequesterMax} of one token and address`,
        `${bytes(LONG_LISTS.waitingMax)} more wait; beyond that, 503 for the caller with the most`,
      ),
      row(
        'of a cluster: writes that a follower has handed on',
        `${number(FORWARDED_MAX)}, and ${bytes(FORWARDED_BYTES_MAX)} of bodies and responses`,
        '503',
      ),
      row(
        'of a cluster: requests that wait for the event of `Flagstaff-At-Least`',
        `${number(WAITING_MAX)}, ${STRANGERS_WAITING_MAX} more whose token is unknown, and ${bytes(WAITING_BODIES_BYTES_MAX)} of bodies`,
        '503',
      ),
      row(
        'invitations, and users who come by one',
        `${number(INVITATIONS_MAX)}, ${number(INVITED_USERS_MAX)}`,
        '409',
      ),
      row('links with which a user sets a password', '1', 'a new one ends the one before'),
      row(
        'passwords that wait to be hashed or checked: of callers who are known, and of strangers, with new ones among the latter',
        `${number(PASSWORDS_WAITING_MAX)}, ${number(PASSWORDS_WAITING_MAX)} with ${number(NEW_WAITING_MAX)}`,
        '503; an address that has many gives way to one that has fewer',
      ),
      row(
        'addresses, and users at one, that are known by their sign-ins',
        number(GOOD_SIGN_INS_MAX),
        'those that signed in longest ago are strangers again',
      ),
      row('wrong passwords of a user, from one address', attempts(USER_FROM_ADDRESS), '429'),
      row('wrong passwords from one address', attempts(FROM_ADDRESS), '429 for wrong ones'),
      row('wrong links from one address', attempts(LINKS_FROM_ADDRESS), '429 for wrong ones'),
      row(
        'wrong passwords of a user, from all addresses',
        attempts(OF_USER),
        '429 where the user has not signed in before',
      ),
      row(
        'users and addresses whose wrong passwords are counted',
        number(ENTRIES_MAX),
        'those that tried longest ago are forgotten',
      ),
      row(
        'refused tokens that are logged',
        `${REFUSED_LOGINS_LOGGED_MAX} in ${seconds(REFUSED_LOGINS_PERIOD_MS)}`,
        'they are counted',
      ),
      row('metrics page', `made once in ${seconds(METRICS_AGE_MS_MAX)}`, 'the last one is sent again'),
    ],
  },
  {
    title: 'Pages',
    introduction: 'A page that ends early says where the next one starts.',
    rows: [
      row(
        'events in a list',
        `${EVENTS_LIMIT_MAX}, and ${bytes(PAGE_BYTES_MAX)}`,
        'the page ends with the event that reaches it',
      ),
      row(
        'flags of the archive in a page',
        `${number(BULK_FLAGS_MAX)}, and ${bytes(ARCHIVE_PAGE_BYTES_MAX)}`,
        'the page ends with the flag that reaches it',
      ),
      row(
        'API tokens, groups, or users with groups, in a list',
        bytes(LIST_BYTES_MAX),
        '413 says how to ask for fewer, with limit and offset',
      ),
    ],
  },
  {
    title: 'Disk',
    introduction: 'The journal grows until old events may go.',
    rows: [
      row(
        'free space',
        `at least ${bytes(RESERVE_BYTES_DEFAULT)}`,
        'writes get 503 until there is space again; reads go on',
      ),
      row('age of events', 'none', 'whole segment files are deleted', 'EVENT_RETENTION_DAYS'),
      row(
        'of a cluster: archived events that the log keeps too',
        bytes(LOG_BYTES),
        'the log forgets the oldest, unless a node that was heard of lately lacks them',
        'REPLICATION_LOG_BYTES',
      ),
      row('of a cluster: an archived file', bytes(ARCHIVE_FILE_BYTES), 'the next one begins'),
      row('of a cluster: snapshots in the archive', number(SNAPSHOTS_ARCHIVED), 'the oldest is deleted'),
    ],
  },
  {
    title: 'Writes of one caller',
    introduction: `How much a caller can make the server write in a day: at most 1 GB. A log of all requests, where the operator wants one, is not in it.`,
    rows: DAILY_WRITES.map(({ who, rate, bytes: most, beyond }) =>
      row(who, `${rate}: ${Math.round(most / 1e6)} MB in a day`, beyond),
    ),
  },
];
