/**
 * The keys whose heads count: those that somebody names, and those before and after them, which handed over by heads that
 * both keys have signed. A key that has handed over counts up to there, so that whoever finds it later can sign nothing
 * that follows.
 */
import type { FileSystem } from '../disk/file-system.ts';
import { eachHead } from './heads-file.ts';
import { type Handover, handoverOf, type PublicKey, parseHead } from './signed-head.ts';

/** Protects memory: a key that is replaced each week for twenty years hands over so often. */
const HANDOVERS_MAX = 1_000;

export class TrustedKeys {
  /** The size of the tree up to which each key counts. */
  readonly #upToSizes = new Map<PublicKey, number>();

  constructor(keys: readonly PublicKey[]) {
    for (const key of keys) this.#upToSizes.set(key, Number.POSITIVE_INFINITY);
  }

  /** Follows the handovers of a data folder. */
  static async read(fs: FileSystem, root: string, keys: readonly PublicKey[]): Promise<TrustedKeys> {
    const handovers: { readonly handover: Handover; readonly size: number }[] = [];
    for await (const { note, head } of eachHead(fs, root)) {
      const handover = handoverOf(note);
      if (handover !== null) handovers.push({ handover, size: head.size });
      if (handovers.length > HANDOVERS_MAX) handovers.shift();
    }
    const trusted = new TrustedKeys(keys);
    for (const { handover, size } of handovers)
      if (trusted.#named(handover.from) !== undefined) trusted.#follow(handover, size);
    // Those who name a newer key trust what it took over, and no other handover of the older one, which may be stolen.
    for (const { handover, size } of handovers.toReversed())
      if (trusted.#named(handover.to) !== undefined) trusted.#follow(handover, size);
    return trusted;
  }

  /** Whether one of the keys signed the head, while it counted. */
  signed(note: string): boolean {
    const size = parseHead(note)?.size ?? Number.POSITIVE_INFINITY;
    return [...this.#upToSizes].some(([key, upToSize]) => size <= upToSize && key.signed(note));
  }

  #follow({ from, to }: Handover, size: number): void {
    const [older, newer] = [this.#named(from), this.#named(to)];
    if (newer === undefined) this.#upToSizes.set(to, Number.POSITIVE_INFINITY);
    // A crash can come between a handover and the use of the new key: then the older one hands over once more.
    const before = older === undefined ? 0 : (this.#upToSizes.get(older) ?? 0);
    this.#upToSizes.set(older ?? from, Number.isFinite(before) ? Math.max(before, size) : size);
  }

  #named(key: PublicKey): PublicKey | undefined {
    return [...this.#upToSizes.keys()].find(({ text }) => text === key.text);
  }
}
