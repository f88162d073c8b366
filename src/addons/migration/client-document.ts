/**
 * The flags of one environment as SDKs get them from a server, `GET /api/client/features`, in one shape for all versions, ready
 * to be evaluated and compared.
 */
import * as v from 'valibot';
import type { Flag } from '../../domain/flags/flag.ts';
import type { Strategy } from '../../domain/flags/strategy.ts';
import type { Variant } from '../../domain/flags/variant.ts';
import { Evaluator } from '../sdk/evaluation/evaluator.ts';
import { AdminClient } from './admin-client.ts';
import {
  byName,
  CONSTRAINT,
  DEPENDENCY,
  listOf,
  PARAMETERS,
  PAYLOAD,
  textOr,
  yesNo,
} from './configuration.ts';
import { shaped } from './target-request.ts';

const VARIANT = v.pipe(
  v.object({
    name: v.string(),
    weight: v.number(),
    /** Empty: that of the strategy. */
    stickiness: textOr(''),
    payload: v.nullish(PAYLOAD, null),
    overrides: listOf(v.object({ contextName: v.string(), values: v.array(v.string()) })),
  }),
  v.transform(({ payload, ...rest }) => (payload === null ? rest : { ...rest, payload })),
);

const STRATEGY = v.object({
  name: v.string(),
  parameters: PARAMETERS,
  constraints: listOf(CONSTRAINT),
  segments: listOf(v.number()),
  variants: listOf(VARIANT),
});

const DOCUMENT = v.object({
  features: v.array(
    v.object({
      name: v.string(),
      enabled: v.boolean(),
      impressionData: yesNo,
      strategies: listOf(STRATEGY),
      variants: listOf(VARIANT),
      dependencies: listOf(DEPENDENCY),
    }),
  ),
  segments: listOf(v.object({ id: v.number(), constraints: listOf(CONSTRAINT) })),
});

type SentDocument = v.InferOutput<typeof DOCUMENT>;
export type ClientFlag = SentDocument['features'][number];
export type ClientConstraint = v.InferOutput<typeof CONSTRAINT>;

export interface ClientDocument {
  readonly flags: ReadonlyMap<string, ClientFlag>;
  readonly segments: ReadonlyMap<number, readonly ClientConstraint[]>;
}

export async function readDocument(url: string, token: string): Promise<ClientDocument> {
  const client = new AdminClient({ url, token, surface: 'client' });
  return parseDocument(await client.get('/features'));
}

/** Throws with the place in the document where it has another shape. */
export function parseDocument(sent: unknown): ClientDocument {
  const { features, segments } = shaped('/api/client/features', sent, DOCUMENT);
  return {
    flags: byName(features),
    segments: new Map(segments.map(({ id, constraints }) => [id, constraints])),
  };
}

/** The constraints of a strategy and of its segments; null where a segment is not there, because the strategy then never holds. */
export function constraintsOf(
  { constraints, segments }: Pick<ClientFlag['strategies'][number], 'constraints' | 'segments'>,
  document: ClientDocument,
): readonly ClientConstraint[] | null {
  const all = [...constraints];
  for (const id of segments) {
    const more = document.segments.get(id);
    if (more === undefined) return null;
    all.push(...more);
  }
  return all;
}

const ENVIRONMENT = 'compared';

export function evaluatorOf({ flags, segments }: ClientDocument): Evaluator {
  return new Evaluator({
    environment: ENVIRONMENT,
    environmentEnabled: true,
    flags: [...flags.values()].map(flagOf),
    segments: new Map(
      [...segments].map(([id, constraints]) => [id, { id, name: `segment ${id}`, constraints }]),
    ),
  });
}

/** The flag as the engine holds it, with the fields that evaluation does not look at left empty. */
function flagOf({ name, enabled, impressionData, strategies, variants, dependencies }: ClientFlag): Flag {
  return {
    ...{ name, impressionData, dependencies, project: '', description: null, type: 'release', stale: false },
    ...{ links: [], tags: [], children: [], createdAt: '', archivedAt: null },
    environments: [
      {
        name: ENVIRONMENT,
        enabled,
        strategies: strategies.map(strategyOf),
        variants: variants as unknown as readonly Variant[],
      },
    ],
  };
}

/** A server may send unknown operators; they never hold. */
function strategyOf(strategy: ClientFlag['strategies'][number], at: number): Strategy {
  return {
    ...{ id: String(at), title: null, disabled: false, sortOrder: at },
    ...(strategy as unknown as Pick<
      Strategy,
      'name' | 'parameters' | 'constraints' | 'segments' | 'variants'
    >),
  };
}

/**
 * A text that is equal for flags that give the same to every application: ids, titles, and what an operator or a flag that is off does not
 * look at are left out, and segments stand for their constraints.
 */
export function definitionOf(flag: ClientFlag, document: ClientDocument): string {
  const { enabled, impressionData, dependencies } = flag;
  if (!enabled) return JSON.stringify({ impressionData });
  const strategies = flag.strategies.map((strategy) => ({
    name: strategy.name,
    parameters: sortedEntries(strategy.parameters),
    constraints: constraintsOf(strategy, document)
      ?.map((constraint) => JSON.stringify(essenceOf(constraint)))
      .toSorted(),
    variants: strategy.variants.map(variantEssence),
  }));
  const [only] = strategies;
  const isForAll = only?.name === 'default' && only.constraints?.length === 0 && only.variants.length === 0;
  return JSON.stringify({
    impressionData,
    // Unleash 6 may name a parent twice.
    dependencies: [...new Set(dependencies.map((one) => JSON.stringify(sortedEntries(one))))].toSorted(),
    strategies: isForAll && strategies.length === 1 ? [] : strategies,
    variants: flag.variants.map(variantEssence),
  });
}

const sortedEntries = (record: object): readonly (readonly [string, unknown])[] =>
  Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));

/** By the beginnings of the operators. */
const LISTED = /^(?:IN|NOT_IN|STR_|IN_CIDR)/;

function essenceOf(constraint: ClientConstraint): object {
  const { contextName, operator, inverted, caseInsensitive, values } = constraint;
  const value = 'value' in constraint ? constraint.value : '';
  const known = { contextName, operator, inverted };
  if (LISTED.test(operator))
    return {
      ...known,
      caseInsensitive: operator.startsWith('STR_') && caseInsensitive,
      values: [...new Set(values)].toSorted(),
    };
  const time = operator.startsWith('DATE_') ? Date.parse(value) : Number.NaN;
  const sameCase = operator === 'REGEX' && caseInsensitive;
  return { ...known, caseInsensitive: sameCase, value: Number.isNaN(time) ? value : time };
}

const variantEssence = (variant: ClientFlag['variants'][number]): object => sortedEntries(variant);
