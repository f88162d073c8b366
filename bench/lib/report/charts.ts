/** Which charts there are, made from the results. One that has nothing to show is left out. */

import type { TableName } from '../measurement.ts';
import { barChart, type Line, lineChart } from './chart.ts';
import { type Results, type Row, rowsOf } from './results.ts';
import { type Format, formatted } from './tables.ts';

export interface Chart {
  /** File name without its ending. */
  readonly name: string;
  readonly title: string;
  readonly svg: string;
}

/** Shown in the chart of shares: where most services are. */
const CHART_CONNECTIONS = 64;

export function chartsOf(results: Results): Chart[] {
  return [
    shares(results),
    latencies(results),
    ...GROWTH_CHARTS.map((chart) => growth(chart, results)),
  ].filter((chart) => chart !== null);
}

function shares(results: Results): Chart | null {
  const rows = rowsOf(results, 'http').filter(({ at }) => at === CHART_CONNECTIONS);
  const title = `Throughput as a share of what the machine can do, ${CHART_CONNECTIONS} connections`;
  const bars = rows.map(({ what, values }) => ({
    label: what,
    share: values['share'] ?? 0,
    text: `${formatted(values['share'], 'percent')} · ${formatted(values['perSecond'], 'rate')}/s`,
  }));
  const subtitle =
    'A full bar is a bare server that sends the same bytes; for writes, one that syncs 300 bytes first.';
  return chart('shares', title, bars.length, () => barChart(title, subtitle, bars));
}

function latencies(results: Results): Chart | null {
  const rows = rowsOf(results, 'latency');
  const title = 'Latency at a fixed rate, p99';
  const longest = Math.max(...rows.map(({ values }) => values['p99'] ?? 0));
  const bars = rows.map(({ what, values }) => ({
    label: what,
    share: (values['p99'] ?? 0) / longest,
    text: `${formatted(values['p99'], 'ms')} · p50 ${formatted(values['p50'], 'ms')}`,
  }));
  const subtitle =
    'Open loop at 30 % of saturation, at most 10,000/s: counted from when each request was due.';
  return chart('latency', title, bars.length, () => barChart(title, subtitle, bars));
}

interface GrowthChart {
  readonly name: string;
  readonly table: TableName;
  readonly title: string;
  readonly subtitle: string;
  readonly isLogarithmic: boolean;
  readonly format: Format;
  /** Key of the value → label of its line. */
  readonly lines: Readonly<Record<string, string>>;
}

const GROWTH_CHARTS: readonly GrowthChart[] = [
  {
    name: 'flags-throughput',
    table: 'flags',
    title: 'Throughput as a project grows',
    subtitle: 'Share of the throughput with the fewest flags, by flags in the project; 64 connections.',
    isLogarithmic: false,
    format: 'percent',
    lines: { readRatio: 'read', toggleRatio: 'switch', createRatio: 'create', patchRatio: 'patch' },
  },
  {
    name: 'flags-times',
    table: 'flags',
    title: 'What takes longer as a project grows',
    subtitle: 'Milliseconds, by flags in the project.',
    isLogarithmic: true,
    format: 'ms',
    lines: {
      startMs: 'start',
      snapshotMs: 'snapshot',
      overviewChangedMs: 'overview, changed',
      snapshotStallMs: 'longest stall',
    },
  },
  {
    name: 'flags-memory',
    table: 'flags',
    title: 'Memory as a project grows',
    subtitle: 'Heap after a collection, by flags in the project.',
    isLogarithmic: true,
    format: 'bytes',
    lines: { heap: 'heap' },
  },
  {
    name: 'projects-throughput',
    table: 'projects',
    title: 'Throughput over more projects',
    subtitle: 'Share of the throughput with one project, by projects; 64 connections.',
    isLogarithmic: false,
    format: 'percent',
    lines: { readRatio: 'read', toggleRatio: 'switch' },
  },
  {
    name: 'events-times',
    table: 'events',
    title: 'What takes longer with more events',
    subtitle: 'Milliseconds, by events in the log.',
    isLogarithmic: true,
    format: 'ms',
    lines: {
      filterMs: 'filter',
      textMs: 'text',
      replayMs: 'start by replay',
      readBesideTextP99: 'reads, p99',
    },
  },
];

function growth(description: GrowthChart, results: Results): Chart | null {
  const { name, table, title, subtitle, isLogarithmic, format } = description;
  const rows = rowsOf(results, table);
  const lines = Object.entries(description.lines).map(([key, label]) => lineOf(rows, key, label, format));
  return chart(name, title, rows.length, () => lineChart({ title, subtitle, lines, isLogarithmic }));
}

function lineOf(rows: readonly Row[], key: string, label: string, format: Format): Line {
  const points = rows.map(({ at, values }) => {
    const y = values[key] ?? 0;
    return { x: at ?? 1, y, text: formatted(y, format) };
  });
  return { label, points };
}

function chart(name: string, title: string, rows: number, draw: () => string): Chart | null {
  return rows === 0 ? null : { name, title, svg: draw() };
}
