/** What listens, before there is anything to respond with. */
import type { Config } from './config.ts';
import type { Phase } from './http/probes/probes.ts';
import { selectTransport } from './http/select-transport.ts';
import type { Api } from './http/serving/dispatcher.ts';
import { polledPaths } from './http/surfaces.ts';
import type { Tracer } from './http/tracing/tracer.ts';
import type { Transport, TransportOptions } from './http/transport/transport.ts';
import { createWorkersTransport } from './http/workers/workers-transport.ts';
import type { Log } from './log.ts';

export interface FrontOptions {
  readonly config: Config;
  readonly log: Log;
  /** Ends the process: a worker has died. */
  stop(error: Error): void;
  readonly tracer?: Tracer | null;
}

/**
 * The part in front of the store, which is open from the first moment. Its handler changes once the store is open.
 */
export interface Front {
  phase: Phase;
  handle: Api['handle'];
  admit: Api['admit'];
  refuse: Api['refuse'];
}

export function createFront(
  front: Front,
  { config, log, stop, tracer = null }: FrontOptions,
): Promise<Transport> {
  const { host, port, trustedProxies, streamsMax, connectionsPerAddressMax, basePath, httpWorkers, metrics } =
    config;
  const options: TransportOptions = {
    ...{ host, port, log, trustedProxies },
    handle: (request, response) => front.handle(request, response),
    admit: (head) => front.admit(head),
    refuse: (...refused) => front.refuse(...refused),
    polledPaths: polledPaths(basePath),
    limits: { streamsMax, ...(connectionsPerAddressMax !== null && { connectionsPerAddressMax }) },
  };
  if (httpWorkers === 0) return selectTransport(config.httpEngine, options);
  return selectTransport(config.httpEngine, options, () =>
    createWorkersTransport({
      ...options,
      refuse: (...refused) => front.refuse(...refused),
      count: httpWorkers,
      basePath,
      // The main thread sees every request that is to be logged or traced, or whose Host it has to look at.
      keeps: tracer === null && !log.isLevelEnabled('debug') && config.authType !== 'none',
      metered: metrics,
      stop,
    }),
  );
}
