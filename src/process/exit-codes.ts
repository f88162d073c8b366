/**
 * Exit codes of the server and of the operators' commands: those of sysexits.h, so that a supervisor or a script can tell what is
 * worth a restart. docs/operating-reference.md prints their meanings.
 */
export const EXIT = {
  ok: 0,
  drift: 2,
  usage: 64,
  damagedData: 65,
  noInput: 66,
  unavailable: 69,
  fault: 70,
  cannotCreate: 73,
  journalFailed: 74,
  folderLocked: 75,
  deposed: 77,
  badConfig: 78,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The meaning of each code, and what an operator does about it. Links begin at the root of the repository. */
export const EXIT_MEANINGS: Readonly<
  Record<keyof typeof EXIT, { readonly meaning: string; readonly advice: string }>
> = {
  ok: { meaning: 'success, or a clean shutdown', advice: '–' },
  drift: {
    meaning: 'what files of flags are about was changed by somebody else, and was not overwritten',
    advice: 'read the message, which names flag, environment and field; then `flagstaff pull`, or set `base`',
  },
  usage: {
    meaning: 'unknown or missing argument, or a confirmation that was declined',
    advice: 'correct the command line',
  },
  damagedData: {
    meaning:
      'the data folder or the import is damaged or refused; `import-unleash --prove` found a flag that differs',
    advice:
      'read the message, which names file, offset and last good event; then [repair the folder](docs/operating-commands.md#when-the-server-refuses-to-start)',
  },
  noInput: {
    meaning: 'a file, folder or flag on the command line does not exist',
    advice: 'correct the command line',
  },
  unavailable: {
    meaning:
      'the port is taken; or a command found no running server, was refused by it, or cannot use its response',
    advice:
      'stop the other process, set another `HTTP_PORT`, or start the server; else read the message, which names the server',
  },
  fault: { meaning: 'internal error', advice: 'report it with the log; a restart is safe' },
  cannotCreate: {
    meaning: 'the output of a command exists already, or cannot be created',
    advice: 'choose another path',
  },
  journalFailed: {
    meaning:
      'the disk could not be read or written, or the open journal was deleted; nothing acknowledged is lost',
    advice: 'check the disk, `DATA_DIR` and its permissions before a restart',
  },
  folderLocked: {
    meaning: 'another process has the data folder open',
    advice: 'stop that process',
  },
  deposed: {
    meaning: 'another node of the cluster took over',
    advice: 'restart it, as supervisors do; it [follows](docs/cluster.md#fail-over)',
  },
  badConfig: {
    meaning: 'invalid setting, or this machine lacks the address in `HTTP_HOST`',
    advice: 'read the message, which names the setting',
  },
  interrupted: {
    meaning: 'Ctrl-C stopped a command that changes flags of a server',
    advice: '`flagstaff plan` shows what is left; each call happened as a whole or not at all',
  },
};
