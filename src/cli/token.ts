/** `flagstaff token create --admin`: the way back in when every admin token is lost. */
import {
  type AddCommand,
  type CommonOptions,
  dataDirectory,
  printResult,
  withCommonOptions,
} from './command.ts';
import { askRunningServer } from './running-server.ts';

export const addToken: AddCommand = (program, context) => {
  const token = program.command('token').description('Make a token without having one.');
  withCommonOptions(token.command('create'))
    .description('Have the running server make an admin token, and print its secret.')
    .requiredOption('--admin', 'make an admin token; every other token can be made with it, over HTTP')
    .addHelpText(
      'after',
      `
This is the way back in when every admin token is lost. Whoever may write to the data folder may use it. The secret is
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
