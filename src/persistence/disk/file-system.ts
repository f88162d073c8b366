/**
 * The port through which persistence reaches the disk: the real one is here, the simulated one in test/support.
 *
 * Guarantees that callers build on, and that a simulation has to model:
 * - a write is lost by a power cut until `datasync` or `sync` of its file has returned; parts of it may survive;
 * - a created, renamed or removed name is lost by a power cut until `syncFolder` of its folder has returned;
 * - `write` may write less than it was given, without an error: on a full disk that is the first sign;
 * - after a failed `datasync` or `sync` nothing is known about what had been written, so no caller may retry.
 *
 * All calls but `makeFolder` go through libuv's threads and do not block the event loop.
 */
import fs, { constants, promises } from 'node:fs';
import { dirname } from 'node:path';

/** `read`: must exist. `write`: read and write, must exist. `create`: read and write, must not exist. */
export type OpenMode = 'read' | 'write' | 'create';

export interface OpenFile {
  /** Bytes read, fewer than `length` only at the end of the file. */
  read(target: Uint8Array, targetOffset: number, length: number, position: number): Promise<number>;
  /** Bytes written, possibly fewer than `length`. */
  write(source: Uint8Array, sourceOffset: number, length: number, position: number): Promise<number>;
  /**
   * Writes as `write` does, then syncs as `datasync` does. One call, because each call waits for a thread and then
   * for the event loop, which together take a good part of what a fast disk takes.
   */
  writeDurably(source: Uint8Array, sourceOffset: number, length: number, position: number): Promise<number>;
  /** Data, and the size if it changed. */
  datasync(): Promise<void>;
  sync(): Promise<void>;
  truncate(size: number): Promise<void>;
  size(): Promise<number>;
  /** Whether `path` still leads to this very file: it was not removed, renamed or replaced since it was opened. */
  isAt(path: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface FileSystem {
  open(path: string, mode: OpenMode): Promise<OpenFile>;
  exists(path: string): Promise<boolean>;
  /** Names in the folder, sorted; files only. */
  list(folder: string): Promise<readonly string[]>;
  /** Creates the folder and its missing parents, unless it exists. */
  makeFolder(folder: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  syncFolder(folder: string): Promise<void>;
  /** Bytes that this process may still write on the device that holds the folder. */
  freeBytes(folder: string): Promise<number>;
}

const FLAGS: Readonly<Record<OpenMode, string>> = { read: 'r', write: 'r+', create: 'wx+' };

/**
 * With it each write returns when the disk has it, as by `fdatasync` (open(2)). Linux only: macOS has the flag, but
 * there it leaves the data in the disk's cache, which its `fdatasync`, as libuv calls it, does not.
 */
const SYNCHRONOUS = process.platform === 'linux' ? constants.O_RDWR | constants.O_DSYNC : null;

/** A file by its descriptor. Wrapping the callbacks by hand costs a third of the `FileHandle` of node:fs. */
class RealFile implements OpenFile {
  readonly #path: string;
  readonly #fd: number;
  /** A second one whose writes are synchronous; opened by the first durable write. */
  #synchronousFd: number | null = null;

  readonly #mayWait: () => boolean;

  constructor(path: string, fd: number, mayWait: () => boolean) {
    this.#path = path;
    this.#fd = fd;
    this.#mayWait = mayWait;
  }

  async read(target: Uint8Array, targetOffset: number, length: number, position: number): Promise<number> {
    let done = 0;
    while (done < length) {
      const count = await this.#readOnce(target, targetOffset + done, length - done, position + done);
      if (count === 0) break;
      done += count;
    }
    return done;
  }

  #readOnce(target: Uint8Array, offset: number, length: number, position: number): Promise<number> {
    return this.#call((done) => fs.read(this.#fd, target, offset, length, position, done));
  }

  write(source: Uint8Array, sourceOffset: number, length: number, position: number): Promise<number> {
    return this.#call((done) => fs.write(this.#fd, source, sourceOffset, length, position, done));
  }

  async writeDurably(
    source: Uint8Array,
    sourceOffset: number,
    length: number,
    position: number,
  ): Promise<number> {
    if (SYNCHRONOUS === null) {
      const written = await this.write(source, sourceOffset, length, position);
      await this.datasync();
      return written;
    }
    this.#synchronousFd ??= await openDescriptor(this.#path, SYNCHRONOUS, this.#mayWait);
    const fd = this.#synchronousFd;
    return this.#call((done) => fs.write(fd, source, sourceOffset, length, position, done));
  }

  datasync(): Promise<void> {
    return this.#call((done) => fs.fdatasync(this.#fd, done));
  }

  sync(): Promise<void> {
    return this.#call((done) => fs.fsync(this.#fd, done));
  }

  truncate(size: number): Promise<void> {
    return this.#call((done) => fs.ftruncate(this.#fd, size, done));
  }

  async size(): Promise<number> {
    return (await this.#call<fs.Stats>((done) => fs.fstat(this.#fd, done))).size;
  }

  isAt(path: string): Promise<boolean> {
    return isOpenAt(this.#fd, path);
  }

  async close(): Promise<void> {
    const fds = [this.#synchronousFd, this.#fd].filter((fd) => fd !== null);
    this.#synchronousFd = null;
    for (const fd of fds) await this.#call<void>((done) => fs.close(fd, done));
  }

  /** The result of a call on a descriptor, which the kernel knows; who reads its error has to know the file. */
  #call<T>(call: (done: (error: NodeJS.ErrnoException | null, value: T) => void) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      call((error, value) => (error ? reject(named(error, this.#path)) : resolve(value)));
    });
  }
}

/** The error of a call on a descriptor, with the file that it has open. */
export function named(error: NodeJS.ErrnoException, path: string): NodeJS.ErrnoException {
  error.path = path;
  error.message += ` '${path}'`;
  return error;
}

/** Whether `path` leads to the file that has this descriptor. */
export async function isOpenAt(fd: number, path: string): Promise<boolean> {
  const [open, named] = await Promise.all([
    new Promise<fs.Stats>((resolve, reject) => {
      fs.fstat(fd, (error, stats) => (error ? reject(error) : resolve(stats)));
    }),
    unlessMissing(promises.stat(path), null),
  ]);
  return named !== null && named.ino === open.ino && named.dev === open.dev;
}

/** Far longer than other users of descriptors keep theirs; then something else is wrong. */
const DESCRIPTOR_WAIT_MS_MAX = 60_000;
const DESCRIPTOR_RETRY_MS = 20;

/**
 * Waits while all descriptors are taken: connections and readers give theirs back soon, and nothing has been written yet,
 * so that to wait is safe where to fail would end the process. A process that stops has closed its connections, and waits no more.
 */
async function openDescriptor(path: string, flags: string | number, mayWait: () => boolean): Promise<number> {
  for (let waitedMs = 0; ; waitedMs += DESCRIPTOR_RETRY_MS) {
    try {
      return await tryToOpen(path, flags);
    } catch (error) {
      if (!isOutOfDescriptors(error) || waitedMs >= DESCRIPTOR_WAIT_MS_MAX || !mayWait()) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, DESCRIPTOR_RETRY_MS));
  }
}

function tryToOpen(path: string, flags: string | number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.open(path, flags, 0o600, (error, fd) => (error ? reject(error) : resolve(fd)));
  });
}

