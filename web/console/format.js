/** Numbers, sizes and times as people read them, in their own language where the browser knows it. */

/** Makes what formats when it is first used: each takes a slow processor 40 ms, and the first page needs few. @param {() => { format(value: number): string }} make */
function lateFormat(make) {
  /** @type {ReturnType<typeof make> | null} */
  let made = null;
  return (/** @type {number} */ value) => {
    made ??= make();
    return made.format(value);
  };
}

/** Formats times in milliseconds since 1970. @param {Intl.DateTimeFormatOptions} options */
export const timeFormat = (options) => lateFormat(() => new Intl.DateTimeFormat(undefined, options));

export const number = lateFormat(() => new Intl.NumberFormat());

/** A number in little room: `12K`. */
export const compact = lateFormat(() => new Intl.NumberFormat(undefined, { notation: 'compact' }));

const [DATE, MINUTE, DATE_TIME] = [
  timeFormat({ dateStyle: 'medium' }),
  timeFormat({ dateStyle: 'medium', timeStyle: 'short' }),
  timeFormat({ dateStyle: 'medium', timeStyle: 'medium' }),
];

/** @param {number} count @param {string} one @param {string} [many] */
export const counted = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** @param {string} text */
export const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** @param {{ id: number, name?: string | null | undefined, username?: string | null | undefined, email?: string | undefined }} user */
export const userName = ({ name, username, email, id }) => name || username || email || `user ${id}`;

/** @param {string} iso */
export const date = (iso) => DATE(Date.parse(iso));

/** @param {string} iso */
export const dateTime = (iso) => DATE_TIME(Date.parse(iso));

/** @param {string} iso */
export const minute = (iso) => MINUTE(Date.parse(iso));

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** @param {number} value */
export function bytes(value) {
  const power = value === 0 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(value) / 10));
  const scaled = value / 1024 ** power;
  return `${scaled.toFixed(power === 0 || scaled >= 100 ? 0 : 1)} ${UNITS[power]}`;
}

/** @type {readonly (readonly [string, number])[]} */
const SPANS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
];

/** The two largest units: `3 d 4 h`, `12 s`. @param {number} seconds */
export function duration(seconds) {
  const parts = [];
  let rest = Math.max(0, Math.floor(seconds));
  for (const [unit, size] of SPANS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 || (parts.length === 0 && unit === 's')) parts.push(`${count} ${unit}`);
  }
  return parts.slice(0, 2).join(' ');
}

/** How long ago: `just now`, `5 min ago`, and the date once it is a week. @param {string} iso @param {number} now */
export function ago(iso, now) {
  const seconds = (now - Date.parse(iso)) / 1000;
  if (seconds < 10) return 'just now';
  if (seconds > 7 * 86_400) return date(iso);
  return `${duration(seconds).split(' ').slice(0, 2).join(' ')} ago`;
}
