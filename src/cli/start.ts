/** `flagstaff start`: the server, in this process. */
import type { AddCommand } from '../host/command.ts';

interface StartOptions {
  readonly dataDir?: string;
  readonly host?: string;
  readonly port?: string;
}

export const addStart: AddCommand = (program, { terminal }) => {
  program
    .command('start')
    .description('Start a server. Settings are environment variables; these three can also be options.')
    .option('-d, --data-dir <folder>', 'the data folder (DATA_DIR)')
    .option('--host <address>', 'the address to listen on (HTTP_HOST)')
    .option('-p, --port <number>', 'the port to listen on; 0 lets the operating system choose (HTTP_PORT)')
    .addHelpText(
      'after',
      `
Examples:
  flagstaff start
  flagstaff start --data-dir /var/lib/flagstaff --port 8080`,
    )
    .action(async ({ dataDir, host, port }: StartOptions) => {
      const settings = { DATA_DIR: dataDir, HTTP_HOST: host, HTTP_PORT: port };
      const given = Object.entries(settings).filter(([, value]) => value !== undefined);
      // Loaded for this command only: the others start in a fraction of the time.
      const { runServer } = await import('../server.ts');
      await runServer({ ...terminal.env, ...Object.fromEntries(given) });
    });
};
