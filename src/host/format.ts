/** Formats figures, times and tables for people. */

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

const NUMBER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export const numberText = (value: number): string => NUMBER.format(value);

/** `1 event`, `2,000 events`. */
export function count(value: number, singular: string, plural = `${singular}s`): string {
  return `${numberText(value)} ${value === 1 ? singular : plural}`;
}

export function secondsText(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;
}

/** `100,000 events in 1.30 s (76,923 events/s)`. */
export function rateText(events: number, milliseconds: number): string {
  const rate =
    events > 0 && milliseconds > 0 ? ` (${numberText((events * 1000) / milliseconds)} events/s)` : '';
  return `${count(events, 'event')} in ${secondsText(milliseconds)}${rate}`;
}

export const timeText = (timeMs: number): string => new Date(timeMs).toISOString();

/** Lines of `name  value`, the values aligned. */
export function fields(rows: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`.trimEnd()).join('\n');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Control characters of users' strings would otherwise move the cursor of an operator's terminal. */
export function printable(text: string): string {
  return text.replace(OBEYED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
