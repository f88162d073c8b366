/** Links of a flag to where it is spoken of: a ticket, a design, a dashboard (docs/specification/flags.md#links). */
import * as v from 'valibot';
import { differentBy, listUpTo, textUpTo, titled } from '../json/schema.ts';

/** Links that one flag may have. They are part of every response about the flag. */
export const LINKS_MAX = 20;
const URL_LENGTH_MAX = 2_000;
const TITLE_LENGTH_MAX = 255;
const ID_LENGTH_MAX = 100;

/**
 * Pages show links to be clicked, so nothing that a browser would run may be one, nor anything that leads elsewhere than it seems to: no
 * backslash, which browsers take for a slash, no `@` before the first slash, and no character that cannot be seen or that turns the text around.
 */
const URL_PHRASE = `an address that begins with http:// or https://, without spaces, "\\", invisible characters and a user before the host, of at most ${URL_LENGTH_MAX} characters`;
const URL_PATTERN = /^https?:\/\/[^\s\\/?#@]+(?:[/?#][^\s\\]*)?$/;
const ID_PHRASE = `a text of 1 to ${ID_LENGTH_MAX} letters, digits, "_", "." and "-"`;

const SCHEME = /^[a-z][a-z0-9+.-]*:(?!\d)/i;

/** An address as people type it; one without a scheme, such as `tickets.example:8443/7`, is reached by HTTPS. */
export const withScheme = (address: string): string =>
  SCHEME.test(address) ? address : `https://${address}`;

export const LINK_ENTRIES = {
  url: v.pipe(
    v.string(URL_PHRASE),
    v.maxLength(URL_LENGTH_MAX, URL_PHRASE),
    v.regex(URL_PATTERN, URL_PHRASE),
    v.check((url) => !/\p{C}/u.test(url), URL_PHRASE),
  ),
  title: v.nullable(textUpTo(TITLE_LENGTH_MAX, ', or null')),
} as const;

/** For requests about one link, which may leave the scheme out. */
export const TypedUrlSchema = v.pipe(
  v.string(URL_PHRASE),
  v.check((address) => v.is(LINK_ENTRIES.url, withScheme(address)), URL_PHRASE),
  v.transform(withScheme),
);

const LinkSchema = titled('FlagLink', {
  id: v.pipe(
    v.string(ID_PHRASE),
    v.maxLength(ID_LENGTH_MAX, ID_PHRASE),
    v.regex(/^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/, ID_PHRASE),
  ),
  ...LINK_ENTRIES,
});

export interface Link {
  readonly id: string;
  readonly url: string;
  readonly title: string | null;
}

/** For the table of metadata. */
export const LinksSchema = v.pipe(listUpTo(LINKS_MAX, 'links', LinkSchema), differentBy('id', 'Links'));
