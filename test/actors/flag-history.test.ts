/** A flag's past, rebuilt from the events about it: the same as the whole state was, for every flag and every moment. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Requester } from '../../src/actors/turn.ts';
import type { Flag } from '../../src/domain/flags/flag.ts';
import { StateAt } from '../../src/operations/state-at.ts';
import { realFileSystem } from '../../src/persistence/disk/file-system.ts';
import { fileAt, flipByte, outputOf, pastFolder, segmentsIn, snapshotsIn } from '../support/operator.ts';
import { serverFor, temporaryFolder } from '../support/server.ts';

let chargedMs = 0;
const ASKER: Requester = {
  name: 'tester',
  signal: new AbortController().signal,
  charge: (heldMs) => {
    chargedMs += heldMs;
  },
};

describe('the history of flags', () => {
  it('agrees with a replay of everything, for every flag of every project at every change', async (t) => {
    const { folder, moments } = await pastFolder();
    const server = await serverFor(t, { folder });
    const { reads, engine } = server.server.store;
    let compared = 0;
    for (const { id } of moments) {
      const { world } = await StateAt.open({ fs: realFileSystem, folder, upTo: id });
      const expected = new Map<string, Flag>();
      for (const project of world.projects.values()) {
        for (const { flag } of project.flags.values()) expected.set(flag.name, flag);
      }
      for (const name of ['one', 'two', 'three', 'four']) {
        for (const project of ['default', 'other']) {
          const past = await reads.flagAt(
            { project, flag: name, eventId: id, durableId: engine.durableId },
            ASKER,
          );
          const flag = expected.get(name);
          if (flag?.project !== project)
            assert.equal(past.refused, true, `no ${name} in ${project} at ${id}`);
          else {
            assert(!past.refused, `${name} in ${project} at ${id}`);
            assert.deepEqual(past.flag, flag);
            const surroundings = world.projects.get(project)?.settings.environments;
            assert.deepEqual(past.project.settings.environments, surroundings);
            assert.deepEqual(past.world.directory.environments, world.directory.environments);
            compared += 1;
          }
        }
      }
    }
    await server.stop();
    assert(compared > 40, `${compared} flags were compared`);
  });

  it('shows nothing that is not durable yet', async (t) => {
    const { folder, moments } = await pastFolder();
    const server = await serverFor(t, { folder });
    const { reads, engine } = server.server.store;
    const last = moments.at(-1)?.id ?? 0;
    const query = { project: 'default', flag: 'one', eventId: last, durableId: engine.durableId };
    assert(!(await reads.flagAt(query, ASKER)).refused);
    assert(chargedMs > 0, 'who asks is charged for reading the events');
    const early = await reads.flagAt({ ...query, durableId: last - 1 }, ASKER);
    assert.equal(early.refused, true);
  });

  it('begins with the nearest snapshot where the events before it are many bytes, though all are there', async (t) => {
    const server = await serverFor(t);
    const { reads, engine, keeper } = server.server.store;
    const path = '/projects/default/features';
    await server.call('POST', path, { name: 'busy' });
    for (let change = 0; change < 40; change += 1)
      await server.call('PUT', `${path}/busy`, { description: `${change}`.padEnd(9_000, '.') });
    await keeper.take();
    await server.call('PUT', `${path}/busy`, { description: 'the last' });
    // An event before the snapshot that cannot be read any more: nobody minds who does not read it.
    flipByte(fileAt(segmentsIn(server.folder)), 100_000);
    const query = { project: 'default', flag: 'busy', eventId: engine.lastId, durableId: engine.durableId };
    const past = await reads.flagAt(query, ASKER);
    assert(!past.refused);
    assert.equal(past.flag.description, 'the last');
    await assert.rejects(reads.flagAt({ ...query, eventId: engine.lastId - 10 }, ASKER), /checksum/);
  });

  it('shows the state that a folder was restored with, and nothing from before it, where no events were', async (t) => {
    const [{ folder, moments }, to] = [await pastFolder(), join(temporaryFolder(), 'restored')];
    const { id } = moments.at(-1)!;
    await outputOf(['restore', folder, '--to', to, '--state-only']);
    const server = await serverFor(t, { folder: to });
    const { reads, engine } = server.server.store;

    const query = { project: 'default', flag: 'one', eventId: id, durableId: engine.durableId };
    const past = await reads.flagAt(query, ASKER);
    assert(!past.refused);
    assert.deepEqual(past.flag, engine.world.projects.get('default')?.flags.get('one')?.flag);
    const early = await reads.flagAt({ ...query, eventId: 1 }, ASKER);
    assert(early.refused);
  });

  it('passes over a damaged snapshot where the first events are gone', async (t) => {
    const { folder } = await pastFolder();
    const server = await serverFor(t, { folder });
    const { engine, reads } = server.server.store;
    flipByte(fileAt(snapshotsIn(folder)), 200);
    // The log without its first segments, as retention leaves it.
    engine.eventLog.dropSegmentsBefore(Math.floor(engine.lastId / 2));
    assert(engine.eventLog.firstId > 1);
    const query = { project: 'default', flag: 'one', eventId: engine.lastId, durableId: engine.durableId };
    const past = await reads.flagAt(query, ASKER);
    assert(!past.refused);
    assert.deepEqual(past.flag, engine.world.projects.get('default')?.flags.get('one')?.flag);
    for (const path of snapshotsIn(folder)) flipByte(path, 300);
    assert.equal((await reads.flagAt(query, ASKER)).refused, true, 'with none left it says so');
  });
});
