import type { ExitCode } from './exit-codes.ts';

/** An error that says how the process ends. The message is everything that the operator needs to read. */
export class ExitError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.name = new.target.name;
    this.exitCode = exitCode;
  }
}
