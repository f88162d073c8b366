/**
 * Traces by OpenTelemetry: for each request a span of a server, and for a change two below it: `mailbox` until its turn comes, and
 * `commit` until it is durable. Its SDK is an optional dependency that is loaded only where traces are asked for. It takes its own settings
 * from the standard variables, sends in batches, keeps at most 2,048 spans that wait, and drops what is more.
 */
import type { Context, Tracer as OpenTelemetryTracer, Span, TraceAPI, TraceState } from '@opentelemetry/api';
import type { RequestTrace, Tracer } from '../../http/serving/call.ts';
import { loggedPath, traceParent } from '../../http/serving/request-log.ts';
import type { TransportRequestHead } from '../../http/transport/transport.ts';

/** Protocols by which spans are sent to the collector. */
export const TRACE_PROTOCOLS = ['http/protobuf', 'http/json'] as const;
export type TraceProtocol = (typeof TRACE_PROTOCOLS)[number];

export interface OpenTelemetryOptions {
  readonly protocol: TraceProtocol;
  /** This program's version. */
  readonly version: string;
  /** Told what the SDK complains of, such as a collector that cannot be reached. */
  onTrouble(message: string): void;
}

export interface OpenTracer extends Tracer {
  /** Sends what waits; gives up after a while. */
  close(): Promise<void>;
}

/** A stop must not wait for a collector that is away. */
const CLOSE_MS_MAX = 2_000;

/** Rejects with ERR_MODULE_NOT_FOUND where the SDK is not installed. */
export async function openTelemetry({
  protocol,
  version,
  onTrouble,
}: OpenTelemetryOptions): Promise<OpenTracer> {
  const [{ createTraceState, diag, DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace }, sdk, res] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/resources'),
    ]);
  const exporters =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  const ignore = (): void => undefined;
  const logger = { error: onTrouble, warn: onTrouble, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const own = res.resourceFromAttributes({ 'service.name': 'flagstaff', 'service.version': version });
  const provider = new sdk.BasicTracerProvider({
    resource: res
      .defaultResource()
      .merge(own)
      .merge(res.detectResources({ detectors: [res.envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(new exporters.OTLPTraceExporter())],
  });
  const tracer = provider.getTracer('flagstaff', version);
  const parts = { tracer, trace, error: SpanStatusCode.ERROR };
  return {
    begin: (head) => {
      const context = parentOf(head, { createTraceState, trace, root: ROOT_CONTEXT });
      const attributes = { 'http.request.method': head.method, 'url.path': loggedPath(head.path) };
      const span = tracer.startSpan(
        head.method,
        { kind: SpanKind.SERVER, attributes, startTime: epochMs() },
        context,
      );
      return new SpanOfRequest(span, head.method, context, parts);
    },
    close: async () => {
      let timer: NodeJS.Timeout | undefined;
      const timedOut = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_MS_MAX);
      });
      await Promise.race([provider.shutdown().catch((error: unknown) => onTrouble(String(error))), timedOut]);
      clearTimeout(timer);
    },
  };
}

/**
 * The time by one clock for all spans, to the microsecond: the SDK's own clock begins each span at a whole millisecond, before what
 * came before it.
 */
function epochMs(): number {
  return performance.timeOrigin + performance.now();
}

interface ParentParts {
  readonly trace: TraceAPI;
  readonly root: Context;
  createTraceState(text: string): TraceState;
}

/** The span of the caller, as the headers of W3C Trace Context name it. */
function parentOf(head: TransportRequestHead, { createTraceState, trace, root }: ParentParts): Context {
  const parent = traceParent(head);
  if (parent === null) return root;
  const { traceId, parentId, flags } = parent;
  const state = head.header('tracestate');
  return trace.setSpanContext(root, {
    ...{ traceId, spanId: parentId, traceFlags: flags, isRemote: true },
    ...(state !== '' && { traceState: createTraceState(state) }),
  });
}

interface SpanParts {
  readonly tracer: OpenTelemetryTracer;
  readonly trace: TraceAPI;
  /** The status code of a span that failed. */
  readonly error: number;
}

class SpanOfRequest implements RequestTrace {
  readonly #span: Span;
  readonly #method: string;
  readonly #context: Context;
  readonly #parts: SpanParts;
  /** The part that is under way. */
  #part: Span | null = null;

  constructor(span: Span, method: string, parent: Context, parts: SpanParts) {
    this.#span = span;
    this.#method = method;
    this.#context = parts.trace.setSpan(parent, span);
    this.#parts = parts;
  }

  queued(): void {
    this.#begin('mailbox');
  }

  begun(): void {
    this.#endPart();
  }

  appended(): void {
    this.#begin('commit');
  }

  ended(route: string, status: number): void {
    this.#endPart();
    const isKnown = route !== 'none';
    if (isKnown) this.#span.updateName(`${this.#method} ${route}`).setAttribute('http.route', route);
    this.#span.setAttribute('http.response.status_code', status);
    if (status >= 500) this.#span.setStatus({ code: this.#parts.error });
    this.#span.end(epochMs());
  }

  #begin(name: string): void {
    this.#endPart();
    this.#part = this.#parts.tracer.startSpan(name, { startTime: epochMs() }, this.#context);
  }

  #endPart(): void {
    this.#part?.end(epochMs());
    this.#part = null;
  }
}
