/** `flagstaff login`: stores the address of a server and a token for it. */
import { AdminClient } from '../host/admin-client.ts';
import type { AddCommand, CommandContext } from '../host/command.ts';
import { misuse } from '../host/command-failure.ts';
import { answerOf, serverAddress, storeLogin } from '../host/remote-server.ts';

export const addLogin: AddCommand = (program, context) => {
  program
    .command('login')
    .description('Store the address of a server and a token for it, which other commands then use.')
    .argument('<url>', 'the address of the server, such as https://flags.example.com')
    .addHelpText(
      'after',
      `
The token comes from FLAGSTAFF_TOKEN; otherwise it is asked for, or read as a line of standard input. It is tried, and
stored in a file that only you can read: flagstaff/login.json in XDG_CONFIG_HOME, or in ~/.config. Where FLAGSTAFF_URL and
FLAGSTAFF_TOKEN are set, commands use these instead.

Examples:
  flagstaff login https://flags.example.com
  flagstaff login http://localhost:4242 < token.txt`,
    )
    .action((url: string) => login(context, url));
};

async function login({ terminal }: CommandContext, text: string): Promise<void> {
  const url = serverAddress('login', text);
  const { FLAGSTAFF_TOKEN } = terminal.env;
  const token = (FLAGSTAFF_TOKEN || (await terminal.ask(`Token for ${url}: `, 'secret'))).trim();
  if (token === '')
    throw misuse('The token is empty; make one in the console, and give it to flagstaff login.');
  await answerOf(url, () => new AdminClient({ url, token }).get('/projects'));
  terminal.out(`Stored the login to ${url} in ${storeLogin(terminal.env, { url, token })}.`);
}
