/**
 * The operators' commands: one program, with a file for each command. Results go to standard output, everything else
 * goes to standard error, and the exit code says how the command ended (src/process/exit-codes.ts).
 */
import { Command, CommanderError } from 'commander';
import { realFileSystem } from '../persistence/disk/file-system.ts';
import { EXIT, type ExitCode } from '../process/exit-codes.ts';
import { VERSION } from '../process/installation.ts';
import { addAudit } from './audit.ts';
import { addBackup } from './backup.ts';
import { addCluster } from './cluster.ts';
import type { AddCommand, CommandContext } from './command.ts';
import { addDiff } from './diff.ts';
import { addEdge } from './edge.ts';
import { addEvents } from './events.ts';
import { addExport } from './export.ts';
import { failureOf } from './failure.ts';
import { addImportUnleash } from './import-unleash.ts';
import { addRepair } from './repair.ts';
import { addRestore } from './restore.ts';
import { addSnapshot, addToken } from './running-server.ts';
import { addStart } from './start.ts';
import { addStatus } from './status.ts';
import type { Terminal } from './terminal.ts';
import { addUpgrade } from './upgrade.ts';
import { addVerify } from './verify.ts';

const COMMANDS: readonly AddCommand[] = [
  addStart,
  addStatus,
  addEvents,
  addDiff,
  addSnapshot,
  addBackup,
  addVerify,
  addAudit,
  addRestore,
  addUpgrade,
  addRepair,
  addExport,
  addImportUnleash,
  addToken,
  addCluster,
  addEdge,
];

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
    monotonicMs,
    now,
    finish: (code) => {
      exitCode = code;
    },
  };
  try {
    await programFor(context).parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has written its own message, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const { exitCode: code, message } = failureOf(error);
    terminal.err(`flagstaff: ${message}`);
    return code;
  }
}

function programFor(context: CommandContext): Command {
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
Exit codes: 0 success, 64 wrong usage, 65 damaged data, 66 not found, 69 no running server, 73 target exists,
74 disk error, 75 folder in use, 78 bad configuration.

Examples:
  flagstaff start
  flagstaff status
  flagstaff backup --to /backups/monday
  flagstaff verify --deep --data-dir /backups/monday`,
    );
  // Subcommands inherit what is set up before they are added.
  for (const add of COMMANDS) add(program, context);
  return program;
}
