/**
 * The history that a node follows: the one that its data folder names, or else the first one that the log names. Nothing of
 * another history is ever followed (invariant 5).
 *
 * A stream of release 0.2.0 names none. The first take-over by a newer node gives it a name, and which node that is
 * decides the log, as it decides who leads.
 */
import { newHistoryId } from '../../persistence/journal/log-history.ts';
import { LogDamageError } from './record-format.ts';

export class NodeHistory {
  /** The cluster's name. */
  readonly cluster: string;
  #id: string | null;
  readonly #drawn = newHistoryId();
  /** Told once of the name that the log gave, where the data folder had none. */
  onNamed: (id: string) => void = () => undefined;

  constructor(cluster: string, id: string | null) {
    this.cluster = cluster;
    this.#id = id;
  }

  /** Null while neither the folder nor the log names it. */
  get id(): string | null {
    return this.#id;
  }

  /** For the records that this node writes. */
  get idToWrite(): string {
    return this.#id ?? this.#drawn;
  }

  /** Whether a node or a record that names this history, or none, may be of this one. */
  mayBe(id: string | null): boolean {
    return id === null || this.#id === null || id === this.#id;
  }

  /** Takes the name that a record has. Throws `LogDamageError` where it is another one; `where` begins the sentence. */
  meet(
    { cluster, history }: { readonly cluster: string; readonly history: string | null },
    where: string,
  ): void {
    if (cluster !== this.cluster)
      throw new LogDamageError(`${where} belongs to the cluster "${cluster}", not "${this.cluster}"`);
    if (!this.mayBe(history))
      throw new LogDamageError(`${where} belongs to the history ${history}, and this node to ${this.#id}`);
    if (history === null || this.#id !== null) return;
    this.#id = history;
    this.onNamed(history);
  }
}
