/** A table whose rows are saved whole once something in it has changed. */
export abstract class SavedTable<Row extends readonly unknown[] = readonly unknown[]> {
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

  abstract rows(): Iterable<Row>;

  /** Puts back a row that was saved. Throws for one that no table has. */
  abstract load(row: Row): void;
}
