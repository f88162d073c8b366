/** The newest signed head, as it is shown. Nothing here knows how the history is signed (head-keeper.ts). */

export interface HeadView {
  readonly note: string;
  readonly lastId: number;
  readonly at: number;
  /** The key that verifies it. */
  readonly key: string;
}

export interface HeadStatus {
  readonly newest: HeadView | null;
  /** Why no further head is signed; null where nothing speaks against it. */
  readonly problem: string | null;
}

/** A head as JSON shows it. */
export const shownHead = ({ at, ...head }: HeadView): object => ({ ...head, at: new Date(at).toISOString() });
