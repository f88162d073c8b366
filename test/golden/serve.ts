/**
 * Runs a server of any build, with small segments, so that a small data folder has several of them. The arguments are
 * the build's checkout and the data folder; environment variables set the rest. It writes its port to standard output
 * and stops cleanly on SIGTERM.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Holds some 40 events. */
const SEGMENT_BYTES = 12_000;

const [build = '', folder = ''] = process.argv.slice(2);

// Builds of every release must offer these three modules with the exports that are used here.
const load = (path: string): Promise<unknown> => import(pathToFileURL(join(build, path)).href);
const { startServer } = (await load('src/server.ts')) as typeof import('../../src/server.ts');
const { readConfig } = (await load('src/start/config.ts')) as typeof import('../../src/start/config.ts');
const { createLog } = (await load('src/process/log.ts')) as typeof import('../../src/process/log.ts');

const server = await startServer({
  config: readConfig({ ...process.env, HTTP_HOST: '127.0.0.1', PORT: '0', DATA_DIR: folder }),
  log: createLog('warn'),
  stop: (error) => {
    throw error;
  },
  announceToken: async () => undefined,
  store: { segmentBytes: SEGMENT_BYTES },
});
process.once('SIGTERM', () => void server.close().then(() => process.exit(0)));
process.stdout.write(`${server.port}\n`);
