/** Commands that the server which has the data folder open carries out: `flagstaff snapshot` and `flagstaff token create --admin`. */
import { askRunningServer } from '../host/ask-running-server.ts';
import {
  type AddCommand,
  type CommonOptions,
  dataDirectory,
  printResult,
  withCommonOptions,
} from '../host/command.ts';
import { bytesText, secondsText } from '../host/format.ts';

export const addSnapshot: AddCommand = (program, context) => {
  withCommonOptions(program.command('snapshot'))
    .description('Make the running server write a snapshot now.')
    .addHelpText(
      'after',
      `
The command reaches the server through a socket in its data folder; the server keeps serving requests. A server also
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

/** The way back in when every admin token is lost. */
export const addToken: AddCommand = (program, context) => {
  const token = program.command('token').description('Create a token without having one.');
  withCommonOptions(token.command('create'))
    .description('Have the running server make an admin token, and print its secret.')
    .requiredOption('--admin', 'make an admin token; every other token can be made with it, over HTTP')
    .addHelpText(
      'after',
      `
Use this when every admin token is lost. It needs write access to the data folder. The secret is
printed once and stored nowhere. The event log shows the new token, made by "flagstaff token create".

Examples:
  flagstaff token create --admin
  TOKEN=$(flagstaff token create --admin --json | jq -r .secret)`,
    )
    .action(async (options: CommonOptions) => {
      const created = await askRunningServer(dataDirectory(context, options), 'create-admin-token');
      printResult(context, options, created, created.secret);
    });
};
