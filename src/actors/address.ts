/**
 * Which actor owns what a command writes first: its mailbox is where the command waits. Commands that name a project go to that
 * project's actor, all others to the directory. A command may change several actors' state (creating a flag takes
 * its name in the directory): it is decided and applied in one turn of the one thread, so no other command comes
 * between, and its events are one frame.
 */
import type { Command } from '../domain/decide/decide.ts';

/** No project can have this name: a project's id has at least one character. */
export const DIRECTORY = '';

export function addressOf(command: Command): string {
  return 'project' in command && typeof command.project === 'string' ? command.project : DIRECTORY;
}
