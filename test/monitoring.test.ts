/**
 * The dashboard and the alert rules ask for what a server has: each metric that a query names, with the labels by which it
 * is chosen or grouped, stands on the metrics page of a server that runs. promtool, where there is one, reads every query
 * and runs the tests of the rules.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { METRICS_PATH } from '../src/http/serving/metrics-page.ts';
import { unrefTimer } from '../src/process/timers.ts';
import { MemoryLog } from './addons/replication/memory-log.ts';
import { memoryNode } from './addons/replication/memory-node.ts';
import { ROOT_FOLDER, startTestServer, type TestServer, temporaryFolder } from './support/server.ts';

const FOLDER = join(ROOT_FOLDER, 'deploy', 'monitoring');
const RULES = readFileSync(join(FOLDER, 'alerts.yaml'), 'utf8');
const REFERENCE = readFileSync(join(ROOT_FOLDER, 'docs', 'operating-reference.md'), 'utf8');

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const { panels } = JSON.parse(readFileSync(join(FOLDER, 'dashboard.json'), 'utf8')) as { panels: Panel[] };
const DASHBOARD_QUERIES = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const ALERT_QUERIES = [...RULES.matchAll(/^ +expr: (.*)$/gm)].map(([, expr = '']) => expr);

const METRIC = /\b(?:flagstaff|process|nodejs)_[a-z0-9_]+/g;
const NO_PROMTOOL: string | false =
  spawnSync('promtool', ['--version']).status === 0 ? false : 'no promtool on this machine';

/** The samples of a page: each name with all labels that it has. Prometheus itself adds `instance` and `job`. */
function samplesOf(page: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const [, name = '', labels = ''] of page.matchAll(/^([a-z0-9_]+)(?:\{(.*)\})? /gm)) {
    const known = found.get(name) ?? new Set(['instance', 'job']);
    for (const [, label = ''] of labels.matchAll(/([a-z]+)="/g)) known.add(label);
    found.set(name, known);
  }
  return found;
}

/** The names and labels that a query asks for and the page does not have. */
function missingOf(query: string, samples: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const names = query.match(METRIC) ?? [];
  const labels = [
    ...[...query.matchAll(/\b(?:by|without) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, ?/)),
    ...[...query.matchAll(/[{,] ?([a-z]+)(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  ];
  const known = new Set(names.flatMap((name) => [...(samples.get(name) ?? [])]));
  return [
    ...names.filter((name) => !samples.has(name)),
    ...labels.filter((label) => names.length > 0 && !known.has(label)).map((label) => `${label} in ${query}`),
  ];
}

function promtool(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: FOLDER, encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

describe('monitoring', () => {
  let server: TestServer;
  let samples: ReadonlyMap<string, ReadonlySet<string>>;

  before(async () => {
    const log = new MemoryLog(unrefTimer).begin('test');
    // A node of a cluster, which has the metrics of every other server too.
    server = await startTestServer({
      more: () => memoryNode('node', log.connect()),
    });
    await server.call('POST', '/projects/default/features', { name: 'counted' });
    samples = samplesOf(await (await fetch(server.origin + METRICS_PATH)).text());
  });
  after(() => server.stop());

  it('has every metric that the dashboard and the alert rules ask for', () => {
    assert(DASHBOARD_QUERIES.length > 30 && ALERT_QUERIES.length > 15, 'the queries were found');
    assert.deepEqual(
      [...DASHBOARD_QUERIES, ...ALERT_QUERIES].flatMap((query) => missingOf(query, samples)),
      [],
    );
    const canary = 'sum by (project) (flagstaff_flagz)';
    assert.deepEqual(missingOf(canary, samples), ['flagstaff_flagz', `project in ${canary}`]);
  });

  it('says of each metric of its own what to look for, and of none that it does not have', () => {
    const families = new Set([...samples.keys()].map((name) => name.replace(/_(?:bucket|sum|count)$/, '')));
    const own = [...families].filter((name) => name.startsWith('flagstaff_'));
    const table = REFERENCE.slice(REFERENCE.indexOf('\n## Metrics'), REFERENCE.indexOf('\n## Log messages'));
    const rows = table.split('\n').filter((line) => line.startsWith('| `'));
    const described = rows.flatMap((row) => (row.split('|')[1] ?? '').match(METRIC) ?? []);
    assert.deepEqual(
      own.filter((name) => !described.includes(name)),
      [],
    );
    assert.deepEqual(
      described.filter((name) => !families.has(name)),
      [],
    );
  });

  it('gives Prometheus queries that it can read', { skip: NO_PROMTOOL }, () => {
    const folder = temporaryFolder();
    const rules = DASHBOARD_QUERIES.map((expr, at) => ({
      record: `panel:${at}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
    }));
    const file = join(folder, 'queries.yaml');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    promtool('check', 'rules', file);
    promtool('check', 'rules', 'alerts.yaml');
  });

  it('raises each alert for its fault, and none where all is well', { skip: NO_PROMTOOL }, () => {
    promtool('test', 'rules', 'alerts.test.yaml');
    const tests = readFileSync(join(FOLDER, 'alerts.test.yaml'), 'utf8');
    const names = [...RULES.matchAll(/alert: (\w+)/g)].map(([, name = '']) => name);
    assert.deepEqual(
      names.filter((name) => !tests.includes(`alertname="${name}"`)),
      [],
    );
  });
});
