/**
 * Every limit of the server: what is counted, how much there may be, the setting if there is one, and what happens beyond it.
 * The numbers are those of the code, so docs/limits.md, which render.ts writes from this table, cannot differ from it.
 */

import type { Allowance } from '../../src/actors/allowances.ts';
import { RING_BYTES_MAX, RING_CHANGES_MAX } from '../../src/actors/change-feed.ts';
import { CHANGE_BYTES_MAX, QUEUE_DEADLINE_MS } from '../../src/actors/command-decider.ts';
import { UNSYNCED_BYTES_MAX } from '../../src/actors/engine.ts';
import { READS, TEXT_SEARCHES } from '../../src/actors/log-reads.ts';
import { DEBTORS_MAX, WAITING_BYTES_MAX } from '../../src/actors/loop-accounts.ts';
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
import { AT_ONCE_EACH_ROUND_MS, AT_ONCE_MS_MIN, TURN_MS } from '../../src/actors/turn.ts';
import {
  EVENT_CHARGE_BYTES_MIN,
  WRITE_BURST_BYTES,
  WRITTEN_BYTES_A_SECOND,
} from '../../src/actors/write-allowances.ts';
import {
  CHANGES_MAX,
  COMMENTS_MAX,
  REQUEST,
  REQUEST_BYTES_MAX,
} from '../../src/addons/change-requests/kind.ts';
import { PROTECTION } from '../../src/addons/change-requests/protection.ts';
import {
  WAITING_BODIES_BYTES_MAX as EDGE_BODIES_BYTES_MAX,
  WAITING_REQUESTS_MAX,
} from '../../src/addons/edge/edge-router.ts';
import { MIRRORS_MAX } from '../../src/addons/edge/mirrors.ts';
import {
  APPLICATIONS_MAX as EDGE_APPLICATIONS_MAX,
  WAITING_BYTES_MAX as REPORTED_BYTES_MAX,
} from '../../src/addons/edge/reports.ts';
import {
  INVALID_FOR_MS,
  INVALID_MAX,
  WAITING_MAX as TOKENS_WAITING_MAX,
  VALID_MAX,
} from '../../src/addons/edge/tokens.ts';
import { BODY_BYTES_MAX, CONNECTIONS_MAX } from '../../src/addons/edge/upstream-client.ts';
import { CHANGES_MAX as FILE_CHANGES_MAX } from '../../src/addons/flags-as-code/routes.ts';
import { INTEGRATION_BYTES_MAX, INTEGRATIONS_MAX } from '../../src/addons/integrations/kind.ts';
import { ENTRIES_MAX } from '../../src/addons/people/attempt-limits.ts';
import { RUNNING_MAX as SIGN_INS_RUNNING_MAX } from '../../src/addons/people/oidc-surface.ts';
import {
  FROM_ADDRESS,
  GOOD_SIGN_INS_MAX,
  LINKS_FROM_ADDRESS,
  OF_USER,
  USER_FROM_ADDRESS,
} from '../../src/addons/people/passwords.ts';
import { REPLY_BYTES_MAX as PROVIDER_REPLY_BYTES_MAX } from '../../src/addons/people/provider.ts';
import {
  NEW_WAITING_MAX,
  WAITING_MAX as PASSWORDS_WAITING_MAX,
} from '../../src/addons/people/scrypt-queue.ts';
import { VALUES_MAX as COMBINED_VALUES_MAX } from '../../src/addons/playground/combinations.ts';
import { RESPONSE_LENGTH_MAX } from '../../src/addons/playground/explanation-view.ts';
import { EVALUATIONS_MAX, TRIED_FIELDS_MAX } from '../../src/addons/playground/playground.ts';
import { SNAPSHOTS_ARCHIVED } from '../../src/addons/replication/archivist.ts';
import { LOG_BYTES } from '../../src/addons/replication/cluster-config.ts';
import { ARCHIVE_FILE_BYTES } from '../../src/addons/replication/file-archive.ts';
import { FORWARDED_BYTES_MAX, FORWARDED_MAX } from '../../src/addons/replication/leader-client.ts';
import { FLAGS_AT_ONCE } from '../../src/addons/sdk/evaluated.ts';
import { LONG_LISTS } from '../../src/addons/sdk/evaluation/scope-evaluators.ts';
import { TEXT_INDEXES_MAX } from '../../src/addons/sdk/evaluation/text-index.ts';
import {
  BEGINNING_TICKS_MAX,
  PAGE_STREAMS_MAX,
  PAST_HYDRATIONS_MAX,
} from '../../src/addons/sdk/flag-streams.ts';
import {
  NARROWED_STREAMED_MAX,
  NARROWED_STREAMED_PER_TOKEN_MAX,
} from '../../src/addons/sdk/query-watches.ts';
import { LOG_CHARACTERS_MAX, LOGS_CHARACTERS_MAX } from '../../src/addons/sdk/watch-log.ts';
import { IMPORT_EVENTS_MAX, TRANSFER_FLAGS_MAX } from '../../src/addons/transfer/import-issues.ts';
import { EXPORT_SIZE_MAX } from '../../src/addons/transfer/transfer.ts';
import { APPLICATIONS_MAX, INSTANCES_MAX } from '../../src/addons/usage/applications.ts';
import { BULK_APPLICATIONS_MAX, BULK_COUNTS_MAX } from '../../src/addons/usage/report-routes.ts';
import { REPORT_BYTES_MAX, REPORTS_WAITING_BYTES_MAX } from '../../src/addons/usage/shared-usage.ts';
import { APPLICATIONS_BYTES_MAX, COUNTS_BYTES_MAX, MINUTES_BYTES_MAX } from '../../src/addons/usage/usage.ts';
import { SAVED_BYTES_A_SECOND } from '../../src/addons/usage/usage-files.ts';
import { SESSIONS_MAX, SESSIONS_PER_CALLER_MAX } from '../../src/domain/access/sessions.ts';
import { FLAG_ENVIRONMENTS_MAX } from '../../src/domain/decide/archive-commands.ts';
import { PARENTS_PER_FLAG_MAX } from '../../src/domain/decide/dependency-commands.ts';
import { ENVIRONMENTS_MAX } from '../../src/domain/decide/environment-commands.ts';
import { FAVORITES_MAX } from '../../src/domain/decide/preference-commands.ts';
import {
  DEFAULT_STRATEGY_BYTES_MAX,
  FLAGS_DELETED_WITH_PROJECT_MAX,
  PROJECT_BYTES_MAX,
} from '../../src/domain/decide/project-commands.ts';
import { TAG_CHANGES_MAX } from '../../src/domain/decide/tag-commands.ts';
import {
  DEFAULT_GROWTH_LIMITS,
  GROWTH_LIMIT_NAMES,
  GROWTH_LIMITS,
} from '../../src/domain/flags/growth-limits.ts';
import { LINKS_MAX } from '../../src/domain/flags/link.ts';
import { PATTERN_CACHE_BYTES_MAX } from '../../src/domain/flags/pattern.ts';
import { NAMING_PATTERN_LENGTH_MAX } from '../../src/domain/flags/project-rules.ts';
import { FLAG_BYTES_MAX } from '../../src/domain/growth/refuse-growth.ts';
import { MEMORY_BUDGET_SETTING } from '../../src/domain/growth/refuse-state.ts';
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
import { TAG_TYPES_MAX } from '../../src/domain/kinds/tag-type.ts';
import { API_TOKENS_MAX, PERSONAL_TOKENS_PER_USER_MAX } from '../../src/domain/people/token-commands.ts';
import {
  RESPONSE_BODY_BYTES_MAX,
  RESPONSE_LIFETIME_MS,
  RESPONSES_BYTES_MAX,
} from '../../src/domain/state/idempotency-cache.ts';
import { SDK_DOCUMENT_BYTES_MAX } from '../../src/domain/state/served-bytes.ts';
import { PAGE_BYTES_MAX as ARCHIVE_PAGE_BYTES_MAX } from '../../src/http/admin/archive.ts';
import { BULK_FLAGS_MAX } from '../../src/http/admin/bodies.ts';
import {
  STREAMS_MAX as EVENT_STREAMS_MAX,
  STREAMS_PER_CALLER_MAX,
} from '../../src/http/admin/event-stream.ts';
import { EVENTS_LIMIT_MAX } from '../../src/http/admin/events.ts';
import {
  FLAGS_MAX as ROLLED_BACK_FLAGS_MAX,
  SIZE_MAX as ROLLED_BACK_SIZE_MAX,
} from '../../src/http/admin/flag-history.ts';
import { COMMENT_LENGTH_MAX } from '../../src/http/admin/flags.ts';
import { EVENTS_TOLD_MAX, TOLD_LENGTH_MAX } from '../../src/http/admin/recorded-news.ts';
import { LIST_BYTES_MAX } from '../../src/http/admin/responses.ts';
import { LIST_LENGTH_MAX, NAMES_MAX, VALUES_MAX } from '../../src/http/body/json-shape.ts';
import {
  STRANGERS_WAITING_MAX,
  WAITING_BODIES_BYTES_MAX,
  WAITING_MAX,
} from '../../src/http/serving/cluster.ts';
import { COMPRESSING_BYTES_MAX } from '../../src/http/serving/compressor.ts';
import { METRICS_AGE_MS_MAX } from '../../src/http/serving/metrics-page.ts';
import { RESPONSE_BYTES_MAX } from '../../src/http/serving/read-path.ts';
import { REFUSED_LOGINS_LOGGED_MAX, REFUSED_LOGINS_PERIOD_MS } from '../../src/http/serving/request-log.ts';
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
import { OFFERED_BYTES_MAX, OFFERED_EACH_ROUND_BYTES, scratch } from '../../src/http/transport/uws-body.ts';
import { COUNTED_FILTERS_MAX } from '../../src/persistence/event-log/column-search.ts';
import { LINES_BYTES_MAX, LINES_EVENTS_MAX } from '../../src/persistence/event-log/event-log.ts';
import { PAGE_BYTES_MAX } from '../../src/persistence/event-log/event-page.ts';
import { RESERVE_BYTES_DEFAULT } from '../../src/persistence/journal/free-space.ts';

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
  /** Head of the last column, `beyond it` unless given. */
  readonly last?: string;
  readonly rows: readonly LimitRow[];
}

