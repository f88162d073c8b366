/** The newest event that a reading command must show or copy: less than that would be a loss that nobody notices. */
import { askServer } from '../control/control-client.ts';
import { dataFolder } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { readDurableMark } from '../persistence/journal/durable-mark.ts';
import { listSegments } from '../persistence/journal/segment-file.ts';
import { checkStart } from '../persistence/recovery/start-check.ts';
import { listSnapshots } from '../persistence/snapshots/snapshot-files.ts';
import { readJournal } from './journal-reading.ts';
import { OperationError } from './operation-error.ts';

export interface NewestEventOptions {
  readonly fs: FileSystem;
  /** The data folder. */
  readonly folder: string;
  /** For tests. */
  readonly ask?: typeof askServer;
}

/**
 * What a running server says is on disk, or what a start would find; 0 when there is nothing. Throws the refusal of a
 * start for a folder that is damaged, cut off or incomplete.
 */
export async function newestEvent({ fs, folder, ask = askServer }: NewestEventOptions): Promise<number> {
  const server = await ask(folder, 'status');
  return server === null ? newestOfStopped(fs, folder) : server.durableId;
}

export async function newestOfStopped(fs: FileSystem, folder: string): Promise<number> {
  const check = await checkStart({ fs, folder });
  if (check.refusal !== null) throw check.refusal;
  return check.lastId;
}

/**
 * As `newestEvent`, for a state that is wanted without the events before it, which may be damaged: the last journal
 * file has to be whole, as far as the durable mark and the newest snapshot say.
 */
export async function newestState({ fs, folder, ask = askServer }: NewestEventOptions): Promise<number> {
  const server = await ask(folder, 'status');
  if (server !== null) return server.durableId;
  const { journal, snapshots } = dataFolder(folder);
  const last = (await listSegments({ fs, folder: journal })).at(-1);
  if (last === undefined) return newestOfStopped(fs, folder);
  const { lastId } = await readJournal({ fs, folder: journal }, { afterId: last - 1, visit: () => true });
  const reading = await readDurableMark(fs, journal);
  const markedId = reading.state === 'good' ? reading.mark.lastId : 0;
  const knownId = Math.max(markedId, (await listSnapshots(fs, snapshots)).at(-1)?.id ?? 0);
  if (lastId < knownId) throw endsEarly(folder, { lastId, knownId });
  return lastId;
}

/** The files end before an event that is known to have been on disk: they were cut off or replaced. */
export function endsEarly(
  folder: string,
  { lastId, knownId }: { lastId: number; knownId: number },
): OperationError {
  const message = `Event ${knownId} had been on disk, but the files of ${folder} can be read up to event ${lastId} only. Run "flagstaff verify".`;
  return new OperationError('unsound', message);
}
