/** The built-in kinds of strategies: for whom each is on, constraints and segments aside. */

import { isWithin, parseAddress } from '../flags/address.ts';
import type { JsonObject } from '../json/json.ts';
import { type Bucket, rolloutBucket, stickyReader } from './buckets.ts';
import { parameterReader } from './parameters.ts';
import type { Run, Test } from './run.ts';

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
  readonly rollout: Rollout | null;
  /** Whether it is on, where that is the same for everybody; otherwise null. */
  readonly constant: boolean | null;
}

/** Null for a kind that is not built in: its strategies are never on. */
export function compileKind(name: string, parameters: JsonObject | null): CompiledKind | null {
  return KINDS.get(name)?.(parameterReader(parameters)) ?? null;
}

/** Whether a user in `bucket` belongs to a rollout to `percentage`; a percentage that is no number is 0. */
export function isInRollout(bucket: number, percentage: number): boolean {
  return bucket > 0 && bucket <= percentage;
}

type ReadParameter = (key: string) => string;

const KINDS = new Map<string, (read: ReadParameter) => CompiledKind>([
  ['default', () => ({ test: () => true, rollout: null, constant: true })],
  ['userWithId', (read) => tested(isListedUser(read('userIds')))],
  ['remoteAddress', (read) => tested(isListedAddress(read('IPs')))],
  ['applicationHostname', (read) => tested(isListedHost(read('hostNames')))],
  ['flexibleRollout', flexibleRollout],
  ['gradualRolloutUserId', (read) => gradualRollout(read, 'userId')],
  ['gradualRolloutSessionId', (read) => gradualRollout(read, 'sessionId')],
  ['gradualRolloutRandom', (read) => gradualRollout(read, 'random')],
]);

const tested = (test: Test): CompiledKind => ({ test, rollout: null, constant: null });

function listOf(text: string): string[] {
  return text.split(',').map((item) => item.trim());
}

function isListedUser(userIds: string): Test {
  const listed: ReadonlySet<string | undefined> = new Set(userIds === '' ? [] : listOf(userIds));
  return ({ context }) => listed.has(context.userId);
}

function isListedAddress(addresses: string): Test {
  const texts = new Set(listOf(addresses));
  const ranges = [...texts].map(parseAddress).filter((range) => range !== null);
  return (run) => {
    const { remoteAddress } = run.context;
    if (!remoteAddress) return false;
    if (texts.has(remoteAddress)) return true;
    const address = run.addresses.of(remoteAddress);
    return address !== null && ranges.some((range) => isWithin(address, range));
  };
}

function isListedHost(hostNames: string): Test {
  const listed = new Set(listOf(hostNames.toLowerCase()));
  return ({ hostName }) => hostName !== null && hostName !== '' && listed.has(hostName.toLowerCase());
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

/** Of one class and without closures, because an evaluation of many flags spends its time in waiting for memory. */
class CompiledRollout implements CompiledKind, Rollout {
  readonly percentage: number;
  readonly stickiness: string;
  readonly groupId: string;
  readonly constant: boolean | null;
  readonly sticky: Bucket;
  readonly drawsWithout: boolean;

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

  test(run: Run): boolean {
    return this.constant ?? isInRollout(this.bucket(run), this.percentage);
  }
}
