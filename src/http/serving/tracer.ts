/**
 * What a request tells of itself while it is on its way, for whoever records traces. Without a tracer nothing is told, and a request
 * costs a comparison with null more.
 */
import type { TransportRequestHead } from '../transport/transport.ts';

export interface Tracer {
  begin(head: TransportRequestHead): RequestTrace;
}

/** Told in this order. A request that is no command is only ended, and one that is refused may end at any point. */
export interface RequestTrace {
  /** The command is in its mailbox. */
  queued(): void;
  /** Its turn has come. */
  begun(): void;
  /** Its events are appended, and its response waits until they are durable. */
  appended(): void;
  /** `route`: the pattern that the path matched; `none` where it matched none. */
  ended(route: string, status: number): void;
}
