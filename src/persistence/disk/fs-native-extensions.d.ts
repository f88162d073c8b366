/** The one function used of a package that comes without types. */
declare module 'fs-native-extensions' {
  /** Whether an exclusive lock on the whole file was granted. */
  export function tryLock(fd: number): boolean;
}
