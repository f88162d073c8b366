/** A node of a cluster whose old journal is damaged, repaired by an operator from the archive on a real NATS server. */

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Objm } from '@nats-io/obj';
import { connect } from '@nats-io/transport-node';
import type { ClusterStatus } from '../../../../src/addons/replication/node-parts.ts';
import { askServer } from '../../../../src/control/control-client.ts';
import { assertMended, type Whole, wholeFolder } from '../../../faults/single-damages.ts';
import { FEATURES } from '../../../support/interface.ts';
import {
  type CommandRun,
  contentOf,
  copyOf,
  fileAt,
  flagstaff,
  flipByte,
  outputOf,
  segmentsIn,
} from '../../../support/operator.ts';
import { startTestServer, type TestServer, temporaryFolder } from '../../../support/server.ts';
import { type NatsCluster, noNatsServer, startNats } from '../nats-servers.ts';
import { pause } from './real-cluster.ts';

const skip = noNatsServer ?? false;

/** Each change records its description twice: together more than one archived file. */
const CHANGES = 1_000;
const CLIENTS = 10;
const DESCRIPTION_CHARS = 10_000;
const SEGMENT_BYTES = 4 * 1024 * 1024;

describe('flagstaff repair --from archive', { skip }, () => {
  let nats: NatsCluster;
  let env: Readonly<Record<string, string>>;
  let whole: Whole;
  let archivedId: number;

  const startNode = (folder: string): Promise<TestServer> =>
    startTestServer({
      folder,
      env: { ...env, REPLICATION_NODE: 'one' },
      store: { segmentBytes: SEGMENT_BYTES },
    });

  const repair = (folder: string, own = env): Promise<CommandRun> =>
    flagstaff(['repair', '--from', 'archive', '--json', '-d', folder], { env: own });

  before(async () => {
    nats = await startNats(1);
    env = {
      ...{ REPLICATION_URL: nats.urls.join(','), REPLICATION_CLUSTER: 'test' },
      // One server is enough: nothing of this is about the log.
      REPLICATION_DURABILITY: 'memory',
    };
    assert.equal((await flagstaff(['cluster', 'init'], { env })).code, 0);
    const folder = temporaryFolder();
    const node = await startNode(folder);
    const write = async (client: number): Promise<void> => {
      await node.call('POST', FEATURES, { name: `flag-${client}` });
      for (let number = 0; number < CHANGES / CLIENTS; number += 1) {
        const description = String(number % 10).repeat(DESCRIPTION_CHARS);
        assert.equal((await node.call('PUT', `${FEATURES}/flag-${client}`, { description })).status, 200);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, client) => write(client)));
    const archived = async (): Promise<number> =>
      ((await askServer(folder, 'cluster')) as ClusterStatus | null)?.archive?.archivedId ?? 0;
    for (archivedId = 0; archivedId === 0; archivedId = await archived()) await pause(200);
    await node.stop();
    whole = await wholeFolder(folder);
    assert(archivedId < whole.lastId && segmentsIn(folder).length >= 5);
  });

  after(() => nats?.close());

  it('takes what an old file has lost, is what was signed, and the node goes on', async () => {
    const folder = copyOf(whole.folder);
    flipByte(fileAt(segmentsIn(folder), 1), SEGMENT_BYTES / 2);
    rmSync(fileAt(segmentsIn(folder), 0));
    const { missing } = await outputOf(['repair', '--dry-run', '-d', folder]);
    assert(missing.at(-1).to <= archivedId, 'all that is lost is archived');
    const { code, err, json: repaired } = await repair(folder);
    assert.deepEqual([code, err], [0, '']);
    assert.deepEqual(repaired.plan.taken, missing, 'exactly what is lost is taken');
    await assertMended(folder, whole, 'from the archive');
    const node = await startNode(folder);
    // It leads again once it has waited for another leader.
    while ((await node.call('POST', FEATURES, { name: 'after' })).status === 503) await pause(200);
    await node.stop();
    const { sound, deep } = (await flagstaff(['verify', '--deep', '--json', '-d', folder])).json;
    assert(sound && deep.eventId > whole.lastId);
  });

  it('says that the archive lacks what is lost, or that there is none, and changes nothing', async () => {
    const folder = copyOf(whole.folder);
    flipByte(fileAt(segmentsIn(folder)), 200);
    const before = contentOf(folder);
    const lacking = await repair(folder);
    assert.deepEqual([lacking.code, /does not have event \d+/.test(lacking.err)], [65, true], lacking.err);
    const stranger = await repair(folder, { ...env, REPLICATION_CLUSTER: 'other' });
    assert.deepEqual([stranger.code, /has no archive/.test(stranger.err)], [66, true], stranger.err);
    const lock = join(folder, 'flagstaff.lock');
    const rest = (all: ReadonlyMap<string, string>) => [...all].filter(([path]) => path !== lock);
    assert.deepEqual(rest(contentOf(folder)), rest(before));
  });

  it('needs no log: the archive alone has what is lost', async () => {
    const folder = copyOf(whole.folder);
    writeFileSync(fileAt(segmentsIn(folder), 1), '');
    const connection = await connect({ servers: [...nats.urls] });
    const manager = await jetstreamManager(connection);
    await manager.streams.delete('FLAGSTAFF_test');
    await connection.close();
    const { code, err } = await repair(folder);
    assert.deepEqual([code, err], [0, '']);
    await assertMended(folder, whole, 'without a log');
  });

  it('says that an archived file is damaged, does not blame the servers, and changes nothing', async () => {
    const folder = copyOf(whole.folder);
    flipByte(fileAt(segmentsIn(folder), 1), 200);
    const before = contentOf(join(folder, 'journal'));
    const connection = await connect({ servers: [...nats.urls] });
    const store = await new Objm(connection).open('FLAGSTAFF_test');
    for (const { name, nuid } of await store.list())
      if (name.startsWith('segment'))
        await jetstream(connection).publish(`$O.FLAGSTAFF_test.C.${nuid}`, 'more');
    await connection.close();
    const { code, err } = await repair(folder);
    assert.equal(code, 65, err);
    assert.match(err, /the archived file segment\S+ is damaged: .*Nothing was changed/s);
    assert.deepEqual(contentOf(join(folder, 'journal')), before);
  });
});
