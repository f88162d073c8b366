/** Ids with which a request can be found again in the logs of clients, proxies and this server. */
import type { TransportRequestHead } from '../transport/transport.ts';

/** What logs and tools take without quoting. Longer or other ones are ignored, because they end up in logs and headers. */
const REQUEST_ID_PATTERN = /^[A-Za-z0-9._~:+/=@-]{1,128}$/;

/** The `X-Request-Id` that the request came with; empty without one that can be used. */
export function givenRequestId(head: TransportRequestHead): string {
  const id = head.header('x-request-id');
  return id !== '' && REQUEST_ID_PATTERN.test(id) ? id : '';
}

/** The form of the header `traceparent`: https://www.w3.org/TR/trace-context/#traceparent-header. */
const TRACE_PARENT_PATTERN =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

export interface TraceParent {
  readonly traceId: string;
  readonly parentId: string;
  /** A byte; its lowest bit says that the caller records the trace. */
  readonly flags: number;
}

/** The trace that the request belongs to; null without a good `traceparent`. */
export function traceParent(head: TransportRequestHead): TraceParent | null {
  const [, traceId, parentId, flags = ''] = TRACE_PARENT_PATTERN.exec(head.header('traceparent')) ?? [];
  if (traceId === undefined || parentId === undefined) return null;
  return { traceId, parentId, flags: Number.parseInt(flags, 16) };
}

/** The same for a line of the log. */
export function traceFields(head: TransportRequestHead): {
  readonly traceId?: string;
  readonly parentId?: string;
} {
  const parent = traceParent(head);
  return parent === null ? {} : { traceId: parent.traceId, parentId: parent.parentId };
}
