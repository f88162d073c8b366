/** The built-in kinds of strategies: for whom each is on, constraints and segments aside. */

import { isWithin, parseAddress } from '../flags/address.ts';
import type { JsonObject } from '../json/json.ts';
import { rolloutBucket, type StickyReader, stickyReader } from './buckets.ts';
import { parameterReader } from './parameters.ts';
import type { Run, Test } from './run.ts';

/** A share of the users, in percent. */
export interface Rollout {
  readonly percentage: number;
  readonly stickiness: string;
  readonly groupId: string;
  /** From 1 to 100; 0 when the context lacks the field that the rollout is sticky on. */
  bucket(run: Run): number;
}

export interface CompiledKind {
  readonly test: Test;
  readonly rollout: Rollout | null;
  /** On for everybody, or for nobody. */
  readonly isConstant: boolean;
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

const KINDS: ReadonlyMap<string, (read: ReadParameter) => CompiledKind> = new Map([
  ['default', () => ({ test: () => true, rollout: null, isConstant: true })],
  ['userWithId', (read) => tested(isListedUser(read('userIds')))],
  ['remoteAddress', (read) => tested(isListedAddress(read('IPs')))],
  ['applicationHostname', (read) => tested(isListedHost(read('hostNames')))],
  ['flexibleRollout', flexibleRollout],
  ['gradualRolloutUserId', (read) => gradualRollout(read, 'userId')],
  ['gradualRolloutSessionId', (read) => gradualRollout(read, 'sessionId')],
  ['gradualRolloutRandom', (read) => gradualRollout(read, 'random')],
]);

const tested = (test: Test): CompiledKind => ({ test, rollout: null, isConstant: false });

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
  // Who has neither user nor session can still be counted: at random, as with `random`.
  const drawsWithout = stickiness === 'default' || stickiness === 'random';
  return rolledOut({
    percentage: Number(read('rollout')),
    groupId: read('groupId'),
    stickiness,
    sticky: stickyReader(stickiness),
    drawsWithout,
  });
}

function gradualRollout(read: ReadParameter, stickiness: 'userId' | 'sessionId' | 'random'): CompiledKind {
  return rolledOut({
    percentage: Number(read('percentage')),
    groupId: read('groupId'),
    stickiness,
    sticky: stickiness === 'random' ? () => undefined : ({ context }) => context[stickiness],
    drawsWithout: stickiness === 'random',
  });
}

interface RolloutParts extends Omit<Rollout, 'bucket'> {
  readonly sticky: StickyReader;
  /** Whether a user with nothing to be sticky on gets a random bucket rather than none. */
  readonly drawsWithout: boolean;
}

function rolledOut({ sticky, drawsWithout, ...parts }: RolloutParts): CompiledKind {
  const { percentage, groupId } = parts;
  const bucketFor = rolloutBucket(groupId);
  const bucket = (run: Run): number => {
    const text = sticky(run);
    if (text) return bucketFor(text, run);
    return drawsWithout ? run.draw(100) : 0;
  };
  return {
    test: (run) => isInRollout(bucket(run), percentage),
    rollout: { ...parts, bucket },
    isConstant: drawsWithout && (percentage >= 100 || !(percentage >= 1)),
  };
}
