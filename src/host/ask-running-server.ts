import { askServer } from '../control/control-client.ts';
import type { ControlResult } from '../control/control-protocol.ts';
import { EXIT } from '../process/exit-codes.ts';
import { CommandFailure } from './command-failure.ts';

/** Ends the command with the exit code for it when no server can be reached. */
export async function askRunningServer<C extends string>(
  folder: string,
  command: C,
): Promise<ControlResult<C>> {
  const result = await askServer(folder, command);
  if (result !== null) return result;
  throw new CommandFailure(
    EXIT.unavailable,
    `No running server with the data folder ${folder} could be reached.`,
  );
}
