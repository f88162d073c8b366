/** The built-in kinds of strategies: for whom each is on, constraints and segments aside. */

import { type Cost, kindCost, NO_COST } from '../../../domain/flags/evaluation-cost.ts';
import { parameterReader } from '../../../domain/flags/parameters.ts';
import type { JsonObject } from '../../../domain/json/json.ts';
import { AddressList } from './address-list.ts';
import { type Bucket, rolloutBucket, type StickyReader, stickyReader } from './buckets.ts';
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
  /** Whether it is on, where that is the same for all users; otherwise null. */
  readonly constant: boolean | null;
}

/** Null for a kind that is not built in: its strategies are never on. */
export function compileKind(name: string, parameters: JsonObject | null): CompiledKind | null {
  return KINDS.get(name)?.(parameterReader(parameters), kindCost(name, parameters)) ?? null;
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

type Kind = (read: ReadParameter, cost: Cost) => CompiledKind;

/** A kind that is on for those whom one parameter lists, with commas between. */
function listed(parameter: string, make: (list: string) => ListTest): Kind {
  return (read, cost) => ({
    ...{ prepare: () => true, ...make(read(parameter)) },
    ...{ cost, rollout: null, constant: null },
  });
}

type ListTest = Pick<CompiledKind, 'test'> & Partial<Pick<CompiledKind, 'prepare'>>;

const EVERYBODY: CompiledKind = {
  ...{ test: () => true, prepare: () => true },
  ...{ cost: NO_COST, rollout: null, constant: true },
};

const KINDS = new Map<string, Kind>([
  ['default', () => EVERYBODY],
  ['userWithId', listed('userIds', listedUsers)],
  ['remoteAddress', listed('IPs', listedAddresses)],
  ['applicationHostname', listed('hostNames', listedHosts)],
  ['flexibleRollout', flexibleRollout],
  ['gradualRolloutUserId', (read, cost) => gradualRollout(read, cost, 'userId')],
  ['gradualRolloutSessionId', (read, cost) => gradualRollout(read, cost, 'sessionId')],
  ['gradualRolloutRandom', (read, cost) => gradualRollout(read, cost, 'random')],
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

function flexibleRollout(read: ReadParameter, cost: Cost): CompiledKind {
  const stickiness = read('stickiness') || 'default';
  return new CompiledRollout(read, {
    ...{ cost, percentage: 'rollout', stickiness, sticky: stickyReader(stickiness) },
    stickyName: `field or property ${stickiness}`,
    // Who has neither user nor session can still be counted: at random, as with `random`.
    drawsWithout: stickiness === 'default' || stickiness === 'random',
  });
}

function gradualRollout(
  read: ReadParameter,
  cost: Cost,
  stickiness: 'userId' | 'sessionId' | 'random',
): CompiledKind {
  const drawsWithout = stickiness === 'random';
  return new CompiledRollout(read, {
    ...{ cost, percentage: 'percentage', stickiness, stickyName: `field ${stickiness}`, drawsWithout },
    sticky: stickiness === 'random' ? () => undefined : ({ context }) => context[stickiness],
  });
}

interface RolloutParts extends Pick<Rollout, 'stickiness' | 'drawsWithout'>, Pick<CompiledKind, 'cost'> {
  /** The name of the parameter. */
  readonly percentage: string;
  readonly sticky: StickyReader;
  /** Tells apart what `sticky` reads. */
  readonly stickyName: string;
}

/** A rollout of one class and without closures, because an evaluation of many flags spends its time waiting for memory. */
class CompiledRollout implements CompiledKind, Rollout {
  readonly percentage: number;
  readonly stickiness: string;
  readonly groupId: string;
  readonly constant: boolean | null;
  readonly sticky: Bucket;
  readonly drawsWithout: boolean;
  readonly cost: Cost;

  constructor(read: ReadParameter, parts: RolloutParts) {
    const { stickiness, sticky, stickyName, drawsWithout, cost } = parts;
    const percentage = Number(read(parts.percentage));
    const groupId = read('groupId');
    this.percentage = percentage;
    this.stickiness = stickiness;
    this.groupId = groupId;
    this.constant = drawsWithout && (percentage >= 100 || !(percentage >= 1)) ? percentage >= 100 : null;
    this.sticky = rolloutBucket({ groupId, sticky, stickyName });
    this.drawsWithout = drawsWithout;
    this.cost = cost;
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
