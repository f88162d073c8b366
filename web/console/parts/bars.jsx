/** Bars side by side, each of parts that lie on each other, with the same in words. */

import { number } from '../format.js';

/** Sizes of the drawing, in its own units. */
const [WIDTH, HEIGHT] = [480, 90];

/** Looks of the parts, the lowest first. */
const LOOKS = ['chart-on', 'chart-off'];

/** @param {{ text: string, ends: readonly [string, string], bars: readonly { title: string, parts: readonly number[] }[] }} props `ends`: the times of the first bar and the last one */
export function Bars({ text, ends: [first, last], bars }) {
  const most = Math.max(1, ...bars.map(({ parts }) => sumOf(parts)));
  const step = WIDTH / bars.length;
  return (
    <figure class="chart">
      <figcaption>{text}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={text}>
        {bars.map(({ title, parts }, index) => (
          <g key={title}>
            <title>{title}</title>
            <rect class="chart-space" x={index * step} width={step} height={HEIGHT} />
            {parts.map((part, layer) => (
              <rect
                key={LOOKS[layer]}
                class={LOOKS[layer]}
                x={index * step + 1}
                y={HEIGHT - (HEIGHT * sumOf(parts.slice(0, layer + 1))) / most}
                width={Math.max(1, step - 2)}
                height={(HEIGHT * part) / most}
              />
            ))}
          </g>
        ))}
      </svg>
      <p class="chart-scale">
        <span>{first}</span>
        <span>{`highest: ${number(most)}`}</span>
        <span>{last}</span>
      </p>
    </figure>
  );
}

/** @param {readonly number[]} parts */
const sumOf = (parts) => parts.reduce((sum, part) => sum + part, 0);
