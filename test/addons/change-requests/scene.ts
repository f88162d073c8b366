/** A server whose environment `production` takes change requests, and people who make, review and apply them. */
import assert from 'node:assert/strict';
import { type AddedUser, addUser } from '../../support/interface.ts';
import type { ReceivedResponse, TestServer } from '../../support/server.ts';

export const REQUESTS = '/projects/default/change-requests';
export const PROPOSALS = '/projects/default/environments/production/change-requests';
export const EDITOR = 2;
export const ROLLOUT = {
  name: 'flexibleRollout',
  parameters: { rollout: '50', stickiness: 'default', groupId: 'g' },
};

export async function protect(server: TestServer, fields: object = {}): Promise<void> {
  const body = { changeRequestsEnabled: true, requiredApprovals: 1, ...fields };
  const { status } = await server.call('PUT', `${PROPOSALS}/config`, body);
  assert.equal(status, 200);
}

/** Gives the caller permissions in `production`, by a role of its own. */
export async function addPermitted(server: TestServer, ...names: readonly string[]): Promise<AddedUser> {
  const permissions = names.map((name) => ({ name, environment: 'production' }));
  const name = `role-${Math.max(0, ...server.server.store.engine.world.directory.roles.keys()) + 1}`;
  const { roles } = await succeeded(
    server.call('POST', '/roles', {
      name,
      type: 'root-custom',
      description: '',
      permissions,
    }),
  );
  return addUser(server, roles.id);
}

export const as =
  (server: TestServer, { token }: AddedUser) =>
  (method: string, path: string, body?: unknown): Promise<ReceivedResponse> =>
    server.call(method, path, body, { token });

export type Acting = ReturnType<typeof as>;

/** The body of a success. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
export async function succeeded(response: Promise<ReceivedResponse>): Promise<any> {
  const { status, body } = await response;
  assert.ok(status < 300, `${status} ${body?.message}`);
  return body;
}

/** Two people who may write flags. */
export async function authorAndReviewer(server: TestServer) {
  const people = { author: await addUser(server, EDITOR), reviewer: await addUser(server, EDITOR) };
  return { people, author: as(server, people.author), reviewer: as(server, people.reviewer) };
}

/** Switches a flag on. */
export const switchOn = (feature: string) => ({
  ...{ feature, action: 'updateEnabled', payload: { enabled: true } },
});

export const propose = (by: Acting, ...changes: readonly object[]) =>
  succeeded(by('POST', PROPOSALS, changes));

export const setState = (by: Acting, id: number, state: string) =>
  by('PUT', `${REQUESTS}/${id}/state`, { state });

/** Proposes, sends to review and approves. */
export async function approvedRequest(author: Acting, reviewer: Acting, ...changes: readonly object[]) {
  const { id } = await propose(author, ...changes);
  await succeeded(setState(author, id, 'In review'));
  return succeeded(setState(reviewer, id, 'Approved'));
}
