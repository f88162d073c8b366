/**
 * The replicated log on NATS JetStream: one stream of one subject, whose sequence numbers are the positions.
 *
 * The expected last sequence of each message is the fence. Messages carry no id for the server's detection of
 * duplicates: a message that is sent twice with the same expected sequence can be taken once at most, so the detection
 * would only cost the server memory.
 */
import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { FencedError } from '../../persistence/journal/commit-log.ts';
import { isTooOld, RELEASE_ADVICE } from './nats-release.ts';
import {
  type AppendOutcome,
  type LogExtent,
  LogGoneError,
  type LogRecord,
  RECORD_BYTES_MAX,
  type ReplicatedLog,
  UnsafeLogError,
} from './replicated-log.ts';

/** A server answers within milliseconds; after this the outcome is looked up. */
const REQUEST_TIMEOUT_MS = 2_000;

/**
 * A server that leads the stream and has not reached a majority for so long may have been replaced: the others elect after 4 seconds
 * without its heartbeats, of which there is one a second, and it goes on answering for some seconds more.
 */
const UNHEARD_MS_MAX = 2_000;

/** Room for what is written before the archive has it. */
const UNARCHIVED_BYTES = 32 * 1024 * 1024;

/** Copies of each record, of which a majority has to have it. */
const REPLICAS_MIN = 3;

/** The number of copies of a stream that is made here. */
export const replicasFor = (durability: 'disk' | 'memory'): number =>
  durability === 'disk' ? REPLICAS_MIN : 1;

export interface NatsLogOptions {
  readonly connection: NatsConnection;
  /** The cluster's name: letters, digits, `-` and `_`. */
  readonly name: string;
  /** `disk`: three copies, or the start is refused. `memory`: as many as the stream has; one where it is made here. */
  readonly durability: 'disk' | 'memory';
  /** Bytes of archived records that the stream is to keep, besides what is not archived yet. */
  readonly logBytes: number;
}

export const streamNameOf = (name: string): string => `FLAGSTAFF_${name}`;

/** Finds the stream. Throws `UnsafeLogError` where it would not keep what it takes, and `LogGoneError` where there is none. */
export async function openNatsLog(options: NatsLogOptions): Promise<ReplicatedLog> {
  const { connection, name, durability } = options;
  refuseServer(connection, durability);
  const manager = await jetstreamManager(connection, { timeout: REQUEST_TIMEOUT_MS });
  const { config, created } = await infoOf(manager, name);
  refuseUnsafe(config, options);
  return new NatsLog({ connection, manager, name, created });
}

/** Makes the stream unless it is there. */
export async function makeNatsStream({ connection, name, durability }: NatsLogOptions): Promise<void> {
  refuseServer(connection, durability);
  const manager = await jetstreamManager(connection, { timeout: REQUEST_TIMEOUT_MS });
  try {
    await infoOf(manager, name);
  } catch (error) {
    if (!(error instanceof LogGoneError)) throw error;
    await manager.streams.add({
      name: streamNameOf(name),
      subjects: [recordSubject(name)],
      description: `The journal of the Flagstaff cluster ${name}.`,
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.New,
      num_replicas: replicasFor(durability),
      deny_delete: true,
      allow_direct: false,
    });
  }
}

async function infoOf(manager: JetStreamManager, name: string): Promise<StreamInfo> {
  try {
    return await manager.streams.info(streamNameOf(name));
  } catch (error) {
    throw goneOr(error, name);
  }
}

const goneOr = (error: unknown, name: string): unknown =>
  isApiError(error, JetStreamApiCodes.StreamNotFound)
    ? new LogGoneError(`The NATS servers have no stream ${streamNameOf(name)}.`)
    : error;

/** Throws where the server that answered may be cut off from those that decide. A stream of one copy is its server's alone. */
export function refuseCutOff({ cluster }: Pick<StreamInfo, 'cluster'>): void {
  const others = cluster?.replicas ?? [];
  const heard = others.filter(({ active }) => active / 1e6 <= UNHEARD_MS_MAX).length;
  if (heard + 1 > (others.length + 1) / 2) return;
  throw new Error(`the server ${cluster?.leader ?? ''} of the log has not reached a majority of them`);
}

function refuseServer({ info }: NatsConnection, durability: 'disk' | 'memory'): void {
  if (info === undefined) return;
  if (info.max_payload < RECORD_BYTES_MAX) {
    throw new UnsafeLogError(
      `The NATS server takes messages of at most ${info.max_payload} bytes, and a record may have ${RECORD_BYTES_MAX}. Set "max_payload" to 1MB, which is its default.`,
    );
  }
  if (durability === 'memory' || !isTooOld(info.version)) return;
  throw new UnsafeLogError(
    `The NATS server is of release ${info.version}, which may lose what it acknowledged. Use release ${RELEASE_ADVICE} with "sync_interval: always", or set REPLICATION_DURABILITY=memory to accept the loss.`,
  );
}

