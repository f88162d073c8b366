/**
 * Charts as SVG, written by hand: no library, no script, nothing fetched. Two kinds: bars that are shares of a limit,
 * and lines over sizes that grow tenfold. Colours come from a style block that follows the reader's light or dark
 * scheme, and every mark has its number beside it, unless it would cover another, so that little hangs on colour alone.
 */

export interface Bar {
  readonly label: string;
  /** 0 … 1 fills the bar. */
  readonly share: number;
  /** Behind the bar. */
  readonly text: string;
}

export interface Line {
  readonly label: string;
  /** From the smallest x to the largest. */
  readonly points: readonly { readonly x: number; readonly y: number; readonly text: string }[];
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
  .axis { stroke: #d0d7de; }
  .c0 { fill: #0969da; } .l0 { stroke: #0969da; }
  .c1 { fill: #bf5700; } .l1 { stroke: #bf5700; }
  .c2 { fill: #1a7f37; } .l2 { stroke: #1a7f37; }
  .c3 { fill: #8250df; } .l3 { stroke: #8250df; }
  .line { fill: none; stroke-width: 2.5; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .quiet { fill: #9198a1; } .track { fill: #2a313c; } .axis { stroke: #3d444d; }
    .c0 { fill: #58a6ff; } .l0 { stroke: #58a6ff; }
    .c1 { fill: #f0883e; } .l1 { stroke: #f0883e; }
    .c2 { fill: #56d364; } .l2 { stroke: #56d364; }
    .c3 { fill: #bc8cff; } .l3 { stroke: #bc8cff; }
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
      `<rect class="c0" x="${LABEL_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="22" rx="3"/>`,
      `<text x="${WIDTH - TEXT_WIDTH + 10}" y="${y + 16}">${escaped(text)}</text>`,
    ].join('');
  });
  return svg(title, subtitle, TITLE_HEIGHT + bars.length * ROW + 10, rows);
}

const PLOT_HEIGHT = 220;
const PLOT_LEFT = 50;
const PLOT_RIGHT = 160;

/** Both axes by powers of ten when `isLogarithmic`; the y axis begins at 0 otherwise. */
export function lineChart(options: {
  readonly title: string;
  readonly subtitle: string;
  readonly lines: readonly Line[];
  readonly isLogarithmic: boolean;
}): string {
  const { title, subtitle, lines, isLogarithmic } = options;
  const points = lines.flatMap((line) => line.points);
  const xs = [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b);
  const place = scaleOf(
    xs,
    points.map(({ y }) => y),
    isLogarithmic,
  );
  const bottom = TITLE_HEIGHT + PLOT_HEIGHT;
  const axis = [
    `<line class="axis" x1="${PLOT_LEFT}" x2="${WIDTH - PLOT_RIGHT}" y1="${bottom}" y2="${bottom}"/>`,
    ...xs.map(
      (x) =>
        `<text class="quiet" x="${place.x(x)}" y="${bottom + 20}" text-anchor="middle">${x.toLocaleString('en')}</text>`,
    ),
  ];
  const labelAt = spread(lines.map(({ points }) => place.y(points.at(-1)?.y ?? 0)));
  const numbers: Spot[] = [];
  const drawn = lines.map((line, index) =>
    drawLine(line, { index, place, labelAt: labelAt[index] ?? 0, numbers }),
  );
  return svg(title, subtitle, bottom + 36, [...axis, ...drawn]);
}

interface Scale {
  x(value: number): number;
  y(value: number): number;
}

function scaleOf(xs: readonly number[], ys: readonly number[], isLogarithmic: boolean): Scale {
  const by = isLogarithmic ? (value: number) => Math.log10(Math.max(value, 1e-3)) : (value: number) => value;
  const [left, right] = [Math.log10(xs[0] ?? 1), Math.log10(xs.at(-1) ?? 1)];
  const bottom = isLogarithmic ? by(Math.min(...ys)) - 0.2 : 0;
  const top = isLogarithmic ? by(Math.max(...ys)) + 0.2 : Math.max(...ys) * 1.15;
  const width = WIDTH - PLOT_LEFT - PLOT_RIGHT - 60;
  return {
    x: (value) =>
      round(PLOT_LEFT + 30 + (right === left ? 0.5 : (Math.log10(value) - left) / (right - left)) * width),
    y: (value) => round(TITLE_HEIGHT + PLOT_HEIGHT * (1 - (by(value) - bottom) / (top - bottom || 1))),
  };
}

interface Spot {
  readonly x: number;
  readonly y: number;
}

interface Drawing {
  readonly index: number;
  readonly place: Scale;
  /** Height of the label at the line's end. */
  readonly labelAt: number;
  /** Where numbers stand already, of all lines. */
  readonly numbers: Spot[];
}

/** The last number stands with the label; the others above their points, where they cover no other number. */
function drawLine({ label, points }: Line, { index, place, labelAt, numbers }: Drawing): string {
  const colour = index % 4;
  const path = points.map(({ x, y }) => `${place.x(x)},${place.y(y)}`).join(' ');
  const last = points.at(-1);
  const marks = points.map((point) => {
    const [cx, cy] = [place.x(point.x), place.y(point.y)];
    const dot = `<circle class="c${colour}" cx="${cx}" cy="${cy}" r="4"/>`;
    const spot = { x: cx, y: cy - 9 };
    if (point === last || numbers.some((other) => isCovering(spot, other))) return dot;
    numbers.push(spot);
    return `${dot}<text class="quiet" x="${spot.x}" y="${spot.y}" text-anchor="middle">${escaped(point.text)}</text>`;
  });
  const end =
    last === undefined
      ? ''
      : `<text class="c${colour}" x="${place.x(last.x) + 14}" y="${labelAt + 4}">${escaped(`${label} ${last.text}`)}</text>`;
  return [`<polyline class="line l${colour}" points="${path}"/>`, ...marks, end].join('');
}

/** Numbers are about this wide and high. */
function isCovering(a: Spot, b: Spot): boolean {
  return Math.abs(a.x - b.x) < 44 && Math.abs(a.y - b.y) < 13;
}

const LABEL_GAP = 16;

/** Labels at the ends of lines, moved down where they would cover each other. */
function spread(wanted: readonly number[]): number[] {
  const order = [...wanted.keys()].sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  const placed: number[] = [];
  let free = Number.NEGATIVE_INFINITY;
  for (const index of order) {
    const at = Math.max(wanted[index] ?? 0, free);
    placed[index] = at;
    free = at + LABEL_GAP;
  }
  return placed;
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

const round = (value: number): number => Math.round(value * 10) / 10;

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
