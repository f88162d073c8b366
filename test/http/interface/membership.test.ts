/** Endpoints 17–19: the members of a project and their roles (docs/specification/membership.md). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { stateHash } from '../../../src/actors/state/world-snapshot.ts';
import { addProject, addUser, recording, refused } from '../../support/interface.ts';
import { describeInterface, type ReceivedResponse } from '../../support/server.ts';

const OWNER = 4;
const MEMBER = 5;

describeInterface('membership', (server) => {
  const path = (project: string, user: number | string, role: number | string) =>
    `/projects/${project}/users/${user}/roles/${role}`;

  const event = (project: string, type: string, fields: object) => ({
    type,
    createdBy: 'admin',
    createdByUserId: -42,
    project,
    featureName: null,
    environment: null,
    data: null,
    preData: null,
    tags: [],
    ...fields,
  });

  /** The 400 of the membership rules, which changes nothing. */
  async function broken(method: string, target: string, msg: string): Promise<void> {
    const { engine } = server().server.store;
    const before = stateHash(engine.world);
    const response: ReceivedResponse = await server().call(method, target);
    assert.deepEqual({ status: response.status, body: response.body }, { status: 400, body: [{ msg }] });
    assert.equal(stateHash(engine.world), before);
  }

  const NEEDS_OWNER = 'A project must have at least one owner';

  it('adds, changes and removes a member, each with its event', async () => {
    await addProject(server(), 'cycle');
    const { id } = await addUser(server(), 3, { email: 'ada@example.com' });
    const member = { userId: id, roleId: MEMBER, roleName: 'Member', email: 'ada@example.com' };
    const owner = { ...member, roleId: OWNER, roleName: 'Owner' };
    const steps = [
      ['POST', MEMBER, event('cycle', 'project-user-added', { data: member })],
      ['PUT', OWNER, event('cycle', 'project-user-role-changed', { data: owner, preData: member })],
      ['DELETE', OWNER, event('cycle', 'project-user-removed', { preData: owner })],
    ] as const;
    for (const [method, role, expected] of steps) {
      const { response, events } = await recording(server(), () =>
        server().call(method, path('cycle', id, role)),
      );
      assert.deepEqual({ status: response.status, events }, { status: 200, events: [expected] });
    }
  });

  it('refuses to add a user who is a member already, whatever the role', async () => {
    await addProject(server(), 'twice');
    for (const role of [OWNER, MEMBER]) {
      await broken('POST', path('twice', 1, role), 'User already has access to project=twice');
    }
  });

  it('keeps the last owner of a project in the role and in the project', async () => {
    await addProject(server(), 'owned');
    await broken('PUT', path('owned', 1, MEMBER), NEEDS_OWNER);
    await broken('DELETE', path('owned', 1, OWNER), NEEDS_OWNER);
    const { id } = await addUser(server(), 3);
    await server().call('POST', path('owned', id, MEMBER));
    await broken('DELETE', path('owned', 1, OWNER), NEEDS_OWNER);
    await server().call('PUT', path('owned', id, OWNER));
    assert.equal((await server().call('PUT', path('owned', 1, MEMBER))).status, 200);
    await broken('PUT', path('owned', id, MEMBER), NEEDS_OWNER);
    assert.equal((await server().call('DELETE', path('owned', 1, MEMBER))).status, 200);
  });

  it('does nothing for a change of one who is no member, or who has the role', async () => {
    await addProject(server(), 'idle');
    const { id } = await addUser(server(), 3);
    for (const target of [path('idle', id, OWNER), path('idle', 1, OWNER)]) {
      const { response, events } = await recording(server(), () => server().call('PUT', target));
      assert.deepEqual({ status: response.status, events }, { status: 200, events: [] });
    }
    assert.equal((await server().call('GET', '/projects/idle')).body.members, 1);
  });

  it('does not remove a role that the user does not hold', async () => {
    await addProject(server(), 'partial');
    const { id } = await addUser(server(), 3);
    const target = path('partial', id, MEMBER);
    await refused(server(), 404, 'NotFoundError', { method: 'DELETE', path: target });
    await server().call('POST', path('partial', id, OWNER));
    await refused(server(), 404, 'NotFoundError', { method: 'DELETE', path: target });
    await refused(server(), 404, 'NotFoundError', { method: 'DELETE', path: path('partial', 1, MEMBER) });
  });

  it('does not find unknown users, unknown roles, root roles and ids that are no plain integers', async () => {
    await addProject(server(), 'exact');
    const { id } = await addUser(server(), 3);
    const targets = [
      path('nowhere', id, MEMBER),
      path('exact', 999, MEMBER),
      path('exact', -1, MEMBER),
      path('exact', 'admin', MEMBER),
      path('exact', `0${id}`, MEMBER),
      path('exact', `${id}.0`, MEMBER),
      path('exact', '99999999999999999999', MEMBER),
      path('exact', id, 0),
      path('exact', id, 1),
      path('exact', id, 2),
      path('exact', id, 3),
      path('exact', id, 6),
      path('exact', id, '05'),
      path('exact', id, 'Member'),
    ];
    for (const target of targets) {
      for (const method of ['POST', 'PUT', 'DELETE']) {
        await refused(server(), 404, 'NotFoundError', { method, path: target });
      }
    }
  });

  it('names an id that is none as the path spells it', async () => {
    await addProject(server(), 'spelt');
    const { id } = await addUser(server(), 3);
    for (const [target, message] of [
      [path('spelt', 'admin', MEMBER), 'There is no user "admin".'],
      [path('spelt', `0${id}`, MEMBER), `There is no user "0${id}".`],
      [path('spelt', id, 'Member'), 'There is no role "Member".'],
    ] as const) {
      const { body } = await refused(server(), 404, 'NotFoundError', { method: 'POST', path: target });
      assert.equal(body.message, message);
    }
  });

  it('ignores the body, whatever it is', async () => {
    await addProject(server(), 'bodies');
    const { id } = await addUser(server(), 3);
    const response = await server().call('POST', path('bodies', id, MEMBER), '{"userId": ');
    assert.equal(response.status, 200);
    const { body } = await server().call('PUT', path('bodies', id, OWNER), { userId: 1, roleId: MEMBER });
    assert.equal(body, undefined);
    await broken('POST', path('bodies', id, MEMBER), 'User already has access to project=bodies');
  });
});
