/** The rows of a long list that are near enough to the screen to be drawn: 20,000 flags scroll as 20 do. */
import { useEffect, useRef, useState } from 'preact/hooks';

/** Rows drawn beyond either end of the screen while it is scrolled. */
const MARGIN = 12;

/** The same before that: all rows that are drawn may have to be others after a key in the filter. */
const STILL_MARGIN = 3;

/** Rows drawn before it is known how many are in sight. */
const FIRST_ROWS = 20;

/** @param {number} count @param {number} guess the height of a row in pixels before one has been measured */
export function useVisibleRows(count, guess) {
  const body = useRef(/** @type {HTMLTableSectionElement | null} */ (null));
  const [range, setRange] = useState({ from: 0, to: Math.min(count, FIRST_ROWS), height: guess });
  useEffect(() => {
    let frame = 0;
    const look = (/** @type {number} */ margin) => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() =>
        setRange((before) => sameOr(before, rangeOf(body.current, { count, guess, margin }))),
      );
    };
    const onMove = () => look(MARGIN);
    look(STILL_MARGIN);
    addEventListener('scroll', onMove, { passive: true });
    addEventListener('resize', onMove);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('scroll', onMove);
      removeEventListener('resize', onMove);
    };
  }, [count, guess]);
  const from = Math.min(range.from, Math.max(0, count - 1));
  const to = Math.min(count, Math.max(range.to, from));
  return { body, from, to, before: from * range.height, after: (count - to) * range.height };
}

/** @typedef {{ from: number, to: number, height: number }} Range */

/** @param {Range} before @param {Range} after */
function sameOr(before, after) {
  const isSame = before.from === after.from && before.to === after.to && before.height === after.height;
  return isSame ? before : after;
}

/** @param {HTMLElement | null} body @param {{ count: number, guess: number, margin: number }} of @returns {Range} */
function rangeOf(body, { count, guess, margin }) {
  const first = body?.querySelector('[data-row]');
  const height = first?.getBoundingClientRect().height || guess;
  const top = -(body?.getBoundingClientRect().top ?? 0);
  const from = Math.max(0, Math.floor(top / height) - margin);
  const to = Math.min(count, Math.ceil((top + innerHeight) / height) + margin);
  return { from: Math.min(from, count), to: Math.max(to, 0), height };
}
