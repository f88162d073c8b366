/**
 * Bar charts as SVG, written by hand: no library, no script, nothing fetched. Colours come from a style block that
 * follows the reader's light or dark scheme, and every bar has its number beside it.
 */

export interface Bar {
  readonly label: string;
  /** 0 … 1 fills the bar. */
  readonly share: number;
  /** The text behind the bar. */
  readonly text: string;
}

const WIDTH = 760;
const ROW = 30;
const LABEL_WIDTH = 190;
const TEXT_WIDTH = 200;
const TITLE_HEIGHT = 56;

const STYLE = `<style>
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .title { font-size: 16px; font-weight: 600; }
  .quiet { fill: #57606a; font-size: 12px; }
  .track { fill: #eaeef2; }
  .bar { fill: #0969da; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .quiet { fill: #9198a1; } .track { fill: #2a313c; } .bar { fill: #58a6ff; }
  }
</style>`;

export function barChart(title: string, subtitle: string, bars: readonly Bar[]): string {
  const full = WIDTH - LABEL_WIDTH - TEXT_WIDTH;
  const rows = bars.map(({ label, share, text }, index) => {
    const y = TITLE_HEIGHT + index * ROW;
    const width = Math.max(1, full * Math.min(1, share));
    return [
      `<text x="${LABEL_WIDTH - 10}" y="${y + 16}" text-anchor="end">${escaped(label)}</text>`,
      `<rect class="track" x="${LABEL_WIDTH}" y="${y}" width="${full}" height="22" rx="3"/>`,
      `<rect class="bar" x="${LABEL_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="22" rx="3"/>`,
      `<text x="${WIDTH - TEXT_WIDTH + 10}" y="${y + 16}">${escaped(text)}</text>`,
    ].join('');
  });
  return svg(title, subtitle, TITLE_HEIGHT + bars.length * ROW + 10, rows);
}

function svg(title: string, subtitle: string, height: number, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">
${STYLE}
<text class="title" x="12" y="22">${escaped(title)}</text>
<text class="quiet" x="12" y="40">${escaped(subtitle)}</text>
${parts.join('\n')}
</svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
