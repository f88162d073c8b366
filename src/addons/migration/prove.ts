/**
 * Compares what applications get from two servers: it reads what SDKs read, evaluates each flag for many contexts by the one evaluator, and
 * compares the definitions besides. It changes nothing on either.
 */
import { Murmur3, utf8BytesOf } from '../../domain/evaluation/murmur3.ts';
import type { Toggle } from '../../domain/evaluation/outcome.ts';
import {
  type ClientDocument,
  type ClientFlag,
  constraintsOf,
  definitionOf,
  evaluatorOf,
} from './client-document.ts';
import { contextsFor, type Drawing, type DrawnContext, inputOf, type Rule } from './contexts.ts';

export interface Difference {
  readonly flag: string;
  /** How many of the contexts get something else; 0 where only the definitions differ. */
  readonly contexts: number;
  readonly example: Example | null;
}

/** The results of one context; null for a flag that is not there. */
export interface Example {
  readonly context: DrawnContext['fields'];
  readonly hostName: string;
  readonly source: string | null;
  readonly target: string | null;
}

export interface Comparison {
  /** Flags of the source. */
  readonly flags: number;
  /** Evaluations on each server. */
  readonly evaluations: number;
  readonly differences: readonly Difference[];
  /** Flags that the target has alone. */
  readonly onlyInTarget: readonly string[];
}

export interface ProofOptions extends Drawing {
  /** For contexts without a time. */
  readonly nowMs: number;
}

export function compareDocuments(
  source: ClientDocument,
  target: ClientDocument,
  options: ProofOptions,
): Comparison {
  const documents = [source, target] as const;
  const [ofSource, ofTarget] = [evaluatorOf(source), evaluatorOf(target)];
  const differences: Difference[] = [];
  let evaluations = 0;
  for (const [name, flag] of source.flags) {
    const present = target.flags.get(name);
    let [count, example]: [number, Example | null] = [0, null];
    for (const context of contextsFor(groupsOf(name, documents), {
      ...options,
      seed: seedOf(name, options),
    })) {
      const input = inputOf(context, options.nowMs);
      const there = resultText(ofSource.evaluate(name, input).toggle);
      const here = present === undefined ? null : resultText(ofTarget.evaluate(name, input).toggle);
      evaluations += 1;
      if (there === here) continue;
      count += 1;
      example ??= { context: context.fields, hostName: context.hostName, source: there, target: here };
    }
    const isEqual = present !== undefined && definitionOf(flag, source) === definitionOf(present, target);
    if (count > 0 || !isEqual) differences.push({ flag: name, contexts: count, example });
  }
  differences.sort((a, b) => (a.flag < b.flag ? -1 : 1));
  const onlyInTarget = [...target.flags.keys()].filter((name) => !source.flags.has(name)).toSorted();
  return { flags: source.flags.size, evaluations, differences, onlyInTarget };
}

/** A seed for each flag, so that another flag beside it changes nothing. */
const seedOf = (name: string, { seed }: Drawing): number => new Murmur3(seed).add(utf8BytesOf(name)).digest();

function groupsOf(name: string, documents: readonly ClientDocument[]): Rule[][] {
  const parents = documents.flatMap(({ flags }) => flags.get(name)?.dependencies ?? []);
  const names = new Set([name, ...parents.map(({ feature }) => feature)]);
  return [...names].map((one) =>
    unique(
      documents.flatMap((document) => {
        const flag = document.flags.get(one);
        return flag === undefined ? [] : rulesOf(flag, document);
      }),
    ),
  );
}

/** Both servers mostly have the same rules. */
const unique = <T>(items: readonly T[]): T[] => [
  ...new Map(items.map((item) => [JSON.stringify(item), item])).values(),
];

function rulesOf({ strategies, variants }: ClientFlag, document: ClientDocument): Rule[] {
  const rules = strategies.map(({ segments, ...strategy }) => ({
    ...strategy,
    constraints: constraintsOf({ ...strategy, segments }, document) ?? [],
  }));
  return [...rules, { name: 'default', parameters: {}, constraints: [], variants }];
}

/** The result as text, as an application tells results apart. */
function resultText({ enabled, impressionData, variant }: Toggle): string {
  const { payload } = variant;
  return [
    enabled ? 'on' : 'off',
    ...(variant.enabled ? [`variant ${JSON.stringify(variant.name)}`] : []),
    ...(variant.enabled && payload
      ? [`payload of type ${payload.type} ${JSON.stringify(payload.value)}`]
      : []),
    ...(impressionData ? ['impression data'] : []),
  ].join(', ');
}
