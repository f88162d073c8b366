/** One run of a closed loop: what is asked for, and what came out. */
import type { Target } from '../measurement.ts';
import type { Operation } from './operation.ts';

export interface ClosedLoopOptions {
  readonly target: Target;
  readonly operation: Operation;
  readonly connections: number;
  /** Null: a few requests, for tests. */
  readonly seconds: number | null;
  readonly folder: string;
}

export interface ClosedLoopRun {
  readonly requests: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}
