/** The settings of an edge, read from options and environment variables, and checked: a wrong one says what would be right. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseAddress } from '../../domain/flags/address.ts';
import { isOrigin, ORIGIN_PHRASE } from '../../domain/state/settings.ts';
import { LOG_LEVELS, type LogLevel } from '../../process/log.ts';
import { ConfigError } from '../../process/settings.ts';
import { HTTP_ENGINES, type HttpEngine } from '../node-http/settings.ts';
import { FEED_WAYS, type FeedWay } from './feed.ts';
import { EDGE_OPTIONS, OTHER_OPTIONS, variableOf } from './options.ts';
import { trustedToken } from './tokens.ts';
import type { UpstreamOptions, ValidToken } from './upstream-client.ts';

export interface EdgeSettings {
  readonly upstream: UpstreamOptions;
  readonly tokens: readonly string[];
  readonly trusted: readonly ValidToken[];
  readonly isStrict: boolean;
  readonly ways: readonly FeedWay[];
  readonly host: string;
  readonly port: number;
  readonly basePath: string;
  readonly pollMs: number;
  readonly revalidateMs: number;
  readonly reportMs: number;
  readonly firstFlagsTimeoutMs: number;
  /** Null: nothing is kept on disk. */
  readonly folder: string | null;
  readonly ageMsMax: number;
  readonly trustedProxies: readonly string[];
  readonly origins: readonly string[];
  /** The name in lower case. */
  readonly tokenHeader: string;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** Names of what is switched off, such as `tokens` for `--disable-tokens-endpoint`. */
  readonly disabled: ReadonlySet<string>;
  readonly httpEngine: HttpEngine;
  readonly logLevel: LogLevel;
}

/** Options as they are given, by name; `true` for one that takes nothing. */
export type GivenOptions = Readonly<Record<string, string | true | undefined>>;

type Environment = Readonly<Record<string, string | undefined>>;

/** A day; a longer wait is a mistake. */
const SECONDS_MAX = 86_400;

/** Addresses that proxies of one's own have. */
const PRIVATE_RANGES = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '127.0.0.0/8', '::1', 'fc00::/7'];

/** Throws `ConfigError`. */
export function readSettings(given: GivenOptions, env: Environment): EdgeSettings {
  refuseOthers(given, env);
  const from = new Source(given, env);
  const isTls = from.isSet('tls-enable');
  return {
    upstream: {
      url: upstreamUrl(from),
      appName: from.needed('app-name'),
      instanceId: from.text('instance-id') ?? randomUUID(),
      connectionId: randomUUID(),
      timeoutMs: from.seconds('upstream-request-timeout'),
      authHeader: headerName(from, 'upstream-auth-header'),
      tls: {
        ...optional('ca', from.content('upstream-certificate-file')),
        ...optional('cert', from.content('pkcs8-client-certificate-file')),
        ...optional('key', from.content('pkcs8-client-key-file')),
        rejectUnauthorized: !from.isSet('skip-ssl-verification'),
      },
    },
    tokens: from.secrets('tokens'),
    trusted: from.secrets('pretrusted-tokens').map((text, at) => trusted(text, at)),
    isStrict: from.isSet('strict'),
    ways: from.isSet('delta') && !from.isSet('streaming') ? FEED_WAYS.slice(1) : FEED_WAYS,
    host: from.needed('interface'),
    port: from.port(isTls ? 'tls-server-port' : 'port'),
    basePath: basePath(from),
    pollMs: from.seconds('features-refresh-interval-seconds'),
    revalidateMs: from.seconds('token-revalidation-interval-seconds'),
    reportMs: from.seconds('metrics-interval-seconds'),
    firstFlagsTimeoutMs: from.seconds('edge-request-timeout'),
    folder: from.text('backup-folder') ?? null,
    ageMsMax: from.text('max-age') === undefined ? Number.POSITIVE_INFINITY : from.seconds('max-age'),
    trustedProxies: proxies(from),
    origins: origins(from),
    tokenHeader: headerName(
      from,
      from.text('token-header') === 'authorization' ? 'edge-auth-header' : 'token-header',
    ),
    tls: isTls ? { certFile: from.needed('tls-server-cert'), keyFile: from.needed('tls-server-key') } : null,
    disabled: new Set(
      EDGE_OPTIONS.flatMap(({ name }) => {
        const [, what] = /^disable-(.+)-endpoint$/.exec(name) ?? [];
        return what !== undefined && from.isSet(name) ? [what] : [];
      }),
    ),
    httpEngine: from.oneOf('http-engine', HTTP_ENGINES),
    logLevel: from.oneOf('log-level', LOG_LEVELS),
  };
}

/** Refuses an option of Unleash Edge that does not exist here, with what to do in place of it. */
function refuseOthers(given: GivenOptions, env: Environment): void {
  for (const [name, instead] of OTHER_OPTIONS) {
    // Ignoring its list of addresses would silently open the edge to everyone.
    const isVariable = name.endsWith('-list') && env[variableOf(name)] !== undefined;
    if (given[name] !== undefined || isVariable)
      throw new ConfigError(`${isVariable ? variableOf(name) : `--${name}`} does not exist here. ${instead}`);
  }
}

