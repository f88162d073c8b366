/** The built-in kinds of strategies: for whom each is on, constraints and segments aside. */

import type { JsonObject } from '../json/json.ts';
import { ADDRESS_COST, AddressList } from './address-list.ts';
import { BUCKET_COST, type Bucket, rolloutBucket, stickyReader } from './buckets.ts';
import { type Cost, costBy, NO_COST } from './cost.ts';
import { parameterReader } from './parameters.ts';
import type { Run, Steps } from './run.ts';

/** A share of the users, in percent. */
export interface Rollout {
  readonly percentage: number;
  readonly stickiness: string;
  readonly groupId: string;
  /** From 1 to 100; 0 when the context lacks the field that the rollout is sticky on. */
  bucket(run: Run): number;
  /** The bucket of a context that has the field. */
  readonly sticky: Bucket;
  /** Whether a user with nothing to be sticky on gets a random bucket rather than none. */
  readonly drawsWithout: boolean;
}

export interface CompiledKind {
  test(run: Run): boolean;
  /** Readies some of what the first test needs. True when all is ready. */
  prepare(): boolean;
  /** The cost of a test, with what makes the first one ready. */
  readonly cost: Cost;
  readonly rollout: Rollout | null;
  /** Whether it is on, where that is the same for everybody; otherwise null. */
  readonly constant: boolean | null;
}

/** Null for a kind that is not built in: its strategies are never on. */
export function compileKind(name: string, parameters: JsonObject | null): CompiledKind | null {
  return KINDS.get(name)?.compile(parameterReader(parameters)) ?? null;
}

/** The cost of the compiled kind, told without compiling it. */
export function kindCost(name: string, parameters: JsonObject | null): Cost {
  return KINDS.get(name)?.cost(parameterReader(parameters)) ?? NO_COST;
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

interface Kind {
  compile(read: ReadParameter): CompiledKind;
  cost(read: ReadParameter): Cost;
}

const rollout = (compile: Kind['compile']): Kind => ({ compile, cost: () => ROLLOUT_COST });

/** A kind that is on for those whom one parameter lists, with commas between. */
function listed(parameter: string, make: (list: string) => ListTest, costPerItem = 0): Kind {
  const costOf = (list: string): Cost =>
    costBy(() => 1 + list.length * LISTED_COST + (costPerItem === 0 ? 0 : itemCount(list) * costPerItem));
  return {
    cost: (read) => costOf(read(parameter)),
    compile: (read) => {
      const list = read(parameter);
      return { prepare: () => true, ...make(list), cost: costOf(list), rollout: null, constant: null };
    },
  };
}

type ListTest = Pick<CompiledKind, 'test'> & Partial<Pick<CompiledKind, 'prepare'>>;

/** Microseconds for each character of a list, which is taken apart when it is first needed. */
const LISTED_COST = 0.05;

function itemCount(list: string): number {
  let count = 1;
  for (let at = list.indexOf(','); at !== -1; at = list.indexOf(',', at + 1)) count += 1;
  return count;
}

const EVERYBODY: CompiledKind = {
  ...{ test: () => true, prepare: () => true },
  ...{ cost: NO_COST, rollout: null, constant: true },
};

const ROLLOUT_COST = costBy((length) => 0.2 + length * BUCKET_COST);

const KINDS = new Map<string, Kind>([
  ['default', { compile: () => EVERYBODY, cost: () => NO_COST }],
  ['userWithId', listed('userIds', listedUsers)],
  ['remoteAddress', listed('IPs', listedAddresses, ADDRESS_COST)],
  ['applicationHostname', listed('hostNames', listedHosts)],
  ['flexibleRollout', rollout(flexibleRollout)],
  ['gradualRolloutUserId', rollout((read) => gradualRollout(read, 'userId'))],
  ['gradualRolloutSessionId', rollout((read) => gradualRollout(read, 'sessionId'))],
  ['gradualRolloutRandom', rollout((read) => gradualRollout(read, 'random'))],
]);

/** The texts of a list, and what is made of them at its first use. */
function listOf<T>(list: string, make: (texts: ReadonlySet<string | undefined>) => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make(new Set(list.split(',').map((item) => item.trim())));
    return made;
  };
}

function listedUsers(list: string): ListTest {
  const users = listOf(list, (texts) => texts);
  return { test: ({ context }) => list !== '' && users().has(context.userId) };
}

function listedAddresses(list: string): ListTest {
  const parts = listOf(list, (texts) => ({ texts, addresses: new AddressList([...texts] as string[]) }));
  return {
    test: (run) => {
      const { remoteAddress } = run.context;
      if (!remoteAddress) return false;
      if (parts().texts.has(remoteAddress)) return true;
      const address = run.addresses.of(remoteAddress);
      return address !== null && parts().addresses.covers(address);
    },
    prepare: () => parts().addresses.prepare(),
  };
}

function listedHosts(list: string): ListTest {
  const hosts = listOf(list.toLowerCase(), (texts) => texts);
  return {
    test: ({ hostName }) => hostName !== null && hostName !== '' && hosts().has(hostName.toLowerCase()),
  };
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

/** A rollout of one class and without closures, because an evaluation of many flags spends its time waiting for memory. */
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
