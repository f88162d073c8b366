/** Due change requests: on which node they are carried out, when, how often, and over crashes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addChanges, addComment, setState } from '../../../src/addons/change-requests/decisions.ts';
import { DueRequests, type DueRequestsOptions } from '../../../src/addons/change-requests/due-requests.ts';
import { REQUEST, requestsOf, WRITTEN_BYTES_MAX } from '../../../src/addons/change-requests/kind.ts';
import { pendingChangeRequests } from '../../../src/addons/change-requests/pending.ts';
import { scheduleRequest } from '../../../src/addons/change-requests/schedule.ts';
import { type Command, type OwnCommand, ownCommand } from '../../../src/domain/decide/decide.ts';
import { environmentOf } from '../../../src/domain/flags/flag.ts';
import { jsonSize } from '../../../src/domain/json/json.ts';
import { registerKinds } from '../../../src/domain/kinds/addon-kind.ts';
import { addonRecordsOf, findAddonRecord } from '../../../src/domain/state/addon-records.ts';
import type { Actor } from '../../../src/domain/state/decision.ts';
import { invalidOperation, refuse } from '../../../src/domain/state/refusal.ts';
import { createFlag, openTestEngine, type TestEngine } from '../../support/engine.ts';
import type { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { seededRandom } from '../../support/seeded-random.ts';

registerKinds([REQUEST]);

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const VIEWER = 3;
const ADMIN = { name: 'admin', userId: 1 };
const PLACE = { project: 'default', environment: 'production' };

const own = <Sent extends object>(sent: Sent, decide: OwnCommand<Sent>['decide']) =>
  ownCommand({ sent, decide });

class Scene {
  readonly engine: TestEngine;
  readonly faults: unknown[] = [];
  /** The user who gives the commands. */
  actor: Actor = ADMIN;

  constructor(engine: TestEngine) {
    this.engine = engine;
  }

  static async open(disk?: MemoryFileSystem, nowMs?: number): Promise<Scene> {
    const engine = await openTestEngine(disk === undefined ? {} : { disk });
    engine.manual.nowMs = nowMs ?? engine.manual.nowMs;
    return new Scene(engine);
  }

  async run(...commands: readonly Command[]): Promise<void> {
    for (const command of commands) {
      const submitted = this.engine.submit(command, { actor: this.actor });
      this.engine.manual.runTurns();
      await this.engine.store.engine.journal.flush();
      while (submitted.outcome === null) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(submitted.outcome.kind, 'response', JSON.stringify(submitted.outcome));
    }
  }

  /** A new flag, and a draft that switches it on; gives the id of the request. */
  async draft(flag: string): Promise<number> {
    const change = { feature: flag, action: 'updateEnabled', payload: { enabled: true } } as const;
    await this.run(createFlag(flag), own({ ...PLACE, changes: [change], paths: ['/body'] }, addChanges));
    return this.engine.store.engine.world.addonRecords.get(REQUEST.name)!.lastId;
  }

  async scheduled(flag: string, delayMs: number): Promise<number> {
    const id = await this.draft(flag);
    const named = { project: 'default', id };
    const scheduledAt = new Date(this.engine.manual.nowMs + delayMs).toISOString();
    await this.run(
      own({ ...named, state: 'In review' as const }, setState),
      own({ ...named, scheduledAt }, scheduleRequest),
    );
    return id;
  }

  due(more: Partial<DueRequestsOptions> = {}): DueRequests {
    this.engine.manual.runFreely();
    const { engine } = this.engine.store;
    return new DueRequests({
      ...{ engine, isLeading: () => true, timer: () => () => undefined },
      onFault: (error) => this.faults.push(error),
      ...more,
    });
  }

  request(id: number) {
    return findAddonRecord(this.engine.store.engine.world, REQUEST, id)!.data;
  }

  isOn(flag: string): boolean {
    const { world } = this.engine.store.engine;
    return environmentOf(world.projects.get('default')!.flags.get(flag)!.flag, 'production').enabled;
  }

  get lastId(): number {
    return this.engine.store.engine.lastId;
  }
}