function refuseUnsafe(config: StreamConfig, { name, durability, logBytes }: NatsLogOptions): void {
  const stream = streamNameOf(name);
  const limits = [config.max_age, config.max_msgs, config.max_bytes, config.max_msgs_per_subject];
  const drops = config.discard !== DiscardPolicy.New && limits.some((limit) => limit > 0);
  if (drops || config.max_age > 0 || config.retention !== RetentionPolicy.Limits) {
    throw new UnsafeLogError(
      `The stream ${stream} deletes records by itself. Remove its limits (max_age, max_msgs, max_bytes), or let Flagstaff make the stream.`,
    );
  }
  const small = tooSmall(config, logBytes);
  if (small !== null) throw new UnsafeLogError(`The stream ${stream} has ${small}; remove that limit.`);
  if (config.subjects.length !== 1 || config.subjects[0] !== recordSubject(name)) {
    throw new UnsafeLogError(
      `The stream ${stream} takes the subjects ${config.subjects.join(', ')}, and records have the subject ${recordSubject(name)}. Give it that one alone, or let Flagstaff make the stream.`,
    );
  }
  if (durability === 'memory') return;
  if (config.storage !== StorageType.File || config.num_replicas < REPLICAS_MIN) {
    throw new UnsafeLogError(
      `The stream ${stream} keeps ${config.num_replicas} ${config.storage} replica(s), and ${REPLICAS_MIN} file replicas are needed so that no record is lost with a machine. Run a NATS cluster of ${REPLICAS_MIN} servers, or set REPLICATION_DURABILITY=memory to accept the loss.`,
    );
  }
}

/** The limit of a stream that would fill up in the course of its work, as the object of a sentence; null without one. */
function tooSmall({ max_bytes, max_msgs, max_msg_size }: StreamConfig, logBytes: number): string | null {
  const bytesMin = logBytes + UNARCHIVED_BYTES;
  if (max_bytes > 0 && max_bytes < bytesMin)
    return `max_bytes ${max_bytes}, and REPLICATION_LOG_BYTES with what is not archived yet take ${bytesMin}`;
  if (max_msgs > 0) return `max_msgs ${max_msgs}, after which it takes no change`;
  if ((max_msg_size ?? 0) > 0 && max_msg_size! < RECORD_BYTES_MAX)
    return `max_msg_size ${max_msg_size}, and a record may have ${RECORD_BYTES_MAX} bytes`;
  return null;
}

const recordSubject = (name: string): string => `flagstaff.${name}.log`;
const appendedSubject = (name: string): string => `flagstaff.${name}.appended`;
const announcementSubject = (name: string): string => `flagstaff.${name}.nodes`;

const POSITION_BYTES = 8;

function positionBytes(position: number): Buffer {
  const bytes = Buffer.alloc(POSITION_BYTES);
  bytes.writeBigUInt64LE(BigInt(position));
  return bytes;
}

interface FoundStream {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly name: string;
  readonly created: string;
}

class NatsLog implements ReplicatedLog {
  readonly #connection: NatsConnection;
  readonly #manager: JetStreamManager;
  readonly #client: JetStreamClient;
  readonly #stream: string;
  readonly #name: string;
  /** The moment in which the stream was made. One that was made later has other records at the same positions. */
  readonly #created: string;

  constructor({ connection, manager, name, created }: FoundStream) {
    this.#connection = connection;
    this.#manager = manager;
    this.#client = jetstream(connection, { timeout: REQUEST_TIMEOUT_MS });
    this.#stream = streamNameOf(name);
    this.#name = name;
    this.#created = created;
  }

  async extent(): Promise<LogExtent> {
    const info = await infoOf(this.#manager, this.#name);
    refuseCutOff(info);
    const { state, created } = info;
    if (created !== this.#created) throw new FencedError(`the stream ${this.#stream} was recreated`);
    return { first: state.first_seq, last: state.last_seq };
  }

  async append(expectedLast: number, record: Uint8Array): Promise<AppendOutcome> {
    try {
      await this.#client.publish(recordSubject(this.#name), record, {
        expect: { lastSequence: expectedLast, streamName: this.#stream },
        // A second attempt belongs to the caller that can find out the outcome of the first one.
        retries: 1,
        timeout: REQUEST_TIMEOUT_MS,
      });
      this.#publish(appendedSubject(this.#name), Buffer.concat([positionBytes(expectedLast + 1), record]));
      return { kind: 'accepted' };
    } catch (cause) {
      return isWrongSequence(cause) ? { kind: 'conflict' } : { kind: 'unknown', cause };
    }
  }

  async read(position: number): Promise<Buffer | null> {
    const message = await this.#manager.streams
      .getMessage(this.#stream, { seq: position })
      .catch((error: unknown) => Promise.reject(goneOr(error, this.#name)));
    return message === null ? null : bufferOf(message.data);
  }

  async purge(before: number): Promise<void> {
    await this.#manager.streams.purge(this.#stream, { seq: before });
  }

  onAppended(listener: (record: LogRecord) => void): () => void {
    return this.#subscribe(appendedSubject(this.#name), (data) => {
      // Anything shorter is from no node, and an error here would end the reading of the connection.
      if (data.length < POSITION_BYTES) return;
      listener({ position: Number(data.readBigUInt64LE()), bytes: data.subarray(POSITION_BYTES) });
    });
  }

  announce(message: Uint8Array): void {
    this.#publish(announcementSubject(this.#name), message);
  }

  onAnnouncement(listener: (message: Buffer) => void): () => void {
    return this.#subscribe(announcementSubject(this.#name), listener);
  }

  /** While the connection is lost it has no use: a later message says more. */
  #publish(subject: string, message: Uint8Array): void {
    if (!this.#connection.isClosed()) this.#connection.publish(subject, message);
  }

  #subscribe(subject: string, listener: (data: Buffer) => void): () => void {
    const subscription = this.#connection.subscribe(subject, {
      callback: (error, { data }) => {
        if (error === null) listener(bufferOf(data));
      },
    });
    return () => subscription.unsubscribe();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

export const isApiError = (error: unknown, ...codes: readonly number[]): boolean =>
  error instanceof JetStreamApiError && codes.includes(error.code);

export const isWrongSequence = (error: unknown): boolean =>
  isApiError(
    error,
    JetStreamApiCodes.StreamWrongLastSequence,
    JetStreamApiCodes.StreamWrongLastSequenceUnknown,
  );

export const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
