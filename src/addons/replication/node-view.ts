/** A node of a cluster, as probes, metrics, operators and the control channel see it. */
import type { Peer } from './announcement.ts';
import type { NodeIdentity } from './record-format.ts';

/** A node that may lag more should not be asked: an application is to see a switch within 5 seconds, or ask another node. */
export const LAG_MS_MAX = 4_000;

/** Another node, as it announced itself last, without the key that only nodes may know. */
export interface PeerView extends Omit<Peer, keyof Unshown> {
  /** Records that it has not read yet, as far as this node knows. */
  readonly lagRecords: number;
  /** Milliseconds by which its clock is ahead of this node's; null where it announces none. */
  readonly clockMs: number | null;
  /** Whether it responds to this node at its address. */
  readonly isReached: boolean;
}

type Unshown = Pick<Peer, 'handsOver' | 'wallMs' | 'reads' | 'unreached' | 'standsLast' | 'hopKey'>;

export interface ReplicaView {
  /** This node, as the operator named it. */
  readonly node: string;
  readonly role: string;
  readonly epoch: number;
  /** The node that leads, as far as this one knows. */
  readonly leader: NodeIdentity | null;
  readonly isLeading: boolean;
  /** Time since this node knew last that it had all that the leader had, or that it led; 0 for the leader. */
  readonly lagMs: number;
  /** Records that it has not read yet, as far as it knows. */
  readonly lagRecords: number;
  /** Why this node follows no further, or leads no more; null while it does. */
  readonly problem: string | null;
  /** Sentences that name what an operator should look at. */
  readonly warnings: readonly string[];
  /** The history that this node tells; null while neither its folder nor the log names it. */
  readonly history: string | null;
  /** The version of its program. */
  readonly version: string;
  /** All recently seen nodes, this one included. */
  readonly peers: readonly PeerView[];
  /** Nodes seen within the hour, and not recently. */
  readonly gone: readonly PeerView[];
}

export interface ArchiveView {
  /** The archive holds all events from this one, the first, */
  readonly archivedFrom: number;
  /** up to this one. */
  readonly archivedId: number;
  /** The newest snapshot in it; 0 for none. */
  readonly snapshotId: number;
  /** The log holds what follows this event; 0 where it was never made to forget anything. */
  readonly forgottenId: number;
  /** Position of the first record that the log keeps. */
  readonly firstPosition: number;
  /** Why the last attempt failed; null where it did not. */
  readonly problem: string | null;
}
