/** The stream of what applications reported, on NATS JetStream. Its oldest batches make room for new ones. */
import { DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { lazily } from './file-archive.ts';
import { bufferOf, streamNameOf } from './nats-log.ts';
import { openSideStream, REQUEST_TIMEOUT_MS, type SideStream } from './nats-side-stream.ts';

/** Bytes on the servers' disks: months of what a busy cluster reports. */
const STREAM_BYTES_MAX = 256 * 1024 * 1024;

/** Counts of days are kept for so long at most. */
const STREAM_AGE_NS = 90 * 24 * 3_600 * 1e9;

export interface NatsUsageOptions {
  readonly connection: NatsConnection;
  /** The cluster's name. */
  readonly name: string;
  readonly replicas: number;
}

export class NatsUsage {
  readonly #options: NatsUsageOptions;
  readonly #stream: string;
  readonly #subject: string;
  readonly #ready = lazily(() => this.#open());

  constructor(options: NatsUsageOptions) {
    this.#options = options;
    this.#stream = `${streamNameOf(options.name)}_USAGE`;
    this.#subject = `flagstaff.${options.name}.usage`;
  }

  async publish(batch: Buffer, id: string): Promise<void> {
    const { client } = await this.#ready();
    await client.publish(this.#subject, batch, { msgID: id, timeout: REQUEST_TIMEOUT_MS, retries: 1 });
  }

  /** A read needs no consumer, which would be lost with its server. */
  async read(from: number): Promise<{ readonly position: number; readonly bytes: Buffer } | null> {
    const { streams } = (await this.#ready()).manager;
    const query = { seq: from, next_by_subj: this.#subject };
    const message = await streams.getMessage(this.#stream, query);
    if (message === null) return null;
    return { position: message.seq, bytes: bufferOf(message.data) };
  }

  #open(): Promise<SideStream> {
    const { connection, name, replicas } = this.#options;
    return openSideStream(connection, {
      name: this.#stream,
      subjects: [this.#subject],
      description: `What applications reported to the nodes of the Flagstaff cluster ${name}.`,
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.Old,
      num_replicas: replicas,
      max_bytes: STREAM_BYTES_MAX,
      max_age: STREAM_AGE_NS,
    });
  }
}
