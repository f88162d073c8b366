/**
 * The environment variables, checked once at the start. A value that cannot be used stops the start with one line
 * that names the variable, the value and what would be right.
 */
import { getHeapStatistics } from 'node:v8';
import { defaultMemoryBudget, memoryBudgetMax } from '../actors/memory-budget.ts';
import { parseAddress } from '../domain/flags/address.ts';
import { type GrowthLimits, growthLimits } from '../domain/flags/growth-limits.ts';
import { MEMORY_BUDGET_SETTING } from '../domain/growth/refuse-state.ts';
import { isOrigin } from '../domain/state/settings.ts';
import type { ApiTokenType } from '../domain/state/world.ts';
import type { SessionSettings } from '../host/addon.ts';
import { STREAMS_MAX } from '../http/transport/transport-limits.ts';
import { LOG_LEVELS, type LogLevel } from '../process/log.ts';
import {
  ConfigError,
  countOf,
  dataDirOf,
  type Environment,
  fileOf,
  oneOf,
  originIn,
  text,
} from '../process/settings.ts';
import {
  HISTORY_CHECK_HOURS,
  RETENTION_DAYS_MAX,
  SESSION_HOURS,
  SHUTDOWN_TIMEOUT_MS,
  STREAMS_MAX_MAX,
} from './setting-rows.ts';

const AUTH_TYPES = ['open-source', 'none'] as const;

export interface Config {
  readonly host: string;
  readonly port: number;
  /** Addresses and ranges of proxies whose X-Forwarded-For says who calls. */
  readonly trustedProxies: readonly string[];
  /** The origin at which people reach this server, such as `https://flags.example`; null where the operator does not say. */
  readonly publicOrigin: string | null;
  /** The prefix of every path. Empty, or with a slash at its start and none at its end. */
  readonly basePath: string;
  readonly dataDir: string;
  /** API tokens of a new data folder. Without an admin token among them, one is made. */
  readonly initialTokens: readonly InitialToken[];
  /** The key from which secrets of API tokens are made, so that they can be shown again; null: they are random, and shown once. */
  readonly tokenKey: string | null;
  /** Sessions of signed-in browsers. */
  readonly sessions: SessionSettings;
  /** `none`: no token is needed, and everything is allowed. */
  readonly authType: (typeof AUTH_TYPES)[number];
  readonly logLevel: LogLevel;
  /** How long a stop waits for requests that are under way. */
  readonly shutdownTimeoutMs: number;
  /** Events older than this may be deleted once snapshots contain them; null to keep all. */
  readonly eventRetentionDays: number | null;
  /** Time between two readings of all of the journal; null for none. */
  readonly historyCheckMs: number | null;
  /** Whether responses are counted and timed, and the metrics page exists. */
  readonly metrics: boolean;
  /** The bearer token that readers of the metrics page must present; null: none is needed. */
  readonly metricsToken: string | null;
  /** Origins of pages that may call the frontend API and OFREP; `*` for any. */
  readonly frontendOrigins: readonly string[];
  /** Bytes of memory that the state may take. */
  readonly memoryBudgetBytes: number;
  /** How large the parts of a flag may grow. */
  readonly limits: GrowthLimits;
  /** Streams that may be open at once. */
  readonly streamsMax: number;
  /** A JSON document to start a new data folder with; null for none. */
  readonly importFile: string | null;
}

export interface InitialToken {
  /** The variable that it comes from. */
  readonly variable: string;
  readonly secret: string;
  readonly type: ApiTokenType;
  /** An id, or `*` for every project. */
  readonly project: string;
  /** A name; `*` for an admin token. */
  readonly environment: string;
}

export function readConfig(env: Environment): Config {
  const authType = oneOf(env, 'AUTH_TYPE', AUTH_TYPES, 'open-source');
  return {
    host: text(env, 'HTTP_HOST') ?? defaultHost(authType),
    port: env['HTTP_PORT'] ? port(env, 'HTTP_PORT') : port(env, 'PORT'),
    trustedProxies: trustedProxies(env),
    publicOrigin: originIn(env, 'PUBLIC_URL'),
    basePath: basePath(env),
    dataDir: dataDirOf(env),
    initialTokens: INITIAL_TOKENS.flatMap(([variable, type]) => tokensOf(env, variable, type)),
    tokenKey: secretIn(env, 'API_TOKEN_KEY', 32),
    authType,
    sessions: sessionSettings(env),
    logLevel: oneOf(env, 'LOG_LEVEL', LOG_LEVELS, 'info'),
    shutdownTimeoutMs: shutdownTimeout(env),
    eventRetentionDays: retentionDays(env),
    historyCheckMs: historyCheck(env),
    metrics: oneOf(env, 'METRICS', ['on', 'off'], 'on') === 'on',
    metricsToken: secretIn(env, 'METRICS_TOKEN', 16),
    frontendOrigins: frontendOrigins(env),
    memoryBudgetBytes: memoryBudget(env),
    limits: growthLimits(({ setting, initial, settingMax }) => countOf(env, setting, initial, settingMax)),
    streamsMax: countOf(env, 'STREAMS_MAX', STREAMS_MAX, STREAMS_MAX_MAX),
    importFile: text(env, 'IMPORT_FILE') ?? null,
  };
}

const HOUR_MS = 60 * 60 * 1000;

function sessionSettings(env: Environment): SessionSettings {
  const { initial, initialIdle, max } = SESSION_HOURS;
  const hours = countOf(env, 'SESSION_TTL_HOURS', initial, max);
  const idleHours = countOf(env, 'SESSION_IDLE_HOURS', initialIdle, max);
  return {
    lifetimeMs: hours * HOUR_MS,
    idleMs: idleHours * HOUR_MS,
    isSecureOnly: oneOf(env, 'SECURE_COOKIES', ['auto', 'on'], 'auto') === 'on',
  };
}

