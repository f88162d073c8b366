/** The archive on the object store of NATS: one bucket for each cluster, kept as often as the log is. */
import {
  JetStreamApiCodes,
  JetStreamApiError,
  jetstream,
  jetstreamManager,
  StorageType,
} from '@nats-io/jetstream';
import { type ObjectInfo, type ObjectStore, Objm } from '@nats-io/obj';
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

/** The wait for the next message of a file. NATS sends none, and no end either, where a file is still named and its messages are gone. */
const MESSAGE_TIMEOUT_MS = 10_000;

export interface NatsArchiveOptions {
  readonly connection: NatsConnection;
  /** The cluster's name: letters, digits, `-` and `_`. */
  readonly name: string;
  readonly replicas: number;
  /** For tests. */
  readonly messageTimeoutMs?: number;
}

/** Finds the bucket, or makes it. */
export async function openNatsArchive({
  connection,
  name,
  replicas,
  messageTimeoutMs,
}: NatsArchiveOptions): Promise<FileArchive> {
  const store = await managerOf(connection).create(streamNameOf(name), {
    description: `The archived journal and snapshots of the Flagstaff cluster ${name}.`,
    storage: StorageType.File,
    replicas,
  });
  return new NatsArchive(store, messageTimeoutMs);
}

/** Finds the bucket. Throws `LogGoneError` where the servers answer that there is none. */
export async function findNatsArchive({
  connection,
  name,
}: Pick<NatsArchiveOptions, 'connection' | 'name'>): Promise<FileArchive> {
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
  readonly #messageTimeoutMs: number;

  constructor(store: ObjectStore, messageTimeoutMs = MESSAGE_TIMEOUT_MS) {
    this.#store = store;
    this.#messageTimeoutMs = messageTimeoutMs;
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
    const first = await this.#read(name);
    const bytes = first === 'replaced' ? await this.#read(name) : first;
    if (bytes === 'replaced')
      throw new Error(`the archived file ${name} was put again while it was read, twice`);
    return bytes;
  }

  async #read(name: string): Promise<Buffer | 'replaced' | null> {
    const found = await this.#store.get(name);
    if (found === null) return null;
    // Nobody awaits this where reading the data rejects, with the same error.
    found.error.catch(() => undefined);
    const reader = found.data.getReader();
    const pieces: Uint8Array[] = [];
    try {
      for (;;) {
        const read = await within(this.#messageTimeoutMs, reader.read());
        if (read === null) return await this.#giveUp(found.info);
        if (read.done) break;
        pieces.push(read.value);
      }
    } catch (error) {
      if (!/digests do not match/.test((error as Error).message)) throw error;
      throw new ArchiveDamageError(`the archived file ${name} is damaged: its digest does not match`);
    } finally {
      await reader.cancel().catch(() => undefined);
    }
    const error = await found.error;
    if (error) throw error;
    const bytes = Buffer.concat(pieces);
    if (bytes.length !== found.info.size) throw new Error(`the archived file ${name} came cut short`);
    return bytes;
  }

  /**
   * Says why the next message does not come. A delete and a put change the entry of the file before they purge its messages, so the entry
   * is read after the messages are counted: where it is still the same, neither of them has purged anything.
   */
  async #giveUp({ bucket, name, nuid, chunks }: ObjectInfo): Promise<'replaced' | null> {
    const { streamInfo } = await this.#store.status({ subjects_filter: `$O.${bucket}.C.${nuid}` });
    const now = await this.#store.info(name);
    if (now === null || now.deleted) return null;
    if (now.nuid !== nuid) return 'replaced';
    const [kept = 0] = Object.values(streamInfo.state.subjects ?? {});
    if (kept < chunks) {
      const what = `${chunks - kept} of its ${chunks} pieces are gone`;
      throw new ArchiveDamageError(`the archived file ${name} is damaged: ${what}`);
    }
    throw new Error(`the servers do not send the archived file ${name}`);
  }

  async delete(name: string): Promise<void> {
    if ((await this.#store.info(name)) !== null) await this.#store.delete(name);
  }
}

/** Null where it takes longer. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null);
  });
  return Promise.race([work, elapsed]).finally(() => clearTimeout(timer));
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
