/** Files that an add-on keeps in the data folder, besides the journal and the snapshots, about the events of the journal. */
export interface HistoryFiles {
  /** Their names. A repair sets them aside with the journal that they are about. */
  readonly names: readonly string[];
  /** Writes what those of one data folder say of events up to `lastId` into another. */
  copy(between: { readonly from: string; readonly to: string; readonly lastId: number }): Promise<void>;
  /** The last event that they know of; 0 for none. */
  newestId(folder: string): Promise<number>;
  /** Gives a proof that the events of another folder are those of this one; null where there is nothing to prove it by. */
  prover(folder: string): Promise<Prover | null>;
}

/** Says which events of a folder, with files copied into it, are not what they were; null where all are. */
export type Prover = (folder: string, lastId: number) => Promise<string | null>;
