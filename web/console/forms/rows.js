/** Lists that are edited row by row, and texts that hold several values. */

/**
 * The list with another value in one place, or without that place.
 * @template T
 * @param {readonly T[]} list
 * @param {number} index
 * @param {T | null} next null removes it
 */
export const replaced = (list, index, next) =>
  list.flatMap((one, at) => (at !== index ? [one] : next === null ? [] : [next]));

/** The texts between commas or on lines, each once. @param {string} text */
export const valuesIn = (text) => [
  ...new Set(
    text
      .split(/[,\n]/)
      .map((part) => part.trim())
      .filter(Boolean),
  ),
];