describe('scheduled change requests', () => {
  it('are applied once their time has come, once, as one frame of the person who scheduled them', async () => {
    const scene = await Scene.open();
    const id = await scene.scheduled('shop', MINUTE_MS);
    const changes: { by: string; types: readonly string[] }[] = [];
    scene.engine.store.engine.feed.subscribe((all) => {
      for (const { by, events } of all) changes.push({ by, types: events.map(({ type }) => type) });
    });
    const due = scene.due();
    await due.look();
    assert.equal(scene.isOn('shop'), false);
    scene.engine.manual.nowMs += MINUTE_MS;
    await due.look();
    await due.look();
    const types = [
      'change-request-scheduled-application-success',
      'feature-strategy-add',
      'feature-environment-enabled',
    ];
    assert.deepEqual(changes, [{ by: 'admin', types }]);
    assert.equal(scene.isOn('shop'), true);
    const { state, schedule } = scene.request(id);
    assert.deepEqual([state, schedule?.status, schedule?.reason], ['Applied', 'applied', null]);
  });

  it('say that they are late where no server ran at their time', async () => {
    const before = await Scene.open();
    const id = await before.scheduled('shop', MINUTE_MS);
    const after = await Scene.open(before.engine.disk.crash(), before.engine.manual.nowMs + 61 * MINUTE_MS);
    await after.due().look();
    assert.match(after.request(id).schedule!.reason!, /applied 3600 seconds late/);
  });

  it('are applied by the node that leads alone', async () => {
    const scene = await Scene.open();
    await scene.scheduled('shop', MINUTE_MS);
    scene.engine.manual.nowMs += MINUTE_MS;
    let isLeading = false;
    const due = scene.due({ isLeading: () => isLeading });
    await due.look();
    assert.equal(scene.isOn('shop'), false);
    isLeading = true;
    await due.look();
    assert.equal(scene.isOn('shop'), true);
  });

  it('are applied exactly once over fifty crashes, by two nodes that both take themselves for the leader', async () => {
    const seed = Number(process.env['SEED'] ?? 20_240_501);
    const random = seededRandom(seed);
    let scene = await Scene.open();
    const ids: number[] = [];
    const firstId = scene.lastId;
    for (let at = 0; at < 60; at += 1)
      ids.push(await scene.scheduled(`flag-${at}`, MINUTE_MS + random.below(50 * MINUTE_MS)));
    for (let round = 0; round < 50; round += 1) {
      scene.engine.manual.nowMs += random.below(2 * MINUTE_MS);
      for (const due of [scene.due(), scene.due()]) void due.look();
      for (let wait = random.below(6); wait > 0; wait -= 1)
        await new Promise((resolve) => setImmediate(resolve));
      scene = await Scene.open(scene.engine.disk.crash(), scene.engine.manual.nowMs);
    }
    scene.engine.manual.nowMs += 100 * MINUTE_MS;
    await scene.due().look();
    const states = new Set(ids.map((id) => scene.request(id).state));
    assert.deepEqual([...states], ['Applied'], `seed ${seed}`);
    // Of each: the flag, the request, its review, its schedule; that it was applied, its strategy and its switch.
    assert.equal(scene.lastId - firstId, ids.length * 7, `nothing is recorded twice, seed ${seed}`);
  });

  it('are suspended where the target has changed, and where the person is gone', async () => {
    const scene = await Scene.open();
    const changed = await scene.scheduled('changed', MINUTE_MS);
    const fields = { username: 'another', rootRole: 1 };
    await scene.run({ type: 'create-user', fields, linkDigest: 'another' } as Command);
    const userId = Math.max(...scene.engine.store.engine.world.directory.users.keys());
    scene.actor = { name: 'another', userId };
    const gone = await scene.scheduled('gone', 2 * MINUTE_MS);
    scene.actor = ADMIN;
    const strategy = { name: 'default', parameters: {}, constraints: [], segments: [], variants: [] };
    await scene.run({ type: 'add-strategy', ...PLACE, flag: 'changed', strategy } as unknown as Command);
    scene.engine.manual.nowMs += MINUTE_MS;
    const due = scene.due();
    await due.look();
    assert.equal(scene.request(changed).state, 'Scheduled');
    assert.equal(scene.request(changed).schedule!.status, 'suspended');
    assert.match(scene.request(changed).schedule!.reason!, /in conflict/);
    scene.engine.manual.holdTurns();
    await scene.run({ type: 'delete-user', userId } as Command);
    scene.engine.manual.nowMs += MINUTE_MS;
    const lastId = scene.lastId;
    await scene.due().look();
    assert.equal(scene.lastId, lastId + 1);
    assert.match(scene.request(gone).schedule!.reason!, /was deleted/);
    assert.equal(scene.isOn('gone'), false);
  });

  it('are suspended where the person may not apply them any more', async () => {
    const scene = await Scene.open();
    const fields = { username: 'another', rootRole: 1 };
    await scene.run({ type: 'create-user', fields, linkDigest: 'another' } as Command);
    const userId = Math.max(...scene.engine.store.engine.world.directory.users.keys());
    scene.actor = { name: 'another', userId };
    const id = await scene.scheduled('shop', MINUTE_MS);
    scene.actor = ADMIN;
    await scene.run({ type: 'update-user', userId, fields: { rootRole: VIEWER } } as unknown as Command);
    scene.engine.manual.nowMs += MINUTE_MS;
    await scene.due().look();
    assert.equal(scene.request(id).schedule!.status, 'suspended');
    assert.match(scene.request(id).schedule!.reason!, /needs the permission APPLY_CHANGE_REQUEST/);
    assert.equal(scene.isOn('shop'), false);
  });

  it('are applied once and not before their time by a clock that goes back an hour, and by one that goes ahead say that they are late', async () => {
    const scene = await Scene.open();
    const before = await scene.scheduled('before', MINUTE_MS);
    const after = await scene.scheduled('after', 2 * MINUTE_MS);
    const { lastId } = scene;
    const due = scene.due();
    scene.engine.manual.nowMs += MINUTE_MS;
    await due.look();
    scene.engine.manual.nowMs -= 60 * MINUTE_MS;
    await due.look();
    assert.deepEqual([scene.request(before).state, scene.request(after).state], ['Applied', 'Scheduled']);
    scene.engine.manual.nowMs += 2 * 60 * MINUTE_MS;
    await due.look();
    await due.look();
    assert.match(scene.request(after).schedule!.reason!, /late/);
    assert.equal(scene.lastId - lastId, 2 * 3, 'each once: that it was applied, its strategy and its switch');
  });

  it('fail with the reason where the limits refuse them, and wait where the server takes no change', async () => {
    const scene = await Scene.open();
    const id = await scene.scheduled('shop', MINUTE_MS);
    scene.engine.manual.nowMs += MINUTE_MS;
    const { engine } = scene.engine.store;
    const refusals = [
      refuse('ServiceUnavailableError', 'The server is in maintenance.'),
      invalidOperation('The limit is 5 strategies.'),
    ];
    let asked = 0;
    const due = scene.due({
      engine: {
        get world() {
          return engine.world;
        },
        nextTime: () => engine.nextTime(),
        execute: (submission) => {
          asked += 1;
          const refusal = refusals.shift();
          return refusal === undefined
            ? engine.execute(submission)
            : Promise.resolve({ kind: 'refusal', refusal });
        },
      },
    });
    await due.look();
    await due.look();
    assert.equal(asked, 1, 'it is not tried again at once');
    assert.equal(scene.request(id).schedule!.status, 'pending');
    scene.engine.manual.nowMs += 10_000;
    await due.look();
    const { state, schedule } = scene.request(id);
    assert.deepEqual(
      [state, schedule!.status, schedule!.reason],
      ['Scheduled', 'failed', 'The limit is 5 strategies.'],
    );
    await due.look();
    assert.equal(asked, 3, 'what failed is not tried again');
  });

  it('are applied and suspended however full the request is, so that it holds up no other', async () => {
    const scene = await Scene.open();
    const full = await scene.scheduled('full', MINUTE_MS);
    const suspended = await scene.scheduled('other', MINUTE_MS);
    const next = await scene.scheduled('next', MINUTE_MS + 1);
    for (const id of [full, suspended]) {
      const named = { project: 'default', id };
      await scene.run(own({ ...named, text: '' }, addComment));
      const text = 'x'.repeat(WRITTEN_BYTES_MAX - 200 - jsonSize(scene.request(id)));
      await scene.run(own({ ...named, text }, addComment));
      const rest = 'y'.repeat(WRITTEN_BYTES_MAX - 80 - jsonSize(scene.request(id)));
      await scene.run(own({ ...named, text: rest }, addComment));
    }
    const dependency = { feature: 'next', enabled: true, variants: [] };
    await scene.run({ type: 'add-dependency', project: 'default', child: 'other', dependency });
    scene.engine.manual.nowMs += MINUTE_MS + 1;
    await scene.due().look();
    assert.deepEqual([scene.request(full).state, scene.request(next).state], ['Applied', 'Applied']);
    assert.equal(scene.request(suspended).schedule!.status, 'suspended');
  });

  it('hold up no others where one cannot even be stopped, or throws', async () => {
    const scene = await Scene.open();
    await scene.scheduled('refused', MINUTE_MS);
    await scene.scheduled('faulty', 2 * MINUTE_MS);
    await scene.scheduled('shop', 3 * MINUTE_MS);
    scene.engine.manual.nowMs += 3 * MINUTE_MS;
    const { engine } = scene.engine.store;
    const outcomes = [
      { kind: 'refusal', refusal: invalidOperation('The memory is full.') },
      { kind: 'refusal', refusal: invalidOperation('The memory is full.') },
      { kind: 'fault', error: new Error('broken') },
    ] as const;
    let at = 0;
    const due = scene.due({
      engine: {
        get world() {
          return engine.world;
        },
        nextTime: () => engine.nextTime(),
        execute: (submission) => {
          const outcome = outcomes[at];
          at += 1;
          return outcome === undefined ? engine.execute(submission) : Promise.resolve(outcome);
        },
      },
    });
    await due.look();
    assert.equal(scene.faults.length, 1);
    scene.engine.manual.nowMs += 10_000;
    await due.look();
    assert.deepEqual(
      ['refused', 'faulty', 'shop'].map((flag) => scene.isOn(flag)),
      [true, true, true],
    );
  });

  it('are tried again after a fault, which is reported and ends nothing', async () => {
    const scene = await Scene.open();
    await scene.scheduled('shop', MINUTE_MS);
    scene.engine.manual.nowMs += MINUTE_MS;
    let isBroken = true;
    const due = scene.due({
      isLeading: () => {
        if (isBroken) throw new Error('broken');
        return true;
      },
    });
    await due.look();
    assert.equal(scene.faults.length, 1);
    isBroken = false;
    scene.engine.manual.nowMs += 10_000;
    await due.look();
    assert.equal(scene.isOn('shop'), true);
  });

  it('are gone with their project, also where another one has its id since', async () => {
    const scene = await Scene.open();
    const place = { project: 'shop', environment: 'production' };
    const project = { type: 'create-project', id: 'shop', fields: { name: 'Shop' } } as unknown as Command;
    const change = { feature: 'cart', action: 'updateEnabled', payload: { enabled: true } } as const;
    const propose = own({ ...place, changes: [change], paths: ['/body'] }, addChanges);
    const flag = { type: 'create-flag', project: 'shop', name: 'cart', metadata: {} } as unknown as Command;
    await scene.run(project, flag, propose);
    const kept = await scene.draft('kept');
    scene.engine.manual.nowMs += 1;
    await scene.run(
      { type: 'archive-flag', project: 'shop', flag: 'cart' } as Command,
      { type: 'delete-project', project: 'shop' },
      project,
      flag,
    );
    const { engine } = scene.engine.store;
    assert.deepEqual(requestsOf(engine.world, 'shop'), []);
    assert.deepEqual(pendingChangeRequests.ofFlag(engine.world, 'shop', 'cart', 'production'), []);
    await scene.run(propose);
    const { id } = requestsOf(engine.world, 'shop')[0]!;
    await scene.due().look();
    const left = addonRecordsOf(engine.world, REQUEST).map((one) => one.id);
    assert.deepEqual(left, [kept, id]);
    const { lastId } = scene;
    await scene.due().look();
    assert.equal(scene.lastId, lastId);
  });

  it('are tried again at once where the clock was ahead at a fault, or another node has led since', async () => {
    const scene = await Scene.open();
    await scene.scheduled('shop', MINUTE_MS);
    await scene.scheduled('cart', 2 * MINUTE_MS);
    let leads: () => boolean = () => {
      throw new Error('broken');
    };
    const due = scene.due({ isLeading: () => leads() });
    scene.engine.manual.nowMs += 60 * MINUTE_MS;
    await due.look();
    scene.engine.manual.nowMs -= 59 * MINUTE_MS;
    leads = () => true;
    await due.look();
    assert.deepEqual([scene.isOn('shop'), scene.isOn('cart')], [true, false]);
    scene.engine.manual.nowMs += MINUTE_MS;
    leads = () => {
      throw new Error('broken');
    };
    await due.look();
    leads = () => false;
    await due.look();
    leads = () => true;
    await due.look();
    assert.equal(scene.isOn('cart'), true);
  });

  it('leave drafts that nobody touched for 90 days cancelled, and younger ones as they are', async () => {
    const scene = await Scene.open();
    const id = await scene.draft('shop');
    const due = scene.due();
    scene.engine.manual.nowMs += 89 * DAY_MS;
    await due.look();
    assert.equal(scene.request(id).state, 'Draft');
    scene.engine.manual.nowMs += DAY_MS + 1_000;
    await due.look();
    const { state, comments } = scene.request(id);
    assert.deepEqual(
      [state, comments.map(({ text }) => text)],
      ['Cancelled', ['Nobody has touched this draft for 90 days.']],
    );
  });
});
