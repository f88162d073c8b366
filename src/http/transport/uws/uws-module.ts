/** The native library: loading it, and listening with it. */
import type { TemplatedApp, us_listen_socket, us_socket } from 'uWebSockets.js';
import { explainListenFailure } from '../listen-failure.ts';
import { HEADER_BLOCK_BYTES_MAX } from '../transport-limits.ts';

/** What is used of the module at run time; its type declarations leave some of it out. */
export interface UwsModule {
  App(): TemplatedApp;
  us_listen_socket_close(socket: us_listen_socket): void;
  us_socket_local_port(socket: us_socket): number;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
}

interface ListeningApp {
  listen(
    host: string,
    port: number,
    options: number,
    done: (socket: us_listen_socket | false) => void,
  ): unknown;
}

/** Loads the native module; rejects where there is no binary for this platform and Node version. */
export async function loadUws(): Promise<UwsModule> {
  // Read by the native code once, when it is loaded.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(HEADER_BLOCK_BYTES_MAX);
  const loaded = (await import('uWebSockets.js')) as unknown as UwsModule & { readonly default?: UwsModule };
  // The official releases are CommonJS, whose exports Node shows under `default` only.
  return loaded.App === undefined && loaded.default !== undefined ? loaded.default : loaded;
}

export interface Listening {
  readonly port: number;
  /** Accepts no further connections. */
  stop(): void;
}

/** Rejects with the reason where it cannot listen. */
export async function listenOn(
  uws: UwsModule,
  app: TemplatedApp,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    // Without the exclusive flag a second process would share the port, and half of the requests, in silence.
    (app as unknown as ListeningApp).listen(host, port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve);
  });
  if (socket === false) throw await explainListenFailure(host, port);
  let isOpen = true;
  return {
    port: uws.us_socket_local_port(socket),
    stop() {
      if (isOpen) uws.us_listen_socket_close(socket);
      isOpen = false;
    },
  };
}
