/** The archive in memory keeps the contract. */
import { MemoryArchive } from '../../support/replication/memory-archive.ts';
import { describeFileArchive } from './archive-contract.ts';

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
