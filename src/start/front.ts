/** What listens, before there is anything to respond with. */

import type { Api } from '../http/serving/dispatcher.ts';
import type { Phase } from '../http/serving/probes.ts';
import type { Transport } from '../http/transport/transport.ts';
import type { Log } from '../process/log.ts';
import type { Config } from './config.ts';
import { selectTransport } from './select-transport.ts';
import { polledPaths } from './surfaces.ts';

export interface FrontOptions {
  readonly config: Config;
  readonly log: Log;
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

export function createFront(front: Front, { config, log }: FrontOptions): Promise<Transport> {
  const { host, port, trustedProxies, streamsMax, connectionsPerAddressMax, basePath } = config;
  return selectTransport(config.httpEngine, {
    ...{ host, port, log, trustedProxies },
    handle: (request, response) => front.handle(request, response),
    admit: (head) => front.admit(head),
    refuse: (...refused) => front.refuse(...refused),
    polledPaths: polledPaths(basePath),
    limits: { streamsMax, ...(connectionsPerAddressMax !== null && { connectionsPerAddressMax }) },
  });
}
