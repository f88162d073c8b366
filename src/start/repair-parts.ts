/** The parts of the program that a repair uses: the archive of the cluster, as a copy, and the key of the history. */
import { ArchiveDamageError } from '../addons/replication/archived-frames.ts';
import { clusterConfig } from '../addons/replication/cluster-config.ts';
import type { ReadArchive } from '../addons/replication/file-archive.ts';
import { archiveSource } from '../addons/replication/mend.ts';
import { openArchive } from '../addons/replication/open-cluster.ts';
import { LogAwayError } from '../addons/replication/replicated-log.ts';
import type { CommandContext } from '../host/command.ts';
import { CommandFailure, misuse } from '../host/command-failure.ts';
import { readLogHistory } from '../persistence/journal/log-history.ts';
import type { FrameSource } from '../persistence/journal/mended-segment.ts';
import type { PublicKey } from '../persistence/proof/signed-head.ts';
import { EXIT } from '../process/exit-codes.ts';
import { keyFileOf, readHistoryKey } from './history-key.ts';

export async function historyKey(
  { fs, terminal }: CommandContext,
  folder: string,
): Promise<PublicKey | null> {
  return (await readHistoryKey(fs, keyFileOf(terminal.env, folder)))?.publicKey ?? null;
}

export async function withArchive(
  { fs, terminal }: CommandContext,
  folder: string,
  use: (copy: FrameSource) => Promise<void>,
): Promise<void> {
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
}

const OTHER_COPY = 'Nothing was changed. A backup, or the folder of another node, may have what is lost.';

/** The failure where the servers do not say whether there is an archive. */
function untold(error: unknown): never {
  if (!(error instanceof LogAwayError)) throw error;
  throw new CommandFailure(EXIT.unavailable, `${error.message}. ${AWAY}`);
}

const AWAY =
  'Whether the cluster has an archive is not known. Nothing was changed; look at the NATS servers, and repeat the command.';

const noArchive = (cluster: string): string =>
  `The cluster "${cluster}" has no archive, the bucket FLAGSTAFF_${cluster}. ${OTHER_COPY}`;

/** The same archive, whose servers are at fault where it fails and is not damaged, and not the folder. */
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
