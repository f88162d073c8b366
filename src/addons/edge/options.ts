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
  option(
    'upstream-url',
    'url',
    null,
    'the Flagstaff, Unleash or edge in front of which this one stands, without `/api`',
  ),
  option('tokens', 'tokens', null, 'client tokens whose flags are read at the start, separated by commas'),
  option(
    'pretrusted-tokens',
    'tokens',
    null,
    'frontend tokens that are valid without a question, `secret@environment` or as the upstream makes them',
  ),
  option(
    'tokens-file',
    'file',
    null,
    'file with the tokens of `--tokens`, which keeps them out of the list of processes',
  ),
  option('pretrusted-tokens-file', 'file', null, 'file with the tokens of `--pretrusted-tokens`'),
  option('strict', null, null, 'only tokens of the two options above are let in'),
  option('dynamic', null, null, 'no effect: a token is asked about when it first comes'),
  option('streaming', null, null, 'the stream of the upstream is tried first, with `--delta` too'),
  option('delta', null, null, 'the upstream is read by deltas, and no stream is tried'),
  option('port', 'number', '3063', 'port'),
  option('interface', 'address', '0.0.0.0', 'address to listen on'),
  option('base-path', 'path', null, 'path before all others, such as `/flags`'),
  option(
    'features-refresh-interval-seconds',
    'seconds',
    '15',
    'between two requests for flags where the upstream does not stream',
  ),
  option(
    'token-revalidation-interval-seconds',
    'seconds',
    '3600',
    'between two questions whether all known tokens are still valid',
  ),
  option('metrics-interval-seconds', 'seconds', '60', 'between two reports to the upstream'),
  option(
    'backup-folder',
    'folder',
    null,
    'holds the copy from which an edge starts while its upstream is away',
  ),
  option('max-age', 'seconds', null, '`ready` fails once the flags are older'),
  option('trust-proxy', null, null, 'believe the `X-Forwarded-For` of private addresses'),
  option(
    'proxy-trusted-servers',
    'ranges',
    null,
    'addresses and ranges of proxies whose `X-Forwarded-For` is believed',
  ),
  option('cors-origin', 'origins', '*', 'origins of pages that may call, separated by commas'),
  option('token-header', 'name', 'authorization', 'header in which callers send their tokens'),
  option('edge-auth-header', 'name', 'authorization', 'the same under its older name'),
  option('upstream-auth-header', 'name', 'authorization', 'header in which the upstream expects tokens'),
  option('upstream-request-timeout', 'seconds', '5', 'until a request to the upstream has failed'),
  option(
    'edge-request-timeout',
    'seconds',
    '5',
    'for which a request waits for flags that are not there yet',
  ),
  option('upstream-certificate-file', 'file', null, 'PEM file of certificates that the upstream may show'),
  option(
    'pkcs8-client-certificate-file',
    'file',
    null,
    'PEM file of the certificate that the upstream asks for',
  ),
  option('pkcs8-client-key-file', 'file', null, 'PEM file of its key'),
  option('skip-ssl-verification', null, null, 'take any certificate of the upstream: for trials only'),
  option('tls-enable', null, null, 'serve HTTPS, and no HTTP'),
  option('tls-server-cert', 'file', null, 'PEM file of the certificate to show'),
  option('tls-server-key', 'file', null, 'PEM file of its key'),
  option('tls-server-port', 'number', '3043', 'port of HTTPS'),
  option('disable-all-endpoint', null, null, '`/api/frontend/all` responds 404: it tells flags that are off'),
  option('disable-metrics-endpoint', null, null, '`/internal-backstage/metrics` responds 404'),
  option('disable-metrics-batch-endpoint', null, null, '`/internal-backstage/metricsbatch` responds 404'),
  option('disable-features-endpoint', null, null, '`/internal-backstage/features` responds 404'),
  option('disable-tokens-endpoint', null, null, '`/internal-backstage/tokens` responds 404'),
  option('disable-instance-data-endpoint', null, null, '`/internal-backstage/instancedata` responds 404'),
  option('app-name', 'name', 'flagstaff-edge', 'name by which the upstream knows this edge'),
  option('instance-id', 'name', null, 'name of this instance; a random one unless given'),
  option('http-engine', 'engine', 'auto', 'as [HTTP_ENGINE](settings.md) of a server'),
  option('log-level', 'level', 'info', 'as [LOG_LEVEL](settings.md) of a server'),
];

/** Options of Unleash Edge that are not taken here, with what to do in place of them. */
export const OTHER_OPTIONS: ReadonlyMap<string, string> = new Map([
  ['redis-url', 'Give --backup-folder: each edge keeps its own copy.'],
  ['redis-password', 'Give --backup-folder: each edge keeps its own copy.'],
  ['redis-username', 'Give --backup-folder: each edge keeps its own copy.'],
  ['redis-host', 'Give --backup-folder: each edge keeps its own copy.'],
  ['redis-port', 'Give --backup-folder: each edge keeps its own copy.'],
  ['redis-mode', 'Give --backup-folder: each edge keeps its own copy.'],
  ['s3-bucket-name', 'Give --backup-folder, on a volume that outlives the container.'],
  ['sentry-dsn', 'Collect the log, which is JSON in lines.'],
  ['otel-collector-url', 'Read /internal-backstage/prometheus; traces of an edge are not recorded.'],
  ['prometheus-remote-write-url', 'Have Prometheus read /internal-backstage/prometheus.'],
  ['prometheus-push-interval', 'Have Prometheus read /internal-backstage/prometheus.'],
  ['prometheus-username', 'Have Prometheus read /internal-backstage/prometheus.'],
  ['prometheus-password', 'Have Prometheus read /internal-backstage/prometheus.'],
  ['datadog-url', 'Have its agent read /internal-backstage/prometheus.'],
  ['allow-list', 'Leave it out: a firewall or the proxy in front says who may call.'],
  ['deny-list', 'Leave it out: a firewall or the proxy in front says who may call.'],
  ['log-format', 'Leave it out: the log is JSON in lines, and readable on a terminal.'],
  ['workers', 'Leave it out, and start one edge for each core: on Linux they share the port.'],
  ['custom-client-headers', 'Leave it out: headers are set by the proxy before the upstream.'],
  ['cors-send-wildcard', 'Leave it out: --cors-origin says which origins there are.'],
  ['cors-allowed-headers', 'Leave it out: headers that a page asks for are allowed.'],
  ['cors-max-age', 'Leave it out: browsers remember the answer as long as they may.'],
  ['cors-exposed-headers', 'Leave it out: ETag is exposed.'],
  ['cors-methods', 'Leave it out: methods that exist are allowed.'],
  ['client-id', 'Give --app-name.'],
  ['hmac-config', 'Give --tokens: an edge is no party to licences.'],
  ['token-request-interval', 'Leave it out: tokens are asked for when they come.'],
]);

/** The variable of an option. */
export const variableOf = (name: string): string => name.replaceAll('-', '_').toUpperCase();
