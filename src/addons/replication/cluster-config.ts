/** The settings of a cluster: environment variables whose names begin with REPLICATION_. Without REPLICATION_URL, none. */
import { hostname } from 'node:os';
import { ConfigError, countOf, type Environment, oneOf, text } from '../../process/settings.ts';

/** Bytes of the log. A node that was away for a day finds all there, unless there were more changes than this. */
export const LOG_BYTES = 256 * 1024 * 1024;

export interface ClusterConfig {
  /** Servers of the replicated log, `nats://host:port` or `tls://host:port`. */
  readonly servers: readonly string[];
  readonly user: { readonly name: string; readonly password: string } | null;
  readonly credentialsFile: string | null;
  readonly tls: {
    readonly caFile: string | null;
    readonly certFile: string | null;
    readonly keyFile: string | null;
  };
  readonly cluster: string;
  readonly node: string;
  /**
   * The address at which the other nodes reach this one, without a path; null for this machine's name and the port it
   * listens on.
   */
  readonly address: string | null;
  readonly durability: 'disk' | 'memory';
  /** Whether the leader puts the journal into the archive, and has the log forget it. */
  readonly archive: 'on' | 'off';
  /** Bytes of archived records that the log still keeps. */
  readonly logBytes: number;
}

const URL_SETTING = 'REPLICATION_URL';
const CLUSTER_SETTING = 'REPLICATION_CLUSTER';
const NAME_PATTERN = /^[A-Za-z0-9_-]{1,32}$/;

/** Null where the server is to run alone. */
export function clusterConfig(env: Environment): ClusterConfig | null {
  const urls = text(env, URL_SETTING);
  if (urls === undefined) {
    const stray = Object.keys(env).find(
      (name) => name.startsWith('REPLICATION_') && text(env, name) !== undefined,
    );
    if (stray === undefined) return null;
    throw new ConfigError(
      `${stray} has no meaning without ${URL_SETTING}; set that too, or remove ${stray}.`,
    );
  }
  return {
    ...serversOf(urls),
    credentialsFile: text(env, 'REPLICATION_CREDENTIALS') ?? null,
    tls: {
      caFile: text(env, 'REPLICATION_TLS_CA') ?? null,
      certFile: text(env, 'REPLICATION_TLS_CERT') ?? null,
      keyFile: text(env, 'REPLICATION_TLS_KEY') ?? null,
    },
    cluster: clusterOf(env),
    node: nodeOf(env),
    address: addressOf(env),
    durability: oneOf(env, 'REPLICATION_DURABILITY', ['disk', 'memory'], 'disk'),
    archive: oneOf(env, 'REPLICATION_ARCHIVE', ['on', 'off'], 'on'),
    logBytes: countOf(env, 'REPLICATION_LOG_BYTES', LOG_BYTES, Number.MAX_SAFE_INTEGER),
  };
}

/** Messages never repeat a URL, because it may hold a password. */
function serversOf(list: string): Pick<ClusterConfig, 'servers' | 'user'> {
  let user: ClusterConfig['user'] = null;
  const servers = list.split(',').map((item, index) => {
    const url = URL.canParse(item.trim()) ? new URL(item.trim()) : null;
    const isServer =
      url !== null && (url.protocol === 'nats:' || url.protocol === 'tls:') && url.hostname !== '';
    if (!isServer || !['', '/'].includes(url.pathname)) {
      throw new ConfigError(
        `${URL_SETTING} must be servers such as nats://log-1:4222 or tls://log-1:4222, separated by commas; number ${index + 1} is not.`,
      );
    }
    if (url.username !== '')
      user ??= { name: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
    return `${url.protocol}//${url.host}`;
  });
  return { servers, user };
}

function nameOf(env: Environment, name: string, otherwise: string): string {
  const value = text(env, name) ?? otherwise;
  if (NAME_PATTERN.test(value)) return value;
  throw new ConfigError(`${name} must be 1 to 32 letters, digits, "-" and "_", not "${value}".`);
}

/** Without a default, so that no node joins a cluster by chance. */
function clusterOf(env: Environment): string {
  if (text(env, CLUSTER_SETTING) !== undefined) return nameOf(env, CLUSTER_SETTING, '');
  throw new ConfigError(
    `${CLUSTER_SETTING} must name the cluster. One that ran without it under release 0.2.0 is named "flagstaff": set ${CLUSTER_SETTING}=flagstaff on all its nodes.`,
  );
}

/** The machine's name, which need not be a name that fits. */
function nodeOf(env: Environment): string {
  const machine = hostname()
    .replaceAll(/[^A-Za-z0-9_-]/g, '-')
    .slice(0, 32);
  return nameOf(env, 'REPLICATION_NODE', machine === '' ? 'node' : machine);
}

function addressOf(env: Environment): string | null {
  const value = text(env, 'REPLICATION_ADDRESS');
  if (value === undefined) return null;
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '')
    return url.origin;
  throw new ConfigError(
    `REPLICATION_ADDRESS must be where the other nodes reach this one, such as http://flags-1:4242, not "${value}".`,
  );
}
