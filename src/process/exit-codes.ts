/**
 * Exit codes of the server and of the operators' commands: those of sysexits.h, so that a supervisor or a script
 * can tell what is worth a restart, and a human finds the meaning in the manual.
 */
export const EXIT = {
  ok: 0,
  /** EX_USAGE: the command was used wrongly. */
  usage: 64,
  /** EX_DATAERR: the data folder cannot be read as it is; a restart will not help. */
  damagedData: 65,
  /** EX_NOINPUT: a file or folder named on the command line does not exist. */
  noInput: 66,
  /** EX_UNAVAILABLE: a command needs a running server and there is none, or the server's port is taken. */
  unavailable: 69,
  /** EX_SOFTWARE: a fault of the program. */
  fault: 70,
  /** EX_CANTCREAT: what the command should create exists already, or cannot be created. */
  cannotCreate: 73,
  /** EX_IOERR: the journal, or what a command writes, could not be written or synced. */
  journalFailed: 74,
  /** EX_TEMPFAIL: another process has the data folder open. */
  folderLocked: 75,
  /** EX_NOPERM: another node of the cluster took over; started again, this one follows. */
  deposed: 77,
  /** EX_CONFIG: an environment variable has a value that cannot be used, such as a host that this machine lacks. */
  badConfig: 78,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
