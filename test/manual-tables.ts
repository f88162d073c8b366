/**
 * The tables and lists of the manual that are made from the code, each between two marks of its page: `node --import tsx
 * test/manual-tables.ts` writes them, and test/docs.test.ts holds the pages to them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Registry } from 'prom-client';
import { headMetrics } from '../src/addons/audit/configure.ts';
import type { HeadStatus } from '../src/addons/audit/head-keeper.ts';
import { metricsOf as skipMetrics } from '../src/addons/change-requests/configure.ts';
import { type EdgeMetricsSources, edgeMetrics } from '../src/addons/edge/metrics.ts';
import { EDGE_OPTIONS, OTHER_OPTIONS } from '../src/addons/edge/options.ts';
import type { Courier } from '../src/addons/integrations/courier.ts';
import { metricsOf as sendingMetrics } from '../src/addons/integrations/sending.ts';
import { clusterMetrics } from '../src/addons/replication/node-parts.ts';
import type { ReplicaView } from '../src/addons/replication/node-view.ts';
import { metricsOf } from '../src/addons/usage/configure.ts';
import type { Usage } from '../src/addons/usage/usage.ts';
import type { WorldOwner } from '../src/domain/state/world.ts';
import { createMetrics, type MetricsSources } from '../src/http/serving/metrics.ts';
import { EXIT, EXIT_MEANINGS } from '../src/process/exit-codes.ts';
import type { SettingRow } from '../src/process/setting-row.ts';
import { ADDONS } from '../src/start/addons.ts';
import { SERVER_SETTINGS } from '../src/start/setting-rows.ts';
import { logMessages } from './support/log-messages.ts';
import { ROOT_FOLDER } from './support/server.ts';

interface ManualTable {
  readonly page: string;
  /** The name in the mark before the table. */
  readonly name: string;
  make(): string;
}

/** Add-ons with so many settings that they have a table. */
const OWN_TABLES = new Set(['people', 'replication']);

const addonSettings = (isWanted: (name: string) => boolean): readonly SettingRow[] =>
  ADDONS.flatMap((addon) => (isWanted(addon.name) ? (addon.settings ?? []) : []));

export const MANUAL_TABLES: readonly ManualTable[] = [
  { page: 'docs/operating-reference.md', name: 'exit codes', make: exitCodes },
  { page: 'docs/operating-reference.md', name: 'metrics', make: metrics },
  { page: 'docs/operating-reference.md', name: 'log messages', make: logTable },
  { page: 'docs/edge.md', name: 'options of an edge', make: edgeOptions },
  { page: 'docs/edge.md', name: 'other options of an edge', make: otherOptions },
  { page: 'docs/edge.md', name: 'metrics of an edge', make: metricsOfEdge },
  {
    page: 'docs/settings.md',
    name: 'settings',
    make: () => settings([...SERVER_SETTINGS, ...addonSettings((name) => !OWN_TABLES.has(name))]),
  },
  {
    page: 'docs/settings.md',
    name: 'settings of OpenID Connect',
    make: () => settings(addonSettings((name) => name === 'people')),
  },
  {
    page: 'docs/settings.md',
    name: 'settings of clusters',
    make: () => settings(addonSettings((name) => name === 'replication')),
  },
];

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((cells) => `| ${cells.join(' | ')} |\n`);
  return [lines[0], `${'|---'.repeat(head.length)}|\n`, ...lines.slice(1)].join('');
}

function exitCodes(): string {
  const names = Object.keys(EXIT) as (keyof typeof EXIT)[];
  return table(
    ['exit code', 'meaning', 'what to do'],
    names.map((name) => [String(EXIT[name]), EXIT_MEANINGS[name].meaning, EXIT_MEANINGS[name].advice]),
  );
}

function metrics(): string {
  return metricTable(
    createMetrics(unread<MetricsSources>(), [
      clusterMetrics(unread<() => ReplicaView>()),
      headMetrics(unread<() => HeadStatus>()),
      metricsOf(unread<Usage>()),
      skipMetrics(unread<WorldOwner>()),
      sendingMetrics(unread<Courier>()),
    ]),
  );
}

