/** Stands between a node and what it talks to, a server of its log or another node, so that a test can cut the two off from each other. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class LinkProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async to(hostname: string, port: number): Promise<LinkProxy> {
    const server = createServer();
    const proxy = new LinkProxy(server);
    server.on('connection', (near) => proxy.#join(near, connect(port, hostname)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  /** The address as `host:port`. */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** From now on nothing passes in either direction, and no connection says so. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.pause();
  }

  heal(): void {
    this.#isCut = false;
    for (const socket of this.#sockets) socket.resume();
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #join(near: Socket, far: Socket): void {
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (bytes) => void to.write(bytes));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      if (this.#isCut) from.pause();
    }
  }
}
