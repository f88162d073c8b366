/** The archive of the cluster, as a copy from which a repair takes what is lost. */

import type { WithCopy } from '../../host/command.ts';
import { CommandFailure, misuse } from '../../host/command-failure.ts';
import { readLogHistory } from '../../persistence/journal/log-history.ts';
import { EXIT } from '../../process/exit-codes.ts';
import { ArchiveDamageError } from './archived-frames.ts';
import { clusterConfig } from './cluster-config.ts';
import type { ReadArchive } from './file-archive.ts';
import { archiveSource } from './mend.ts';
import { openArchive } from './open-cluster.ts';
import { LogAwayError } from './replicated-log.ts';

export const withArchive: WithCopy = async ({ fs, terminal }, folder, use) => {
  const config = clusterConfig(terminal.env);
  if (config === null) throw misuse('--from archive needs the settings of the cluster: set REPLICATION_URL.');
  const say = (_: object, message: string): void => terminal.err(message);
  const { archive, close } = await openArchive(config, { info: say, warn: say }).catch(untold);
  try {
    if (archive === null) throw new CommandFailure(EXIT.noInput, noArchive(config.cluster));
    await use(archiveSource(toldApart(archive), (await readLogHistory(fs, folder))?.id ?? null));
  } catch (error) {
    if (!(error instanceof ArchiveDamageError)) throw error;
    throw new CommandFailure(EXIT.damagedData, `With --from archive, ${error.message}. ${OTHER_COPY}`);
  } finally {
    await close();
  }
};

const OTHER_COPY = 'Nothing was changed. A backup, or the folder of another node, may have what is lost.';

function untold(error: unknown): never {
  if (!(error instanceof LogAwayError)) throw error;
  throw new CommandFailure(EXIT.unavailable, `${error.message}. ${AWAY}`);
}

const AWAY =
  'Whether the cluster has an archive is not known. Nothing was changed; look at the NATS servers, and repeat the command.';

const noArchive = (cluster: string): string =>
  `The cluster "${cluster}" has no archive, the bucket FLAGSTAFF_${cluster}. ${OTHER_COPY}`;

/** An archive whose failures other than damage are the fault of its servers, not of the folder. */
function toldApart(archive: ReadArchive): ReadArchive {
  const failed = (error: Error): never => {
    if (error instanceof ArchiveDamageError) throw error;
    throw new CommandFailure(
      EXIT.unavailable,
      `The archive cannot be read: ${error.message}. Nothing was changed; look at the NATS servers, and repeat the command.`,
    );
  };
  return {
    list: () => archive.list().catch(failed),
    get: (name) => archive.get(name).catch(failed),
  };
}
