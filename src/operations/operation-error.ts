/** An operator's command that is refused: an expected outcome, told in one line, that changed nothing. */

/** `missing`: the named thing does not exist. `occupied`: the target exists. `unsound`: the data is bad. */
export type OperationErrorKind = 'missing' | 'occupied' | 'unsound';

export class OperationError extends Error {
  override readonly name = 'OperationError';
  readonly kind: OperationErrorKind;

  constructor(kind: OperationErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.kind = kind;
  }
}
