/** Requests to the target of a migration, and the ids that they need. */
import * as v from 'valibot';
import type { Item, Position } from '../../domain/desired/difference.ts';
import { AdminCallError } from '../../host/admin-client.ts';

/** Ids on the target, by name; a step adds the id of what it creates. */
export interface TargetIds {
  readonly segments: Map<string, number>;
  readonly users: Map<string, number>;
  readonly roles: Map<string, number>;
  readonly groups: Map<string, number>;
}

export interface TargetRequest {
  /** A sentence without its end: `create segment "beta-testers"`. */
  readonly does: string;
  readonly method: 'DELETE' | 'POST' | 'PUT';
  /** The path is below `/api/admin`. */
  at(ids: TargetIds): { readonly path: string; readonly body?: unknown };
  /** Under this name, the id of what was created becomes known. */
  readonly learns?: { readonly of: keyof TargetIds; readonly name: string };
}

/** After a refusal the later calls are left out that need the same subject, or are about it. */
export interface Call extends TargetRequest, Position {
  /** A sentence: what the target is like if the call is not made. */
  readonly otherwise?: string;
}

export const request = (
  does: string,
  method: TargetRequest['method'],
  at: string | TargetRequest['at'],
  body?: unknown,
): TargetRequest => ({ does, method, at: typeof at === 'string' ? () => ({ path: at, body }) : at });

/** Something beside flags, with the requests that bring it. */
export interface MigratedItem extends Item {
  readonly create: TargetRequest;
  /** Absent where it is the same. */
  readonly change?: TargetRequest;
  /** The value where it was never set; absent where it then is not there. */
  readonly initially?: unknown;
}

/**
 * An item that is created by a POST to `path`, and changed by a PUT below it: by its name, or by the number that the target gives
 * to such a thing.
 */
export function namedItem<Value extends { readonly name: string }>(
  noun: string,
  path: string,
  value: Value,
  numbers?: keyof TargetIds,
  bodyOf: (ids: TargetIds) => unknown = () => value,
) {
  const { name } = value;
  const own = (ids: TargetIds) => (numbers === undefined ? segment(name) : ids[numbers].get(name));
  const create = request(`create ${noun} "${name}"`, 'POST', (ids) => ({ path, body: bodyOf(ids) }));
  return {
    kind: noun,
    name,
    value,
    create: numbers === undefined ? create : { ...create, learns: { of: numbers, name } },
    change: request(`change ${noun} "${name}"`, 'PUT', (ids) => ({
      path: `${path}/${own(ids)}`,
      body: bodyOf(ids),
    })),
  };
}

/** The target has no segment of that name, and what moves has none with rules. */
export class MissingSegmentError extends Error {
  override readonly name = 'MissingSegmentError';

  constructor(name: string) {
    super(`The segment "${name}" is not there. Create it, with its constraints, and run the command again.`);
  }
}

/** The id of the thing that was created; that of a role stands deeper. */
export function idOf(response: unknown): number {
  if (typeof response === 'object' && response !== null) {
    if ('id' in response) return Number(response.id);
    if ('roles' in response) return idOf(response.roles);
  }
  throw new ShapeError('The response to creating something has no id.');
}

/** A name as a segment of a path. */
export const segment = encodeURIComponent;

// Holds what a server or a file says against the shape that is expected of it.

export class ShapeError extends AdminCallError {
  constructor(message: string) {
    super(0, message);
  }
}

/** Throws a ShapeError with the place where it has another shape. */
export function shaped<S extends v.GenericSchema>(
  source: string,
  value: unknown,
  schema: S,
): v.InferOutput<S> {
  const { success, output, issues } = v.safeParse(schema, value);
  if (success) return output;
  const [issue] = issues;
  throw new ShapeError(
    `${source} has an unexpected shape at "${v.getDotPath(issue) ?? ''}": ${issue.message}`,
  );
}
