/** The failures that commands report themselves. failure.ts maps every error, and so has to load far more. */
import { EXIT } from '../process/exit-codes.ts';
import { ExitError } from '../process/exit-error.ts';

/** A command that found something bad, or that was used wrongly. */
export class CommandFailure extends ExitError {}

export const misuse = (message: string): CommandFailure => new CommandFailure(EXIT.usage, message);
