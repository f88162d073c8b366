/**
 * Files of rows in a folder, beside the journal and never in it. A file is replaced as a whole, so that there is always the old one or
 * the new one. Rows are MessagePack.
 *
 *   8 bytes   FLUSAGE1
 *   blocks    4 bytes length of the payload, 4 bytes its CRC-32, the payload: an array of rows (all integers little-endian)
 *   end       4 bytes zero, 4 bytes the number of rows
 *
 * The rows before the first damaged byte can be read. A damaged file is set aside.
 */
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { guard, pack, unpack } from '../../persistence/codec/message-pack.ts';
import { setAside, TEMPORARY_SUFFIX } from '../../persistence/disk/data-folder.ts';
import { type FileSystem, isMissing, type OpenFile, withFile } from '../../persistence/disk/file-system.ts';
import { replaceFile } from '../../persistence/disk/write-fully.ts';

export interface RowFilesOptions {
  readonly fs: FileSystem;
  readonly folder: string;
  /** With which the names of its files end. */
  readonly suffix: string;
  /** Told of a file that was set aside. */
  onDamaged(details: { readonly file: string; readonly problem: string }): void;
}

export class RowFiles {
  readonly #options: RowFilesOptions;
  #writing: Promise<void> = Promise.resolve();
  /** Bytes written by this process. */
  writtenBytes = 0;

  constructor(options: RowFilesOptions) {
    this.#options = options;
  }

  /** The names of the files, without their suffix; none when the folder does not exist. Removes unfinished ones. */
  async names(): Promise<readonly string[]> {
    const { fs, folder, suffix } = this.#options;
    if (!(await fs.exists(folder))) return [];
    const names = await fs.list(folder);
    for (const name of names)
      if (name.endsWith(`${suffix}${TEMPORARY_SUFFIX}`)) await fs.remove(join(folder, name));
    return names.filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length));
  }

  /** Whether the file is there and whole. Never fails for what it holds, or for a disk that cannot read it. */
  async read(name: string, take: (row: readonly unknown[]) => void): Promise<boolean> {
    const { fs, onDamaged } = this.#options;
    const path = this.#pathOf(name);
    let problem: string | null;
    try {
      problem = await problemIn(fs, path, take);
    } catch (error) {
      if (isMissing(error)) return false;
      problem = error instanceof Error ? error.message : String(error);
    }
    if (problem === null) return true;
    onDamaged({ file: path, problem });
    await setAside(fs, path);
    return false;
  }

  /** Replaces the file, on disk when it resolves. Each write waits for the one before, and goes through its rows only then. */
  write(name: string, rows: Iterable<readonly unknown[]>): Promise<void> {
    const written = this.#writing.then(() => this.#write(this.#pathOf(name), rows));
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #write(path: string, rows: Iterable<readonly unknown[]>): Promise<void> {
    const { fs, folder } = this.#options;
    await fs.makeFolder(folder);
    try {
      await replaceFile(fs, path, this.#piecesOf(rows), { durable: true });
    } catch (error) {
      // On a full disk, what failed would take what the journal needs.
      await fs.remove(`${path}${TEMPORARY_SUFFIX}`).catch(() => undefined);
      throw error;
    }
  }

  *#piecesOf(rows: Iterable<readonly unknown[]>): Generator<Buffer> {
    for (const piece of piecesOf(rows)) {
      this.writtenBytes += piece.length;
      yield piece;
    }
  }

  async remove(name: string): Promise<void> {
    try {
      await this.#options.fs.remove(this.#pathOf(name));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  #pathOf(name: string): string {
    return join(this.#options.folder, `${name}${this.#options.suffix}`);
  }
}

const MAGIC = Buffer.from('FLUSAGE1');
const HEAD_BYTES = 8;

/** Encoded in well under a millisecond, since rows are small; between two blocks, requests are served. */
const ROWS_PER_BLOCK = 500;

/** Protects memory from a damaged length. The largest row is an application with all of its instances, a few megabytes. */
const BLOCK_BYTES_MAX = 64 * 1024 * 1024;

/** An array is written once its rows may take so much, however few they are. */
const BLOCK_TEXT_MAX = 64 * 1024;

function* piecesOf(rows: Iterable<readonly unknown[]>): Generator<Buffer> {
  yield MAGIC;
  let count = 0;
  for (const block of blocksOf(rows)) {
    const payload = pack(block);
    const verdict = guard(payload);
    if (verdict.problem !== null) throw new Error(`rows cannot be written: ${verdict.problem}`);
    yield Buffer.concat([head(payload.length, crc32(payload)), payload]);
    count += block.length;
  }
  yield head(0, count);
}

function* blocksOf(rows: Iterable<readonly unknown[]>): Generator<readonly unknown[]> {
  let block: (readonly unknown[])[] = [];
  let weight = 0;
  for (const row of rows) {
    block.push(row);
    weight += weightOf(row);
    if (block.length < ROWS_PER_BLOCK && weight < BLOCK_TEXT_MAX) continue;
    yield block;
    block = [];
    weight = 0;
  }
  if (block.length > 0) yield block;
}

/** Roughly the bytes of a row, which may hold lists of rows. */
function weightOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return Array.isArray(value) ? value.reduce((sum: number, one) => sum + weightOf(one), 1) : 8;
}

function head(first: number, second: number): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES);
  bytes.writeUInt32LE(first, 0);
  bytes.writeUInt32LE(second, 4);
  return bytes;
}

/** Gives `take` every row, and returns what is wrong with the file; null for a good one. */
function problemIn(
  fs: FileSystem,
  path: string,
  take: (row: readonly unknown[]) => void,
): Promise<string | null> {
  return withFile(fs, path, async (file) => {
    const start = await bytesAt(file, 0, MAGIC.length);
    if (!start?.equals(MAGIC)) return 'it does not begin as such a file does';
    let count = 0;
    for (let at = MAGIC.length; ; ) {
      const found = await bytesAt(file, at, HEAD_BYTES);
      if (found === null) return `it ends at byte ${at}, before its end mark`;
      const [length, checksum] = [found.readUInt32LE(0), found.readUInt32LE(4)];
      if (length === 0) return checksum === count ? null : `it has ${count} rows instead of ${checksum}`;
      const payload = length > BLOCK_BYTES_MAX ? null : await bytesAt(file, at + HEAD_BYTES, length);
      const rows = payload === null || crc32(payload) !== checksum ? null : rowsIn(payload);
      if (rows === null) return `the block at byte ${at} is damaged`;
      for (const row of rows) take(row);
      count += rows.length;
      at += HEAD_BYTES + length;
    }
  });
}

function rowsIn(payload: Buffer): readonly (readonly unknown[])[] | null {
  if (guard(payload).problem !== null) return null;
  const rows = unpack(payload);
  return Array.isArray(rows) && rows.every(Array.isArray) ? rows : null;
}

/** Null where the file is shorter. */
async function bytesAt(file: OpenFile, at: number, length: number): Promise<Buffer | null> {
  if (at + length > (await file.size())) return null;
  const bytes = Buffer.allocUnsafe(length);
  return (await file.read(bytes, 0, length, at)) === length ? bytes : null;
}
