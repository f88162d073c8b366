/** The events of a request that are reported to a tracer. Without a tracer a request costs one more comparison with null. */
import type { TransportRequestHead } from '../transport/transport.ts';

export interface Tracer {
  begin(head: TransportRequestHead): RequestTrace;
}

/** Called in this order. A request that is no command is only ended, and one that is refused may end at any point. */
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
