/** Traces of requests, by OpenTelemetry. */
import type { Addon } from '../../host/addon.ts';

export const tracing: Addon = {
  name: 'tracing',
  configure: async (setup) => (await import('./tracing.ts')).configureTracing(setup),
};
