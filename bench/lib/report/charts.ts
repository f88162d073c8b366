/** The charts, made from the results. One that has nothing to show is left out. */

import { barChart } from './chart.ts';
import { type Results, rowsOf } from './results.ts';
import { formatted } from './tables.ts';

export interface Chart {
  /** File name without its ending. */
  readonly name: string;
  readonly title: string;
  readonly svg: string;
}

/** Shown in the chart of shares: where most services are. */
const CHART_CONNECTIONS = 64;

export function chartsOf(results: Results): Chart[] {
  return [shares(results), latencies(results)].filter((chart) => chart !== null);
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

function chart(name: string, title: string, rows: number, draw: () => string): Chart | null {
  return rows === 0 ? null : { name, title, svg: draw() };
}