export const number = (count: number): string => count.toLocaleString('en');

export function bytes(count: number): string {
  if (count % 2 ** 20 === 0) return `${number(count / 2 ** 20)} MiB`;
  return count % 1024 === 0 ? `${number(count / 1024)} KiB` : `${number(count)} bytes`;
}

const seconds = (ms: number): string => (ms === 1000 ? '1 second' : `${ms / 1000} seconds`);

const attempts = ({ burst, refillMs }: Allowance): string =>
  `${burst}, and one more every ${seconds(refillMs)}`;

const row = (counted: string, limit: string, beyond: string, setting: string | null = null): LimitRow => ({
  ...{ counted, limit, setting, beyond },
});

const transport = resolveLimits();

/** Parts of V8's heap beside the state and the cache, each with its largest size. */
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
  ['counts of minutes', MINUTES_BYTES_MAX.backend + MINUTES_BYTES_MAX.frontend],
  ['the document or list that is built, in parts and whole', 2 * SDK_DOCUMENT_BYTES_MAX],
  ['unfinished bodies', transport.bodiesBytesMax],
  ['requests that wait for a turn of the event loop', transport.waitingBytesMax],
  ['bodies that wait to be compressed', COMPRESSING_BYTES_MAX],
  ['requests of callers who held the event loop for long', WAITING_BYTES_MAX],
  ['requests for long lists of evaluated flags', LONG_LISTS.waitingMax],
  ['changes not on disk yet', UNSYNCED_BYTES_MAX],
];

