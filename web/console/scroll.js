/** The way in which pages are scrolled: a new one from its top, and one to which the browser's history leads back to where it was. */

/** Addresses whose position is kept. */
const KEPT_MAX = 50;

/** By address, the one scrolled last at the end. @type {Map<string, number>} */
const positions = new Map();

/** The position that the page has to come back to; null for a new one. @type {number | null} */
let wanted = null;

/** Whether a page is on the way back to its position. */
let isReturning = false;

/** Ends the way back to a position. */
let end = () => undefined;

addEventListener(
  'scroll',
  () => {
    if (isReturning) return;
    positions.delete(location.hash);
    positions.set(location.hash, scrollY);
    const [oldest = ''] = positions.keys();
    if (positions.size > KEPT_MAX) positions.delete(oldest);
  },
  { passive: true },
);

// Before `hashchange`, ahead of which the browser may scroll by itself.
addEventListener('popstate', () => {
  end();
  // A new entry of the history is not marked.
  wanted = history.state?.isSeen === true ? (positions.get(location.hash) ?? null) : null;
});

/** Notes that the page of this entry of the history was seen. */
export const markSeen = () => history.replaceState({ ...history.state, isSeen: true }, '');

/** Scrolls a page that has been opened, again and again until it has loaded as much as is needed, or somebody does something else. @param {Element} content */
export function scrollPage(content) {
  end();
  markSeen();
  const position = wanted;
  if (position === null) return scrollTo(0, 0);
  const grown = new ResizeObserver(() => {
    scrollTo(0, position);
    if (Math.abs(scrollY - position) < 1) end();
  });
  const stopped = new AbortController();
  isReturning = true;
  end = () => {
    grown.disconnect();
    stopped.abort();
    isReturning = false;
    end = () => undefined;
  };
  for (const name of ['wheel', 'touchstart', 'keydown', 'pointerdown'])
    addEventListener(name, () => end(), { signal: stopped.signal });
  grown.observe(content);
}
