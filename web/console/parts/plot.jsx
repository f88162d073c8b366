/**
 * Curves or columns over time, with the same as a table. uPlot draws them, which is loaded when the first of them comes into view: the
 * first page that somebody opens does without it.
 */
import { signal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { compact, number, timeFormat } from '../format.js';
import { Name, visible } from '../said.jsx';
import { Listing } from './listing.jsx';

/** @import uPlot from 'uplot' */

/** @typedef {{ name: string, values: readonly number[] }} Series */
/** A change that is shown where it was made, in milliseconds since 1970. @typedef {{ at: number, text: string }} Mark */
/** The lengths of the steps of time, and how their beginnings are written. @typedef {keyof typeof STEPS} Step */

const DAY_MS = 86_400_000;
const HEIGHT = 180;
/** Pixels of a label of the axis of times. */
const LABEL_SPACE = 64;
/** Pixels left of the curve, for the axis of numbers; styles/pictures.css puts the marks beside it. */
const AXIS_SPACE = 48;
const TIMES_SPACE = 28;

/** So near to the window a picture is drawn already. */
const NEAR = '200px';

// Days begin and end in UTC, as the server counts them.
const HOUR = timeFormat({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const HOUR_LABEL = timeFormat({ hour: 'numeric', minute: '2-digit' });
const DAY = timeFormat({ day: 'numeric', month: 'short', timeZone: 'UTC' });
const DAY_LABEL = timeFormat({ day: 'numeric', month: 'short' });

export const STEPS = {
  minute: { ms: 60_000, name: 'Minute', format: HOUR_LABEL },
  hour: { ms: 3_600_000, name: 'Hour', format: HOUR },
  day: { ms: DAY_MS, name: 'Day', format: DAY },
  week: { ms: 7 * DAY_MS, name: 'Week of', format: DAY },
};

/** Lines besides their colors, so that nobody needs to tell those apart. */
const DASHES = [[], [6, 4], [2, 3], [10, 3, 2, 3], [14, 4], [1, 5]];
/** Curves in one picture: of more the smallest are added up. */
const SERIES_MAX = DASHES.length;

/** @type {Promise<typeof uPlot> | null} */
let library = null;

function loadLibrary() {
  library ??= import('uplot').then((module) => module.default);
  return library.catch((error) => {
    library = null;
    throw error;
  });
}

/**
 * @param {{ label: string, step: Step, times: readonly number[], series: readonly Series[], marks?: readonly Mark[], columns?: boolean }} props `label` says in words what the picture shows; `times` begin the steps, in milliseconds since 1970
 */
export function Plot({ label, step, times, series: all, marks = [], columns = false }) {
  const series = useMemo(() => fewest(all), [all]);
  const frame = useRef(/** @type {HTMLDivElement | null} */ (null));
  const legend = useRef(/** @type {HTMLUListElement | null} */ (null));
  const [failed, setFailed] = useState(false);
  // Where the pointer is; a signal, since the picture is not to be drawn anew for it.
  const pointed = useMemo(() => signal(/** @type {number | null} */ (null)), []);
  const named = useMemo(() => signal(''), []);
  const { format, name: stepName } = STEPS[step];
  const drawn = JSON.stringify([times, series, columns]);
  useEffect(() => {
    const [at, keys] = [frame.current, legend.current];
    if (at === null || keys === null) return;
    let plot = /** @type {uPlot | null} */ (null);
    const draw = async () => {
      const Library = await loadLibrary().catch(() => null);
      setFailed(Library === null);
      if (Library === null || !at.isConnected || plot !== null) return;
      const options = optionsOf(Library, { at, keys, step, times, count: series.length, columns });
      const setCursor = [
        (/** @type {uPlot} */ { cursor }) => {
          pointed.value = cursor.idx ?? null;
        },
      ];
      plot = new Library(
        { ...options, hooks: { setCursor } },
        [
          times.map((time) => time / 1000),
          ...series.map(({ values }) => values.map((value) => (columns && value === 0 ? null : value))),
        ],
        at,
      );
    };
    const seen = new IntersectionObserver(
      (entries) => {
        if (entries.every(({ isIntersecting }) => !isIntersecting)) return;
        seen.disconnect();
        void draw();
      },
      { rootMargin: NEAR },
    );
    seen.observe(at);
    const resized = new ResizeObserver(() => plot?.setSize({ width: at.clientWidth, height: HEIGHT }));
    resized.observe(at);
    const repaint = () => plot?.redraw(false);
    const themed = new MutationObserver(repaint);
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const preferred = matchMedia('(prefers-color-scheme: dark)');
    preferred.addEventListener('change', repaint);
    return () => {
      for (const one of [seen, resized, themed]) one.disconnect();
      preferred.removeEventListener('change', repaint);
      plot?.destroy();
      plot = null;
    };
  }, [drawn]);
  const [from, until] = rangeOf(times, step, columns);
  const inSight = marksByStep(marks, STEPS[step].ms).filter(({ at }) => at >= from && at <= until);
  return (
    <figure class="picture">
      <Legend series={series} times={times} format={format} pointed={pointed} at={legend} />
      <div class="plot">
        <div ref={frame} class="plot-canvas" role="img" aria-label={visible(label)} />
        <div class="marks">
          {inSight.map(({ at, text }) => (
            <Mark key={at} left={(100 * (at - from)) / (until - from)} text={text} named={named} />
          ))}
        </div>
      </div>
      {inSight.length === 0 ? null : (
        <p class="muted hint">
          <b class="mark-sign">◆</b> <MarkText named={named} />
        </p>
      )}
      {failed ? <p class="muted">The picture could not be loaded. The table has the same.</p> : null}
      <details>
        <summary>As a table</summary>
        <Listing
          label={label}
          columns={[stepName, ...series.map(({ name }) => visible(name))]}
          rows={times
            .map((time, index) => ({ time, cells: series.map(({ values }) => values[index] ?? 0) }))
            .filter(({ cells }) => cells.some((value) => value > 0))
            .reverse()
            .map(({ time, cells }) => ({
              key: String(time),
              cells: [format(time), ...cells.map((value) => <span class="number">{number(value)}</span>)],
            }))}
          none="Nothing was counted"
        />
        {inSight.length === 0 ? null : (
          <ul class="plain">
            {inSight.map(({ at, text }) => (
              <li key={at}>
                <Name text={text} max={1000} />
              </li>
            ))}
          </ul>
        )}
      </details>
    </figure>
  );
}

/** The name of each curve, and how much it has: in all, or where the pointer is. @param {{ series: readonly Series[], times: readonly number[], format: typeof HOUR, pointed: import('@preact/signals').Signal<number | null>, at: import('preact').RefObject<HTMLUListElement | null> }} props */
function Legend({ series, times, format, pointed, at }) {
  const index = pointed.value;
  const time = index === null ? undefined : times[index];
  return (
    <div class="row legend-row">
      <ul class="plain legend" ref={at}>
        {series.map(({ name, values }, place) => (
          <LegendItem
            key={name}
            place={place}
            name={name}
            value={number(index === null ? sumOf(values) : (values[index] ?? 0))}
          />
        ))}
      </ul>
      <p class="muted legend-time">{time === undefined ? '' : format(time)}</p>
    </div>
  );
}

/** @param {{ place: number, name: string, value: string, note?: string }} props */
const LegendItem = ({ place, name, value, note = '' }) => (
  <li>
    <span class={`legend-key color-${place % SERIES_MAX}`} aria-hidden="true" />
    <Name text={name} /> <b class="number">{value}</b>
    {note === '' ? null : <span class="muted">{note}</span>}
  </li>
);

/** @param {{ left: number, text: string, named: import('@preact/signals').Signal<string> }} props */
function Mark({ left, text, named }) {
  const show = () => {
    named.value = text;
  };
  const hide = () => {
    named.value = '';
  };
  return (
    <span
      class="mark"
      role="img"
      tabIndex={0}
      aria-label={visible(text)}
      style={{ left: `${left}%` }}
      onPointerEnter={show}
      onPointerLeave={hide}
      onFocus={show}
      onBlur={hide}
    />
  );
}

/** @param {{ named: import('@preact/signals').Signal<string> }} props */
const MarkText = ({ named }) =>
  named.value === '' ? (
    <>A change. Point at it to see what was done.</>
  ) : (
    <Name text={named.value} max={300} />
  );

/** Shares of a whole as one bar, with what each is below it; without those of which there are none. @param {{ parts: readonly { name: string, value: number, note?: string, color?: number | undefined }[] }} props `color`: one of those of the styles, if not the next one */
export function ShareBar({ parts }) {
  const placed = parts
    .map((part, index) => ({ ...part, place: part.color ?? index }))
    .filter(({ value }) => value > 0);
  return (
    <figure class="picture">
      <div class="share-bar" aria-hidden="true">
        {placed.map(({ name, value, place }) => (
          <span key={name} class={`color-${place % SERIES_MAX}`} style={{ flexGrow: value }} />
        ))}
      </div>
      <ul class="plain legend">
        {placed.map(({ value, ...part }) => (
          <LegendItem key={part.name} {...part} value={number(value)} />
        ))}
      </ul>
    </figure>
  );
}

/** @param {readonly Series[]} series */
function fewest(series) {
  if (series.length <= SERIES_MAX) return series;
  const sorted = series.toSorted((a, b) => sumOf(b.values) - sumOf(a.values));
  const others = sorted.slice(SERIES_MAX - 1);
  const values = others[0]?.values.map((_, index) =>
    others.reduce((sum, one) => sum + (one.values[index] ?? 0), 0),
  );
  return [...sorted.slice(0, SERIES_MAX - 1), { name: `${others.length} others`, values: values ?? [] }];
}

/** Changes that one mark names. */
const NAMED_MAX = 5;

/** Changes within one step are one mark, at the newest of them. @param {readonly Mark[]} marks @param {number} stepMs */
function marksByStep(marks, stepMs) {
  /** @type {Map<number, { at: number, texts: string[] }>} */
  const found = new Map();
  for (const { at, text } of marks) {
    const step = Math.floor(at / stepMs);
    const mark = found.get(step) ?? { at, texts: [] };
    found.set(step, mark);
    mark.texts.push(text);
  }
  return [...found.values()].map(({ at, texts }) => {
    const more = texts.length - NAMED_MAX;
    return { at, text: texts.slice(0, NAMED_MAX).join('; ') + (more > 0 ? `; and ${more} more` : '') };
  });
}

/** The times at both ends: columns stand half a step to both sides of its beginning, and the last step of a curve is not over. @param {readonly number[]} times @param {Step} step @param {boolean} columns @returns {[number, number]} */
function rangeOf(times, step, columns) {
  const { ms } = STEPS[step];
  return [(times[0] ?? 0) - (columns ? ms / 2 : 0), (times.at(-1) ?? 0) + (columns ? ms / 2 : ms)];
}

/** @param {typeof uPlot} Library @param {{ at: HTMLElement, keys: HTMLElement, step: Step, times: readonly number[], count: number, columns: boolean }} picture @returns {uPlot.Options} */
function optionsOf(Library, { at, keys, step, times, count, columns }) {
  const { ms, format } = STEPS[step];
  /** The color is that of the legend, in the theme of the moment. @param {number} index */
  const colorOf = (index) =>
    getComputedStyle(/** @type {Element} */ (keys.querySelectorAll('.legend-key')[index])).color;
  const axis = () => getComputedStyle(at).color;
  const grid = { stroke: () => getComputedStyle(at).borderTopColor, width: 1 };
  const font = `12px ${getComputedStyle(at).fontFamily}`;
  const ticks = { show: false };
  const [from, until] = rangeOf(times, step, columns).map((time) => time / 1000);
  // Days and weeks have their labels where they begin.
  const splits = (/** @type {uPlot} */ plot) => {
    const every = Math.max(
      1,
      Math.ceil((times.length * LABEL_SPACE) / Math.max(LABEL_SPACE, plot.width - AXIS_SPACE)),
    );
    return times.filter((_, index) => (times.length - 1 - index) % every === 0).map((time) => time / 1000);
  };
  /** @param {unknown} _ @param {readonly number[]} shown */
  const hours = (_, shown) =>
    shown.map((time) => {
      const then = new Date(time * 1000);
      return then.getHours() === 0 ? DAY_LABEL(+then) : HOUR_LABEL(+then);
    });
  /** @param {unknown} _ @param {readonly number[]} shown */
  const days = (_, shown) => shown.map((time) => format(time * 1000));
  return {
    width: at.clientWidth,
    height: HEIGHT,
    padding: [10, 24, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: {
      x: { range: [from ?? 0, until ?? 1] },
      y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] },
    },
    axes: [
      {
        size: TIMES_SPACE,
        stroke: axis,
        grid: { show: false },
        ticks,
        font,
        space: LABEL_SPACE,
        ...(ms < DAY_MS ? { values: hours } : { values: days, splits }),
      },
      {
        stroke: axis,
        grid,
        ticks,
        font,
        size: AXIS_SPACE,
        incrs: WHOLE,
        values: (_, shown) => shown.map(compact),
      },
    ],
    series: [
      {},
      ...Array.from({ length: count }, (_, index) => ({
        stroke: () => colorOf(index),
        width: columns ? 0 : 2,
        points: { show: false },
        ...(columns
          ? {
              fill: () => colorOf(index),
              // Beside each other, around the beginning of the step.
              paths: /** @type {NonNullable<uPlot.Series.BarsPathBuilderFactory>} */ (Library.paths.bars)({
                size: [0.7 / count, 28],
                align: count === 1 ? 0 : index === 0 ? -1 : 1,
              }),
            }
          : { dash: DASHES[index] ?? [] }),
      })),
    ],
  };
}

/** Steps of the axis of numbers: nothing is counted in halves. */
const WHOLE = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** @param {readonly number[]} values */
export const sumOf = (values) => values.reduce((sum, one) => sum + one, 0);
