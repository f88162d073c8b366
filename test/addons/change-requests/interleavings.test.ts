/** Random interleavings of requests, edits and direct changes against a model: what nobody has seen is never overwritten, and what does not touch merges. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { applyRequest } from '../../../src/addons/change-requests/apply-request.ts';
import { addChanges, editChange, setState } from '../../../src/addons/change-requests/decisions.ts';
import { REQUEST } from '../../../src/addons/change-requests/kind.ts';
import { type Command, ownCommand } from '../../../src/domain/decide/decide.ts';
import { addonRecordsOf } from '../../../src/domain/state/addon-records.ts';
import { ABOUT_NOTHING } from '../../../src/domain/state/events.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { DEFAULT_STRATEGY, TestWorld } from '../../support/test-world.ts';

const STEPS = 10_000;
const STRATEGIES = 4;
const PLACE = { project: 'default', environment: 'production' };
const TARGET = { ...PLACE, flag: 'shop' };

const strategy = (value: number) => ({ ...DEFAULT_STRATEGY, parameters: { value: String(value) } });

/** A change of a strategy, as the model has it. */
interface Planned {
  readonly changeId: number;
  readonly strategy: number;
  /** The value that its author saw. */
  seen: number;
  value: number;
}

it('overwrite nothing that changed unseen, and keep what others changed beside them', () => {
  const random = seededRandom(49);
  const state = new TestWorld();
  const users = [2, 3, 4].map((id) => ({
    id,
    name: null,
    username: `user-${id}`,
    email: null,
    rootRole: 2,
    createdAt: '2024-01-01T00:00:00.000Z',
  }));
  state.record(
    users.map((data) => ({ type: 'user-created', ...ABOUT_NOTHING, data, preData: null }) as const),
  );
  const actors = users.map(({ id, username }) => ({ name: username, userId: id }));
  state.given({ type: 'create-flag', project: 'default', name: 'shop', metadata: {} });
  for (let at = 0; at < STRATEGIES; at += 1)
    state.given({ type: 'add-strategy', ...TARGET, strategy: strategy(0) });
  const found = () =>
    state.world.projects
      .get('default')!
      .flags.get('shop')!
      .flag.environments.find(({ name }) => name === 'production')!.strategies;
  const ids = found().map(({ id }) => id);
  const values = ids.map(() => 0);
  const open = new Map<number, { readonly id: number; readonly planned: Planned[] }>();
  const counts = { applied: 0, conflicts: 0 };
  const run = (command: Command, user: number) => state.run(command, actors[user]);
  const change = (at: number, value: number) => ({
    feature: 'shop',
    action: 'updateStrategy' as const,
    payload: { ...strategy(value), id: ids[at] },
  });
  for (let step = 1; step <= STEPS; step += 1) {
    const user = random.below(actors.length);
    const at = random.below(STRATEGIES);
    const request = open.get(user);
    const kind = random.below(9);
    if (kind === 0) {
      state.given({ type: 'replace-strategy', ...TARGET, strategyId: ids[at]!, strategy: strategy(step) });
      values[at] = step;
    } else if (kind < 3 && (request?.planned.length ?? 0) < 3) {
      const sent = { ...PLACE, changes: [change(at, step)], paths: ['/body'] };
      assert(Array.isArray(run(ownCommand({ sent, decide: addChanges }), user)));
      const { data } = addonRecordsOf(state.world, REQUEST).findLast(
        (one) => one.data.createdBy === actors[user]!.userId,
      )!;
      const planned = request?.planned ?? [];
      planned.push({ changeId: data.lastPartId, strategy: at, seen: values[at]!, value: step });
      open.set(user, { id: data.id, planned });
    } else if (kind < 7 && request !== undefined) {
      const one = request.planned[random.below(request.planned.length)]!;
      const sent = {
        project: 'default',
        id: request.id,
        changeId: one.changeId,
        parsed: change(one.strategy, step),
      };
      assert(Array.isArray(run(ownCommand({ sent, decide: editChange }), user)));
      Object.assign(one, { seen: values[one.strategy], value: step });
    } else if (request !== undefined) {
      const named = { project: 'default', id: request.id };
      run(ownCommand({ sent: { ...named, state: 'In review' as const }, decide: setState }), user);
      const outcome = run(ownCommand({ sent: named, decide: applyRequest }), user);
      const isUnseen = request.planned.some((one) => values[one.strategy] !== one.seen);
      assert.equal(outcome === 'InvalidOperationError', isUnseen, `step ${step}`);
      counts[isUnseen ? 'conflicts' : 'applied'] += 1;
      if (!isUnseen) {
        for (const one of request.planned) values[one.strategy] = one.value;
        open.delete(user);
      }
    }
    assert.deepEqual(
      found().map(({ parameters }) => Number(parameters?.['value'])),
      values,
    );
  }
  assert.ok(counts.applied > 500 && counts.conflicts > 500, JSON.stringify(counts));
});