/** A server that asks for no token is not put on the network unless the operator says so. */
function defaultHost(authType: Config['authType']): string {
  return authType === 'none' ? '127.0.0.1' : '0.0.0.0';
}

/** 0 lets the operating system choose. */
const port = (env: Environment, name: string): number => countOf(env, name, 4242, 65_535, 0);

function shutdownTimeout(env: Environment): number {
  const { initial, max } = SHUTDOWN_TIMEOUT_MS;
  return countOf(env, 'GRACEFUL_SHUTDOWN_TIMEOUT', initial, max, 0);
}

function retentionDays(env: Environment): number | null {
  const name = 'EVENT_RETENTION_DAYS';
  return text(env, name) === undefined ? null : countOf(env, name, 1, RETENTION_DAYS_MAX);
}

function historyCheck(env: Environment): number | null {
  const hours = countOf(env, 'HISTORY_CHECK_HOURS', HISTORY_CHECK_HOURS.initial, HISTORY_CHECK_HOURS.max, 0);
  return hours === 0 ? null : hours * HOUR_MS;
}

/** At most what fits into V8's heap beside everything else. */
function memoryBudget(env: Environment): number {
  const { heap_size_limit: heapBytesMax } = getHeapStatistics();
  const most = memoryBudgetMax(heapBytesMax);
  return countOf(env, MEMORY_BUDGET_SETTING, defaultMemoryBudget(heapBytesMax), most);
}

/** Variables for a database, which this server ignores so that an existing manifest works. */
export function ignoredVariables(env: Environment): readonly string[] {
  return Object.keys(env)
    .filter((name) => /^DATABASE_/.test(name))
    .sort();
}

/** A range of all addresses is refused: with it, every client could choose its address. */
function trustedProxies(env: Environment): readonly string[] {
  const name = 'TRUSTED_PROXIES';
  const ranges = itemsOf(text(env, name) ?? '');
  const wrong = ranges.find((range) => (parseAddress(range)?.prefixLength ?? 0) === 0);
  if (wrong === undefined) return ranges;
  throw new ConfigError(
    `${name} must be addresses and ranges such as 127.0.0.1, 10.0.0.0/8, separated by commas, not "${wrong}".`,
  );
}

function basePath(env: Environment): string {
  const value = (text(env, 'BASE_URI_PATH') ?? '').replace(/\/+$/, '');
  if (value === '') return '';
  const path = value.startsWith('/') ? value : `/${value}`;
  if (!/^(?:\/[A-Za-z0-9._~-]+)+$/.test(path) || /\/\.{1,2}(?:\/|$)/.test(path)) {
    throw new ConfigError(`BASE_URI_PATH must be a path such as /flags, not "${value}".`);
  }
  return path;
}

/** The secret itself, or the content of the file that `<name>_FILE` names; null where neither is set. */
function secretIn(env: Environment, name: string, lengthMin: number): string | null {
  const secret = text(env, name) ?? fileOf(env, name)?.trim() ?? null;
  if (secret === null) return null;
  if (/^[\x21-\x7e]{1,250}$/.test(secret) && secret.length >= lengthMin) return secret;
  const source = text(env, name) === undefined ? `The secret in ${name}_FILE` : name;
  throw new ConfigError(`${source} must be ${lengthMin} to 250 visible ASCII characters without a space.`);
}

/** A list, separated by commas or by the ends of lines. */
function itemsOf(list: string): readonly string[] {
  return list
    .split(/[,\n]/)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** The origins in a setting that is named as Unleash names it. */
function frontendOrigins(env: Environment): readonly string[] {
  const name = 'UNLEASH_FRONTEND_API_ORIGINS';
  const origins = itemsOf(text(env, name) ?? '*');
  const wrong = origins.find((origin) => !isOrigin(origin));
  if (wrong === undefined) return origins;
  throw new ConfigError(
    `${name} must be origins such as https://shop.example, separated by commas, or *, not "${wrong}".`,
  );
}

/** The variables, each with the kind of its tokens. Unleash calls client tokens backend tokens since its version 7. */
const INITIAL_TOKENS: readonly (readonly [variable: string, type: ApiTokenType])[] = [
  ['INIT_ADMIN_API_TOKENS', 'admin'],
  ['INIT_CLIENT_API_TOKENS', 'client'],
  ['INIT_BACKEND_API_TOKENS', 'client'],
  ['INIT_FRONTEND_API_TOKENS', 'frontend'],
];

/** A project, an environment and a secret, as SDKs and Unleash Edge take a token apart. */
const TOKEN_PATTERN = /^([^:[\]]+):([^.:]+)\.[\x21-\x7e]{1,250}$/;

/** Messages never repeat a token, because logs live longer than secrets. */
function tokensOf(env: Environment, variable: string, type: ApiTokenType): readonly InitialToken[] {
  const given = text(env, variable);
  const secrets = itemsOf(given ?? fileOf(env, variable) ?? '');
  const source = given === undefined ? `${variable}_FILE (${text(env, `${variable}_FILE`)})` : variable;
  return [...new Set(secrets)].map((secret, index) => {
    const [, project = '', environment = ''] = TOKEN_PATTERN.exec(secret) ?? [];
    const isForAll = project === '*' && environment === '*';
    const isGood = type === 'admin' ? isForAll : project !== '' && environment !== '*';
    if (isGood) return { variable, secret, type, project, environment };
    const like =
      type === 'admin'
        ? 'admin tokens such as *:*.some-secret'
        : `${type} tokens such as default:development.some-secret, or with * for every project`;
    throw new ConfigError(`${source} must be ${like}, separated by commas; number ${index + 1} is not.`);
  });
}
