/** One request to the target of a migration, and what it needs to know by then. */
import * as v from 'valibot';

/** Ids on the target, by name; those of what a step creates are added when it is taken. */
export interface TargetIds {
  readonly segments: Map<string, number>;
  readonly users: Map<string, number>;
  readonly roles: Map<string, number>;
  readonly groups: Map<string, number>;
}

export interface Step {
  /**
   * The thing that it makes or changes, such as `flag checkout in production`: after a refusal the later steps of the same subject
   * are left out.
   */
  readonly subject: string;
  /** Another subject without which it cannot be taken, such as `flag checkout`. */
  readonly needs?: string;
  /** A sentence: what the target is like if the step is not taken. */
  readonly otherwise?: string;
  /** A sentence without its end: `create segment "beta-testers"`. */
  readonly does: string;
  readonly method: 'DELETE' | 'POST' | 'PUT';
  /** Below `/api/admin`. */
  readonly path: (ids: TargetIds) => string;
  readonly body?: (ids: TargetIds) => unknown;
  /** Notes the id of what was created. */
  readonly learn?: (response: unknown, ids: TargetIds) => void;
}

/** The target has no segment of that name, and what moves has none with rules. */
export class MissingSegmentError extends Error {
  override readonly name = 'MissingSegmentError';

  constructor(name: string) {
    super(`The segment "${name}" is not there. Create it, with its constraints, and run the command again.`);
  }
}

/** The id of the thing that a step created. */
export function idOf(response: unknown): number {
  if (typeof response === 'object' && response !== null && 'id' in response) return Number(response.id);
  throw new Error('The response to creating something has no id.');
}

/** A name as a segment of a path. */
export const segment = encodeURIComponent;

export const step = (
  subject: string,
  does: string,
  method: Step['method'],
  path: string,
  body?: unknown,
): Step => ({
  subject,
  does,
  method,
  path: () => path,
  ...(body === undefined ? {} : { body: () => body }),
});

// Holds what a server or a file says against the shape that is expected of it.

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
