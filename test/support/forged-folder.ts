/** Folders with another history in the place of the first one, or with the same one in other files. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJournal } from '../../src/operations/journal-reading.ts';
import { realFileSystem } from '../../src/persistence/disk/file-system.ts';
import { FileJournal } from '../../src/persistence/journal/file-journal.ts';
import { type Frame, lastEventId } from '../../src/persistence/journal/frame.ts';
import type { PayloadStamp } from '../../src/persistence/journal/frame-format.ts';
import { encodePayload } from '../../src/persistence/journal/frame-payload.ts';
import { EMPTY_TAIL } from '../../src/persistence/journal/journal.ts';
import { copyOf, segmentsIn, snapshotsIn } from './operator.ts';

export interface Signed extends Frame, PayloadStamp {}

export async function framesOf(folder: string): Promise<Signed[]> {
  const frames: Signed[] = [];
  await readJournal(
    { fs: realFileSystem, folder: join(folder, 'journal') },
    {
      afterId: 0,
      visit: ({ frame: { rules, ...frame }, raw: { contentVersion } }) => {
        frames.push({ ...frame, rules, contentVersion });
        return true;
      },
    },
  );
  return frames;
}

/** A copy of the folder with another history in its journal: every checksum, link and mark of it is right. */
export async function forge(
  folder: string,
  change: (frames: Signed[]) => readonly Signed[],
  segmentBytes = 1_536,
): Promise<string> {
  const copy = copyOf(folder);
  const frames = change(await framesOf(folder));
  for (const file of [...segmentsIn(copy), ...snapshotsIn(copy), join(copy, 'journal/durable.mark')])
    rmSync(file);
  const journal = await FileJournal.open({
    ...{ fs: realFileSystem, folder: join(copy, 'journal'), tail: EMPTY_TAIL, segmentBytes },
    onDurable: () => undefined,
    onFailure: (failure) => assert.fail(failure),
  });
  let id = 1;
  for (const { contentVersion, rules, ...frame } of frames) {
    const renumbered = { ...frame, id };
    journal.append(renumbered, { payload: encodePayload(renumbered), contentVersion, rules });
    await journal.flush();
    id = lastEventId(renumbered) + 1;
  }
  await journal.close();
  return copy;
}
