/**
 * The options of `flagstaff edge`, by the names that open-source Unleash Edge has for them, so that a command line of it works here. Each
 * is an environment variable too, of the same name in capitals. docs/edge.md prints this table.
 */

export interface EdgeOption {
  /** Without the dashes. */
  readonly name: string;
  /** The kind of its value; null for one that is only given or not. */
  readonly takes: string | null;
  /** Null for none. */
  readonly initial: string | null;
  readonly purpose: string;
}

const option = (name: string, takes: string | null, initial: string | null, purpose: string): EdgeOption => ({
  ...{ name, takes, initial, purpose },
});

export const EDGE_OPTIONS: readonly EdgeOption[] = [
  option('upstream-url', 'url', null, 'URL of the Flagstaff, Unleash or edge upstream, without `/api`'),
  option('tokens', 'tokens', null, 'client tokens whose flags are loaded at startup, separated by commas'),
  option(
    'pretrusted-tokens',
    'tokens',
    null,
    'frontend tokens accepted without validation, as `secret@environment` or as created by the upstream',
  ),
  option(
    'tokens-file',
    'file',
    null,
    'file with the tokens of `--tokens`, which keeps them out of the process list',
  ),
  option('pretrusted-tokens-file', 'file', null, 'file with the tokens of `--pretrusted-tokens`'),
  option('strict', null, null, 'only accept the tokens of the options above'),
  option('dynamic', null, null, 'no effect: a token is validated at its first request'),
  option('streaming', null, null, 'try the stream of the upstream first, with `--delta` too'),
  option('delta', null, null, 'read the upstream by deltas, without trying a stream'),
  option('port', 'number', '3063', 'port'),
  option('interface', 'address', '0.0.0.0', 'address to listen on'),
  option('base-path', 'path', null, 'path prefix for everything, such as `/flags`'),
  option(
    'features-refresh-interval-seconds',
    'seconds',
    '15',
    'between polls of an upstream that does not stream',
  ),
  option(
    'token-revalidation-interval-seconds',
    'seconds',
    '3600',
    'between revalidations of all known tokens',
  ),
  option('metrics-interval-seconds', 'seconds', '60', 'between reports to the upstream'),
  option('backup-folder', 'folder', null, 'copy from which an edge starts while its upstream is down'),
  option('max-age', 'seconds', null, '`ready` fails once the flags are older'),
  option('trust-proxy', null, null, 'trust the `X-Forwarded-For` of private addresses'),
  option(
    'proxy-trusted-servers',
    'ranges',
    null,
    'addresses and ranges of proxies whose `X-Forwarded-For` is trusted',
  ),
  option('cors-origin', 'origins', '*', 'origins of pages that may call, separated by commas'),
  option('token-header', 'name', 'authorization', 'header in which callers send their tokens'),
  option('edge-auth-header', 'name', 'authorization', 'older name of `--token-header`'),
  option('upstream-auth-header', 'name', 'authorization', 'header in which the upstream expects tokens'),
  option('upstream-request-timeout', 'seconds', '5', 'after which a request to the upstream fails'),
  option('edge-request-timeout', 'seconds', '5', 'that a request waits for flags that are not loaded yet'),
  option('upstream-certificate-file', 'file', null, 'PEM file of certificates to trust for the upstream'),
  option(
    'pkcs8-client-certificate-file',
    'file',
    null,
    'PEM file of the client certificate for the upstream',
  ),
  option('pkcs8-client-key-file', 'file', null, 'PEM file of its key'),
  option('skip-ssl-verification', null, null, 'accept any certificate of the upstream: for trials only'),
  option('tls-enable', null, null, 'serve HTTPS only'),
  option('tls-server-cert', 'file', null, 'PEM file of the server certificate'),
  option('tls-server-key', 'file', null, 'PEM file of its key'),
  option('tls-server-port', 'number', '3043', 'port of HTTPS'),
  option(
    'disable-all-endpoint',
    null,
    null,
    '`/api/frontend/all`, which reveals flags that are off, responds 404',
  ),
  option('disable-metrics-endpoint', null, null, '`/internal-backstage/metrics` responds 404'),
  option('disable-metrics-batch-endpoint', null, null, '`/internal-backstage/metricsbatch` responds 404'),
  option('disable-features-endpoint', null, null, '`/internal-backstage/features` responds 404'),
  option('disable-tokens-endpoint', null, null, '`/internal-backstage/tokens` responds 404'),
  option('disable-instance-data-endpoint', null, null, '`/internal-backstage/instancedata` responds 404'),
  option('app-name', 'name', 'flagstaff-edge', 'name of this edge for the upstream'),
  option('instance-id', 'name', null, 'name of this instance; a random one unless given'),
  option('http-engine', 'engine', 'auto', 'as [HTTP_ENGINE](settings.md) of a server'),
  option('log-level', 'level', 'info', 'as [LOG_LEVEL](settings.md) of a server'),
];

const OWN_COPY = 'Give --backup-folder: each edge keeps its own copy.';
const BY_PROMETHEUS = 'Have Prometheus read /internal-backstage/prometheus.';
const BY_FIREWALL = 'Leave it out: a firewall or the proxy in front says who may call.';

/** Options of Unleash Edge that are not taken here, with what to do in place of them. */
export const OTHER_OPTIONS: ReadonlyMap<string, string> = new Map([
  ...['url', 'password', 'username', 'host', 'port', 'mode'].map((name): [string, string] => [
    `redis-${name}`,
    OWN_COPY,
  ]),
  ['s3-bucket-name', 'Give --backup-folder, on a volume that outlives the container.'],
  ['sentry-dsn', 'Collect the log, which is JSON in lines.'],
  ['otel-collector-url', 'Read /internal-backstage/prometheus; traces of an edge are not recorded.'],
  ...['remote-write-url', 'push-interval', 'username', 'password'].map((name): [string, string] => [
    `prometheus-${name}`,
    BY_PROMETHEUS,
  ]),
  ['datadog-url', 'Have its agent read /internal-backstage/prometheus.'],
  ['allow-list', BY_FIREWALL],
  ['deny-list', BY_FIREWALL],
  ['log-format', 'Leave it out: the log is JSON in lines, and readable on a terminal.'],
  ['workers', 'Leave it out, and start one edge for each core: on Linux they share the port.'],
  ['custom-client-headers', 'Leave it out: headers are set by the proxy before the upstream.'],
  ['cors-send-wildcard', 'Leave it out: --cors-origin says which origins there are.'],
  ['cors-allowed-headers', 'Leave it out: the headers that a page requests are allowed.'],
  ['cors-max-age', 'Leave it out: browsers cache preflights as long as they may.'],
  ['cors-exposed-headers', 'Leave it out: ETag is exposed.'],
  ['cors-methods', 'Leave it out: methods that exist are allowed.'],
  ['client-id', 'Give --app-name.'],
  ['hmac-config', 'Give --tokens: an edge needs no licence.'],
  ['token-request-interval', 'Leave it out: tokens are validated at their first request.'],
]);

export const variableOf = (name: string): string => name.replaceAll('-', '_').toUpperCase();
