/** The options of a node of a cluster (replica.ts), which its parts share. */
import type { FrameBody } from '../../persistence/journal/frame-format.ts';
import type { Announcement } from './announcement.ts';
import type { Found } from './eligibility.ts';
import type { NodeHistory } from './node-history.ts';
import type { NodeIdentity } from './record-format.ts';
import type { ReplicatedCommitLog } from './replicated-commit-log.ts';
import type { ReplicatedLog } from './replicated-log.ts';

/** How often a leader says that it is there, and how often everything that depends on time is looked at. */
export const TICK_MS = 250;

/** A leader that nothing has confirmed for so long decides nothing: another node may lead, and it would not know. */
export const CUT_OFF_MS = 2_500;

/** The engine, as far as a replica needs it. */
export interface ReplicatedEngine {
  readonly lastId: number;
  readonly durableId: number;
  readonly journal: {
    readonly appendedChain: number;
    readonly pendingFrames: number;
    readonly pendingBytes: number;
    /** Milliseconds since the batch under way was handed to disk and log; 0 where none is. */
    readonly uncommittedMs: number;
    /** Whether there is room for changes. */
    readonly writable: boolean;
    commit(): void;
    flush(): Promise<void>;
  };
  /** `edit`: an object of its own for changes between which nobody sees the state. */
  follow(body: FrameBody, edit: object): void;
  /** Tells all waiting callers that the outcome of their changes is unknown; no command may be decided here. */
  giveUp(): void;
  giveUpForGood(): void;
}

export interface ReplicaClock {
  /** Milliseconds, monotonic. */
  monotonic(): number;
  /** Milliseconds since 1970. */
  wall(): number;
  /** Calls `run` later, once; returns what cancels it. */
  timer(delayMs: number, run: () => void): () => void;
  /** From 0 to 1. */
  random(): number;
  yieldToEventLoop(): Promise<void>;
}

export interface ReplicaLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

export interface ReplicaOptions {
  readonly log: ReplicatedLog;
  readonly history: NodeHistory;
  readonly identity: NodeIdentity;
  readonly version: string;
  /** The newest formats that it reads and writes. */
  readonly formats: Announcement['reads'];
  /** Names this node to the leader (src/addons/replication/leader-client.ts). */
  readonly hopKey: string;
  /** Never rejects, and takes a second at most. */
  reach(node: { readonly node: string; readonly address: string }): Promise<Found>;
  /** Position of the record to read first (alignment.ts). */
  readonly from: number;
  /** Position of the last record that the log held then: this node has caught up when it has read so far. */
  readonly last: number;
  /** The moment at which the log was asked for it, monotonic: a start may take long. */
  readonly askedAtMs: number;
  readonly engine: ReplicatedEngine;
  readonly commitLog: ReplicatedCommitLog;
  readonly clock: ReplicaClock;
  readonly notes: ReplicaLog;
  /** Sentences about the servers of the log, for operators. */
  readonly warnings: readonly string[];
  /** Called when this node has begun to lead. Others see it as the leader once that has returned. */
  onLeading(): Promise<void>;
  /** Must end the process. */
  stop(error: Error): void;
}
