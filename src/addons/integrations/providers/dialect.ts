/**
 * Text with names in it, as each kind of receiver reads it. Names are what users wrote, so no name becomes markup: a link, a mention of
 * a channel or of people, or a line of its own.
 */

/** A piece of a sentence: words of ours, or a name with the address of the page about it. */
export type Piece =
  | string
  | { readonly name: string; readonly isSubject?: boolean; readonly href?: string | null };

export interface Dialect {
  readonly escape: (text: string) => string;
  readonly strong: (text: string) => string;
  readonly link: (text: string, href: string) => string;
}

/** Characters of a name that a message repeats. */
const NAME_LENGTH_MAX = 100;

export const PLAIN: Dialect = { escape: (text) => text, strong: (text) => text, link: (text) => text };

/** The markup of Slack, whose mentions and links all begin with `<`. */
export const SLACK: Dialect = {
  escape: (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  strong: (text) => `*${text}*`,
  link: (text, href) => `<${href}|${text}>`,
};

export const MARKDOWN: Dialect = {
  escape: (text) => text.replaceAll(/[\\`*_[\]<>&|~#]/g, '\\$&'),
  strong: (text) => `**${text}**`,
  link: (text, href) => `[${text}](${href})`,
};

export function written(pieces: readonly Piece[], dialect: Dialect): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : nameIn(piece, dialect))).join('');
}

function nameIn({ name, isSubject, href }: Exclude<Piece, string>, dialect: Dialect): string {
  const escaped = dialect.escape(withoutReferences(name));
  const linked = href ? dialect.link(escaped, href) : escaped;
  return isSubject === true ? dialect.strong(linked) : linked;
}

/** The name on one line, without what receivers turn into mentions and links of their own accord, whatever the markup. */
function withoutReferences(name: string): string {
  const line = name
    .slice(0, 2 * NAME_LENGTH_MAX)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
    .trim();
  const cut = line.length > NAME_LENGTH_MAX ? `${line.slice(0, NAME_LENGTH_MAX)}…` : line;
  return cut
    .replaceAll(/(?<![\p{L}\p{N}.])@(?=\S)/gu, `@${WORD_JOINER}`)
    .replaceAll('://', `:${WORD_JOINER}//`)
    .replaceAll(/\b(www|mailto|tel)(?=[.:])/giu, `$1${WORD_JOINER}`);
}

/** Invisible, and within no word that a receiver recognizes. */
const WORD_JOINER = '\u2060';
