/**
 * Accepts connections and hands each to the next of several engines in other threads. Only one of them listens, so that a second
 * server on the port is refused as before; connections are spread evenly, one to each in turn.
 *
 * An engine must not end while connections may be handed to it: the library would write into memory that is gone.
 */
import type { TemplatedApp } from 'uWebSockets.js';
import { type Listening, listenOn, loadUws, type UwsModule } from './uws-module.ts';

/** Names an engine to its acceptor: a number that only the library understands. */
export type EngineDescriptor = number;

interface AcceptingApp {
  addChildAppDescriptor(descriptor: EngineDescriptor): unknown;
}

export class UwsAcceptor {
  readonly #uws: UwsModule;
  readonly #app: TemplatedApp;
  #listening: Listening | null = null;

  private constructor(uws: UwsModule) {
    this.#uws = uws;
    this.#app = uws.App();
  }

  /** Rejects where there is no binary for this platform and Node version. */
  static async create(): Promise<UwsAcceptor> {
    return new UwsAcceptor(await loadUws());
  }

  /** Rejects with the reason when it cannot listen on the address. */
  async listen(
    engines: readonly EngineDescriptor[],
    address: { readonly host: string; readonly port: number },
  ): Promise<{ readonly port: number }> {
    for (const engine of engines) (this.#app as unknown as AcceptingApp).addChildAppDescriptor(engine);
    this.#listening = await listenOn(this.#uws, this.#app, address);
    return { port: this.#listening.port };
  }

  stopListening(): void {
    this.#listening?.stop();
    this.#listening = null;
  }

  close(): void {
    this.stopListening();
    this.#app.close();
  }
}
