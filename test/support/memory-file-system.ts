/**
 * A disk in memory that can lose its power: the simulated counterpart of src/persistence/disk/file-system.ts.
 *
 * It keeps apart what was synced and what was not, for the content of files and for the names in folders, so that
 * `powerCut` can hand back any disk that a real one might be after the power returns. `crash` is the milder end: the
 * process dies, the kernel lives, nothing written is lost. After either, the old disk and its open files only throw.
 *
 * Simplified: folders themselves are durable once made, and names change in their order.
 *
 * Every call passes `beforeCall` (throw there, or wait there, to fail or delay it) and is numbered, so that a test
 * can fail the first, the second, … call of a scenario in turn. All choices come from a seed.
 */
import { dirname } from 'node:path';
import type { FileSystem, OpenFile, OpenMode } from '../../src/persistence/disk/file-system.ts';
import { MemoryFile, type Survival } from './memory-file.ts';
import type { SeededRandom } from './seeded-random.ts';

export type CallKind =
  | 'open'
  | 'exists'
  | 'list'
  | 'makeFolder'
  | 'rename'
  | 'remove'
  | 'syncFolder'
  | 'freeBytes'
  | 'read'
  | 'write'
  | 'datasync'
  | 'sync'
  | 'truncate'
  | 'size'
  | 'isAt'
  | 'close';

export interface Call {
  /** 1 for the first call to this disk. */
  readonly number: number;
  readonly kind: CallKind;
  readonly path: string;
}

/** Throw to fail the call before it has any effect; return a promise to delay it. */
export type BeforeCall = (call: Call) => void | Promise<void>;

type NameChange =
  | { readonly kind: 'set'; readonly path: string; readonly file: MemoryFile }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string; readonly file: MemoryFile }
  | { readonly kind: 'remove'; readonly path: string };

export interface MemoryFileSystemOptions {
  readonly beforeCall?: BeforeCall;
  /** Bytes that fit on the disk; a write that does not fit is cut short, the next one fails. */
  readonly capacityBytes?: number;
}

/** An error as node:fs reports it. */
export function ioError(code: 'EIO' | 'ENOSPC' | 'ENOENT' | 'EEXIST', what: string): Error {
  return Object.assign(new Error(`${code}: ${what}`), { code });
}

export class MemoryFileSystem implements FileSystem {
  beforeCall: BeforeCall | null;
  capacityBytes: number;
  #names = new Map<string, MemoryFile>();
  #durableNames = new Map<string, MemoryFile>();
  #nameChanges: NameChange[] = [];
  #folders = new Set<string>(['/']);
  #calls = 0;
  #poweredOff = false;

  constructor({ beforeCall, capacityBytes = Number.POSITIVE_INFINITY }: MemoryFileSystemOptions = {}) {
    this.beforeCall = beforeCall ?? null;
    this.capacityBytes = capacityBytes;
  }

  /** By path: bytes read from the files of this disk so far. */
  readonly bytesRead = new Map<string, number>();

  /** Calls made so far. */
  get calls(): number {
    return this.#calls;
  }

  get poweredOff(): boolean {
    return this.#poweredOff;
  }

