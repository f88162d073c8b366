/** Deleting what is named by as many things as there may be: never too large a change, and nothing names it afterwards. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CHANGE_BYTES_MAX } from '../../../src/actors/command-decider.ts';
import type { CustomRole } from '../../../src/domain/access/roles.ts';
import type { Command } from '../../../src/domain/decide/decide.ts';
import { jsonSize } from '../../../src/domain/json/json.ts';
import { applyChange } from '../../../src/domain/state/apply.ts';
import { ABOUT_NOTHING, type DomainEvent } from '../../../src/domain/state/events.ts';
import { isRefusal } from '../../../src/domain/state/refusal.ts';
import { NAMES_GO_WITH_DELETED } from '../../../src/domain/state/replay-rules.ts';
import { TestWorld } from '../../support/test-world.ts';

const createdAt = '2024-01-01T00:00:00.000Z';
const OTHERS = Array.from({ length: 99 }, (_, at) => `${'p'.repeat(90)}-${at}`);

const tokenCreated = (at: number, environment: string, projects: readonly string[]): DomainEvent => ({
  ...{ type: 'api-token-created', ...ABOUT_NOTHING, preData: null },
  data: { tokenName: `t${at}`, type: 'client', environment, projects, createdAt, expiresAt: null },
  hidden: { digest: at.toString(16).padStart(64, '0') },
});

function withProjectAndEnvironment(): TestWorld {
  const state = new TestWorld();
  return state.given(
    { type: 'create-project', id: 'gone', fields: { name: 'Gone' } } as Command,
    { type: 'create-environment', name: 'gone', fields: { type: 'test' } } as Command,
  );
}

/** Decides, and holds the events to what a change may have. */
function decided(state: TestWorld, command: Command): readonly DomainEvent[] {
  const decision = state.decide(command);
  assert(!isRefusal(decision), JSON.stringify(decision));
  assert(jsonSize(decision) < CHANGE_BYTES_MAX / 2);
  return decision;
}

describe('a deletion', () => {
  it('of a project takes it out of all tokens, however many there are and however long their lists', () => {
    const state = withProjectAndEnvironment();
    const projects = (at: number) => (at % 2 === 0 ? ['gone', ...OTHERS] : ['gone']);
    state.record(Array.from({ length: 2_000 }, (_, at) => tokenCreated(at, 'production', projects(at))));
    state.record(decided(state, { type: 'delete-project', project: 'gone' }));
    const left = [...state.world.directory.apiTokens.values()];
    assert.equal(left.length, 1_000);
    for (const token of left) assert.deepEqual(token.projects, OTHERS);
  });

  it('of an environment deletes all tokens for it', () => {
    const state = withProjectAndEnvironment();
    state.record(Array.from({ length: 2_000 }, (_, at) => tokenCreated(at, 'gone', OTHERS)));
    state.record(decided(state, { type: 'delete-environment', name: 'gone' }));
    assert.equal(state.world.directory.apiTokens.size, 0);
  });

  it('of an environment takes it out of custom roles, and says what to do where they are too many for one change', () => {
    const state = withProjectAndEnvironment();
    const environments = ['gone', ...Array.from({ length: 49 }, (_, at) => `${'e'.repeat(90)}-${at}`)];
    const permissions = environments.flatMap((environment) =>
      Array.from({ length: 5 }, () => ({ name: 'UPDATE_FEATURE_STRATEGY' as const, environment })),
    );
    state.record(
      Array.from({ length: 200 }, (_, at) => ({
        ...{ type: 'role-created' as const, ...ABOUT_NOTHING, preData: null },
        data: { id: 10 + at, name: `r${at}`, type: 'custom' as const, description: '', permissions },
      })),
    );
    const command: Command = { type: 'delete-environment', name: 'gone' };
    const refusal = state.decide(command);
    assert(isRefusal(refusal));
    assert.match(refusal.message, /^200 custom roles hold .* Take it out of some of them first/);
    const roles = (): readonly CustomRole[] => [...state.world.directory.roles.values()];
    state.record(
      roles()
        .slice(20)
        .map((role) => ({ type: 'role-deleted', ...ABOUT_NOTHING, data: null, preData: role })),
    );
    state.record(decided(state, command));
    assert.equal(roles().length, 20);
    for (const role of roles()) assert.equal(role.permissions.length, 245);
  });

  it('of a user makes the user leave all groups', () => {
    const state = new TestWorld();
    state.given({ type: 'create-user', fields: { username: 'leaver', rootRole: 3 } } as unknown as Command);
    const userId = state.world.directory.lastUserId;
    const users = [userId, ...Array.from({ length: 999 }, (_, at) => 1_000 + at)];
    const group = { description: null, rootRole: null, mappingsSSO: [], createdAt, createdBy: 'x', users };
    state.record(
      Array.from({ length: 1_000 }, (_, at) => ({
        ...{ type: 'group-created', ...ABOUT_NOTHING, preData: null },
        data: { id: at + 1, name: `g${at}`, ...group },
      })),
    );
    state.record(decided(state, { type: 'delete-user', userId }));
    for (const one of state.world.directory.groups.values()) assert(!one.users.includes(userId));
  });

  it('that an older release recorded is replayed as it ran: only events change what is beside it', () => {
    const state = withProjectAndEnvironment();
    state.record([tokenCreated(1, 'production', ['gone'])]);
    const deleted = decided(state, { type: 'delete-project', project: 'gone' }).at(-1)!;
    assert.equal(deleted.type, 'project-deleted');
    state.world = applyChange(state.world, [deleted], {
      id: 1_000_000,
      createdAt,
      rules: NAMES_GO_WITH_DELETED - 1,
    });
    assert.equal(state.world.directory.apiTokens.size, 1);
  });
});
