/**
 * A refusal is the expected outcome of a command that is not carried out, and is returned as a value. The set of
 * refusals is closed. A refusal changes nothing. The HTTP layer maps each name to a status in one table
 * (src/http/serving/errors.ts).
 */

/** A part of the request that is wrong. `path` is a JSON pointer from the request, such as `/body/name`. */
export interface RefusalDetail {
  readonly message: string;
  readonly path?: string;
}

export type RefusalName =
  | 'ValidationError'
  | 'AuthenticationRequired'
  | 'NoAccessError'
  | 'NotFoundError'
  | 'MethodNotAllowedError'
  | 'NameExistsError'
  | 'GoneError'
  | 'InvalidOperationError'
  | 'PreconditionFailedError'
  | 'PayloadTooLargeError'
  | 'UnsupportedMediaTypeError'
  | 'TooManyRequestsError'
  | 'ServiceUnavailableError'
  | 'InsufficientStorageError'
  | 'MembershipRuleError';

/** A class, because results of very many shapes are tested for being one, and `instanceof` takes no longer for that. */
export class Refusal {
  readonly refused = true;
  readonly name: RefusalName;
  readonly message: string;
  readonly details: readonly RefusalDetail[];

  constructor(name: RefusalName, message: string, details: readonly RefusalDetail[]) {
    this.name = name;
    this.message = message;
    this.details = details.length > 0 ? details : [{ message }];
  }

  /** The refusal of the part of the request at `path`. A copy of the fields would be none. */
  at(path: string): Refusal {
    return new Refusal(this.name, this.message, [{ message: this.message, path }]);
  }
}

export function refuse(name: RefusalName, message: string, details: readonly RefusalDetail[] = []): Refusal {
  return new Refusal(name, message, details);
}

export const notFound = (message: string): Refusal => refuse('NotFoundError', message);
export const nameExists = (message: string): Refusal => refuse('NameExistsError', message);
export const invalidOperation = (message: string): Refusal => refuse('InvalidOperationError', message);

/** A 400 for the part of the request at `path`, a JSON pointer; without one where no single part is at fault. */
export function invalid(message: string, path?: string): Refusal {
  return refuse('ValidationError', message, path === undefined ? [] : [{ message, path }]);
}

/** Asserts that something located earlier in the same synchronous step still exists. */
export function present<T extends object>(located: T | Refusal): T {
  if (isRefusal(located)) throw new Error(`what the path names is gone: ${located.message}`);
  return located;
}

export function isRefusal(value: unknown): value is Refusal {
  return value instanceof Refusal;
}
