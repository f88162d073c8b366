/**
 * The limits, measured in the same run as the server, as a process of their own: what uWebSockets.js alone can do on
 * this machine with the same bytes and headers.
 *
 * `bare` answers every request at once; `group-commit` appends 300 bytes for each request, what one small change takes
 * in the journal, in one synchronous write as the journal does it, and then answers the whole batch; requests that arrive
 * meanwhile are the next batch.
 * No routing, no authentication, no parsing, no state: a server that does any work at all can only be slower.
 */
import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import assert from 'node:assert/strict';
import { constants, openSync, writev } from 'node:fs';
import { listenOn, loadUws } from '../../../src/http/transport/uws-transport.ts';
import { type BareResponse, responderOf, serveBare } from './bare-app.ts';

export type LimitKind = 'bare' | 'group-commit';

export interface LimitOptions extends BareResponse {
  readonly kind: LimitKind;
  readonly port: number;
  /** Appended to by `group-commit`. */
  readonly file: string;
}

const APPENDED_BYTES = 300;

/** Each write returns when the disk has it, as by fdatasync. */
const SYNCHRONOUS_APPEND = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_DSYNC;

const options = JSON.parse(process.argv[2] ?? '') as LimitOptions;
const port = await listen(options);
assert(port === options.port, 'it listens where it was told to');
process.send?.('listening');

async function listen({ kind, port: wished, file }: LimitOptions): Promise<number> {
  const address = { host: '127.0.0.1', port: wished };
  const uws = await loadUws();
  const app = uws.App();
  if (kind === 'bare') serveBare(app, responderOf(options));
  else serveGroupCommit(app, responderOf(options), openSync(file, SYNCHRONOUS_APPEND));
  return (await listenOn(uws, app, address)).port;
}

interface Waiting {
  readonly res: HttpResponse;
  isAborted: boolean;
}

function serveGroupCommit(app: TemplatedApp, respond: (res: HttpResponse) => void, file: number): void {
  const record = Buffer.alloc(APPENDED_BYTES, 'x');
  let open: Waiting[] = [];
  let isBusy = false;
  const commit = (): void => {
    if (isBusy || open.length === 0) return;
    isBusy = true;
    const batch = open;
    open = [];
    writev(file, Array<Buffer>(batch.length).fill(record), (writeError, bytes) => {
      assert(writeError === null && bytes === batch.length * APPENDED_BYTES, 'the batch was not written');
      isBusy = false;
      commit();
      for (const one of batch) if (!one.isAborted) one.res.cork(() => respond(one.res));
    });
  };
  app.any('/*', (res) => {
    const waiting: Waiting = { res, isAborted: false };
    res.onAborted(() => {
      waiting.isAborted = true;
    });
    res.onData((_, isLast) => {
      if (!isLast) return;
      open.push(waiting);
      // After this poll of the sockets, so that what arrived together is one batch.
      if (open.length === 1 && !isBusy) setImmediate(commit);
    });
  });
}
