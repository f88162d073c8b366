/** The shapes of an export of flags, and of what is found in one before it is imported. */
import * as v from 'valibot';
import { METADATA_ENTRIES } from '../../../domain/flags/metadata.ts';
import { VariantSchema } from '../../../domain/flags/variant.ts';
import { LegalValueSchema } from '../../../domain/kinds/context-field.ts';
import { StrategySchema } from '../schemas/schemas.ts';
import { TagTypeSchema } from '../schemas/targeting-schemas.ts';

const Integer = v.pipe(v.number(), v.integer());

const VariantOfStrategy = v.object({
  ...VariantSchema.entries,
  overrides: v.exactOptional(v.unwrap(VariantSchema.entries.overrides)),
});

export const ExportSchema = v.pipe(
  v.object({
    features: v.array(
      v.object({ name: v.string(), ...METADATA_ENTRIES, project: v.string(), archived: v.literal(false) }),
    ),
    featureStrategies: v.array(v.object({ ...StrategySchema.entries, variants: v.array(VariantOfStrategy) })),
    featureEnvironments: v.array(
      v.object({
        name: v.pipe(v.string(), v.description('Of the flag.')),
        featureName: v.string(),
        environment: v.string(),
        enabled: v.boolean(),
        variants: v.array(VariantSchema),
      }),
    ),
    contextFields: v.pipe(
      v.array(
        v.object({
          name: v.string(),
          description: v.string(),
          stickiness: v.boolean(),
          sortOrder: v.number(),
          legalValues: v.array(LegalValueSchema),
        }),
      ),
      v.description('Those that strategies and variants of the flags look at.'),
    ),
    featureTags: v.array(v.object({ featureName: v.string(), tagType: v.string(), tagValue: v.string() })),
    segments: v.array(v.object({ id: Integer, name: v.string() })),
    tagTypes: v.array(TagTypeSchema),
    dependencies: v.array(
      v.object({
        feature: v.string(),
        dependencies: v.array(
          v.object({ feature: v.string(), enabled: v.boolean(), variants: v.array(v.string()) }),
        ),
      }),
    ),
  }),
  v.title('FlagExport'),
);

const ImportIssues = v.array(v.object({ message: v.string(), affectedItems: v.array(v.string()) }));

export const ImportCheckSchema = v.pipe(
  v.object({
    errors: v.pipe(ImportIssues, v.description('With any of them nothing is imported.')),
    warnings: ImportIssues,
    permissions: v.pipe(ImportIssues, v.description('What the caller lacks.')),
  }),
  v.title('ImportCheck'),
);
