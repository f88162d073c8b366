/**
 * The folder of what applications reported. Each file is named after what it holds; one that is damaged is set aside, and the rows before
 * the damage count.
 */
import { join } from 'node:path';
import { DAMAGED_SUFFIX, TEMPORARY_SUFFIX } from '../disk/data-folder.ts';
import { type FileSystem, isMissing } from '../disk/file-system.ts';
import { readUsageFile, writeUsageFile } from './usage-file.ts';

export const USAGE_SUFFIX = '.usage';

export interface UsageFolderOptions {
  readonly fs: FileSystem;
  readonly folder: string;
  /** Told of a file that was set aside. */
  onDamaged(details: { readonly file: string; readonly problem: string }): void;
}

export class UsageFolder {
  readonly #options: UsageFolderOptions;
  /** Bytes written by this process. */
  writtenBytes = 0;

  constructor(options: UsageFolderOptions) {
    this.#options = options;
  }

  /** The names of the files, without their suffix; none when the folder does not exist. Removes unfinished ones. */
  async names(): Promise<readonly string[]> {
    const { fs, folder } = this.#options;
    if (!(await fs.exists(folder))) return [];
    const names = await fs.list(folder);
    for (const name of names) if (name.endsWith(TEMPORARY_SUFFIX)) await fs.remove(join(folder, name));
    return names
      .filter((name) => name.endsWith(USAGE_SUFFIX))
      .map((name) => name.slice(0, -USAGE_SUFFIX.length));
  }

  /** Never fails for what the file holds, or for a disk that cannot read it. */
  async read(name: string, take: (row: readonly unknown[]) => void): Promise<void> {
    const { fs, onDamaged } = this.#options;
    const path = this.#pathOf(name);
    let problem: string | null;
    try {
      problem = await readUsageFile(fs, path, take);
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
    if (problem === null) return;
    onDamaged({ file: path, problem });
    await fs.rename(path, `${path}${DAMAGED_SUFFIX}`);
  }

  /** Replaces the file, on disk when it returns. */
  async write(name: string, rows: Iterable<readonly unknown[]>): Promise<void> {
    const { fs, folder } = this.#options;
    await fs.makeFolder(folder);
    this.writtenBytes += await writeUsageFile(fs, this.#pathOf(name), rows);
  }

  async remove(name: string): Promise<void> {
    try {
      await this.#options.fs.remove(this.#pathOf(name));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  #pathOf(name: string): string {
    return join(this.#options.folder, `${name}${USAGE_SUFFIX}`);
  }
}
