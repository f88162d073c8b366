/** Errors of the operating system about files, worded for operators. */

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'this user has no permission'],
  ['EBUSY', 'it is in use'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EEXIST', 'it exists already'],
  ['EFBIG', 'the file would be too large'],
  ['EIO', 'the disk reports an error'],
  ['EISDIR', 'it is a folder, not a file'],
  ['EMFILE', 'too many files are open'],
  ['ENFILE', 'too many files are open on this machine'],
  ['ENOENT', 'there is no such file or folder'],
  ['ENOSPC', 'the disk is full'],
  ['ENOTDIR', 'a part of its path is a file, not a folder'],
  ['EPERM', 'this user has no permission'],
  ['EROFS', 'the file system is read-only'],
]);

/** Whether the operating system refused something about a file or folder, so that its code and path say more than a stack. */
export function isFileFault(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'path' in error;
}

/** A clause without a full stop; the code and the call stay in it, to be searched for. Any other error keeps its message. */
export function wordedFault(error: Error): string {
  const { code = '', path, syscall = '' } = error as NodeJS.ErrnoException;
  const reason = code === 'EEXIST' && syscall === 'mkdir' ? 'it is a file, not a folder' : REASONS.get(code);
  if (path === undefined || reason === undefined) return error.message;
  return `${path} cannot be used: ${reason} (${code}, ${syscall})`;
}
