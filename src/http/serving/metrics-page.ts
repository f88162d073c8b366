/** The metrics page of a server and of an edge. */
import type { Registry } from 'prom-client';
import { ResponseHeaders } from '../transport/response.ts';
import type { HttpResponse } from '../transport/transport.ts';

export const METRICS_PATH = '/internal-backstage/prometheus';

/** Protects the event loop: making the page takes milliseconds, and without a token anybody may ask. */
export const METRICS_AGE_MS_MAX = 1_000;

/** Shares one page between all callers within METRICS_AGE_MS_MAX. */
export function metricsPage(
  registryOf: () => Registry | Promise<Registry>,
  monotonicMs: () => number,
): () => Promise<HttpResponse> {
  const make = async (): Promise<HttpResponse> => {
    const registry = await registryOf();
    const headers = ResponseHeaders.of(
      ...['content-type', registry.contentType],
      ...['x-content-type-options', 'nosniff'],
    );
    return { status: 200, headers, body: Buffer.from(await registry.metrics()) };
  };
  let made: { readonly at: number; readonly page: Promise<HttpResponse> } | null = null;
  return () => {
    const now = monotonicMs();
    if (made === null || now - made.at >= METRICS_AGE_MS_MAX) made = { at: now, page: make() };
    return made.page;
  };
}