export const totalOf = (parts: typeof OTHER_PARTS): number => parts.reduce((sum, [, one]) => sum + one, 0);

/** About what the program itself takes, with its threads; measured. */
export const PROGRAM_BYTES = 80 * 2 ** 20;

/** The most that a process with such a heap takes. */
export const processBytes = (heap: number): number => heap + PROGRAM_BYTES + totalOf(BESIDE_PARTS);

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

const LOGGED_A_DAY =
  ((DAY_SECONDS * 1000) / REFUSED_LOGINS_PERIOD_MS) * REFUSED_LOGINS_LOGGED_MAX * HEADER_BLOCK_BYTES_MAX;

/** Disk that callers can fill in a day. One who may do everything may also fill the disk, and is left out. */
export const DAILY_WRITES: readonly DailyWrites[] = [
  {
    who: `a user who is no Admin; an event counts as at least ${bytes(EVENT_CHARGE_BYTES_MIN)}, so ${SNAPSHOTS_A_DAY} snapshots a day come on top`,
    rate: `${bytes(WRITE_BURST_BYTES)} at once, ${bytes(WRITTEN_BYTES_A_SECOND)} a second; one more change`,
    bytes: USER_A_DAY + CHANGE_BYTES_MAX,
    beyond: '503 with `Retry-After`',
  },
  {
    who: 'reports of all applications',
    rate: `${bytes(SAVED_AT_ONCE)} at once, ${bytes(SAVED_BYTES_A_SECOND)} a second`,
    bytes: SAVED_AT_ONCE + DAY_SECONDS * SAVED_BYTES_A_SECOND,
    beyond: 'a crash loses reports since the last save',
  },
  {
    who: 'logged refusals and failed sign-ins',
    rate: `${REFUSED_LOGINS_LOGGED_MAX} in ${seconds(REFUSED_LOGINS_PERIOD_MS)}, ${bytes(HEADER_BLOCK_BYTES_MAX)} each; ${bytes(SAVED_BYTES_A_SECOND)} a second`,
    bytes: LOGGED_A_DAY + DAY_SECONDS * SAVED_BYTES_A_SECOND,
    beyond: 'others are counted',
  },
];

