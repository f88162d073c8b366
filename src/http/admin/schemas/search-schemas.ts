/** Schemas of responses to searches for flags. */
import * as v from 'valibot';
import { FLAG_TYPES } from '../../../domain/flags/flag-type.ts';
import { FlagSummarySchema, FoundFlagEnvironmentSchema, StageSchema, TagSchema } from './schemas.ts';

const Integer = v.pipe(v.number(), v.integer());
const { createdAt: Timestamp, lastSeenAt: NullableTimestamp } = FlagSummarySchema.entries;

const FoundFlagSchema = v.pipe(
  v.object({
    name: v.string(),
    type: v.picklist(FLAG_TYPES),
    description: v.nullable(v.string()),
    project: v.string(),
    stale: v.boolean(),
    favorite: v.boolean(),
    impressionData: v.boolean(),
    createdAt: Timestamp,
    archivedAt: NullableTimestamp,
    lastSeenAt: NullableTimestamp,
    lifecycle: StageSchema,
    dependencyType: v.nullable(v.picklist(['parent', 'child'])),
    environments: v.array(FoundFlagEnvironmentSchema),
    segments: v.pipe(v.array(v.string()), v.description('Names of those that its strategies use.')),
    tags: v.array(TagSchema),
    createdBy: v.pipe(
      v.object({ id: Integer, name: v.string(), imageUrl: v.string() }),
      v.description('The id is 0 where it is not known: older releases did not record it.'),
    ),
  }),
  v.title('FoundFlag'),
);

export const FoundFlagsSchema = v.pipe(
  v.object({
    features: v.array(FoundFlagSchema),
    total: v.pipe(Integer, v.description('All that were found, whatever the page.')),
    nextOffset: v.pipe(
      v.exactOptional(Integer),
      v.description('The offset at which the next page starts; left out on the last page.'),
    ),
  }),
  v.title('FoundFlags'),
);

export const FlagCreatorsSchema = v.array(
  v.pipe(v.object({ id: Integer, name: v.string() }), v.title('FlagCreator')),
);
