/** The flags of one environment as SDKs get them from a server, `GET /api/client/features`, ready to be evaluated and compared. */
import * as v from 'valibot';
import type { Constraint } from '../../domain/flags/constraint.ts';
import { environmentOf, type Flag } from '../../domain/flags/flag.ts';
import type { Strategy } from '../../domain/flags/strategy.ts';
import type { Variant } from '../../domain/flags/variant.ts';
import type { Segment } from '../../domain/kinds/segment.ts';
import { AdminClient } from '../../host/admin-client.ts';
import { Evaluator } from '../sdk/evaluation/evaluator.ts';
import { FLAG, flagOf, listOf, SEGMENT, segmentOf } from '../sdk/sent-flag.ts';
import { byName } from './configuration.ts';
import { shaped } from './target-request.ts';

const DOCUMENT = v.object({ features: v.array(FLAG), segments: listOf(SEGMENT) });

const ENVIRONMENT = 'compared';

export interface ClientDocument {
  readonly flags: ReadonlyMap<string, Flag>;
  readonly segments: ReadonlyMap<number, Segment>;
}

export async function readDocument(url: string, token: string): Promise<ClientDocument> {
  const client = new AdminClient({ url, token, surface: 'client' });
  return parseDocument(await client.get('/features'));
}

/** Throws with the place in the document where it has another shape. */
export function parseDocument(sent: unknown): ClientDocument {
  const { features, segments } = shaped('/api/client/features', sent, DOCUMENT);
  return {
    flags: byName(features.map((flag) => flagOf(flag, ENVIRONMENT))),
    segments: new Map(segments.map((segment) => [segment.id, segmentOf(segment)])),
  };
}

export const rulesIn = (flag: Flag) => environmentOf(flag, ENVIRONMENT);

export const evaluatorOf = ({ flags, segments }: ClientDocument): Evaluator =>
  new Evaluator({ environment: ENVIRONMENT, environmentEnabled: true, flags: flags.values(), segments });

/** The constraints of a strategy and of its segments; null where a segment is not there, because the strategy then never holds. */
export function constraintsOf(
  { constraints, segments }: Strategy,
  document: ClientDocument,
): readonly Constraint[] | null {
  const all = [...constraints];
  for (const id of segments) {
    const more = document.segments.get(id);
    if (more === undefined) return null;
    all.push(...more.constraints);
  }
  return all;
}

/**
 * A text that is equal for flags that give the same to every application: ids, titles, and what an operator or a flag that is off does not
 * look at are left out, and segments stand for their constraints.
 */
export function definitionOf(flag: Flag, document: ClientDocument): string {
  const { impressionData, dependencies } = flag;
  const { enabled, strategies: sent, variants } = rulesIn(flag);
  if (!enabled) return JSON.stringify({ impressionData });
  const strategies = sent.map((strategy) => ({
    name: strategy.name,
    parameters: sortedEntries(parameterTexts(strategy)),
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
    variants: variants.map(variantEssence),
  });
}

/** Unleash keeps parameters as strings, and has stored numbers at times. */
export const parameterTexts = ({ parameters }: Pick<Strategy, 'parameters'>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parameters ?? {}).flatMap(([name, value]) =>
      value === null ? [] : [[name, String(value)]],
    ),
  );

const sortedEntries = (record: object): readonly (readonly [string, unknown])[] =>
  Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));

/** By the beginnings of the operators. */
const LISTED = /^(?:IN|NOT_IN|STR_|IN_CIDR)/;

function essenceOf(constraint: Constraint): object {
  const { contextName, operator, inverted, caseInsensitive, values, value = '' } = constraint;
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

const variantEssence = ({ weightType: _, ...variant }: Variant): object => sortedEntries(variant);
