/**
 * Tag types: what the words before the colon of tags stand for (docs/specification/targeting.md#tag-types). They describe; a
 * tag may be of a type that nobody has described.
 */
import * as v from 'valibot';
import { TAG_LENGTH_MAX, TAG_LENGTH_MIN, tagKey } from '../flags/flag.ts';
import { textUpTo } from '../json/schema.ts';
import { TagSchema } from './document-values.ts';
import { kind, managedKind, type RecordWith } from './kind.ts';

export const TAG_TYPES_MAX = 200;
const TEXT_LENGTH_MAX = 1_000;

const COLOR_PHRASE = 'a colour such as #1a2b3c, or null';
const NAME_PHRASE = `a name of ${TAG_LENGTH_MIN} to ${TAG_LENGTH_MAX} letters, digits, "_", ".", "~" and "-"`;

const TagTypeNameSchema = v.pipe(
  v.string(NAME_PHRASE),
  v.minLength(TAG_LENGTH_MIN, NAME_PHRASE),
  v.maxLength(TAG_LENGTH_MAX, NAME_PHRASE),
  v.regex(/^[A-Za-z0-9_.~-]*$/, NAME_PHRASE),
  v.check((name) => name !== '..', NAME_PHRASE),
);

const TextSchema = textUpTo(TEXT_LENGTH_MAX);

const SENT = {
  name: TagTypeNameSchema,
  description: v.optional(TextSchema),
  icon: v.optional(
    v.pipe(
      v.nullable(TextSchema),
      v.description('A letter or the name of an icon, for pages that show tags.'),
    ),
  ),
  color: v.optional(v.nullable(v.pipe(v.string(COLOR_PHRASE), v.regex(/^#[0-9A-Fa-f]{6}$/, COLOR_PHRASE)))),
} as const;

export type TagType = RecordWith<typeof SENT, Record<never, never>>;

/** The type of tags that name none. */
export const SIMPLE_TAG_TYPE: TagType = {
  name: 'simple',
  description: 'Tags without a type of their own.',
  icon: '#',
  color: null,
};

/** Flags keep their tags of a type that is deleted, which is described no more. */
export const TAG_TYPE = managedKind({
  noun: 'tag type',
  since: { release: '0.2.0', contentVersion: 2, documentVersion: 3 },
  events: { created: 'tag-type-created', changed: ['tag-type-updated'], deleted: 'tag-type-deleted' },
  sent: SENT,
  added: {},
  defaults: { description: '', icon: null, color: null },
  countMax: TAG_TYPES_MAX,
  bytesMax: null,
  predefined: [SIMPLE_TAG_TYPE],
  example: { name: 'team', description: 'Who owns the flag', icon: 'T', color: '#0b5394' },
  routes: {
    path: '/tag-types',
    param: 'tagType',
    tag: 'Tags',
    permission: 'targeting:write',
    needs: { create: ['CREATE_TAG_TYPE'], update: ['UPDATE_TAG_TYPE'], remove: ['DELETE_TAG_TYPE'] },
    list: { id: 'getTagTypes', summary: 'List the tag types.', field: 'tagTypes' },
    create: { id: 'createTagType', summary: 'Describe a tag type.' },
    read: { id: 'getTagType', summary: 'Read a tag type.', field: 'tagType' },
    update: {
      id: 'updateTagType',
      summary: 'Change the description of a tag type; what is absent keeps its value.',
    },
    remove: { id: 'deleteTagType', summary: 'Delete the description of a tag type. Flags keep their tags.' },
    doneStatus: 200,
    listVersion: 1,
  },
});

/** Tags that were made by themselves, as release 0.2.0 could, whether or not a flag has them. */
export const TAG = kind({
  noun: 'tag',
  since: { release: '0.2.0', contentVersion: 2, documentVersion: 3 },
  events: { created: 'tag-created', changed: [], deleted: 'tag-deleted' },
  document: TagSchema,
  idOf: tagKey,
  unique: [],
});
