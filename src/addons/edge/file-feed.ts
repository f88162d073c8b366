/** Fills a mirror from a file, for an edge without an upstream; the file is read again from time to time. A file that cannot be read changes nothing. */
import { readFile } from 'node:fs/promises';
import { inTurns } from '../../actors/turn.ts';
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

  /** Rejects where the file cannot be read, or holds no flags. */
  async start(): Promise<void> {
    const { reloadMs } = this.#options;
    await this.#take();
    if (reloadMs !== null) this.#timer = setInterval(() => void this.#reload(), reloadMs).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  async #reload(): Promise<void> {
    try {
      await this.#take();
    } catch (error) {
      this.#options.onFault(error);
    }
  }

  async #take(): Promise<void> {
    const { file, mirror } = this.#options;
    const document = await readDocument(await readFile(file), mirror.environment);
    await inTurns(mirror.replacing(document, null));
  }
}
