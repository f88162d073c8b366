/** What a flag came to, as OpenFeature clients read it (docs/specification/surfaces.md#what-openfeature-clients-get). */
import * as v from 'valibot';
import type { Outcome } from '../../domain/evaluation/outcome.ts';
import type { Variant } from '../../domain/flags/variant.ts';

export const EvaluationSchema = v.pipe(
  v.object({
    key: v.string(),
    value: v.pipe(
      v.union([v.boolean(), v.string(), v.number(), v.record(v.string(), v.unknown()), v.array(v.unknown())]),
      v.description("The chosen variant's payload; without one, whether the flag is on."),
    ),
    reason: v.picklist(['STATIC', 'TARGETING_MATCH', 'SPLIT', 'DISABLED']),
    variant: v.exactOptional(v.string()),
    metadata: v.object({ enabled: v.boolean() }),
  }),
  v.title('OfrepEvaluation'),
);

export const EvaluationsSchema = v.pipe(
  v.object({
    flags: v.pipe(v.array(EvaluationSchema), v.description('All that the token covers, by name.')),
    eventStreams: v.pipe(
      v.exactOptional(
        v.array(v.object({ type: v.literal('sse'), endpoint: v.object({ requestUri: v.string() }) })),
      ),
      v.description('Where a client hears that it should evaluate again; only where the server offers it.'),
    ),
  }),
  v.title('OfrepEvaluations'),
);

export function evaluationView({ name, enabled, variant, reason }: Outcome) {
  return {
    key: name,
    value: payloadOf(variant) ?? enabled,
    reason,
    ...(variant === null ? {} : { variant: variant.name }),
    metadata: { enabled },
  };
}

/** The payload in the type that it says it has; as the text that it is where that is impossible. Undefined when there is none. */
function payloadOf(variant: Variant | null): unknown {
  const payload = variant?.payload;
  if (payload === undefined) return undefined;
  const { type, value } = payload;
  if (type === 'number' && value.trim() !== '' && Number.isFinite(Number(value))) return Number(value);
  return type === 'json' ? (parsedList(value) ?? value) : value;
}

/** Null for what is no JSON, and for JSON that is neither an object nor a list. */
function parsedList(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null; // The payload is not JSON, whatever its type says.
  }
}
