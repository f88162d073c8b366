/**
 * The refusal of a JSON Patch that cannot be applied names the operation at fault
 * (docs/specification/common.md#json-patch).
 */
import type { PatchOperation } from '../json/json-patch.ts';
import { type Refusal, refuse } from '../state/refusal.ts';

interface PatchFailure {
  readonly kind: 'invalid' | 'test-failed';
  readonly index: number;
  readonly message: string;
}

/**
 * A `test` operation that does not hold is a conflict with the state (409). Everything else is a bad request (400).
 */
export function patchRefusal({ kind, index, message }: PatchFailure): Refusal {
  const name = kind === 'test-failed' ? 'InvalidOperationError' : 'ValidationError';
  return refuse(name, message, [{ message, path: `/body/${index}` }]);
}

/**
 * For a patch that can be applied, but whose result breaks a rule at `field` of the document. The refusal names the
 * last operation that wrote to that field, or the last operation of all when none did.
 */
export function patchedValueRefusal(
  operations: readonly PatchOperation[],
  field: string,
  message: string,
): Refusal {
  const pointer = `/${field}`;
  const writes = ({ path }: PatchOperation) => path === pointer || path.startsWith(`${pointer}/`);
  const blamed = operations.findLastIndex(writes);
  const index = blamed >= 0 ? blamed : operations.length - 1;
  return refuse('ValidationError', message, [{ message, path: `/body/${index}` }]);
}
