/** A stream beside the log that holds no history, so that the first node which needs it makes it. */
import {
  JetStreamApiCodes,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  type StreamConfig,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { isApiError } from './nats-log.ts';

/** A server answers within milliseconds. */
export const REQUEST_TIMEOUT_MS = 2_000;

export interface SideStream {
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
}

/** Makes the stream unless it is there. */
export async function openSideStream(
  connection: NatsConnection,
  config: Partial<StreamConfig> & { readonly name: string },
): Promise<SideStream> {
  const manager = await jetstreamManager(connection, { timeout: REQUEST_TIMEOUT_MS });
  try {
    await manager.streams.info(config.name);
  } catch (error) {
    if (!isApiError(error, JetStreamApiCodes.StreamNotFound)) throw error;
    await manager.streams.add(config);
  }
  return { client: jetstream(connection, { timeout: REQUEST_TIMEOUT_MS }), manager };
}
