/**
 * Tells whether a server would start on a folder, and with which event, without loading anything and without changing
 * anything. Commands that read a stopped folder ask here, so that they refuse what a start refuses.
 */
import assert from 'node:assert/strict';
import { DataFolderError, dataFolder } from '../disk/data-folder.ts';
import type { FileSystem } from '../disk/file-system.ts';
import { decideRecovery } from './recovery-cases.ts';
import { refusalOf } from './recovery-refusal.ts';
import { surveyFolder } from './recovery-survey.ts';
import { refuseUnfinishedImport, refuseUnfinishedRepair } from './unfinished-work.ts';

export interface StartCheckOptions {
  readonly fs: FileSystem;
  /** The data folder, which no server has open. */
  readonly folder: string;
  onProgress?(bytesDone: number): void;
}

export type StartCheck =
  | { readonly refusal: DataFolderError }
  /** `lastId` is 0 for an empty folder; `isOlder`: an older version wrote it, and refuses what this one writes. */
  | { readonly refusal: null; readonly lastId: number; readonly isOlder: boolean };

export async function checkStart({ fs, folder, onProgress }: StartCheckOptions): Promise<StartCheck> {
  try {
    await refuseUnfinishedImport(fs, folder);
    await refuseUnfinishedRepair(fs, folder);
    const survey = await surveyFolder({
      fs,
      folder: dataFolder(folder),
      loader: null,
      ...(onProgress === undefined ? {} : { onProgress }),
    });
    const { label, outcome } = decideRecovery(survey.facts);
    if (outcome === 'refuse') return { refusal: refusalOf(label, survey, dataFolder(folder)) };
    const { journal, snapshot, isOlder } = survey;
    const lastId = journal.firstId === null ? (snapshot?.id ?? 0) : journal.lastId;
    assert(lastId >= (snapshot?.id ?? 0), 'no start goes back behind a snapshot');
    return { refusal: null, lastId, isOlder };
  } catch (error) {
    if (error instanceof DataFolderError) return { refusal: error };
    throw error;
  }
}
