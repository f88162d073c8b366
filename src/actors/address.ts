/**
 * Says in whose mailbox a command waits. Commands that name a project wait for that project's actor, all others for
 * the directory. A command may change the state of several actors, as creating a flag takes its name in the
 * directory. It is decided and applied in one turn of the one thread, so no other command runs in between, and its
 * events are one frame.
 */
import type { Command } from '../domain/decide/decide.ts';

/** No project can have this id, because ids have at least one character. */
export const DIRECTORY = '';

export function addressOf(command: Command): string {
  return 'project' in command && typeof command.project === 'string' ? command.project : DIRECTORY;
}
