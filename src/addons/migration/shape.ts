/** Holds what a server or a file says against the shape that is expected of it. */
import * as v from 'valibot';

/** Throws with the place where it has another shape. */
export function shaped<S extends v.GenericSchema>(
  source: string,
  value: unknown,
  schema: S,
): v.InferOutput<S> {
  const { success, output, issues } = v.safeParse(schema, value);
  if (success) return output;
  const [issue] = issues;
  throw new Error(`${source} has an unexpected shape at "${v.getDotPath(issue) ?? ''}": ${issue.message}`);
}
