/** Schedules in a cluster whose leader is lost around their moments. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../../../src/actors/store.ts';
import { addChanges, setState } from '../../../src/addons/change-requests/decisions.ts';
import { DueRequests } from '../../../src/addons/change-requests/due-requests.ts';
import { REQUEST, SCHEDULED_APPLIED } from '../../../src/addons/change-requests/kind.ts';
import { scheduleRequest } from '../../../src/addons/change-requests/schedule.ts';
import { type Command, type OwnCommand, ownCommand } from '../../../src/domain/decide/decide.ts';
import { registerKinds } from '../../../src/domain/kinds/addon-kind.ts';
import { findAddonRecord } from '../../../src/domain/state/addon-records.ts';
import { createFlag } from '../../support/engine.ts';
import { runs } from '../../support/runs.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { TestCluster, type TestNode } from '../replication/test-cluster.ts';

registerKinds([REQUEST]);

const SEED = Number(process.env['SEED'] ?? 49);
const TAKE_OVERS = runs(20, 100);
/** After its moment, or after a node leads again, a request is applied within this. */
const APPLIED_MS_MAX = 5_000;
const HOUR_MS = 60 * 60_000;
const STEP_MS = 50;

const ADMIN = { name: 'admin', userId: 1 };
const PLACE = { project: 'default', environment: 'production' };

const own = <Sent extends object>(sent: Sent, decide: OwnCommand<Sent>['decide']): Command =>
  ownCommand({ sent, decide });

class Scene {
  readonly random = seededRandom(SEED);
  readonly faults: unknown[] = [];
  /** Types of events by id, as any node has shown them. */
  readonly shown = new Map<number, string>();
  readonly cluster = new TestCluster({
    random: () => this.random.next(),
    onOpen: (node, store) => this.#watch(node, store),
  });

  #watch(node: TestNode, { engine }: Store): void {
    engine.feed.subscribe((changes) => {
      for (const { id, events } of changes)
        for (const [at, { type }] of events.entries()) this.shown.set(id + at, type);
    });
    const due = new DueRequests({
      engine,
      isLeading: () => node.store?.engine === engine && node.isLeading,
      timer: (delayMs, run) => {
        this.cluster.time.after(delayMs, run);
        return () => undefined;
      },
      onFault: (error) => this.faults.push(error),
    });
    due.start();
  }

  async run(node: TestNode, command: Command): Promise<void> {
    const submitted = node.submit(command, { actor: ADMIN });
    await this.cluster.until('it is answered', () => submitted.outcome !== null);
    assert.equal(submitted.outcome!.kind, 'response', JSON.stringify(submitted.outcome));
  }

  /** A request that switches a new flag on after the delay; gives its id. */
  async schedule(leader: TestNode, flag: string, delayMs: number): Promise<number> {
    const change = { feature: flag, action: 'updateEnabled', payload: { enabled: true } } as const;
    await this.run(leader, createFlag(flag));
    await this.run(leader, own({ ...PLACE, changes: [change], paths: ['/body'] }, addChanges));
    const id = leader.store!.engine.world.addonRecords.get(REQUEST.name)!.lastId;
    const named = { project: 'default', id };
    const scheduledAt = new Date(this.cluster.time.wallMs + delayMs).toISOString();
    await this.run(leader, own({ ...named, state: 'In review' as const }, setState));
    await this.run(leader, own({ ...named, scheduledAt }, scheduleRequest));
    return id;
  }

  stateOf(id: number): string | undefined {
    const [leader] = this.cluster.leaders;
    return leader && findAddonRecord(leader.store!.engine.world, REQUEST, id)?.data.state;
  }

  /** Something that costs the leader its place. */
  lose(leader: TestNode, kind: number): void {
    if (kind === 0) leader.crash();
    else if (kind === 1) void leader.replica!.handOver().catch(() => undefined);
    else if (kind === 2) leader.link!.isCut = true;
    else if (kind === 3) leader.freeze();
    else leader.clockOffsetMs += kind === 4 ? HOUR_MS : -HOUR_MS;
  }

  async heal(): Promise<void> {
    for (const node of this.cluster.nodes) {
      node.thaw();
      node.clockOffsetMs = 0;
      if (node.link !== null) node.link.isCut = false;
    }
    for (let passed = 0; passed < 15_000; passed += 1_000) {
      for (const node of this.cluster.nodes) if (!node.isRunning) node.begin();
      await this.cluster.pass(1_000);
    }
    await this.cluster.caughtUp();
  }
}

test(`over ${TAKE_OVERS} take-overs around their moments scheduled requests are applied once, soon after a node leads`, async () => {
  const scene = new Scene();
  const { cluster, random } = scene;
  for (let added = 0; added < 3; added += 1) cluster.add();
  for (let round = 0; round < TAKE_OVERS; round += 1) {
    const where = `seed ${SEED}, round ${round}`;
    const leader = await cluster.leader();
    const delayMs = 2_000;
    const id = await scene.schedule(leader, `flag-${round}`, delayMs);
    const momentMs = cluster.time.elapsedMs + delayMs;
    await cluster.pass(delayMs - 600 + random.below(1_200));
    scene.lose(leader, round % 6);
    let sinceMs = momentMs;
    let hasLed = true;
    while (scene.stateOf(id) !== 'Applied') {
      const leads = cluster.leaders.length > 0;
      if (leads && !hasLed) sinceMs = Math.max(momentMs, cluster.time.elapsedMs);
      hasLed = leads;
      assert(!leads || cluster.time.elapsedMs - sinceMs <= APPLIED_MS_MAX, `${where}: it is not applied`);
      assert(cluster.time.elapsedMs - momentMs < 60_000, `${where}: nobody leads`);
      await cluster.pass(STEP_MS);
    }
    await scene.heal();
  }
  const late = cluster.add();
  await cluster.until('another node has joined', () => late.store !== null);
  await cluster.caughtUp();
  const types = [...scene.shown.values()];
  for (const type of [SCHEDULED_APPLIED, 'feature-environment-enabled'])
    assert.equal(types.filter((one) => one === type).length, TAKE_OVERS, `${type} once each, seed ${SEED}`);
  const [first, ...others] = cluster.nodes.map(({ place }) => place);
  for (const other of others) assert.deepEqual(other, first, 'every node has the same requests');
  assert.deepEqual(scene.faults, []);
});
