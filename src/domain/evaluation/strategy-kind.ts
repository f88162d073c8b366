/** The built-in kinds of strategies: for whom each is on, constraints and segments aside. */

import type { JsonObject } from '../json/json.ts';
import { ADDRESS_COST, AddressList } from './address-list.ts';
import { BUCKET_COST, type Bucket, rolloutBucket, stickyReader } from './buckets.ts';
import { type Cost, costBy, NO_COST } from './cost.ts';
import { parameterReader } from './parameters.ts';
import type { Run, Steps, Test } from './run.ts';

/** A share of the users, in percent. */
export interface Rollout {
  readonly percentage: number;
  readonly stickiness: string;
  readonly groupId: string;
  /** From 1 to 100; 0 when the context lacks the field that the rollout is sticky on. */
  bucket(run: Run): number;
  /** That of whoever has something to be sticky on. */
  readonly sticky: Bucket;
  /** Whether a user with nothing to be sticky on gets a random bucket rather than none. */
  readonly drawsWithout: boolean;
}

export interface CompiledKind {
  test(run: Run): boolean;
  /** Readies some of what the first test needs. True when all is ready. */
  prepare(): boolean;
  /** Of a test, with what makes the first one ready. */
  readonly cost: Cost;
  readonly rollout: Rollout | null;
  /** Whether it is on, where that is the same for everybody; otherwise null. */
  readonly constant: boolean | null;
}

/** Null for a kind that is not built in: its strategies are never on. */
export function compileKind(name: string, parameters: JsonObject | null): CompiledKind | null {
  return KINDS.get(name)?.(parameterReader(parameters)) ?? null;
}

/** The test of a kind, where many rules are tested. */
export function* kindTakes(kind: CompiledKind, run: Run): Steps<boolean> {
  while (!kind.prepare()) yield;
  const takes = kind.test(run);
  if (run.hasSpent(kind.cost)) yield;
  return takes;
}

/** Whether a user in `bucket` belongs to a rollout to `percentage`; a percentage that is no number is 0. */
export function isInRollout(bucket: number, percentage: number): boolean {
  return bucket > 0 && bucket <= percentage;
}

type ReadParameter = (key: string) => string;

const KINDS = new Map<string, (read: ReadParameter) => CompiledKind>([
  [
    'default',
    () => ({ test: () => true, prepare: () => true, cost: NO_COST, rollout: null, constant: true }),
  ],
  ['userWithId', (read) => listedUsers(read('userIds'))],
  ['remoteAddress', (read) => listedAddresses(read('IPs'))],
  ['applicationHostname', (read) => listedHosts(read('hostNames').toLowerCase())],
  ['flexibleRollout', flexibleRollout],
  ['gradualRolloutUserId', (read) => gradualRollout(read, 'userId')],
  ['gradualRolloutSessionId', (read) => gradualRollout(read, 'sessionId')],
  ['gradualRolloutRandom', (read) => gradualRollout(read, 'random')],
]);

/** Of each character of a list, which is taken apart when it is first needed. */
const LISTED_COST = 0.05;

function tested(list: string, test: Test, prepare: (() => boolean) | null = null): CompiledKind {
  const addresses = prepare === null ? 0 : countOfCommas(list) + 1;
  const cost = costBy(() => 1 + list.length * LISTED_COST + addresses * ADDRESS_COST);
  return { test, prepare: prepare ?? (() => true), cost, rollout: null, constant: null };
}

function countOfCommas(text: string): number {
  let count = 0;
  for (let at = text.indexOf(','); at !== -1; at = text.indexOf(',', at + 1)) count += 1;
  return count;
}

/** The texts of a list, and what is made of them at its first use. */
function listOf<T>(list: string, make: (texts: ReadonlySet<string | undefined>) => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make(new Set(list.split(',').map((item) => item.trim())));
    return made;
  };
}

function listedUsers(list: string): CompiledKind {
  const listed = listOf(list, (texts) => texts);
  return tested(list, ({ context }) => list !== '' && listed().has(context.userId));
}

function listedAddresses(list: string): CompiledKind {
  const listed = listOf(list, (texts) => ({ texts, addresses: new AddressList([...texts] as string[]) }));
  const test: Test = (run) => {
    const { remoteAddress } = run.context;
    if (!remoteAddress) return false;
    if (listed().texts.has(remoteAddress)) return true;
    const address = run.addresses.of(remoteAddress);
    return address !== null && listed().addresses.covers(address);
  };
  return tested(list, test, () => listed().addresses.prepare());
}

function listedHosts(list: string): CompiledKind {
  const listed = listOf(list, (texts) => texts);
  return tested(
    list,
    ({ hostName }) => hostName !== null && hostName !== '' && listed().has(hostName.toLowerCase()),
  );
}

function flexibleRollout(read: ReadParameter): CompiledKind {
  const stickiness = read('stickiness') || 'default';
  const groupId = read('groupId');
  return new CompiledRollout({
    percentage: Number(read('rollout')),
    groupId,
    stickiness,
    sticky: rolloutBucket({
      groupId,
      sticky: stickyReader(stickiness),
      stickyName: `field or property ${stickiness}`,
    }),
    // Who has neither user nor session can still be counted: at random, as with `random`.
    drawsWithout: stickiness === 'default' || stickiness === 'random',
  });
}

function gradualRollout(read: ReadParameter, stickiness: 'userId' | 'sessionId' | 'random'): CompiledKind {
  const groupId = read('groupId');
  return new CompiledRollout({
    percentage: Number(read('percentage')),
    groupId,
    stickiness,
    sticky: rolloutBucket({
      groupId,
      sticky: stickiness === 'random' ? () => undefined : ({ context }) => context[stickiness],
      stickyName: `field ${stickiness}`,
    }),
    drawsWithout: stickiness === 'random',
  });
}

type RolloutParts = Omit<Rollout, 'bucket'>;

const ROLLOUT_COST = costBy((length) => 0.2 + length * BUCKET_COST);

/** Of one class and without closures, because an evaluation of many flags spends its time in waiting for memory. */
class CompiledRollout implements CompiledKind, Rollout {
  readonly percentage: number;
  readonly stickiness: string;
  readonly groupId: string;
  readonly constant: boolean | null;
  readonly sticky: Bucket;
  readonly drawsWithout: boolean;
  readonly cost = ROLLOUT_COST;

  constructor({ percentage, stickiness, groupId, sticky, drawsWithout }: RolloutParts) {
    this.percentage = percentage;
    this.stickiness = stickiness;
    this.groupId = groupId;
    this.constant = drawsWithout && (percentage >= 100 || !(percentage >= 1)) ? percentage >= 100 : null;
    this.sticky = sticky;
    this.drawsWithout = drawsWithout;
  }

  get rollout(): Rollout {
    return this;
  }

  bucket(run: Run): number {
    return this.sticky.of(run) || (this.drawsWithout ? run.draw(100) : 0);
  }

  prepare(): boolean {
    return true;
  }

  test(run: Run): boolean {
    return this.constant ?? isInRollout(this.bucket(run), this.percentage);
  }
}
