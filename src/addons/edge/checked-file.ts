/**
 * A file of records that is written whole under another name and then renamed, so there is the old one or the new one and never half of
 * one. Each record is a line, so that it is written and read in turns however much it holds.
 *
 *   flagstaff-edge 1 <SHA-256 of the rest, hexadecimal>\n
 *   <JSON of a record>\n, for each
 *
 * Such files hold tokens as they are, since only with them can the upstream be asked; so only their owner may read them. A file
 * that does not fit its checksum is set aside under the suffix `.damaged`, and said.
 */
import { createHash } from 'node:crypto';
import { readFile, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as v from 'valibot';
import { each, inTurns } from '../../actors/turn.ts';
import { DAMAGED_SUFFIX } from '../../persistence/disk/data-folder.ts';
import { isMissing, makeFolder, realFileSystem } from '../../persistence/disk/file-system.ts';
import { replaceFile } from '../../persistence/disk/write-fully.ts';

const VERSION = '1';

/** Protects memory from a file that is none of ours: four of the largest documents. */
export const FILE_BYTES_MAX = 400 * 1024 * 1024;

/** Bytes of the first line at most. */
const HEAD_BYTES_MAX = 200;

/** Bytes that are made or hashed in one step. */
const CHUNK_BYTES = 64 * 1024;

const NEWLINE = 0x0a;

/** The file is not as it was written. */
class DamagedError extends Error {
  override readonly name = 'DamagedError';
}

export class CheckedFile<S extends v.GenericSchema> {
  readonly #file: string;
  readonly #record: S;
  #writing: Promise<void> = Promise.resolve();

  constructor(file: string, record: S) {
    this.#file = file;
    this.#record = record;
  }

  /** The records; null where there is no file, or none that can be used. `onDamaged` is called for one that was set aside. */
  async read(
    onDamaged: (problem: string, file: string) => void,
  ): Promise<readonly v.InferOutput<S>[] | null> {
    const bytes = await this.#bytes();
    if (bytes === null) return null;
    try {
      return await this.#recordsIn(bytes);
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error;
      const aside = `${this.#file}${DAMAGED_SUFFIX}`;
      await rename(this.#file, aside);
      onDamaged(error.message, aside);
      return null;
    }
  }

  /** `linesOf` gives the JSON of each record once the write begins: each waits for the one before. Rejects where the disk does. */
  write(linesOf: () => Iterable<string>): Promise<void> {
    const written = this.#writing.then(() => this.#write(linesOf()));
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #bytes(): Promise<Buffer | null> {
    try {
      const { size } = await stat(this.#file);
      return size > FILE_BYTES_MAX ? Buffer.alloc(0) : await readFile(this.#file);
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async #write(lines: Iterable<string>): Promise<void> {
    const chunks: Buffer[] = [];
    const hash = createHash('sha256');
    await inTurns(
      each(chunksOf(lines), (chunk) => {
        hash.update(chunk);
        chunks.push(chunk);
      }),
    );
    const head = Buffer.from(`flagstaff-edge ${VERSION} ${hash.digest('hex')}\n`);
    makeFolder(dirname(this.#file));
    await replaceFile(realFileSystem, this.#file, [head, ...chunks], { durable: true });
  }

  async #recordsIn(bytes: Buffer): Promise<readonly v.InferOutput<S>[]> {
    const end = Math.max(bytes.subarray(0, HEAD_BYTES_MAX).indexOf(NEWLINE), 0);
    const head = bytes.toString('latin1', 0, end);
    const [, version, checksum] = /^flagstaff-edge (\S+) ([0-9a-f]{64})$/.exec(head) ?? [];
    if (version === undefined) throw new DamagedError('it does not begin as a file of an edge does');
    if (version !== VERSION)
      throw new DamagedError(`it is of the format ${version}, and this version reads ${VERSION}`);
    const lines = bytes.subarray(end + 1);
    const hash = createHash('sha256');
    await inTurns(each(piecesOf(lines), (piece) => void hash.update(piece)));
    if (hash.digest('hex') !== checksum) throw new DamagedError('it does not fit its checksum');
    const records: v.InferOutput<S>[] = [];
    await inTurns(
      each(linesIn(lines), (line) => void records.push(this.#recordIn(line, records.length + 1))),
    );
    return records;
  }

  #recordIn(line: string, number: number): v.InferOutput<S> {
    const result = v.safeParse(this.#record, parsed(line));
    if (result.success) return result.output;
    const place = v.getDotPath(result.issues[0]) ?? 'the top';
    throw new DamagedError(`record ${number} has something else than expected at ${place}`);
  }
}

/** Undefined where it is no JSON. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function* chunksOf(lines: Iterable<string>): Generator<Buffer> {
  let text = '';
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length < CHUNK_BYTES) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.byteLength; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}

function* linesIn(bytes: Buffer): Generator<string> {
  for (let at = 0; at < bytes.byteLength; ) {
    const found = bytes.indexOf(NEWLINE, at);
    const end = found === -1 ? bytes.byteLength : found;
    yield bytes.toString('utf8', at, end);
    at = end + 1;
  }
}
