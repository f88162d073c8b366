/** Connects to the servers of a NATS cluster, and says in the log when the connection is lost and found. */
import { readFileSync } from 'node:fs';
import {
  connect,
  credsAuthenticator,
  errors,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node';
import { LogAwayError } from './replicated-log.ts';

export interface NatsOptions {
  /** `nats://host:port` or `tls://host:port`, without a user. */
  readonly servers: readonly string[];
  /** The node's name, by which an operator finds its connection. */
  readonly name: string;
  readonly user: { readonly name: string; readonly password: string } | null;
  /** A file of credentials as `nsc` writes it. Read again at each connection, so that it may be renewed. */
  readonly credentialsFile: string | null;
  readonly tls: NatsTls | null;
  readonly log: ConnectionLog;
  /** Whether to wait no longer; it waits for ever unless given. */
  isOver?(): boolean;
}

/** Files in PEM. */
export interface NatsTls {
  readonly caFile: string | null;
  readonly certFile: string | null;
  readonly keyFile: string | null;
}

export interface ConnectionLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

/** Between two attempts at one server. */
const RECONNECT_WAIT_MS = 250;

/** A server that is gone without a word is noticed after two of these. */
const PING_INTERVAL_MS = 2_000;

/** A server that says nothing for so long is taken for unreachable. */
const CONNECT_TIMEOUT_MS = 2_000;

/** Codes of errors about certificates and keys, which no second attempt mends. */
const TLS_CODES =
  /^(ERR_(TLS|SSL|OSSL)|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|ENOENT|EACCES)/;

/**
 * Waits until one of the servers takes the connection, and says why none does. Rejects when a server refuses the user or a certificate,
 * and with `LogAwayError` when the wait is over.
 */
export async function connectToNats(options: NatsOptions): Promise<NatsConnection> {
  const { log, servers, isOver } = options;
  let said = '';
  for (;;) {
    try {
      const connection = await connect(connectionOptions(options));
      void tellChanges(connection, log);
      return connection;
    } catch (error) {
      const { message } = error as Error;
      if (isRefusal(error)) throw error;
      if (isOver?.() === true)
        throw new LogAwayError(`No server of REPLICATION_URL can be reached (${message})`);
      if (message !== said)
        // Operators: what it says
        log.warn({ servers }, `No server of REPLICATION_URL can be reached (${message}); trying again`);
      said = message;
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_WAIT_MS));
    }
  }
}

function isRefusal(error: unknown): boolean {
  if (error instanceof errors.AuthorizationError) return true;
  const { code = '', cause } = error as NodeJS.ErrnoException;
  return TLS_CODES.test(code) || (cause instanceof Error && isRefusal(cause));
}

function connectionOptions({
  servers,
  name,
  user,
  credentialsFile,
  tls,
}: NatsOptions): NodeConnectionOptions {
  return {
    servers: [...servers],
    name: `flagstaff ${name}`,
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    pingInterval: PING_INTERVAL_MS,
    // A sixth of the processor time of a record would go into unread stacks.
    noAsyncTraces: true,
    ...(user !== null && { user: user.name, pass: user.password }),
    ...(credentialsFile !== null && {
      authenticator: credsAuthenticator(() => readFileSync(credentialsFile)),
    }),
    ...(tls !== null && {
      tls: {
        ...(tls.caFile !== null && { caFile: tls.caFile }),
        ...(tls.certFile !== null && { certFile: tls.certFile }),
        ...(tls.keyFile !== null && { keyFile: tls.keyFile }),
      },
    }),
  };
}

async function tellChanges(connection: NatsConnection, log: ConnectionLog): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'disconnect')
      // Operators: nothing, unless it repeats: see [fail-over](docs/cluster.md#fail-over)
      log.warn({ server: status.server }, 'The connection to the replicated log is lost');
    if (status.type === 'reconnect')
      // Operators: nothing
      log.info({ server: status.server }, 'The connection to the replicated log is back');
  }
}
