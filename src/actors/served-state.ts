/**
 * The part of the engine that surfaces for SDKs read: a state, how new it is, and the feed of its changes. The engine is one; an edge
 * has one for each upstream document (src/addons/edge/mirror.ts), which decides nothing and has no journal.
 */
import type { FileJournal } from '../persistence/journal/file-journal.ts';
import type { CacheOwner } from './cache.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { LoopAccounts } from './loop-accounts.ts';

export interface ServedState extends CacheOwner {
  /** Tells of each change once it is durable. */
  readonly feed: Pick<ChangeFeed, 'subscribe' | 'appliedSince' | 'report'>;
  /** Id of the newest event that the state has, durable or not. */
  readonly lastId: number;
  readonly durableId: number;
  readonly loopAccounts: LoopAccounts;
  /** Commands that wait for their turn. */
  readonly queuedCount: number;
  readonly journal: Pick<FileJournal, 'pendingFrames'>;
  /** Runs `resume` when everything up to event `id` is durable; at once when it is. */
  whenDurable(id: number, resume: () => void): void;
}