/** Whether the process, or the whole machine, has no descriptor left. */
function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE');
}

/** `mayWait`: asked while all file descriptors are taken; where it says no, a file that cannot be opened fails at once. */
export const createFileSystem = (mayWait: () => boolean): FileSystem => ({
  async open(path, mode) {
    return new RealFile(path, await openDescriptor(path, FLAGS[mode], mayWait), mayWait);
  },

  exists: (path) =>
    unlessMissing(
      promises.access(path).then(() => true),
      false,
    ),

  async list(folder) {
    const entries = await promises.readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
  },

  async makeFolder(folder) {
    makeFolder(folder);
  },

  rename: promises.rename,
  remove: promises.unlink,

  async syncFolder(folder) {
    const handle = new RealFile(folder, await openDescriptor(folder, 'r', mayWait), mayWait);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },

  async freeBytes(folder) {
    const { bavail, bsize } = await promises.statfs(folder);
    return bavail * bsize;
  },
});

export const realFileSystem: FileSystem = createFileSystem(() => true);

/** Whether a call failed because the name does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** Gives `otherwise` where the file or folder does not exist, or has been deleted meanwhile. */
export async function unlessMissing<T, Otherwise>(
  wanted: Promise<T>,
  otherwise: Otherwise,
): Promise<T | Otherwise> {
  try {
    return await wanted;
  } catch (error) {
    if (isMissing(error)) return otherwise;
    throw error;
  }
}

/** Opens a file for the duration of `use`, and closes it whatever happens. */
export async function withFile<T>(
  fs: FileSystem,
  path: string,
  use: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const file = await fs.open(path, 'read');
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

/** Codes that the kernel reports for bytes that the disk, or its file system, can no longer give back. */
const UNREADABLE_CODES = new Set(['EIO', 'EBADMSG', 'EUCLEAN']);

export function isUnreadable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && UNREADABLE_CODES.has(String(error.code));
}

/** Describes a place that cannot be read. */
export const UNREADABLE = 'the disk cannot read it';

/** How finely an unreadable place is searched for: the kernel reads whole pages. */
const PAGE_BYTES = 4096;

export interface LenientReading {
  /** Bytes read or replaced, fewer than asked for only at the end of the file. */
  readonly count: number;
  /** Offset in the file of the first page that cannot be read; null when all could be. */
  readonly unreadableAt: number | null;
}

/** Reads into the beginning of `target`, and puts zeros where the disk cannot read. */
export async function readLeniently(
  file: OpenFile,
  target: Uint8Array,
  length: number,
  position: number,
): Promise<LenientReading> {
  try {
    return { count: await file.read(target, 0, length, position), unreadableAt: null };
  } catch (error) {
    if (!isUnreadable(error)) throw error;
  }
  const end = Math.min(position + length, await file.size());
  let unreadableAt: number | null = null;
  for (let at = position; at < end; ) {
    const pageEnd = Math.min(end, at - (at % PAGE_BYTES) + PAGE_BYTES);
    try {
      await file.read(target, at - position, pageEnd - at, at);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      target.fill(0, at - position, pageEnd - position);
      unreadableAt ??= at;
    }
    at = pageEnd;
  }
  return { count: Math.max(0, end - position), unreadableAt };
}

/**
 * Makes a folder and those above it that are missing, for this user only.
 *
 * Not with the `recursive` of Node: where a folder refuses new ones with ENOENT, as `/proc` does, it tries for ever and
 * holds the thread.
 */
export function makeFolder(folder: string): void {
  if (isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent);
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it in between.
    if (!isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
