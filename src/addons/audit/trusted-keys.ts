/**
 * The keys whose heads count: those that somebody names, and those before and after them, which handed over by heads that
 * both keys have signed. A key that has handed over counts up to there, so that whoever finds it later can sign nothing
 * that follows.
 */
import type { FileSystem } from '../../persistence/disk/file-system.ts';
import { eachHead } from './heads-file.ts';
import { type Handover, handoverOf, type PublicKey, parseHead } from './signed-head.ts';

/** Protects memory: a key that is replaced each week for twenty years hands over so often. */
const HANDOVERS_MAX = 1_000;

export class TrustedKeys {
  /** The last event up to which each key counts. */
  readonly #upToIds = new Map<PublicKey, number>();

  constructor(keys: readonly PublicKey[]) {
    for (const key of keys) this.#upToIds.set(key, Number.POSITIVE_INFINITY);
  }

  /** Follows the handovers of a data folder. */
  static async read(fs: FileSystem, root: string, keys: readonly PublicKey[]): Promise<TrustedKeys> {
    const handovers: { readonly handover: Handover; readonly lastId: number }[] = [];
    for await (const { note, head } of eachHead(fs, root)) {
      const handover = handoverOf(note);
      if (handover !== null) handovers.push({ handover, lastId: head.lastId });
      if (handovers.length > HANDOVERS_MAX) handovers.shift();
    }
    const trusted = new TrustedKeys(keys);
    for (const { handover, lastId } of handovers)
      if (trusted.#named(handover.from) !== undefined) trusted.#follow(handover, lastId);
    // Those who name a newer key trust what it took over, and no other handover of the older one, which may be stolen.
    for (const { handover, lastId } of handovers.toReversed())
      if (trusted.#named(handover.to) !== undefined) trusted.#follow(handover, lastId);
    return trusted;
  }

  /**
   * Whether one of the keys signed the head, while it counted. A cut counts under a key that has not handed over: nobody could tell
   * whether an older one signed it before it did.
   */
  signed(note: string): boolean {
    const head = parseHead(note);
    if (head === null) return false;
    const wantedId = head.isCut ? Number.POSITIVE_INFINITY : head.lastId;
    return [...this.#upToIds].some(([key, upToId]) => wantedId <= upToId && key.signed(note));
  }

  #follow({ from, to }: Handover, lastId: number): void {
    const [older, newer] = [this.#named(from), this.#named(to)];
    if (newer === undefined) this.#upToIds.set(to, Number.POSITIVE_INFINITY);
    // A crash can come between a handover and the use of the new key: then the older one hands over once more.
    const before = older === undefined ? 0 : (this.#upToIds.get(older) ?? 0);
    this.#upToIds.set(older ?? from, Number.isFinite(before) ? Math.max(before, lastId) : lastId);
  }

  #named(key: PublicKey): PublicKey | undefined {
    return [...this.#upToIds.keys()].find(({ text }) => text === key.text);
  }
}