export const SECTIONS: readonly LimitSection[] = [
  {
    title: 'Parts of a flag',
    introduction:
      'Growth beyond these gets a 400 that names limit and setting ([rules](docs/specification/limits.md#flags)).',
    last: 'at most',
    rows: GROWTH_LIMIT_NAMES.map((name) => {
      const { counted, setting, settingMax } = GROWTH_LIMITS[name];
      return row(counted, number(DEFAULT_GROWTH_LIMITS[name]), number(settingMax), setting);
    }),
  },
  {
    title: 'Other parts of the state',
    introduction: 'Each refusal names the limit.',
    rows: [
      row(
        'a flag as escaped JSON, with its segments of one environment',
        bytes(FLAG_BYTES_MAX),
        '413, growth only',
      ),
      row('the flags of a client token', bytes(SDK_DOCUMENT_BYTES_MAX), '413 for growth and for reading'),
      row('parents of a flag', number(PARENTS_PER_FLAG_MAX), '409'),
      row('environments', number(ENVIRONMENTS_MAX), '409'),
      row('segments; each', `${number(SEGMENTS_MAX)}, ${bytes(SEGMENT_BYTES_MAX)}`, '409, 413'),
      row('milliseconds to evaluate a segment, at worst', number(SEGMENT_COST_MAX / 1_000), '400'),
      row(
        'context fields; each',
        `${number(CONTEXT_FIELDS_MAX)}, ${bytes(CONTEXT_FIELD_BYTES_MAX)}`,
        '409, 413',
      ),
      row('legal values of a context field', number(LEGAL_VALUES_MAX), '409'),
      row(
        'strategy types; each',
        `${number(STRATEGY_TYPES_MAX)}, ${bytes(STRATEGY_TYPE_BYTES_MAX)}`,
        '409, 413',
      ),
      row('settings of a project', bytes(PROJECT_BYTES_MAX), '413, growth only'),
      row('default strategy of a project', bytes(DEFAULT_STRATEGY_BYTES_MAX), '413'),
      row('links of a flag', number(LINKS_MAX), '409'),
      row('characters of a comment on a flag', number(COMMENT_LENGTH_MAX), '400'),
      row('link templates of a project', number(LINKS_MAX), '400'),
      row('characters of a naming pattern', number(NAMING_PATTERN_LENGTH_MAX), '400'),
      row('tag types', number(TAG_TYPES_MAX), '409'),
      row('integrations; each', `${number(INTEGRATIONS_MAX)}, ${bytes(INTEGRATION_BYTES_MAX)}`, '409, 413'),
      row('change requests; each', `${number(REQUEST.countMax)}, ${bytes(REQUEST_BYTES_MAX)}`, '409, 413'),
      row(
        'changes, and comments, of a change request',
        `${number(CHANGES_MAX)}, ${number(COMMENTS_MAX)}`,
        '409; 400 in one request',
      ),
      row('environments with change requests, over all projects', number(PROTECTION.countMax), '409'),
      row('favorite flags, and projects, of a user', number(FAVORITES_MAX), '409'),
      row('custom roles; each', `${number(CUSTOM_ROLES_MAX)}, ${bytes(ROLE_BYTES_MAX)}`, '409, 413'),
      row('groups; each', `${number(GROUPS_MAX)}, ${bytes(GROUP_BYTES_MAX)}`, '409, 413'),
      row('users of a group', number(GROUP_USERS_MAX), '400'),
      row('API tokens', number(API_TOKENS_MAX), '409'),
      row('personal tokens of a user', number(PERSONAL_TOKENS_PER_USER_MAX), '409'),
    ],
  },
  {
    title: 'Memory',
    introduction:
      'Beyond the budget of the state, only growth is refused ([what to do](docs/operating.md#memory)).',
    rows: [
      row(
        'the state',
        `[about half of the heap](#sum-of-the-memory), at least an eighth; the setting takes what the others leave, less ${bytes(CACHE_BYTES_MIN + WORK_BYTES_MIN)}`,
        '507',
        MEMORY_BUDGET_SETTING,
      ),
      row(
        'responses kept for `Idempotency-Key`',
        `${bytes(RESPONSES_BYTES_MAX)}, each for ${RESPONSE_LIFETIME_MS / 3_600_000} hours`,
        `callers above an equal share lose theirs, oldest first; of one above ${bytes(RESPONSE_BODY_BYTES_MAX)} only its success stays`,
      ),
      row(
        'the cache of documents, flags, responses, callers, events and past states',
        `[a quarter of the heap](#sum-of-the-memory), at least ${bytes(CACHE_BYTES_MIN)}, in a small heap a quarter of what the state leaves; a quarter of it for what one caller can multiply, as by a query string`,
        'the least recently used is evicted',
      ),
      row('large documents and lists of flags built at once', '1', 'others wait in turn'),
      row('bodies that wait to be compressed', bytes(COMPRESSING_BYTES_MAX), 'sent uncompressed'),
      row(
        'indexes of long texts in contexts',
        `${number(TEXT_INDEXES_MAX)}, some 8 MiB`,
        'the least recently used is evicted',
      ),
      row(
        'regular expressions in one request; one with \\p counts 40 times',
        `${number(CHECK_UNITS_MAX)} characters`,
        '400',
      ),
      row(
        'compiled regular expressions',
        bytes(PATTERN_CACHE_BYTES_MAX),
        'the least recently used is evicted',
      ),
      row(
        'changes kept for streams and caches that lag',
        `${number(RING_CHANGES_MAX)} and ${bytes(RING_BYTES_MAX)}`,
        'they read the state again',
      ),
      row(
        'filters of event searches with cached counts',
        number(COUNTED_FILTERS_MAX),
        'the least recently used is counted again',
      ),
      row(
        'counts reported by servers, and by pages',
        `${bytes(COUNTS_BYTES_MAX.backend)} and ${bytes(COUNTS_BYTES_MAX.frontend)}`,
        'the oldest are dropped',
      ),
      row(
        'counts by the minute reported by servers, and by pages',
        `${bytes(MINUTES_BYTES_MAX.backend)} and ${bytes(MINUTES_BYTES_MAX.frontend)}`,
        'flags that were not evaluated in the last hour make room; further ones count by the hour only',
      ),
      row(
        'applications of servers, and of pages',
        `${number(APPLICATIONS_MAX)} and ${bytes(APPLICATIONS_BYTES_MAX)} each`,
        'the one that reported longest ago is dropped',
      ),
      row(
        'instances of an application in an environment',
        number(INSTANCES_MAX),
        'the one that reported longest ago is dropped',
      ),
      row('a response, as sent', bytes(RESPONSE_BYTES_MAX), '413, before the first byte'),
      row(
        "a list of a project's flags, uncompressed",
        `${bytes(RESPONSE_BYTES_MAX)}; with gzip, the size of the cache`,
        '413',
      ),
      row(
        'unread bytes of all responses',
        bytes(transport.unreadBytesMax),
        'the client that has held most longest is disconnected',
      ),
      row(
        'unfinished bodies, over all requests',
        bytes(transport.bodiesBytesMax),
        '503 for the caller that has held most longest; all without a token count as one',
      ),
      row(
        'callers that [owe time](docs/decisions/http.md#fair-shares-of-the-event-loop)',
        number(DEBTORS_MAX),
        'the oldest debt is forgiven',
      ),
    ],
  },
  {
    title: 'Requests',
    introduction: '[Names of the errors](docs/specification/common.md#error-names).',
    rows: [
      row('request line and headers', `${bytes(HEADER_BLOCK_BYTES_MAX)}, ${HEADERS_MAX} headers`, '431'),
      row('path and query', bytes(transport.targetBytesMax), '414'),
      row('body', bytes(transport.bodyBytesMax), '413'),
      row('nesting of a body', `${JSON_DEPTH_MAX} levels`, '400'),
      row('values in a body', number(VALUES_MAX), '400'),
      row('different names of fields in a body', number(NAMES_MAX), '400'),
      row('items in a list, or fields in an object', number(LIST_LENGTH_MAX), '400'),
      row('operations in a JSON Patch', number(PATCH_OPERATIONS_MAX), '400'),
      row('what a patch adds to a document', bytes(PATCH_SIZE_MAX), '400'),
      row('flags in a bulk request', number(BULK_FLAGS_MAX), '400'),
      row('flags times tags in a request', number(TAG_CHANGES_MAX), '409'),
      row(
        'flags times environments in a request that archives, revives or deletes',
        number(FLAG_ENVIRONMENTS_MAX),
        '409',
      ),
      row('archived flags deleted with their project', number(FLAGS_DELETED_WITH_PROJECT_MAX), '409'),
      row('flags that lose a deleted tag', number(BULK_FLAGS_MAX), '409'),
      row(
        'applications, and counts, in a bulk report',
        `${number(BULK_APPLICATIONS_MAX)}, ${number(BULK_COUNTS_MAX)}`,
        '400',
      ),
      row(
        'flags that a rollback of a project changes, and their size',
        `${number(ROLLED_BACK_FLAGS_MAX)}, ${bytes(ROLLED_BACK_SIZE_MAX)}`,
        '409',
      ),
      row(
        'flags in an export or import; size of an export',
        `${number(TRANSFER_FLAGS_MAX)}, ${bytes(EXPORT_SIZE_MAX)}`,
        '409; import: 400',
      ),
      row('events of an import, or of changes from files', number(IMPORT_EVENTS_MAX), '409'),
      row(
        'changes from files in a request, and their flags',
        `${number(FILE_CHANGES_MAX)}, ${number(TRANSFER_FLAGS_MAX)}`,
        '400',
      ),
      row('evaluations in a playground request', number(EVALUATIONS_MAX), '400'),
      row('values of a playground context', number(COMBINED_VALUES_MAX), '400'),
      row('context fields over all its evaluations', number(TRIED_FIELDS_MAX), '400'),
      row('characters of a playground response or explanation', number(RESPONSE_LENGTH_MAX), '400'),
      row('events of one change', bytes(CHANGE_BYTES_MAX), '413'),
      row('issues in a refusal', number(ISSUES_MAX), 'the first are listed'),
      row(
        'time for a whole request; for its head',
        `${seconds(transport.requestDeadlineMs)}; ${seconds(transport.idleMs)}`,
        '408; uWebSockets.js closes the connection of a late head or stalled body after some 11 seconds, without a response',
      ),
      row('time from the head to the response', seconds(transport.requestDeadlineMs), '503'),
      row(
        'milliseconds for requests in one turn of the event loop',
        number(transport.roundMs),
        `${bytes(transport.waitingBytesMax)} more wait; then 503`,
      ),
      row(
        'milliseconds for reads in one turn: a long one; all short ones',
        `${TURN_MS}; ${AT_ONCE_EACH_ROUND_MS}, and ${AT_ONCE_MS_MIN} for each further request`,
        'the rest waits',
      ),
      row(
        'large responses sent in one turn, on uWebSockets.js: one; all',
        `${bytes(OFFERED_BYTES_MAX)}; ${bytes(OFFERED_EACH_ROUND_BYTES)}, and ${bytes(scratch.byteLength)} for each new one`,
        'the rest waits',
      ),
      row('time to read a response', seconds(transport.responseDeadlineMs), 'closed'),
      row(
        'pace of a body, on uWebSockets.js',
        `at least ${bytes(UWS_BODY_BYTES_PER_SECOND_MIN)} a second over each 10 seconds`,
        'closed without a response',
      ),
      row('pause of a reader, on uWebSockets.js', seconds(UWS_READER_PAUSE_MS_MAX), 'closed'),
    ],
  },
  {
    title: 'Connections and queues',
    introduction: 'Callers take turns; a full queue refuses the caller with the most in it.',
    rows: [
      row(
        'connections',
        `${number(CONNECTIONS_BESIDE_STREAMS_MAX)} more than streams, or ${DESCRIPTORS_RESERVED} fewer than the open files allowed`,
        'the new one is closed, with one warning',
      ),
      row(
        'connections of one address, on node:http',
        'none, unless set',
        'the new one is closed, with one warning',
        'CONNECTIONS_PER_ADDRESS',
      ),
      row('silence of a connection', seconds(transport.idleMs), 'closed'),
      row('streams', `${number(STREAMS_MAX)}, or 5 of 6 connections`, '503', 'STREAMS_MAX'),
      row('OFREP streams', number(PAGE_STREAMS_MAX), '503'),
      row(
        'event streams',
        `${number(EVENT_STREAMS_MAX)}, ${number(STREAMS_PER_CALLER_MAX)} of one caller`,
        '503; the console polls',
      ),
      row(
        'events in one message',
        `${number(EVENTS_TOLD_MAX)}, and ${number(TOLD_LENGTH_MAX)} characters`,
        '`missed`: the client reads again',
      ),
      row(
        'events read at once for `/events.ndjson`',
        `${number(LINES_EVENTS_MAX)}, and ${bytes(LINES_BYTES_MAX)}`,
        'the rest follows',
      ),
      row(
        'query strings with open streams',
        `${number(NARROWED_STREAMED_MAX)}, ${number(NARROWED_STREAMED_PER_TOKEN_MAX)} of one token`,
        '503',
      ),
      row(
        'changes that a stream or delta client may lag behind',
        `${number(LOG_CHARACTERS_MAX)} characters; ${number(LOGS_CHARACTERS_MAX)} for all queries`,
        'the client gets all flags again',
      ),
      row(
        'flags known to open streams, by query',
        'half of the cache, some 48 bytes a flag',
        '503 for a new query',
      ),
      row('time for a new stream to take its first flags', `${BEGINNING_TICKS_MAX} seconds`, 'disconnected'),
      row(
        'older states that new streams of a query still read',
        number(PAST_HYDRATIONS_MAX),
        'streams of the oldest are disconnected',
      ),
      row('unread bytes of a stream', bytes(transport.streamBufferBytesMax), 'disconnected'),
      row(
        'changes waiting for one project, or for what is outside projects',
        number(MAILBOX_LENGTH_MAX),
        '503',
      ),
      row('time that a change waits', seconds(QUEUE_DEADLINE_MS), '503'),
      row('changes not on disk yet', bytes(UNSYNCED_BYTES_MAX), 'further changes wait'),
      row(
        'reads of the event log, the past, the archive or all flags',
        `${READS.runningMax}, ${READS.runningPerRequesterMax} of one caller`,
        `${READS.waitingMax} more wait; then 503`,
      ),
      row(
        'text searches',
        number(TEXT_SEARCHES.runningMax),
        `${TEXT_SEARCHES.waitingMax} more wait; then 503`,
      ),
      row('requests of callers that owe time', '1', `${bytes(WAITING_BYTES_MAX)} more wait; then 503`),
      row(
        `lists of more than ${number(FLAGS_AT_ONCE)} evaluated flags`,
        `${LONG_LISTS.runningMax}, ${LONG_LISTS.runningPerRequesterMax} of one token and address`,
        `${bytes(LONG_LISTS.waitingMax)} more wait; then 503`,
      ),
      row('metrics page', `made once in ${seconds(METRICS_AGE_MS_MAX)}`, 'the last one is sent'),
    ],
  },
  {
    title: 'Sign-in',
    introduction: 'An address is that of the [client](docs/operating.md#behind-a-tls-proxy).',
    rows: [
      row(
        'invitations, and users by each',
        `${number(INVITATIONS_MAX)}, ${number(INVITED_USERS_MAX)}`,
        '409',
      ),
      row('password links of a user', '1', 'a new one ends the old one'),
      row('returns from the OpenID Connect provider at once', number(SIGN_INS_RUNNING_MAX), 'try again'),
      row('a reply of the provider', bytes(PROVIDER_REPLY_BYTES_MAX), 'the sign-in fails'),
      row(
        'sessions of a user or an API token, and of all',
        `${number(SESSIONS_PER_CALLER_MAX)}, ${number(SESSIONS_MAX)}`,
        'the oldest ends',
      ),
      row(
        'waiting passwords: of known callers; of strangers; of new ones',
        `${number(PASSWORDS_WAITING_MAX)}; ${number(PASSWORDS_WAITING_MAX)}; ${number(NEW_WAITING_MAX)}`,
        '503 for the address or user with the most',
      ),
      row('known users and addresses', number(GOOD_SIGN_INS_MAX), 'the oldest become strangers'),
      row('wrong passwords of a user, from one address', attempts(USER_FROM_ADDRESS), '429'),
      row('wrong passwords from one address', attempts(FROM_ADDRESS), '429 for wrong ones'),
      row('wrong links from one address', attempts(LINKS_FROM_ADDRESS), '429 for wrong ones'),
      row(
        'wrong passwords of a user, from all addresses',
        attempts(OF_USER),
        '429 where the user never signed in',
      ),
      row('users and addresses with wrong passwords', number(ENTRIES_MAX), 'the oldest are forgotten'),
      row(
        'logged refusals of tokens',
        `${REFUSED_LOGINS_LOGGED_MAX} in ${seconds(REFUSED_LOGINS_PERIOD_MS)}`,
        'others are counted',
      ),
    ],
  },
  {
    title: 'Pages',
    introduction: 'A page ends with the item that reaches its limit.',
    rows: [
      row('events in a list', `${EVENTS_LIMIT_MAX}, and ${bytes(PAGE_BYTES_MAX)}`, 'the page ends'),
      row(
        'archived flags in a list',
        `${number(BULK_FLAGS_MAX)}, and ${bytes(ARCHIVE_PAGE_BYTES_MAX)}`,
        'the page ends',
      ),
      row('other lists', bytes(LIST_BYTES_MAX), '413: use `limit` and `offset`'),
    ],
  },
  {
    title: 'Disk',
    introduction: 'The journal grows without a retention.',
    rows: [
      row('free space', `at least ${bytes(RESERVE_BYTES_DEFAULT)}`, 'writes get 503; reads continue'),
      row('age of events', 'none', 'whole segment files are deleted', 'EVENT_RETENTION_DAYS'),
    ],
  },
  {
    title: 'Clusters',
    introduction: '[Sizing](docs/cluster.md#sizing) says what NATS needs.',
    rows: [
      row(
        'forwarded writes of a follower',
        `${number(FORWARDED_MAX)}, and ${bytes(FORWARDED_BYTES_MAX)} of bodies and responses`,
        '503',
      ),
      row('reports waiting for other nodes', bytes(REPORTS_WAITING_BYTES_MAX), 'newer ones are not counted'),
      row('one report that nodes share', bytes(REPORT_BYTES_MAX), 'not counted, and logged once'),
      row(
        'requests that wait for `Flagstaff-At-Least`',
        `${number(WAITING_MAX)}, ${STRANGERS_WAITING_MAX} more with unknown tokens, and ${bytes(WAITING_BODIES_BYTES_MAX)} of bodies`,
        '503',
      ),
      row(
        'archived events that the log keeps too',
        bytes(LOG_BYTES),
        'the oldest are dropped, unless a recently seen node needs them',
        'REPLICATION_LOG_BYTES',
      ),
      row('an archived file', bytes(ARCHIVE_FILE_BYTES), 'the next one begins'),
      row('snapshots in the archive', number(SNAPSHOTS_ARCHIVED), 'the oldest is deleted'),
    ],
  },
  {
    title: 'Edges',
    introduction: 'All mirrors together have the budget of the state.',
    rows: [
      row('a document or an event of the upstream', bytes(BODY_BYTES_MAX), 'not read; the copy is served'),
      row('mirrors', number(MIRRORS_MAX), '503 for tokens that need another'),
      row('connections to the upstream, without streams', number(CONNECTIONS_MAX), 'requests to it wait'),
      row('valid tokens', number(VALID_MAX), '503 for new ones'),
      row(
        'invalid tokens',
        `${number(INVALID_MAX)}, each for ${seconds(INVALID_FOR_MS)}`,
        'the oldest is validated again',
      ),
      row('tokens that wait for the upstream', `${number(TOKENS_WAITING_MAX)}; half for one network`, '503'),
      row(
        'requests that wait for the upstream',
        `${number(WAITING_REQUESTS_MAX)}, and ${bytes(EDGE_BODIES_BYTES_MAX)} of bodies; half for one network`,
        '503',
      ),
      row(
        'counts that wait, of servers and of pages',
        `${bytes(REPORTED_BYTES_MAX.backend)}, ${bytes(REPORTED_BYTES_MAX.frontend)}`,
        'the oldest are dropped and counted',
      ),
      row('applications of each side that wait', number(EDGE_APPLICATIONS_MAX), 'newer ones are left out'),
    ],
  },
  {
    title: 'Writes of one caller',
    introduction: 'At most 1 GB a day each, without the access log.',
    rows: DAILY_WRITES.map(({ who, rate, bytes: most, beyond }) =>
      row(who, `${rate}: ${Math.round(most / 1e6)} MB in a day`, beyond),
    ),
  },
];
