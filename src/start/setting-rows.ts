/**
 * The settings of the core, environment variables: their defaults, their ranges, and what docs/settings.md says of them. config.ts
 * reads them. The limits on parts of a flag have rows of their own (src/domain/flags/growth-limits.ts).
 */
import { STREAMS_MAX } from '../http/transport/transport-limits.ts';
import { LOG_LEVELS } from '../process/log.ts';
import { row, type SettingRow } from '../process/setting-row.ts';

/** Thirty days, and a week: a user who works here every week signs in once a month. */
export const SESSION_HOURS = { initial: 30 * 24, initialIdle: 7 * 24, max: 8_760 };

/** Supervisors kill after 10 s or more; the last snapshot comes after this wait. */
export const SHUTDOWN_TIMEOUT_MS = { initial: 4_000, max: 600_000 };

/** A century. A larger number is a mistake. */
export const RETENTION_DAYS_MAX = 36_500;

/** Once a day reads a gigabyte in seconds, at low priority. More hours than a timer can wait are a mistake. */
export const HISTORY_CHECK_HOURS = { initial: 24, max: 500 };

/** Each takes a connection, and some 4 KiB. */
export const STREAMS_MAX_MAX = 100_000;

const grouped = (count: number): string => count.toLocaleString('en');

export const SERVER_SETTINGS: readonly SettingRow[] = [
  {
    names: ['HTTP_HOST'],
    initial: '`0.0.0.0`; `127.0.0.1` with `AUTH_TYPE=none`',
    purpose: 'address to listen on',
  },
  row('HTTP_PORT PORT', 4242, 'port, up to 65535; `0` lets the operating system choose'),
  row('BASE_URI_PATH', null, 'path prefix for everything, such as `/flags`'),
  row(
    'PUBLIC_URL',
    null,
    'base URL for links in invitations and password resets, without a path, such as `https://flags.example`',
  ),
  row(
    'TRUSTED_PROXIES',
    null,
    'addresses and ranges of proxies whose `X-Forwarded-For` names the caller, such as `127.0.0.1, 10.0.0.0/8`',
  ),
  {
    names: ['DATA_DIR'],
    initial: '`data` in the checkout; `flagstaff-data` in the current folder for an installed package',
    purpose: 'data folder; one server at a time',
  },
  {
    names: ['INIT_ADMIN_API_TOKENS'],
    initial: 'one is generated and shown once',
    purpose: 'admin tokens of a new data folder, `*:*.secret`, separated by commas',
  },
  row(
    'INIT_CLIENT_API_TOKENS INIT_BACKEND_API_TOKENS',
    null,
    'tokens of a new data folder for server-side SDKs, `project:environment.secret`, with `*` for every project',
  ),
  row('INIT_FRONTEND_API_TOKENS', null, 'tokens of a new data folder for browsers and mobile apps'),
  row(
    'API_TOKEN_KEY',
    null,
    '32 to 250 visible ASCII characters; tokens made with it are listed with their secrets, for [Terraform](docs/operating.md#terraform)',
  ),
  row(
    'AUTH_TYPE',
    'open-source',
    '`none`: no token is needed for anything; writes from other sites and foreign host names are refused',
  ),
  {
    names: ['SESSION_TTL_HOURS', 'SESSION_IDLE_HOURS'],
    initial: `\`${SESSION_HOURS.initial}\`, \`${SESSION_HOURS.initialIdle}\``,
    purpose: `maximum age and maximum idle time of [sessions](docs/specification/rights.md#sessions), in hours up to ${SESSION_HOURS.max}`,
  },
  row(
    'SECURE_COOKIES',
    'auto',
    '`on`: for browsers that reach the server only over HTTPS, as through a proxy',
  ),
  row(
    'LOG_LEVEL',
    'info',
    `${LOG_LEVELS.slice(0, -1)
      .map((level) => `\`${level}\``)
      .join(', ')} or \`${LOG_LEVELS.at(-1)}\``,
  ),
  row('IMPORT_FILE', null, 'JSON document of `flagstaff export` that a new data folder starts with'),
  row(
    'UNLEASH_FRONTEND_API_ORIGINS',
    '*',
    'origins of pages that may call `/api/frontend` and OFREP, separated by commas',
  ),
  row(
    'STREAMS_MAX',
    STREAMS_MAX,
    `streams open at once, up to ${grouped(STREAMS_MAX_MAX)}; the process needs as many open files, and some 2,200 more`,
  ),
  row(
    'HISTORY_CHECK_HOURS',
    HISTORY_CHECK_HOURS.initial,
    `hours, up to ${HISTORY_CHECK_HOURS.max}, between checks of [the whole journal](docs/operating.md#old-history); \`0\` for none`,
  ),
  {
    names: ['EVENT_RETENTION_DAYS'],
    initial: 'forever',
    purpose: `days, 1 to ${grouped(RETENTION_DAYS_MAX)}, after which [old events](docs/operating-commands.md#retention) are deleted`,
  },
  {
    names: ['MEMORY_BUDGET_BYTES'],
    initial: "about half of Node's heap",
    purpose: 'memory for the state ([how it is computed](docs/limits.md#memory))',
  },
  row(
    'GRACEFUL_SHUTDOWN_TIMEOUT',
    SHUTDOWN_TIMEOUT_MS.initial,
    `milliseconds, up to ${grouped(SHUTDOWN_TIMEOUT_MS.max)}, that a shutdown waits for requests`,
  ),
  row('METRICS', 'on', '`off`: no metrics, and no metrics page'),
  row(
    'METRICS_TOKEN',
    null,
    '16 to 250 visible ASCII characters for `Authorization: Bearer …`; without it, the metrics are public',
  ),
];
