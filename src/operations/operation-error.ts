/** What an operator asked for and cannot have: expected, told in one line, and nothing was changed. */

/** `missing`: what was named is not there. `occupied`: something is where nothing may be. `unsound`: checked, and bad. */
export type OperationProblem = 'missing' | 'occupied' | 'unsound';

export class OperationError extends Error {
  override readonly name = 'OperationError';
  readonly problem: OperationProblem;

  constructor(problem: OperationProblem, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.problem = problem;
  }
}
