/** The failures that commands report themselves. failure.ts maps every error, and so has to load far more. */
import { EXIT, type ExitCode } from '../process/exit-codes.ts';

/** A command that found something bad, or that was used wrongly. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

export const misuse = (message: string): CommandFailure => new CommandFailure(EXIT.usage, message);
