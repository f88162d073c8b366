/**
 * Buckets: the number, from 1, that decides whether a user belongs to a rollout and which variant they get. The same
 * group and user give the same bucket in every SDK.
 */
import { contextReader } from './context.ts';
import { Interned } from './interned.ts';
import { digestAfter, Murmur3, type Suffix, utf8BytesOf } from './murmur3.ts';
import type { Run } from './run.ts';

/** Variants are hashed from another seed than rollouts, so that a rollout does not decide the variant as well. */
const ROLLOUT_SEED = 0;
const VARIANT_SEED = 86_028_157;

const ROLLOUT_BUCKETS = 100;

/** Reads the value that keeps a user in the same bucket; undefined or empty where there is none. */
export type StickyReader = (run: Run) => string | undefined;

/** `default`: the user, or else the session; `random`: nothing; any other: the field of the context so named. */
export function stickyReader(stickiness: string): StickyReader {
  if (stickiness === 'random') return readNothing;
  if (stickiness === 'default') return readUserOrSession;
  const read = contextReader(stickiness);
  return ({ context }) => read(context);
}

// One function each for all rules, which tells that two of them read the same.
const readNothing: StickyReader = () => undefined;
const readUserOrSession: StickyReader = ({ context }) => context.userId || context.sessionId;

interface BucketOptions {
  readonly groupId: string;
  readonly sticky: StickyReader;
}

interface Buckets extends BucketOptions {
  readonly seed: number;
  readonly highest: number;
}

/** Puts the user of a run into a bucket; asked by several rules in one run, it hashes once. */
export class Bucket {
  /** Hashed up to where the user's id begins. */
  readonly group: Murmur3;
  readonly sticky: StickyReader;
  readonly #highest: number;
  #runId = 0;
  #bucket = 0;

  constructor({ groupId, sticky, seed, highest }: Buckets) {
    this.group = new Murmur3(seed).add(utf8BytesOf(`${groupId}:`));
    this.sticky = sticky;
    this.#highest = highest;
  }

  /** From 1 to the highest; 0 when there is nothing to be sticky on. */
  of(run: Run): number {
    if (this.#runId !== run.id) {
      const text = this.sticky(run);
      this.#bucket = text ? (this.group.digestWith(run.suffixes.of(text)) % this.#highest) + 1 : 0;
      this.#runId = run.id;
    }
    return this.#bucket;
  }
}

/** From 1 to 100: the bucket of a rollout whose group has this state of the hash, for a user with that suffix. */
export function rolloutBucketAfter(hash: number, block: number, length: number, suffix: Suffix): number {
  return (digestAfter(hash, block, length, suffix) % ROLLOUT_BUCKETS) + 1;
}

const rolloutBuckets = new Interned<Bucket>();

/** From 1 to 100. Rollouts of one group share theirs; `stickyName` tells apart what `sticky` reads. */
export function rolloutBucket({
  stickyName,
  ...options
}: BucketOptions & { readonly stickyName: string }): Bucket {
  return rolloutBuckets.of(
    JSON.stringify([stickyName, options.groupId]),
    () => new Bucket({ ...options, seed: ROLLOUT_SEED, highest: ROLLOUT_BUCKETS }),
  );
}

/** From 1 to `highest`, the sum of the weights. */
export function variantBucket(options: BucketOptions & { readonly highest: number }): Bucket {
  return new Bucket({ ...options, seed: VARIANT_SEED });
}
