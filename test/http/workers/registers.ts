/** Flags whose descriptions are numbers that only grow, and what clients know of them: no read that starts later may show less. */
import assert from 'node:assert/strict';
import type { Connection } from './connections.ts';

const PROJECT = '/admin/projects/default';
const FLAGS = `${PROJECT}/features`;

interface Shown {
  readonly name: string;
  readonly description: string | null;
}

export const READS = ['flag', 'list', 'overview'] as const;
export type ReadOf = (typeof READS)[number];

export class Registers {
  readonly names: readonly string[];
  /** What somebody was told, by a read or by the response to a write. */
  readonly #known: Map<string, number>;
  readCount = 0;

  constructor(names: readonly string[]) {
    this.names = names;
    this.#known = new Map(names.map((name) => [name, 0]));
  }

  async create(connection: Connection): Promise<void> {
    for (const name of this.names) {
      const { status } = await connection.ask(FLAGS, { method: 'POST', body: { name, description: '0' } });
      assert.equal(status, 201);
    }
  }

  /** With the tag that some worker gave. */
  async write(connection: Connection, name: string, value: number): Promise<void> {
    const { etag } = await connection.ask(`${FLAGS}/${name}`);
    const { status } = await connection.ask(`${FLAGS}/${name}`, {
      method: 'PUT',
      headers: { 'if-match': etag },
      body: { name, description: String(value) },
    });
    assert.equal(status, 200, 'the tag that any worker gave is the newest');
    this.#learn(name, value);
  }

  async read(connection: Connection, what: ReadOf): Promise<void> {
    const least = new Map(this.#known);
    for (const { name, description } of await this.#shown(connection, what)) {
      const value = Number(description);
      const known = least.get(name) ?? 0;
      assert.ok(value >= known, `${name} was ${known} for somebody, and a later ${what} shows ${value}`);
      if (least.has(name)) this.#learn(name, value);
    }
    this.readCount += 1;
  }

  async #shown(connection: Connection, what: ReadOf): Promise<readonly Shown[]> {
    if (what === 'flag') {
      const name = this.names[this.readCount % this.names.length];
      return [(await connection.ask(`${FLAGS}/${name}`)).body];
    }
    return (await connection.ask(what === 'list' ? FLAGS : PROJECT)).body.features;
  }

  #learn(name: string, value: number): void {
    this.#known.set(name, Math.max(value, this.#known.get(name) ?? 0));
  }
}
