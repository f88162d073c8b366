/** Fills a mirror from a file, for an edge without an upstream; the file is read again from time to time. A file that cannot be read changes nothing. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { MirrorSource } from './feed.ts';
import type { Mirror } from './mirror.ts';
import { readDocument } from './upstream-document.ts';

export interface FileFeedOptions {
  readonly file: string;
  /** Null: it is read once. */
  readonly reloadMs: number | null;
  readonly mirror: Mirror;
  onFault(error: unknown): void;
}

export class FileFeed implements MirrorSource {
  readonly way = 'file';
  readonly ageMs = 0;
  readonly position = { etag: '', upstreamId: null, confirmedAt: 0 };
  readonly #options: FileFeedOptions;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: FileFeedOptions) {
    this.#options = options;
  }

  /** Throws where the file cannot be read, or holds no flags. */
  start(): void {
    const { file, reloadMs } = this.#options;
    this.#take(readFileSync(file, 'utf8'));
    if (reloadMs !== null) this.#timer = setInterval(() => void this.#reload(), reloadMs).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  async #reload(): Promise<void> {
    try {
      this.#take(await readFile(this.#options.file, 'utf8'));
    } catch (error) {
      this.#options.onFault(error);
    }
  }

  #take(text: string): void {
    const { mirror } = this.#options;
    mirror.replaceAll(readDocument(text, mirror.environment), null);
  }
}
