/** A table whose rows are saved whole once something in it has changed. */
export abstract class SavedTable {
  protected isSaved = true;

  /** Whether anything changed since the last call. */
  takeChanged(): boolean {
    const changed = !this.isSaved;
    this.isSaved = true;
    return changed;
  }

  saveAgain(): void {
    this.isSaved = false;
  }

  abstract rows(): Iterable<readonly unknown[]>;
}
