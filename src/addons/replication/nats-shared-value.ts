/** Small values that the nodes of a cluster share, on NATS JetStream: a stream keeps the newest message of each subject. */
import { DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { SharedValue } from '../../host/addon.ts';
import { lazily } from './file-archive.ts';
import { bufferOf, isWrongSequence, streamNameOf } from './nats-log.ts';
import { openSideStream, REQUEST_TIMEOUT_MS, type SideStream } from './nats-side-stream.ts';

export interface NatsSharedValuesOptions {
  readonly connection: NatsConnection;
  /** The cluster's name. */
  readonly name: string;
  readonly replicas: number;
}

export class NatsSharedValues {
  readonly #options: NatsSharedValuesOptions;
  readonly #stream: string;
  readonly #ready = lazily(() => this.#open());

  constructor(options: NatsSharedValuesOptions) {
    this.#options = options;
    this.#stream = `${streamNameOf(options.name)}_SHARED`;
  }

  /** The value of a name of lower-case letters. */
  value(key: string): SharedValue {
    const subject = `flagstaff.${this.#options.name}.shared.${key}`;
    return {
      read: async () => {
        const { streams } = (await this.#ready()).manager;
        const message = await streams.getMessage(this.#stream, { last_by_subj: subject });
        return message === null ? null : { revision: message.seq, bytes: bufferOf(message.data) };
      },
      write: async (bytes, revision) => {
        const { client } = await this.#ready();
        try {
          const { seq } = await client.publish(subject, bytes, {
            expect: { lastSubjectSequence: revision, streamName: this.#stream },
            retries: 1,
            timeout: REQUEST_TIMEOUT_MS,
          });
          return seq;
        } catch (error) {
          if (isWrongSequence(error)) return null;
          throw error;
        }
      },
    };
  }

  #open(): Promise<SideStream> {
    const { connection, name, replicas } = this.#options;
    return openSideStream(connection, {
      name: this.#stream,
      subjects: [`flagstaff.${name}.shared.*`],
      description: `Values that the nodes of the Flagstaff cluster ${name} share.`,
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.Old,
      num_replicas: replicas,
      max_msgs_per_subject: 1,
    });
  }
}
