/** The archive in memory keeps the contract. */

import { describeFileArchive } from './archive-contract.ts';
import { MemoryArchive } from './memory-archive.ts';

describeFileArchive('in memory', {
  open: async () => {
    const archive = new MemoryArchive((_, run) => {
      setImmediate(run);
      return () => undefined;
    });
    return [archive.connect(), archive.connect(() => 1)];
  },
  close: async () => undefined,
});
