/** Paths of the flags that the data sets hold. */
import { FLAG_ENVIRONMENT, flagName } from './servers/data-set.ts';

export const PROJECT = '/projects/default';
export const flagPath = (number: number): string => `${PROJECT}/features/${flagName(number)}`;
export const environmentPath = (number: number): string =>
  `${flagPath(number)}/environments/${FLAG_ENVIRONMENT}`;

/**
 * The number of flags that an operation goes round. Four times as many as requests under way, so that no two of them ever wait for
 * the same flag and each changes what the one before left.
 */
export function flagsInTurn({
  flags,
  connections,
}: {
  readonly flags: number;
  readonly connections: number;
}): number[] {
  return Array.from({ length: Math.min(flags, connections * 4) }, (_, number) => number);
}
