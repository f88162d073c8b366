/** `flagstaff snapshot`: make the running server write a snapshot now. */
import {
  type AddCommand,
  type CommonOptions,
  dataDirectory,
  printResult,
  withCommonOptions,
} from './command.ts';
import { bytesText, secondsText } from './format.ts';
import { askRunningServer } from './running-server.ts';

export const addSnapshot: AddCommand = (program, context) => {
  withCommonOptions(program.command('snapshot'))
    .description('Have the running server write a snapshot of its state now.')
    .addHelpText(
      'after',
      `
The command reaches the server through a socket in its data folder, and requests are served meanwhile. A server also
writes a snapshot when it stops.

Examples:
  flagstaff snapshot
  flagstaff snapshot --json | jq -r .path`,
    )
    .action(async (options: CommonOptions) => {
      const taken = await askRunningServer(dataDirectory(context, options), 'snapshot');
      const { id, bytes, durationMs, path } = taken;
      const text = taken.taken
        ? `Snapshot of event ${id}: ${bytesText(bytes)} in ${secondsText(durationMs)}, ${path}`
        : `The newest snapshot holds the newest event, ${id}, already: ${bytesText(bytes)}, ${path}`;
      printResult(context, options, taken, text);
    });
};
