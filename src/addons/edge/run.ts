/** The process of an edge: its settings, its log, and the signals that stop it. */
import { originOf } from '../../http/transport/transport.ts';
import { EXIT } from '../../process/exit-codes.ts';
import { createLog } from '../../process/log.ts';
import { Edge } from './edge.ts';
import { assertServesSomething, type GivenOptions, readSettings } from './settings.ts';

/** Resolves when the edge listens. Rejects with what its settings, the port or the disk have against it. */
export async function runEdge(
  given: GivenOptions,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const settings = readSettings(given, env);
  assertServesSomething(settings);
  const log = createLog(settings.logLevel);
  const edge = new Edge({ settings, log });
  let isStopping = false;
  const stop = (signal: string): void => {
    if (isStopping) process.exit(EXIT.ok);
    isStopping = true;
    // Operators, of "…: finishing the requests under way, then stopping": nothing
    log.info({}, `${signal}: finishing the requests under way, then stopping`);
    edge.stop().then(
      () => process.exit(EXIT.ok),
      (err: unknown) => {
        // Operators: look at `err`
        log.error({ err }, 'The edge could not stop as it should.');
        process.exit(EXIT.fault);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  const { port } = await edge.start();
  const { host, basePath, upstream } = settings;
  // Operators: nothing
  log.info({ port, upstream: upstream.url }, `Flagstaff edge listens on ${originOf(host, port)}${basePath}`);
}
