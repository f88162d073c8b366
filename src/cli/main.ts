/**
 * The operators' commands: one program, with a file for each command. Results go to standard output, everything else
 * goes to standard error, and the exit code says how the command ended (src/process/exit-codes.ts).
 */
import { Command, CommanderError } from 'commander';
import type { Addon } from '../host/addon.ts';
import type { CommandContext } from '../host/command.ts';
import type { Terminal } from '../host/terminal.ts';
import { realFileSystem } from '../persistence/disk/file-system.ts';
import { EXIT, type ExitCode } from '../process/exit-codes.ts';
import { VERSION } from '../process/installation.ts';
import { ADDONS } from '../start/addons.ts';

/** Each is loaded when its name is given, and all of them for help. */
const COMMANDS: NonNullable<Addon['verbs']> = {
  start: async () => (await import('./start.ts')).addStart,
  login: async () => (await import('./login.ts')).addLogin,
  status: async () => (await import('./status.ts')).addStatus,
  snapshot: async () => (await import('./running-server.ts')).addSnapshot,
  backup: async () => (await import('./backup.ts')).addBackup,
  verify: async () => (await import('./verify.ts')).addVerify,
  restore: async () => (await import('./restore.ts')).addRestore,
  upgrade: async () => (await import('./upgrade.ts')).addUpgrade,
  export: async () => (await import('./export.ts')).addExport,
  flags: async () => (await import('./flags.ts')).addFlags,
  events: async () => (await import('./events.ts')).addEvents,
  completion: async () => (await import('./completion.ts')).addCompletion,
  token: async () => (await import('./running-server.ts')).addToken,
  ...Object.assign({}, ...ADDONS.map(({ verbs }) => verbs)),
};

export interface RunOptions {
  readonly monotonicMs?: () => number;
  readonly now?: () => number;
}

/** Runs one command line, without the program's own name; resolves with the exit code. */
export async function runCommands(
  args: readonly string[],
  terminal: Terminal,
  { monotonicMs = () => performance.now(), now = Date.now }: RunOptions = {},
): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  const context: CommandContext = {
    terminal,
    fs: realFileSystem,
    copies: Object.assign({}, ...ADDONS.map(({ copies }) => copies)),
    historyFiles: () => {
      const surroundings = { fs: realFileSystem, env: terminal.env };
      return Promise.all(ADDONS.flatMap(({ historyFiles }) => historyFiles?.(surroundings) ?? []));
    },
    monotonicMs,
    now,
    finish: (code) => {
      exitCode = code;
    },
  };
  try {
    if (args[0] === 'complete') {
      // For shells; a `--` keeps the words from being options of ours.
      const words = args.slice(args[1] === '--' ? 2 : 1);
      const { complete } = await import('./completion.ts');
      await complete(await programFor(context, words[0] ?? ''), context, words);
      return exitCode;
    }
    const program = await programFor(context, args[0] ?? '');
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has written its own message, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const { failureOf } = await import('./failure.ts');
    const { exitCode: code, message } = failureOf(error);
    terminal.err(`flagstaff: ${message}`);
    return code;
  }
}

async function programFor(context: CommandContext, name: string): Promise<Command> {
  const { terminal } = context;
  const program = new Command('flagstaff');
  program
    .description('Start a Flagstaff server, or inspect, back up and repair its data folder.')
    .version(VERSION, '--version', 'show the version of this program')
    .helpCommand('help [command]', 'show how to use a command')
    .showHelpAfterError('(see flagstaff <command> --help)')
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
      outputError: (text, write) => write(text.replace(/^error: /, 'flagstaff: ')),
    })
    .exitOverride()
    .addHelpText(
      'after',
      `
Exit codes: 0 success, 2 changed by somebody else, 64 wrong usage, 65 damaged data, 66 not found, 69 no running server, 73 target exists,
74 disk error, 75 folder in use, 78 bad configuration, 130 interrupted.

Examples:
  flagstaff start
  flagstaff status
  flagstaff backup --to /backups/monday
  flagstaff verify --deep --data-dir /backups/monday`,
    );
  // Subcommands inherit what is set up before they are added.
  const named = Object.hasOwn(COMMANDS, name) ? [COMMANDS[name]!] : Object.values(COMMANDS);
  for (const add of await Promise.all(named.map((load) => load()))) add(program, context);
  return program;
}
