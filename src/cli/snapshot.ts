/** `flagstaff snapshot`: have the running server take a snapshot now. */
import { askServer } from '../control/control-client.ts';
import { EXIT } from '../exit-codes.ts';
import { type AddCommand, answer, type CommonOptions, dataDirectory, withCommonOptions } from './command.ts';
import { CommandFailure } from './failure.ts';
import { bytesText, secondsText } from './format.ts';

export const addSnapshot: AddCommand = (program, context) => {
  withCommonOptions(program.command('snapshot'))
    .description('Have the running server write a snapshot of its state now.')
    .addHelpText(
      'after',
      `
The server is reached through a socket in its data folder; requests are served meanwhile. A stopped server has
written a snapshot when it stopped.

Examples:
  flagstaff snapshot
  flagstaff snapshot --json | jq -r .path`,
    )
    .action(async (options: CommonOptions) => {
      const folder = dataDirectory(context, options);
      const taken = await askServer(folder, 'snapshot');
      if (taken === null) {
        throw new CommandFailure(
          EXIT.noServer,
          `No server that can be reached has the data folder ${folder} open.`,
        );
      }
      const { id, bytes, durationMs, path } = taken;
      const text = taken.taken
        ? `Snapshot of event ${id}: ${bytesText(bytes)} in ${secondsText(durationMs)}, ${path}`
        : `The newest snapshot is of event ${id}, the newest there is: ${bytesText(bytes)}, ${path}`;
      answer(context, options, taken, text);
    });
};