function metricsOfEdge(): string {
  return metricTable(edgeMetrics(unread<EdgeMetricsSources>()));
}

/** Reads only what a registry is told of each metric; no source is asked for its value. */
function unread<T>(): T {
  return new Proxy({}, { get: () => () => undefined }) as T;
}

/** Help that says what to look for has a second clause. */
const SAYS_MORE = /[.;:] /;

/** One row for all metrics of which their help on the metrics page says enough. */
function metricTable(registry: Registry): string {
  const own = registry.getMetricsAsArray().filter(({ name }) => name.startsWith('flagstaff_'));
  const plain = own.filter(({ help }) => !SAYS_MORE.test(help));
  return table(
    ['metric', 'what it counts, and what to look for'],
    [
      ...own.filter((one) => !plain.includes(one)).map(({ name, help }) => [`\`${name}\``, help]),
      [plain.map(({ name }) => `\`${name}\``).join(', '), 'See their help on the page of metrics.'],
    ],
  );
}

function edgeOptions(): string {
  return table(
    ['option', 'default', 'what it is'],
    EDGE_OPTIONS.map(({ name, takes, initial, purpose }) => [
      takes === null ? `\`--${name}\`` : `\`--${name} <${takes}>\``,
      initial === null ? '' : `\`${initial}\``,
      purpose,
    ]),
  );
}

/** Only their names: the line that refuses one says what to do in its place. */
function otherOptions(): string {
  return `${[...OTHER_OPTIONS.keys()].map((name) => `\`--${name}\``).join(', ')}.\n`;
}

/** Advice that goes without a table: docs/operating-reference.md says which it is for what is not listed. */
const OBVIOUS: ReadonlySet<string> = new Set([
  'nothing',
  'what it says',
  'look at `err`',
  'report it with the log line',
  'nothing, unless it repeats: see [fail-over](docs/cluster.md#fail-over)',
  'nothing, unless it persists: look at the NATS servers',
]);

/** One row for all messages with the same advice. */
function logTable(): string {
  const byAdvice = new Map<string, Set<string>>();
  for (const { message, advice } of logMessages().filter((one) => !OBVIOUS.has(one.advice))) {
    const messages = byAdvice.get(advice) ?? new Set();
    byAdvice.set(advice, messages.add(`\`${shortened(message)}\``));
  }
  return table(
    ['message', 'what to do'],
    [...byAdvice]
      .map(([advice, messages]) => [[...messages].sort().join(', '), advice])
      .sort(([, one = ''], [, other = '']) => (one < other ? -1 : 1)),
  );
}

/** The first clause of a message, which is enough to find it. */
const shortened = (message: string): string =>
  message
    .replace(/(?<=\S+ \S+ \S+)[,;.:] .*$/, ' …')
    .replace(/\.$/, '')
    .replace('… …', '…');

function settings(rows: readonly SettingRow[]): string {
  return table(
    ['variable', 'default', 'what it is'],
    rows.map(({ names, initial, purpose }) => [
      names.map((name) => `\`${name}\``).join(', '),
      initial ?? '',
      purpose,
    ]),
  );
}

/** The page with its tables made anew. */
export function withTables(page: string, text: string): string {
  return MANUAL_TABLES.filter((one) => one.page === page).reduce((before, { name, make }) => {
    const mark = `<!-- ${name}: written by `;
    const at = before.indexOf('\n', before.indexOf(mark)) + 1;
    const end = before.indexOf('<!-- end -->', at);
    if (!before.includes(mark) || end < 0) throw new Error(`${page} has no place for the table of ${name}`);
    return before.slice(0, at) + make().replaceAll('](docs/', '](') + before.slice(end);
  }, text);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const page of new Set(MANUAL_TABLES.map((one) => one.page))) {
    const path = join(ROOT_FOLDER, page);
    writeFileSync(path, withTables(page, readFileSync(path, 'utf8')));
  }