const itemsOf = (list: string): readonly string[] => list.split(/[,\n]/).flatMap((one) => one.trim() || []);

class Source {
  readonly #given: GivenOptions;
  readonly #env: Environment;

  constructor(given: GivenOptions, env: Environment) {
    this.#given = given;
    this.#env = env;
  }

  text(name: string): string | undefined {
    const given = this.#given[name];
    const value = typeof given === 'string' ? given : this.#env[variableOf(name)];
    const initial = EDGE_OPTIONS.find((one) => one.name === name)?.initial ?? undefined;
    return value === undefined || value.trim() === '' ? initial : value.trim();
  }

  isSet(name: string): boolean {
    if (this.#given[name] === true) return true;
    const value = (this.#env[variableOf(name)] ?? 'false').trim().toLowerCase();
    if (['', '0', 'false', 'off', 'no'].includes(value)) return false;
    if (['1', 'true', 'on', 'yes'].includes(value)) return true;
    throw new ConfigError(`${variableOf(name)} must be true or false, not "${value}".`);
  }

  needed(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw new ConfigError(`--${name} is needed.`);
    return value;
  }

  list(name: string): readonly string[] {
    return itemsOf(this.text(name) ?? '');
  }

  /** A list, or what stands in the file that `--<name>-file` names. */
  secrets(name: string): readonly string[] {
    return itemsOf(this.text(name) ?? this.content(`${name}-file`) ?? '');
  }

  content(name: string): string | undefined {
    const file = this.text(name);
    if (file === undefined) return undefined;
    try {
      return readFileSync(file, 'utf8');
    } catch (cause) {
      throw new ConfigError(`--${name}: the file ${file} cannot be read.`, { cause });
    }
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T {
    const value = this.needed(name);
    const found = allowed.find((one) => one === value.toLowerCase());
    if (found !== undefined) return found;
    throw new ConfigError(`--${name} must be one of ${allowed.join(', ')}, not "${value}".`);
  }

  seconds(name: string): number {
    const value = this.needed(name);
    const seconds = Number(value);
    if (/^[0-9]{1,5}(?:\.[0-9]{1,3})?$/.test(value) && seconds > 0 && seconds <= SECONDS_MAX)
      return seconds * 1000;
    throw new ConfigError(`--${name} must be seconds, up to ${SECONDS_MAX}, not "${value}".`);
  }

  port(name: string): number {
    const value = this.needed(name);
    if (/^[0-9]{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value);
    throw new ConfigError(`--${name} must be a port number from 0 to 65535, not "${value}".`);
  }
}

function optional<K extends string>(name: K, value: string | undefined): { readonly [P in K]?: string } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [P in K]: string });
}

function upstreamUrl(from: Source): string {
  const value = from.text('upstream-url');
  if (value === undefined)
    throw new ConfigError(
      '--upstream-url is needed: the address of a Flagstaff or an Unleash, without /api.',
    );
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '')
    return url.href;
  throw new ConfigError(`--upstream-url must be an address such as https://flags.example, not "${value}".`);
}

/** Messages never repeat a token, because logs live longer than secrets. */
function trusted(text: string, at: number): ValidToken {
  const token = trustedToken(text);
  if (token !== null) return token;
  throw new ConfigError(
    `--pretrusted-tokens must be like project:environment.secret or secret@environment; number ${at + 1} is not.`,
  );
}

function headerName(from: Source, name: string): string {
  const value = from.needed(name).toLowerCase();
  if (/^[a-z0-9-]{1,100}$/.test(value)) return value;
  throw new ConfigError(`--${name} must be the name of a header, not "${value}".`);
}

function basePath(from: Source): string {
  const value = (from.text('base-path') ?? '').replace(/\/+$/, '');
  if (value === '' || /^(?:\/[A-Za-z0-9._~-]+)+$/.test(value)) return value;
  throw new ConfigError(`--base-path must be a path such as /flags, not "${value}".`);
}

function origins(from: Source): readonly string[] {
  const named = from.list('cors-origin');
  const wrong = named.find((origin) => !isOrigin(origin));
  if (wrong === undefined) return named;
  throw new ConfigError(`Each of --cors-origin must be ${ORIGIN_PHRASE}, not "${wrong}".`);
}

function proxies(from: Source): readonly string[] {
  const named = from.list('proxy-trusted-servers');
  const wrong = named.find((range) => (parseAddress(range)?.prefixLength ?? 0) === 0);
  if (wrong !== undefined)
    throw new ConfigError(
      `--proxy-trusted-servers must be addresses and ranges such as 10.0.0.0/8, not "${wrong}".`,
    );
  return named.length === 0 && from.isSet('trust-proxy') ? PRIVATE_RANGES : named;
}

/** The settings name no token, and nothing would ever be served. */
export function assertServesSomething({ tokens, trusted, isStrict }: EdgeSettings): void {
  if (isStrict && tokens.length + trusted.length === 0)
    throw new ConfigError('--strict needs --tokens: without one, no request would ever be answered.');
}
