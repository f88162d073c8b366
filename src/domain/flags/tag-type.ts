/**
 * Tag types: what the words before the colon of tags stand for (docs/specification/targeting.md#tag-types). They describe; a
 * tag may be of a type that nobody has described.
 */
import * as v from 'valibot';
import { TAG_LENGTH_MAX, TAG_LENGTH_MIN } from './flag.ts';

export const TAG_TYPES_MAX = 200;

/** Tags that were made by themselves. Lists of tags show them all. */
export const TAGS_MAX = 5_000;
const TEXT_LENGTH_MAX = 1_000;

const TEXT_PHRASE = `a text of at most ${TEXT_LENGTH_MAX} characters`;
const COLOR_PHRASE = 'a colour such as #1a2b3c, or null';
const NAME_PHRASE = `a name of ${TAG_LENGTH_MIN} to ${TAG_LENGTH_MAX} letters, digits, "_", ".", "~" and "-"`;

export const TagTypeNameSchema = v.pipe(
  v.string(NAME_PHRASE),
  v.minLength(TAG_LENGTH_MIN, NAME_PHRASE),
  v.maxLength(TAG_LENGTH_MAX, NAME_PHRASE),
  v.regex(/^[A-Za-z0-9_.~-]*$/, NAME_PHRASE),
  v.check((name) => name !== '..', NAME_PHRASE),
);

const TextSchema = v.pipe(v.string(TEXT_PHRASE), v.maxLength(TEXT_LENGTH_MAX, TEXT_PHRASE));

export const TAG_TYPE_ENTRIES = {
  description: v.optional(TextSchema),
  icon: v.pipe(
    v.optional(v.nullable(TextSchema)),
    v.description('A letter or the name of an icon, for pages that show tags.'),
  ),
  color: v.optional(v.nullable(v.pipe(v.string(COLOR_PHRASE), v.regex(/^#[0-9A-Fa-f]{6}$/, COLOR_PHRASE)))),
} as const;

export interface TagTypeInput {
  readonly description?: string | undefined;
  readonly icon?: string | null | undefined;
  readonly color?: string | null | undefined;
}

export interface TagType {
  readonly name: string;
  readonly description: string;
  readonly icon: string | null;
  readonly color: string | null;
}

/** The type of tags that name none. It can be changed, and not deleted. */
export const SIMPLE_TAG_TYPE: TagType = {
  name: 'simple',
  description: 'Tags without a type of their own.',
  icon: '#',
  color: null,
};
