/** A log reader without a thread, for simulations and tests, whose file system is no real one. */
import type { FileSystem } from '../../src/persistence/disk/file-system.ts';
import { renderPage } from '../../src/persistence/event-log/event-page.ts';
import { checkPart, type LogReader } from '../../src/persistence/event-log/log-reader.ts';
import { scanText } from '../../src/persistence/event-log/text-scan.ts';

export function inlineLogReader(fs: FileSystem): LogReader {
  return {
    async scan(request, signal) {
      const matches = await scanText(request, fs, async () => signal?.aborted !== true);
      if (matches === null) throw signal?.reason;
      return matches;
    },
    page: (request) => renderPage(fs, request),
    check: (request) => checkPart(fs, request),
    async close() {
      // Nothing is open between tasks.
    },
  };
}
