/**
 * A context field: a name that constraints compare with, and what may stand in it (docs/specification/targeting.md#context-fields).
 * Constraints may name fields that are not defined here; a definition tells people and forms what to expect.
 */
import * as v from 'valibot';
import { urlNameIssue } from '../flags/url-name.ts';
import { differentBy, faultlessText, filledText, listUpTo, textUpTo } from '../json/schema.ts';
import { Time } from './document-values.ts';
import { managedKind, type RecordWith } from './kind.ts';

export const CONTEXT_FIELDS_MAX = 100;
/** The largest context field as JSON, legal values included. Protects the list of context fields. */
export const CONTEXT_FIELD_BYTES_MAX = 64 * 1024;
export const LEGAL_VALUES_MAX = 500;
const LEGAL_VALUE_LENGTH_MAX = 255;
const DESCRIPTION_LENGTH_MAX = 1_000;
const SORT_ORDER_MAX = 1_000_000_000;

const SORT_ORDER_PHRASE = `a number from 0 to ${SORT_ORDER_MAX}`;

const DescriptionSchema = textUpTo(DESCRIPTION_LENGTH_MAX);

export const ContextFieldNameSchema = faultlessText((name) => urlNameIssue('context field name', name));

export const LegalValueSchema = v.pipe(
  v.object({
    value: filledText('a value', LEGAL_VALUE_LENGTH_MAX),
    description: v.exactOptional(DescriptionSchema),
  }),
  v.title('LegalValue'),
);

/** Absent fields keep their value, or get their default in a new context field. */
const SENT = {
  name: ContextFieldNameSchema,
  description: v.optional(DescriptionSchema),
  stickiness: v.optional(v.pipe(v.boolean(), v.description('Whether rollouts may be sticky to the field.'))),
  sortOrder: v.optional(
    v.pipe(
      v.number(SORT_ORDER_PHRASE),
      v.minValue(0, SORT_ORDER_PHRASE),
      v.maxValue(SORT_ORDER_MAX, SORT_ORDER_PHRASE),
    ),
  ),
  legalValues: v.optional(
    v.pipe(
      listUpTo(LEGAL_VALUES_MAX, 'legal values', LegalValueSchema),
      differentBy<v.InferOutput<typeof LegalValueSchema>, 'value'>('value', 'Legal values'),
    ),
  ),
} as const;

/** Null for the predefined ones. */
const ADDED = { createdAt: v.nullable(Time) } as const;

export type ContextField = RecordWith<typeof SENT, typeof ADDED>;

function predefined(name: string, description: string, sortOrder: number, stickiness = false): ContextField {
  return { name, description, stickiness, sortOrder, legalValues: [], createdAt: null };
}

/** The fields that every SDK fills or knows. They can be changed, and not deleted. */
export const PREDEFINED_CONTEXT_FIELDS: readonly ContextField[] = [
  predefined('environment', 'The environment in which the application runs', 0),
  predefined('userId', 'The id of the current user', 1, true),
  predefined('appName', 'The name of the application', 2),
  predefined('currentTime', 'The time of the evaluation, for comparisons of dates', 3),
  predefined('sessionId', 'The id of the current session', 4, true),
  predefined('remoteAddress', 'The address from which the request came', 5),
];

/** Constraints may go on naming a field that is deleted: they compare with what the application sends, defined or not. */
export const CONTEXT_FIELD = managedKind({
  noun: 'context field',
  since: { release: '0.1.0', contentVersion: 1, documentVersion: 2 },
  events: {
    created: 'context-field-created',
    changed: ['context-field-updated'],
    deleted: 'context-field-deleted',
  },
  sent: SENT,
  added: ADDED,
  // A new field that gives no place comes behind the predefined ones.
  defaults: { description: '', stickiness: false, sortOrder: 10, legalValues: [] },
  countMax: CONTEXT_FIELDS_MAX,
  bytesMax: CONTEXT_FIELD_BYTES_MAX,
  predefined: PREDEFINED_CONTEXT_FIELDS,
  compare: (one, other) => one.sortOrder - other.sortOrder,
  use: { by: 'context-field', isShown: true },
  example: {
    name: 'country',
    description: 'Where the customer lives',
    stickiness: false,
    sortOrder: 10,
    legalValues: [{ value: 'fi', description: 'Finland' }, { value: 'se' }],
    createdAt: '2024-05-01T09:30:00.000Z',
  },
  routes: {
    path: '/context',
    param: 'contextField',
    tag: 'Context',
    tagDescription: 'Fields of the context that constraints compare.',
    permission: 'targeting:write',
    needs: {
      create: ['CREATE_CONTEXT_FIELD'],
      update: ['UPDATE_CONTEXT_FIELD'],
      remove: ['DELETE_CONTEXT_FIELD'],
    },
    list: { id: 'getContextFields', summary: 'List the context fields.', field: null },
    create: { id: 'createContextField', summary: 'Create a context field.' },
    read: { id: 'getContextField', summary: 'Read a context field.' },
    update: {
      id: 'updateContextField',
      summary: 'Change a context field; what is absent keeps its value.',
    },
    remove: { id: 'deleteContextField', summary: 'Delete a context field that is not predefined.' },
    doneStatus: 200,
    isPinned: true,
  },
});
