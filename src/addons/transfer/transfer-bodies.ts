/**
 * The bodies of an export and an import of flags. A file may come from Unleash, which leaves out what it does not know and writes null
 * for what is not set, so that counts as absent.
 */
import * as v from 'valibot';
import type { CreateRecord } from '../../domain/decide/kind-commands.ts';
import type { Dependency, Tag } from '../../domain/flags/flag.ts';
import { METADATA_INPUT_ENTRIES } from '../../domain/flags/metadata.ts';
import { StrategyInputSchema } from '../../domain/flags/strategy.ts';
import { VariantListSchema } from '../../domain/flags/variant.ts';
import { grouped } from '../../domain/json/grouped.ts';
import { described, list, titled } from '../../domain/json/schema.ts';
import { CONTEXT_FIELD } from '../../domain/kinds/context-field.ts';
import { SIMPLE_TAG_TYPE, TAG_TYPE } from '../../domain/kinds/tag-type.ts';
import { FlagNameSchema, TagBody } from '../../http/admin/bodies.ts';
import { type ImportedFlag, type ImportFlags, TRANSFER_FLAGS_MAX } from './import-issues.ts';

/** One that may also be null, or left out. */
const listOf = <const Item extends v.GenericSchema>(item: Item, phrase: string) =>
  v.nullish(list(item, `a list of ${phrase}`), []);

const FLAGS_PHRASE = `a list of at most ${TRANSFER_FLAGS_MAX} flags`;

const NAMES_PHRASE = `a list of at most ${TRANSFER_FLAGS_MAX} flag names`;

export const ExportBody = titled('ExportQuery', {
  environment: described(v.string(), 'Whose strategies, variants and switches are exported.'),
  features: v.optional(
    v.pipe(
      list(v.string(), NAMES_PHRASE),
      v.maxLength(TRANSFER_FLAGS_MAX, NAMES_PHRASE),
      v.description('Names of flags; an empty list stands for all of the service.'),
    ),
  ),
  project: v.optional(described(v.string(), 'The id of a project: all of its flags.')),
  tag: v.optional(described(v.string(), 'A tag by its value, or as type:value: all flags with it.')),
  downloadFile: described(v.optional(v.boolean(), false), 'Whether browsers keep the response as a file.'),
});

const ExportedFlag = v.object({
  name: FlagNameSchema,
  ...METADATA_INPUT_ENTRIES,
  archived: v.nullish(v.boolean(), false),
});

const ExportedStrategy = v.object({ ...StrategyInputSchema.entries, featureName: v.string() });

const ExportedEnvironment = v.object({
  featureName: v.nullish(v.string()),
  name: described(v.string(), 'Of the flag, where featureName is left out.'),
  enabled: v.optional(v.boolean()),
  variants: v.nullish(described(VariantListSchema, 'In the environment.')),
});

const ExportedTag = v.object({
  featureName: v.string(),
  tagType: v.optional(TagBody.entries.type, SIMPLE_TAG_TYPE.name),
  tagValue: TagBody.entries.value,
});

const ExportedTagType = v.object({
  name: TAG_TYPE.sent.name,
  description: v.nullish(TAG_TYPE.sent.description),
  icon: TAG_TYPE.sent.icon,
  color: TAG_TYPE.sent.color,
});

const ExportedContextField = v.object({
  name: CONTEXT_FIELD.sent.name,
  description: v.nullish(CONTEXT_FIELD.sent.description),
  stickiness: v.nullish(CONTEXT_FIELD.sent.stickiness),
  sortOrder: v.nullish(CONTEXT_FIELD.sent.sortOrder),
  legalValues: v.nullish(CONTEXT_FIELD.sent.legalValues),
});

const ExportedParent = v.object({
  feature: v.string(),
  enabled: v.nullish(v.boolean(), true),
  variants: listOf(v.string(), 'names of variants'),
});

const ExportedDependencies = v.object({
  feature: v.string(),
  dependencies: list(ExportedParent, 'a list of parents'),
});

export const ImportBody = titled('ImportFlags', {
  project: described(v.string(), 'The id of the project that gets the flags.'),
  environment: described(
    v.string(),
    'That gets their strategies, variants and switches, whichever they were exported of.',
  ),
  data: described(
    v.object({
      features: v.pipe(list(ExportedFlag, FLAGS_PHRASE), v.maxLength(TRANSFER_FLAGS_MAX, FLAGS_PHRASE)),
      featureStrategies: listOf(ExportedStrategy, 'strategies with the names of their flags'),
      featureEnvironments: listOf(ExportedEnvironment, 'flags in the environment'),
      featureTags: v.nullish(
        described(
          list(ExportedTag, 'a list of tags with the names of their flags'),
          'Of all flags. Without the list, flags keep their tags.',
        ),
      ),
      tagTypes: listOf(ExportedTagType, 'tag types'),
      contextFields: listOf(ExportedContextField, 'context fields'),
      segments: listOf(v.object({ id: v.number(), name: v.string() }), 'segments with id and name'),
      dependencies: listOf(ExportedDependencies, 'flags with their parents'),
    }),
    'As an export has it.',
  ),
});

type Import = v.InferOutput<typeof ImportBody>;

/** The last record of each name, without the fields that are null. */
function recordsOf(
  kind: CreateRecord['kind'],
  sent: readonly { readonly name: string }[] | null | undefined,
) {
  const byName = new Map((sent ?? []).map((one) => [one.name, one]));
  return [...byName.values()].map((one) => {
    const fields = Object.fromEntries(Object.entries(one).filter(([, value]) => value !== null));
    return { kind, fields } as unknown as CreateRecord;
  });
}

const tagIn = ({ tagType, tagValue }: v.InferOutput<typeof ExportedTag>): Tag => ({
  type: tagType,
  value: tagValue,
});

const dependencyIn = ({ feature, enabled, variants }: v.InferOutput<typeof ExportedParent>): Dependency => ({
  feature,
  enabled: enabled ?? true,
  variants: variants ?? [],
});

export function importIn({ project, environment, data }: Import): ImportFlags {
  const strategies = grouped(data.featureStrategies ?? [], ({ featureName }) => featureName);
  const environments = grouped(data.featureEnvironments ?? [], (one) => one.featureName ?? one.name);
  const tags = grouped(data.featureTags ?? [], ({ featureName }) => featureName);
  const parents = grouped(data.dependencies ?? [], ({ feature }) => feature);
  const active = data.features.filter(({ archived }) => archived !== true);
  const names = new Set(data.features.map(({ name }) => name));
  const told = [strategies, environments, tags, parents].flatMap((parts) => [...parts.keys()]);
  return {
    project,
    environment,
    flags: active.map(({ name, archived: _, ...metadata }): ImportedFlag => {
      const here = environments.get(name)?.at(-1);
      return {
        name,
        metadata,
        enabled: here?.enabled ?? null,
        variants: here?.variants ?? null,
        strategies: (strategies.get(name) ?? []).map(({ featureName: _, ...strategy }) => strategy),
        tags: data.featureTags == null ? null : (tags.get(name) ?? []).map(tagIn),
        dependencies: (parents.get(name) ?? []).flatMap((one) => one.dependencies.map(dependencyIn)),
      };
    }),
    segmentNames: new Map((data.segments ?? []).map(({ id, name }) => [id, name])),
    records: [...recordsOf('tagTypes', data.tagTypes), ...recordsOf('contextFields', data.contextFields)],
    archived: data.features.filter(({ archived }) => archived).map(({ name }) => name),
    strangers: [...new Set(told)].filter((name) => !names.has(name)),
  };
}
