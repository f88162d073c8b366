/**
 * Flags as a server sends them to SDKs, read as generously as SDKs read them, because who refuses a document has no flags: what is
 * missing gets the default of SDKs, and an unknown operator never holds.
 */
import * as v from 'valibot';
import type { Constraint } from '../../domain/flags/constraint.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import { FLAG_TYPES, type FlagType } from '../../domain/flags/metadata.ts';
import type { Strategy } from '../../domain/flags/strategy.ts';
import type { Variant } from '../../domain/flags/variant.ts';
import { isJsonObject, type JsonObject } from '../../domain/json/json.ts';
import { SEGMENT as SEGMENT_ROW, type Segment } from '../../domain/kinds/segment.ts';

export const listOf = <S extends v.GenericSchema>(item: S) => v.nullish(v.array(item), []);
const text = v.nullish(v.string(), '');
const flagged = v.nullish(v.boolean(), false);

/** SDKs compare the texts of numbers. */
const COMPARED = v.pipe(v.union([v.string(), v.number()]), v.transform(String));

const CONSTRAINT = v.object({
  contextName: v.string(),
  operator: v.string(),
  caseInsensitive: flagged,
  inverted: flagged,
  values: listOf(COMPARED),
  value: v.nullish(COMPARED),
});

const VARIANT = v.object({
  name: v.string(),
  weight: v.number(),
  weightType: v.nullish(v.picklist(['variable', 'fix'])),
  stickiness: text,
  payload: v.nullish(v.object({ type: v.string(), value: v.string() })),
  overrides: listOf(v.object({ contextName: v.string(), values: listOf(v.string()) })),
});

/** No `v.record`, which drops fields named constructor. */
const PARAMETERS = v.nullish(v.custom<JsonObject>(isJsonObject, 'an object'));

const STRATEGY = v.object({
  name: v.string(),
  title: v.nullish(v.string()),
  sortOrder: v.nullish(v.number()),
  parameters: PARAMETERS,
  constraints: listOf(CONSTRAINT),
  segments: listOf(v.number()),
  variants: listOf(VARIANT),
});

export const FLAG = v.object({
  name: v.string(),
  type: text,
  enabled: v.boolean(),
  project: v.nullish(v.string()),
  stale: flagged,
  impressionData: flagged,
  description: v.nullish(v.string()),
  strategies: listOf(STRATEGY),
  variants: listOf(VARIANT),
  dependencies: listOf(
    v.object({ feature: v.string(), enabled: v.nullish(v.boolean()), variants: listOf(v.string()) }),
  ),
});

export const SEGMENT = v.object({
  id: v.number(),
  name: v.nullish(v.string()),
  constraints: listOf(CONSTRAINT),
});

type SentFlag = v.InferOutput<typeof FLAG>;
type SentStrategy = v.InferOutput<typeof STRATEGY>;

const isFlagType = (type: string): type is FlagType => (FLAG_TYPES as readonly string[]).includes(type);

export function flagOf(sent: SentFlag, environment: string): Flag {
  const { name, enabled, strategies, variants } = sent;
  return {
    name,
    project: sent.project ?? 'default',
    description: sent.description ?? null,
    type: isFlagType(sent.type) ? sent.type : 'release',
    stale: sent.stale,
    impressionData: sent.impressionData,
    dependencies: sent.dependencies.map((one) => ({ ...one, enabled: one.enabled ?? true })),
    ...{ links: [], tags: [], children: [], createdAt: '', archivedAt: null },
    environments: [
      {
        name: environment,
        enabled,
        strategies: strategies.map(strategyOf),
        variants: variants.map(variantOf),
      },
    ],
  };
}

function strategyOf(sent: SentStrategy, at: number): Strategy {
  return {
    id: String(at),
    name: sent.name,
    title: sent.title ?? null,
    disabled: false,
    constraints: sent.constraints.map(constraintOf),
    parameters: sent.parameters ?? {},
    variants: sent.variants.map(variantOf),
    segments: sent.segments,
    sortOrder: sent.sortOrder ?? at,
  };
}

/** Types say what this program lets people set; what an upstream lets them set beyond that is passed on, and evaluated as SDKs do. */
function constraintOf({ value, ...rest }: SentStrategy['constraints'][number]): Constraint {
  return { ...rest, ...(value === null || value === undefined ? {} : { value }) } as Constraint;
}

/** A stickiness that is not sent is not passed on either: SDKs take that of the strategy. */
function variantOf(sent: SentStrategy['variants'][number]): Variant {
  const { payload, weightType, stickiness, ...rest } = sent;
  return {
    ...rest,
    weightType: weightType ?? 'variable',
    ...(stickiness === '' ? {} : { stickiness }),
    ...(payload === null || payload === undefined ? {} : { payload }),
  } as Variant;
}

/** Fields of a segment that an upstream does not send, as a new one has them. */
const UNSENT = v.getDefaults(v.omit(v.object(SEGMENT_ROW.sent), ['name', 'constraints']));

export function segmentOf({ id, name, constraints }: v.InferOutput<typeof SEGMENT>): Segment {
  return {
    ...UNSENT,
    ...{ id, name: name ?? `segment ${id}` },
    constraints: constraints.map(constraintOf),
    ...{ createdBy: '', createdAt: '' },
  };
}
