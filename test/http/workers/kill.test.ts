/**
 * A server whose connections HTTP workers have is killed while clients write and read: what any of them was shown is there after the
 * next start, whichever worker showed it (invariant 4).
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { seededRandom } from '../../support/seeded-random.ts';
import { spawnServer, temporaryFolder } from '../../support/server.ts';
import { Connection } from './connections.ts';
import { READS, Registers } from './registers.ts';

const WORKERS = 2;
const KILLS = 1;
const RUN_MS_MIN = 100;
const RUN_MS_MAX = 400;

it('whatever any HTTP worker showed is there after a kill, and no worker shows less than another did', async (t) => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  const folder = temporaryFolder();
  const env = { HTTP_WORKERS: String(WORKERS) };
  const registers = new Registers(Array.from({ length: 6 }, (_, number) => `register-${number}`));
  let value = 0;
  for (let kills = 0; kills <= KILLS; kills += 1) {
    const server = await spawnServer(folder, env);
    const connect = (): Connection => new Connection(server.origin);
    // Each worker has readers, and writers.
    const readers = Array.from({ length: 2 * WORKERS }, connect);
    const writers = registers.names.map(connect);
    let isKilled = false;
    /** Until the connection breaks. What was under way may be in or out. */
    const untilKilled = async (step: () => Promise<void>): Promise<void> => {
      for (;;) {
        try {
          await step();
        } catch (error) {
          if (error instanceof assert.AssertionError || !isKilled) throw error;
          return;
        }
      }
    };
    try {
      if (kills === 0) await registers.create(writers[0] as Connection);
      for (const reader of readers) for (const what of READS) await registers.read(reader, what);
      if (kills === KILLS) break;
      const reading = readers.map((reader) =>
        untilKilled(async () => {
          for (const what of READS) await registers.read(reader, what);
        }),
      );
      const writing = writers.map((writer, at) =>
        untilKilled(async () => {
          value += 1;
          await registers.write(writer, registers.names[at] as string, value);
        }),
      );
      const all = Promise.all([...reading, ...writing]);
      await Promise.race([all, setTimeout(RUN_MS_MIN + random.below(RUN_MS_MAX - RUN_MS_MIN))]);
      isKilled = true;
      await server.kill();
      await all;
    } finally {
      for (const connection of [...readers, ...writers]) connection.close();
      server.child.kill('SIGKILL');
    }
  }
  assert.ok(registers.readCount > 20 && value > 5, `${registers.readCount} reads, ${value} writes`);
  rmSync(folder, { recursive: true, force: true });
});
