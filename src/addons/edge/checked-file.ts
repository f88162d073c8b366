/**
 * A file that is written whole under another name and then renamed, so there is the old one or the new one and never half of one.
 *
 *   flagstaff-edge 1 <SHA-256 of the rest, hexadecimal>\n
 *   <JSON>
 *
 * Such files hold tokens as they are, since only with them can the upstream be asked; so nobody but their owner may read them. A file
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

export class CheckedFile<S extends v.GenericSchema> {
  readonly #file: string;
  readonly #schema: S;
  #writing: Promise<void> = Promise.resolve();

  constructor(file: string, schema: S) {
    this.#file = file;
    this.#schema = schema;
  }

  /** Null where there is none, or none that can be used; `onDamaged` is told of one that was set aside. */
  async read(onDamaged: (problem: string, file: string) => void): Promise<v.InferOutput<S> | null> {
    const bytes = await this.#bytes();
    if (bytes === null) return null;
    const content = this.#contentOf(bytes);
    if ('value' in content) return content.value;
    const aside = `${this.#file}${DAMAGED_SUFFIX}`;
    await rename(this.#file, aside);
    onDamaged(content.problem, aside);
    return null;
  }

  /** Each waits for the one before. Rejects where the disk does. */
  write(content: v.InferInput<S>): Promise<void> {
    const written = this.#writing.then(() => this.#write(content));
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

  async #write(content: v.InferInput<S>): Promise<void> {
    const chunks: Buffer[] = [];
    const hash = createHash('sha256');
    await inTurns(
      each(chunksOf(content), (chunk) => {
        hash.update(chunk);
        chunks.push(chunk);
      }),
    );
    const head = Buffer.from(`flagstaff-edge ${VERSION} ${hash.digest('hex')}\n`);
    makeFolder(dirname(this.#file));
    await replaceFile(realFileSystem, this.#file, [head, ...chunks], { durable: true });
  }

  #contentOf(bytes: Buffer): { readonly value: v.InferOutput<S> } | { readonly problem: string } {
    const end = Math.max(bytes.indexOf('\n'), 0);
    const head = bytes.toString('latin1', 0, end);
    const [, version, checksum] = /^flagstaff-edge (\S+) ([0-9a-f]{64})$/.exec(head) ?? [];
    if (version === undefined) return { problem: 'it does not begin as a file of an edge does' };
    if (version !== VERSION)
      return { problem: `it is of the format ${version}, and this version reads ${VERSION}` };
    const json = bytes.subarray(end + 1);
    if (checksumOf(json) !== checksum) return { problem: 'it does not fit its checksum' };
    const result = v.safeParse(this.#schema, JSON.parse(json.toString('utf8')));
    if (result.success) return { value: result.output };
    return { problem: `it has something else than expected at ${v.getDotPath(result.issues[0])}` };
  }
}

/** Bytes that are made in one step. */
const CHUNK_BYTES = 64 * 1024;

/** Levels of lists and objects whose items are written one by one. */
const LEVELS = 4;

function* chunksOf(content: unknown): Generator<Buffer> {
  let text = '';
  for (const piece of jsonPieces(content, LEVELS)) {
    text += piece;
    if (text.length < CHUNK_BYTES) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}

function* jsonPieces(value: unknown, levels: number): Generator<string> {
  if (levels === 0 || typeof value !== 'object' || value === null) return yield JSON.stringify(value);
  const isList = Array.isArray(value);
  let before = isList ? '[' : '{';
  for (const name in value) {
    yield isList ? before : `${before}${JSON.stringify(name)}:`;
    yield* jsonPieces(value[name as keyof typeof value], levels - 1);
    before = ',';
  }
  yield `${before === ',' ? '' : before}${isList ? ']' : '}'}`;
}

const checksumOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