  async open(path: string, mode: OpenMode): Promise<OpenFile> {
    await this.pass('open', path);
    const existing = this.#names.get(path);
    if (mode !== 'create') {
      if (existing === undefined) throw ioError('ENOENT', `open ${path}`);
      return new OpenMemoryFile(this, existing, path);
    }
    if (existing !== undefined) throw ioError('EEXIST', `open ${path}`);
    if (!this.#folders.has(dirname(path))) throw ioError('ENOENT', `open ${path}`);
    const file = new MemoryFile();
    this.#changeName({ kind: 'set', path, file });
    return new OpenMemoryFile(this, file, path);
  }

  async exists(path: string): Promise<boolean> {
    await this.pass('exists', path);
    return this.#names.has(path) || this.#folders.has(path);
  }

  async list(folder: string): Promise<readonly string[]> {
    await this.pass('list', folder);
    if (!this.#folders.has(folder)) throw ioError('ENOENT', `list ${folder}`);
    return this.namesIn(folder);
  }

  async makeFolder(folder: string): Promise<void> {
    await this.pass('makeFolder', folder);
    for (let path = folder; !this.#folders.has(path); path = dirname(path)) this.#folders.add(path);
  }

  async rename(from: string, to: string): Promise<void> {
    await this.pass('rename', from);
    const file = this.#names.get(from);
    if (file === undefined) throw ioError('ENOENT', `rename ${from}`);
    this.#changeName({ kind: 'rename', path: from, to, file });
  }

  async remove(path: string): Promise<void> {
    await this.pass('remove', path);
    if (!this.#names.has(path)) throw ioError('ENOENT', `remove ${path}`);
    this.#changeName({ kind: 'remove', path });
  }

  async syncFolder(folder: string): Promise<void> {
    await this.pass('syncFolder', folder);
    const inFolder = (change: NameChange): boolean => dirname(change.path) === folder;
    for (const change of this.#nameChanges.filter(inFolder)) applyName(this.#durableNames, change);
    this.#nameChanges = this.#nameChanges.filter((change) => !inFolder(change));
  }

  async freeBytes(folder: string): Promise<number> {
    await this.pass('freeBytes', folder);
    return this.roomLeft();
  }

  /** Whether the name leads to this file. */
  leadsTo(path: string, file: MemoryFile): boolean {
    return this.#names.get(path) === file;
  }

  roomLeft(): number {
    let used = 0;
    for (const file of this.#names.values()) used += file.size;
    return Math.max(0, this.capacityBytes - used);
  }

  /** Every call comes through here first. */
  async pass(kind: CallKind, path: string): Promise<void> {
    this.#calls += 1;
    this.assertPower();
    if (this.beforeCall === null) return;
    await this.beforeCall({ number: this.#calls, kind, path });
    this.assertPower();
  }

  assertPower(): void {
    // Not an error that a disk reports: the code would take it for a sector that cannot be read.
    if (this.#poweredOff) throw new Error('the power is off');
  }

  #changeName(change: NameChange): void {
    applyName(this.#names, change);
    this.#nameChanges.push(change);
  }

  // What tests see and do, past every fault.

  namesIn(folder: string): readonly string[] {
    const inFolder = [...this.#names.keys()].filter((path) => dirname(path) === folder);
    return inFolder.map((path) => path.slice(folder.length + 1)).sort();
  }

  /** The content of a file. */
  bytesOf(path: string): Buffer {
    const file = this.#names.get(path);
    if (file === undefined) throw ioError('ENOENT', path);
    return file.bytes();
  }

  /** Puts a file in place, synced, as if it had always been there. */
  put(path: string, bytes: Uint8Array): void {
    const file = new MemoryFile();
    file.replace(bytes);
    this.#folders.add(dirname(path));
    this.#names.set(path, file);
    this.#durableNames.set(path, file);
  }

  /** Takes a file away, synced. */
  take(path: string): void {
    this.#names.delete(path);
    this.#durableNames.delete(path);
  }

  /** An independent disk with the same files, everything synced. */
  copy(): MemoryFileSystem {
    const copy = new MemoryFileSystem({ capacityBytes: this.capacityBytes });
    copy.#folders = new Set(this.#folders);
    for (const [path, file] of this.#names) copy.put(path, file.bytes());
    return copy;
  }

  /** The process dies, the machine runs on: nothing written is lost, nor becomes any more durable. */
  crash(): MemoryFileSystem {
    const next = new MemoryFileSystem({ capacityBytes: this.capacityBytes });
    next.#names = this.#names;
    next.#durableNames = this.#durableNames;
    next.#nameChanges = this.#nameChanges;
    next.#folders = this.#folders;
    this.#names = new Map();
    this.#poweredOff = true;
    return next;
  }

  /** The machine dies: the disk as it may be found, chosen by `random` within `survival`. */
  powerCut(survival: Survival, random: SeededRandom): MemoryFileSystem {
    const next = new MemoryFileSystem({ capacityBytes: this.capacityBytes });
    next.#folders = this.#folders;
    const names = new Map(this.#durableNames);
    for (const change of survivingNames(this.#nameChanges, survival, random)) applyName(names, change);
    for (const [path, file] of names) next.#names.set(path, file.afterPowerCut(survival, random));
    next.#durableNames = new Map(next.#names);
    this.#poweredOff = true;
    return next;
  }
}

function applyName(names: Map<string, MemoryFile>, change: NameChange): void {
  if (change.kind === 'set') names.set(change.path, change.file);
  else names.delete(change.path);
  if (change.kind === 'rename') names.set(change.to, change.file);
}

/** Journalling file systems keep the order of names: what survives is a prefix. */
function survivingNames(
  changes: readonly NameChange[],
  survival: Survival,
  random: SeededRandom,
): readonly NameChange[] {
  if (survival === 'kept') return changes;
  if (survival === 'lost') return [];
  return changes.slice(0, random.below(changes.length + 1));
}

class OpenMemoryFile implements OpenFile {
  readonly #disk: MemoryFileSystem;
  readonly #file: MemoryFile;
  readonly #path: string;

  constructor(disk: MemoryFileSystem, file: MemoryFile, path: string) {
    this.#disk = disk;
    this.#file = file;
    this.#path = path;
  }

  async read(target: Uint8Array, targetOffset: number, length: number, position: number): Promise<number> {
    await this.#disk.pass('read', this.#path);
    const count = this.#file.read(target, targetOffset, length, position);
    this.#disk.bytesRead.set(this.#path, (this.#disk.bytesRead.get(this.#path) ?? 0) + count);
    return count;
  }

  async write(source: Uint8Array, sourceOffset: number, length: number, position: number): Promise<number> {
    // The bytes are taken when the call takes effect, after any delay, as libuv's threads do: a caller that reuses
    // its buffer too early writes garbage here too.
    await this.#disk.pass('write', this.#path);
    const growth = Math.max(0, position + length - this.#file.size);
    const room = this.#disk.roomLeft();
    const written = growth > room ? length - (growth - room) : length;
    // Nothing fits, be it that the gap before a write behind the end takes the room already.
    if (growth > 0 && written <= 0) throw ioError('ENOSPC', `write ${this.#path}`);
    this.#file.write(source.subarray(sourceOffset, sourceOffset + written), position);
    return written;
  }

  /** Both steps can fail, be delayed or cut off by themselves, as in the kernel. */
  async writeDurably(
    source: Uint8Array,
    sourceOffset: number,
    length: number,
    position: number,
  ): Promise<number> {
    const written = await this.write(source, sourceOffset, length, position);
    await this.datasync();
    return written;
  }

  async datasync(): Promise<void> {
    await this.#sync('datasync');
  }

  async sync(): Promise<void> {
    await this.#sync('sync');
  }

  async #sync(kind: 'sync' | 'datasync'): Promise<void> {
    try {
      await this.#disk.pass(kind, this.#path);
    } catch (error) {
      // A process that died takes no pages with it; a disk that reports an error does.
      if (!this.#disk.poweredOff) this.#file.forgetChanges();
      throw error;
    }
    this.#file.sync();
  }

  async truncate(size: number): Promise<void> {
    await this.#disk.pass('truncate', this.#path);
    this.#file.truncate(size);
  }

  async size(): Promise<number> {
    await this.#disk.pass('size', this.#path);
    return this.#file.size;
  }

  async isAt(path: string): Promise<boolean> {
    await this.#disk.pass('isAt', this.#path);
    return this.#disk.leadsTo(path, this.#file);
  }

  async close(): Promise<void> {
    await this.#disk.pass('close', this.#path);
  }
}
