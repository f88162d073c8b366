/**
 * The shape of a file of flags (docs/flags-as-code.md), and the fields by which two states of a flag are compared. Segments go by their
 * names, because ids are others in each service, and strategies have neither ids nor positions: the order of the list says it.
 */
import * as v from 'valibot';
import { LINK_ENTRIES, LINKS_MAX } from '../../domain/flags/link.ts';
import { METADATA_INPUT_ENTRIES } from '../../domain/flags/metadata.ts';
import { StrategyInputSchema } from '../../domain/flags/strategy.ts';
import { urlNameIssue } from '../../domain/flags/url-name.ts';
import { distributeWeights, VariantListSchema } from '../../domain/flags/variant.ts';
import { described, differentBy, faultlessText, list, listUpTo } from '../../domain/json/schema.ts';
import { FlagNameSchema, TagBody } from '../../http/admin/bodies.ts';

const { segments: _, sortOrder: __, ...STRATEGY_ENTRIES } = StrategyInputSchema.entries;

const FileStrategySchema = v.strictObject({
  ...STRATEGY_ENTRIES,
  segments: v.optional(described(list(v.string(), 'a list of names'), 'Names of attached segments.'), []),
});

export type FileStrategy = v.InferOutput<typeof FileStrategySchema>;

const { links: ___, ...METADATA } = METADATA_INPUT_ENTRIES;

/** The fields that a flag has once, by which people and files share it. */
export const FLAG_FIELDS = {
  ...METADATA,
  links: v.optional(listUpTo(LINKS_MAX, 'links', v.strictObject(LINK_ENTRIES))),
  tags: v.optional(list(v.strictObject(TagBody.entries), 'a list of tags')),
  dependencies: v.optional(
    list(
      v.strictObject({
        feature: v.string(),
        enabled: v.optional(v.boolean(), true),
        variants: v.optional(list(v.string(), 'names of variants'), []),
      }),
      'a list of parents',
    ),
  ),
} as const;

/** The fields that a flag has in each environment. */
export const ENVIRONMENT_FIELDS = {
  enabled: v.optional(described(v.boolean(), 'Whether the flag is on.')),
  strategies: v.optional(
    list(
      v.pipe(
        FileStrategySchema,
        v.transform((one) => ({ ...one, variants: distributeWeights(one.variants) })),
      ),
      'a list of strategies',
    ),
  ),
  variants: v.optional(
    v.pipe(
      VariantListSchema,
      v.transform((sent) => distributeWeights(sent)),
    ),
  ),
} as const;

export type Field = keyof typeof FLAG_FIELDS | keyof typeof ENVIRONMENT_FIELDS;
export const FIELDS = [...Object.keys(FLAG_FIELDS), ...Object.keys(ENVIRONMENT_FIELDS)] as readonly Field[];

const FileFlagSchema = v.strictObject({
  name: FlagNameSchema,
  ...FLAG_FIELDS,
  environments: v.optional(
    v.pipe(
      list(v.strictObject({ name: v.string(), ...ENVIRONMENT_FIELDS }), 'a list of environments'),
      differentBy('name', 'Environments'),
    ),
    [],
  ),
});

export type FileFlag = v.InferOutput<typeof FileFlagSchema>;

export const FlagFileSchema = v.pipe(
  v.strictObject({
    $schema: v.exactOptional(v.string()),
    project: described(
      faultlessText((text) => urlNameIssue('project id', text)),
      'The id of the project that has the flags.',
    ),
    base: v.optional(
      described(
        v.pipe(v.number('the id of an event'), v.safeInteger('the id of an event'), v.minValue(0)),
        'The newest event that the file knows of. What others changed after it is not overwritten.',
      ),
      0,
    ),
    managed: v.optional(
      described(
        list(v.picklist(FIELDS, `one of ${FIELDS.join(', ')}`), 'a list of fields'),
        'The fields that belong to the file; the others stay with people. All of them unless it is there.',
      ),
      () => [...FIELDS],
    ),
    flags: v.pipe(list(FileFlagSchema, 'a list of flags'), differentBy('name', 'Flags')),
  }),
  v.title('Flags of a project'),
);

export type FlagFile = v.InferOutput<typeof FlagFileSchema>;

/** Whether a flag is there, and is not archived. */
export type Presence = 'absent' | 'active' | 'archived';

/** A part of a flag that becomes another one. */
export interface Change {
  readonly flag: string;
  /** Null for what a flag has once. */
  readonly environment: string | null;
  readonly field: Field | 'presence';
  /** The server refuses the change where it finds anything else. */
  readonly before: unknown;
  readonly after: unknown;
}

/** A flag as the server shows it: every field, in every environment of the project. */
export interface ShownFlag {
  readonly name: string;
  /** The newest event that changed it. */
  readonly revision: number;
  readonly presence: Presence;
  readonly environments: readonly {
    readonly name: string;
    readonly enabled: boolean;
    readonly strategies: readonly FileStrategy[];
    readonly variants: FileStrategy['variants'];
    /** Ids of the strategies, by which change requests name them. */
    readonly ids: readonly string[];
  }[];
  readonly [field: string]: unknown;
}

const UNTOUCHED: Readonly<Record<string, unknown>> = { enabled: false, strategies: [], variants: [] };
export const INITIAL: Readonly<Record<string, unknown>> = {
  ...{ description: '', type: 'release', stale: false, impressionData: false },
  ...{ links: [], tags: [], dependencies: [] },
};

/** The part of the flag that a change is about; that of a new flag where there is none. */
export function partOf(
  flag: ShownFlag | undefined,
  { environment, field }: Pick<Change, 'environment' | 'field'>,
): unknown {
  if (field === 'presence') return flag?.presence ?? 'absent';
  if (environment === null) return flag === undefined ? INITIAL[field] : flag[field];
  const here = flag?.environments.find(({ name }) => name === environment);
  return here === undefined ? UNTOUCHED[field] : here[field as keyof typeof here];
}
