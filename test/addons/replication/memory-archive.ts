/** The archive in memory, for tests: over links that can be cut, and with processes that die in the middle of a call. */
import type { ArchivedFile, FileArchive } from '../../../src/addons/replication/file-archive.ts';
import type { Timer } from './memory-log.ts';

/** After this a node gives up on an answer. */
const LOST_AFTER_MS = 5_000;

export type ArchiveCall = 'put' | 'list' | 'get' | 'delete';

export class MemoryArchive {
  readonly files = new Map<string, Buffer>();
  readonly #timer: Timer;
  readonly calls: ArchiveCall[] = [];

  constructor(timer: Timer) {
    this.#timer = timer;
  }

  /** Calls take as long as `takesMs` says, before and after they happen; infinite when they never do, and lost ones are rejected. */
  connect(takesMs: (call: ArchiveCall) => number | 'lost' = () => 0): FileArchive {
    const call = async <T>(kind: ArchiveCall, run: () => T): Promise<T> => {
      await this.#pass(takesMs(kind));
      this.calls.push(kind);
      const result = run();
      await this.#pass(takesMs(kind));
      return result;
    };
    return {
      put: (name, bytes) => {
        const copy = Buffer.from(bytes);
        return call('put', () => void this.files.set(name, copy));
      },
      list: () =>
        call('list', (): readonly ArchivedFile[] =>
          [...this.files].map(([name, { length: bytes }]) => ({ name, bytes })),
        ),
      get: (name) =>
        call('get', () => {
          const file = this.files.get(name);
          return file === undefined ? null : Buffer.from(file);
        }),
      delete: (name) => call('delete', () => void this.files.delete(name)),
    };
  }

  #pass(ms: number | 'lost'): Promise<void> {
    if (ms === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      if (ms === 'lost') this.#timer(LOST_AFTER_MS, () => reject(new Error('no answer from the archive')));
      else if (Number.isFinite(ms)) this.#timer(ms, resolve);
    });
  }
}
