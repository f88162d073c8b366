/**
 * The words of people within those of the console: set apart, so that nobody can write the console's own sentences into a name or a
 * value. `said` marks such a text in a string by the characters that isolate its direction. No text can hold these marks itself, because
 * all that cannot be seen in it is made visible. `Sentence` draws what is marked as a quotation.
 */
import { Fragment, isValidElement } from 'preact';
import { number } from './format.js';

/** @import { ComponentChildren } from 'preact' */

/** FIRST STRONG ISOLATE, LEFT-TO-RIGHT ISOLATE and POP DIRECTIONAL ISOLATE. */
const [BEGIN, BEGIN_CODE, END] = ['\u2068', '\u2066', '\u2069'];

/** Letters that are shown of a text in a sentence; longer ones are cut, visibly. */
const SHOWN_MAX = 80;

/** Parts of one emoji, which are seen as one. */
const EMOJI = /\p{Extended_Pictographic}\ufe0f?(?:\u200d\p{Extended_Pictographic}\ufe0f?)+|\p{Emoji}\ufe0f/gu;

/** Seen as nothing, or turning what stands around them: controls, formats, fillers, separators of lines, selectors, tags. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|\u034f|\u17b4|\u17b5|[\u180b-\u180f]|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/gu;

/** @param {string} text */
const named = (text) =>
  text.replace(UNSEEN, (one) =>
    one === '\n' ? '↵' : `⟨U+${one.codePointAt(0)?.toString(16).toUpperCase()}⟩`,
  );

/** With what cannot be seen made visible, and no quotation marks that could seem to end the quotation. @param {string} text */
export function visible(text) {
  let shown = '';
  let from = 0;
  for (const { 0: emoji, index } of text.matchAll(EMOJI)) {
    shown += named(text.slice(from, index)) + emoji;
    from = index + emoji.length;
  }
  return (shown + named(text.slice(from))).replace(/[“”„‟]/g, '"');
}

const MARKED = new RegExp(`${BEGIN}([^${END}]*)${END}`);
const CODE = new RegExp(`${BEGIN_CODE}([^${END}]*)${END}`);

/** The same of a text of many lines. @param {string} text */
export const visibleLines = (text) => text.split('\n').map(visible).join('\n');

/** Marks what somebody wrote, for `Sentence`. @param {string} text @param {number} [max] letters that are shown */
export function said(text, max = SHOWN_MAX) {
  const letters = [...text];
  if (letters.length <= max) return BEGIN + visible(text) + END;
  const rest = number(letters.length - max);
  return `${BEGIN}${visible(letters.slice(0, max).join(''))}…${END} (and ${rest} more characters)`;
}

/** Marks the name of a flag or the id of a project, for `Sentence`, which draws it as code. @param {string} name */
export const code = (name) => BEGIN_CODE + visible(name) + END;

/** The text between the marks, where a text is one quotation and nothing else; else null. @param {string} text */
export const quotedIn = (text) => new RegExp(`^${MARKED.source}$`).exec(text)?.[1] ?? null;

/** Marks a text in which nothing is left to hide. @param {string} text */
export const marked = (text) => BEGIN + text + END;

/** Draws what `said` has marked in the strings among the children as quotations. @param {{ children?: ComponentChildren }} props */
export const Sentence = ({ children }) => <>{drawn(children)}</>;

/** @param {ComponentChildren} part @returns {ComponentChildren} */
function drawn(part) {
  if (typeof part === 'string') {
    return part.split(MARKED).map((text, index) => {
      if (index % 2 === 1) return <Quotation text={text} />;
      return text.split(CODE).map((one, at) => (at % 2 === 0 ? one : <code>{one}</code>));
    });
  }
  if (Array.isArray(part)) return part.map(drawn);
  return isValidElement(part) && part.type === Fragment ? drawn(part.props.children) : part;
}

/** @param {{ text: string }} props */
const Quotation = ({ text }) => (
  <q class="said">
    <bdi>{text}</bdi>
  </q>
);

/** A text that somebody wrote, alone. @param {{ text: string, max?: number }} props */
export const Said = ({ text, max = SHOWN_MAX }) => <Sentence>{said(text, max)}</Sentence>;

/** A name where only a name can stand, such as a cell of a table: without quotation marks. @param {{ text: string, max?: number }} props */
export const Name = ({ text, max = SHOWN_MAX }) => (
  <bdi title={[...text].length > max ? visible(text.slice(0, 1000)) : undefined}>
    {[...text].length > max ? `${visible([...text].slice(0, max).join(''))}…` : visible(text)}
  </bdi>
);
