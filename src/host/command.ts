/** The base of every command: its surroundings, and the options that all commands share. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { HistoryFiles } from '../operations/history-files.ts';
import { type Moment, parseMoment } from '../operations/moment.ts';
import { OperationError } from '../operations/operation-error.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import type { FrameSource } from '../persistence/journal/mended-segment.ts';
import type { ExitCode } from '../process/exit-codes.ts';
import { dataDirOf } from '../process/settings.ts';
import { misuse } from './command-failure.ts';
import { printable } from './format.ts';
import type { Terminal } from './terminal.ts';

export interface CommandContext {
  readonly terminal: Terminal;
  readonly fs: FileSystem;
  /** Copies that add-ons offer to repairs, by name. */
  readonly copies: Readonly<Record<string, () => Promise<WithCopy>>>;
  /** Files of add-ons in data folders. */
  historyFiles(): Promise<readonly HistoryFiles[]>;
  monotonicMs(): number;
  /** Milliseconds since 1970. */
  now(): number;
  /** Sets the exit code of a command that succeeded but found something bad. */
  finish(exitCode: ExitCode): void;
}

/** Opens a copy of what is in the data folder, for as long as `use` takes. */
export type WithCopy = (
  context: CommandContext,
  folder: string,
  use: (copy: FrameSource) => Promise<void>,
) => Promise<void>;

export type AddCommand = (program: Command, context: CommandContext) => void;

export interface CommonOptions {
  readonly dataDir?: string;
  readonly json?: boolean;
}

export function withCommonOptions(command: Command): Command {
  return withJson(withDataDir(command));
}

export const withJson = (command: Command): Command => command.option('--json', 'print JSON, for scripts');

export function withDataDir(command: Command): Command {
  return command.option(
    '-d, --data-dir <folder>',
    'the data folder (default: DATA_DIR, or that of `flagstaff start` in this folder)',
  );
}

/** The data folder, which must exist. */
export function dataDirectory({ terminal }: CommandContext, { dataDir }: CommonOptions): string {
  const folder = resolve(dataDir ?? dataDirOf(terminal.env));
  if (existsSync(folder) && statSync(folder).isDirectory()) return folder;
  throw new OperationError('missing', `There is no data folder at ${folder}; name it with --data-dir.`);
}

/** JSON whose strings a terminal neither obeys nor draws in another order. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, null, 2).split('\n').map(printable).join('\n');

export function printResult(
  context: CommandContext,
  { json }: CommonOptions,
  value: unknown,
  text: string,
): void {
  context.terminal.out(json ? jsonText(value) : text);
}

export function momentOf(option: string, text: string): Moment {
  const moment = parseMoment(text);
  if (moment !== null) return moment;
  throw misuse(`${option} takes an event id, or a time such as 2025-06-01T12:00:00Z, not "${text}".`);
}
