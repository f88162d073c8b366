/**
 * Buckets: the number, from 1, that decides whether a user belongs to a rollout and which variant they get. The same
 * group and user give the same bucket in every SDK.
 */
import { contextReader } from './context.ts';
import { Murmur3, utf8BytesOf } from './murmur3.ts';
import type { Run } from './run.ts';

/** Variants are hashed from another seed than rollouts, so that a rollout does not decide the variant as well. */
const ROLLOUT_SEED = 0;
const VARIANT_SEED = 86_028_157;

/** What keeps a user in the same bucket; undefined or empty: nothing does. */
export type StickyReader = (run: Run) => string | undefined;

/** `default`: the user, or else the session; `random`: nothing; any other: the field of the context so named. */
export function stickyReader(stickiness: string): StickyReader {
  if (stickiness === 'random') return () => undefined;
  if (stickiness === 'default') return ({ context }) => context.userId || context.sessionId;
  const read = contextReader(stickiness);
  return ({ context }) => read(context);
}

export type Bucket = (sticky: string, run: Run) => number;

/** From 1 to 100. */
export function rolloutBucket(groupId: string): Bucket {
  return bucketOf({ groupId, seed: ROLLOUT_SEED, highest: 100 });
}

/** From 1 to `highest`, the sum of the weights. */
export function variantBucket(groupId: string, highest: number): Bucket {
  return bucketOf({ groupId, seed: VARIANT_SEED, highest });
}

interface BucketOptions {
  readonly groupId: string;
  readonly seed: number;
  readonly highest: number;
}

function bucketOf({ groupId, seed, highest }: BucketOptions): Bucket {
  const group = new Murmur3(seed).add(utf8BytesOf(`${groupId}:`));
  return (sticky, run) => (group.digestWith(run.bytes.of(sticky)) % highest) + 1;
}
