/** The archive on the object store of NATS: one bucket for each cluster, kept as often as the log is. */
import {
  JetStreamApiCodes,
  JetStreamApiError,
  jetstream,
  jetstreamManager,
  StorageType,
} from '@nats-io/jetstream';
import { type ObjectStore, Objm } from '@nats-io/obj';
import type { NatsConnection } from '@nats-io/transport-node';
import { ArchiveDamageError } from './archived-frames.ts';
import type { ArchivedFile, FileArchive } from './file-archive.ts';
import { streamNameOf } from './nats-log.ts';
import { LogGoneError } from './replicated-log.ts';

/** A server answers within milliseconds, and its cluster elects within seconds. */
const REQUEST_TIMEOUT_MS = 5_000;

/** Bytes of one message, which is a durable write on the log's servers. */
const PIECE_BYTES = 256 * 1024;

/** Between two messages: at most 6 MiB a second, which leaves the disks of the servers to the log. */
const PIECE_PAUSE_MS = 40;

export interface NatsArchiveOptions {
  readonly connection: NatsConnection;
  /** The cluster's name: letters, digits, `-` and `_`. */
  readonly name: string;
  readonly replicas: number;
}

/** Finds the bucket, or makes it. */
export async function openNatsArchive({
  connection,
  name,
  replicas,
}: NatsArchiveOptions): Promise<FileArchive> {
  const store = await managerOf(connection).create(streamNameOf(name), {
    description: `The archived journal and snapshots of the Flagstaff cluster ${name}.`,
    storage: StorageType.File,
    replicas,
  });
  return new NatsArchive(store);
}

/** Finds the bucket. Throws `LogGoneError` where the servers answer that there is none. */
export async function findNatsArchive({
  connection,
  name,
}: Omit<NatsArchiveOptions, 'replicas'>): Promise<FileArchive> {
  const bucket = streamNameOf(name);
  const manager = await jetstreamManager(connection, { timeout: REQUEST_TIMEOUT_MS });
  try {
    await manager.streams.info(`OBJ_${bucket}`);
  } catch (error) {
    const isGone = error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound;
    throw isGone ? new LogGoneError(`The NATS servers have no bucket ${bucket}.`) : error;
  }
  return new NatsArchive(await managerOf(connection).open(bucket, false));
}

const managerOf = (connection: NatsConnection): Objm =>
  new Objm(jetstream(connection, { timeout: REQUEST_TIMEOUT_MS }));

class NatsArchive implements FileArchive {
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    const options = { max_chunk_size: PIECE_BYTES };
    await this.#store.put({ name, options }, piecesOf(bytes), { timeout: REQUEST_TIMEOUT_MS });
  }

  async list(): Promise<readonly ArchivedFile[]> {
    const all = await this.#store.list();
    return all.filter(({ deleted }) => !deleted).map(({ name, size: bytes }) => ({ name, bytes }));
  }

  async get(name: string): Promise<Buffer | null> {
    const found = await this.#store.get(name);
    if (found === null) return null;
    const pieces: Uint8Array[] = [];
    try {
      for await (const piece of found.data) pieces.push(piece);
    } catch (error) {
      if (!/digests do not match/.test((error as Error).message)) throw error;
      throw new ArchiveDamageError(`the archived file ${name} is damaged: its digest does not match`);
    }
    const error = await found.error;
    if (error) throw error;
    const bytes = Buffer.concat(pieces);
    if (bytes.length !== found.info.size) throw new Error(`the archived file ${name} came cut short`);
    return bytes;
  }

  async delete(name: string): Promise<void> {
    if ((await this.#store.info(name)) !== null) await this.#store.delete(name);
  }
}

function piecesOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        if (at > 0) await new Promise((resolve) => setTimeout(resolve, PIECE_PAUSE_MS));
        if (at < bytes.length) controller.enqueue(bytes.subarray(at, at + PIECE_BYTES));
        at += PIECE_BYTES;
        if (at >= bytes.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
