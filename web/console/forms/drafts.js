/**
 * The text in a form that is not sent yet, kept with the entry of the page in the history of the browser: it is there again
 * after a reload and after going back, in this tab alone, and nothing of it is stored by this page elsewhere.
 */
import { useState } from 'preact/hooks';

/** After the last change, in milliseconds: browsers refuse to be told a hundred times in a row. */
const TYPING_MS = 250;

let timer = 0;

/** @typedef {{ values: object, base: { values: any, etag: string } }} Draft what was typed, and what it was made from */

/** @returns {Record<string, Draft>} by form */
const drafts = () => history.state?.drafts ?? {};

/** @param {Record<string, Draft>} next */
const write = (next) => history.replaceState({ ...history.state, drafts: next }, '');

/** Null where there is none. @param {string} key */
export const draftOf = (key) => drafts()[key] ?? null;

/** @param {string} key @param {Draft} draft */
export function keepDraft(key, draft) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    try {
      write({ ...drafts(), [key]: draft });
    } catch {
      // Too large for the browser: then it is not kept.
    }
  }, TYPING_MS);
}

/**
 * The values of a form that stands on the page itself, and what changes some of them.
 * @template {object} V
 * @param {string} key
 * @param {V} first
 */
export function useDraft(key, first) {
  const [values, setValues] = useState({ ...first, ...draftOf(key)?.values });
  /** @param {Partial<V>} changed */
  const set = (changed) => {
    const next = { ...values, ...changed };
    setValues(next);
    keepDraft(key, { values: next, base: { values: first, etag: '' } });
  };
  return /** @type {const} */ ([values, set]);
}

/** Forgets all texts when somebody signs out: the next person finds nothing. */
export function dropDrafts() {
  clearTimeout(timer);
  write({});
}

/** @param {string} key */
export function dropDraft(key) {
  clearTimeout(timer);
  const { [key]: _, ...others } = drafts();
  write(others);
}
