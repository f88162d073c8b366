/**
 * The process of a server: configuration → server → signals. Exit codes follow the sysexits convention, so that a
 * supervisor can tell what is worth a restart.
 */
import { DisagreementError } from './addons/replication/alignment.ts';
import { NewerRecordError } from './addons/replication/record-format.ts';
import { UnsafeLogError } from './addons/replication/replicated-log.ts';
import { openTracer } from './addons/tracing/tracing.ts';
import { ListenError, originOf } from './http/transport/listen-failure.ts';
import { DamagedHistoryError, DataFolderError } from './persistence/disk/data-folder.ts';
import { FolderLockedError } from './persistence/disk/folder-lock.ts';
import { ShortWriteError } from './persistence/disk/write-fully.ts';
import { FencedError, LogLostError } from './persistence/journal/commit-log.ts';
import { JournalFailure } from './persistence/journal/journal-failure.ts';
import { EXIT, type ExitCode } from './process/exit-codes.ts';
import { createLog } from './process/log.ts';
import { ConfigError } from './process/settings.ts';
import { type Server, startServer } from './server.ts';
import { writeFirstToken } from './start/admin-token.ts';
import { ignoredVariables, readConfig } from './start/config.ts';

/** Resolves when the server listens; what it cannot do ends the process with a line and an exit code. */
export async function runServer(env: NodeJS.ProcessEnv): Promise<void> {
  // Node itself ends with exit code 1 after an uncaught error, which no manual explains.
  process.on('uncaughtException', fail);
  await serve(env).catch(fail);
}

async function serve(env: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(env);
  const log = createLog(config.logLevel);
  const ignored = ignoredVariables(env);
  if (ignored.length > 0)
    log.warn({ ignored }, 'The DATABASE_ variables are ignored, because this server has no database');
  if (env['HTTP_WORKERS'] !== undefined)
    log.warn(
      {},
      'HTTP_WORKERS is ignored, because this version has no HTTP workers; for more readers, run followers (docs/cluster.md)',
    );
  const startedAt = performance.now();
  const tracer = config.tracing === null ? null : await openTracer(config.tracing, log);
  const signals = stopOnSignals(
    (message) => log.info({}, message),
    () => tracer?.close(),
  );
  const server = await startServer({
    config,
    log,
    tracer,
    stop: (error) => {
      log.fatal({ err: error }, error.message);
      process.exit(exitCodeOf(error));
    },
    announceToken: (secret) => {
      if (process.stderr.isTTY)
        return void process.stderr.write(`\nAdmin API token, shown only this once:\n\n    ${secret}\n\n`);
      const file = writeFirstToken(config.dataDir, secret);
      log.info(
        { file },
        'The first admin token is in this file; keep it in a safe place, and delete the file',
      );
    },
  });
  const { recovery, engine } = server.store;
  log.info(
    {
      port: server.port,
      engine: server.transport.engine,
      dataDir: config.dataDir,
      lastEventId: engine.lastId,
      snapshotId: recovery.snapshotId,
      replayedEvents: recovery.replayedEvents,
      startMs: Math.round(performance.now() - startedAt),
    },
    `Flagstaff listens on ${originOf(config.host, server.port)}${config.basePath}`,
  );
  if (config.authType === 'none')
    log.warn({}, 'AUTH_TYPE=none: anybody who can reach this port may do everything');
  signals.server = server;
}

/**
 * The first signal drains and takes a last snapshot. A second one, or one during a start, ends the process at once,
 * which loses nothing either. The listeners exist from the first moment, because the first process of a container
 * ignores signals for which it has no listener.
 */
function stopOnSignals(
  say: (message: string) => void,
  afterwards: () => Promise<void> | undefined,
): { server: Server | null } {
  const signals: { server: Server | null } = { server: null };
  let stopping = false;
  const stop = (signal: string): void => {
    const { server } = signals;
    if (stopping || server === null) process.exit(EXIT.ok);
    stopping = true;
    say(`${signal}: finishing the requests under way, then stopping`);
    const close = async (): Promise<void> => {
      await server.close();
      await afterwards();
    };
    close().then(
      () => process.exit(EXIT.ok),
      (error: unknown) => fail(error),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return signals;
}

/** An error of the operating system about a file or folder, whose code and path say more than a stack. */
function isFileFault(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'path' in error;
}

/** The exit code for an error that stops a running server. */
function exitCodeOf(error: Error): ExitCode {
  const causes = [error, error.cause];
  if (causes.some((cause) => cause instanceof FencedError)) return EXIT.deposed;
  if (causes.some((cause) => cause instanceof LogLostError)) return EXIT.damagedData;
  if (error instanceof DamagedHistoryError) return EXIT.damagedData;
  return error instanceof JournalFailure ? EXIT.journalFailed : EXIT.fault;
}

/** Why a node of a cluster does not start, and no restart would help. */
const isDisagreement = (error: unknown): error is Error =>
  [DisagreementError, LogLostError, NewerRecordError].some((kind) => error instanceof kind);

/** Prints one clear line for what an operator can fix, and the stack only for what they cannot. */
function fail(error: unknown): never {
  if (error instanceof ConfigError) exitWith(EXIT.badConfig, error.message);
  if (error instanceof ListenError) exitWith(error.isBusy ? EXIT.unavailable : EXIT.badConfig, error.message);
  if (error instanceof FolderLockedError) exitWith(EXIT.folderLocked, error.message);
  if (error instanceof UnsafeLogError) exitWith(EXIT.badConfig, error.message);
  if (isDisagreement(error)) exitWith(EXIT.damagedData, error.message);
  if (error instanceof DataFolderError) exitWith(EXIT.damagedData, error.message);
  if (error instanceof ShortWriteError) exitWith(EXIT.journalFailed, `${error.message}. Look at DATA_DIR.`);
  if (isFileFault(error))
    exitWith(EXIT.journalFailed, `${error.message}. Look at DATA_DIR, its permissions and its disk.`);
  exitWith(EXIT.fault, error instanceof Error ? (error.stack ?? error.message) : String(error));
}

export function exitWith(code: number, message: string): never {
  process.stderr.write(`flagstaff: ${message}\n`);
  process.exit(code);
}
