/** The signed heads of a data folder, as commands that copy, verify and repair the folder ask for them. */
import type { HistoryFiles, Prover } from '../../operations/history-files.ts';
import type { FileSystem } from '../../persistence/disk/file-system.ts';
import type { Environment } from '../../process/settings.ts';
import { auditFolder, contradictionIn } from './audit.ts';
import { eachHead, HEADS_FILE_NAME, headsPath, rewriteHeads } from './heads-file.ts';
import { keyFileOf, readHistoryKey } from './history-key.ts';

export function headFiles({ fs, env }: { readonly fs: FileSystem; readonly env: Environment }): HistoryFiles {
  return {
    names: [HEADS_FILE_NAME],
    copy: async ({ from, to, lastId }) => {
      if (!(await fs.exists(headsPath(from)))) return;
      await rewriteHeads(fs, { from, to }, (recorded) => (recorded.head.lastId <= lastId ? recorded : null));
    },
    newestId: async (folder) => {
      let newestId = 0;
      for await (const { head } of eachHead(fs, folder)) newestId = head.lastId;
      return newestId;
    },
    prover: async (folder) => {
      const signer = await readHistoryKey(fs, keyFileOf(env, folder));
      if (signer === null) return null;
      const prove: Prover = async (other, lastId) => {
        const newestId = async (): Promise<number> => lastId;
        return contradictionIn(
          await auditFolder({ fs, folder: other, key: signer.publicKey, kept: null, newestId }),
        );
      };
      return prove;
    },
  };
}
