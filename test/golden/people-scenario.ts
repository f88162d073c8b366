/** Parts of the scenario: custom roles, groups, passwords, and service accounts. */
import type { Call, ReceivedResponse } from '../support/server.ts';

type CheckedCall = (...args: Parameters<Call>) => Promise<ReceivedResponse>;

const FAR = '2999-01-01T00:00:00.000Z';

export async function rolesAndGroups(call: CheckedCall): Promise<void> {
  const permissions = [{ name: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'production' }];
  const role = async (name: string, type: string): Promise<number> =>
    (await call('POST', '/roles', { name, type, description: 'Größe' })).body.roles.id;
  const releaser = await role('Releaser', 'custom');
  await call('PUT', `/roles/${releaser}`, { name: 'Releaser', permissions });
  const lead = await role('Lead', 'root-custom');
  await call('DELETE', `/roles/${await role('gone', 'custom')}`);
  const group = async (name: string): Promise<number> => (await call('POST', '/groups', { name })).body.id;
  const team = await group('Team');
  await call('PUT', `/groups/${team}`, { name: 'Team', rootRole: lead, users: [{ user: { id: 1 } }] });
  await call('PUT', `/projects/shop/groups/${team}/roles`, { roles: [5] });
  await call('PUT', `/projects/shop/groups/${team}/roles`, { roles: [releaser] });
  await call('POST', '/projects/default/access', { roles: [5], users: [], groups: [team] });
  await call('DELETE', `/projects/default/groups/${team}/roles`);
  const gone = await group('gone');
  await call('PUT', `/projects/shop/groups/${gone}/roles`, { roles: [5] });
  await call('DELETE', `/groups/${gone}`);
}

/** `own` signs the user in. */
export async function passwords(
  call: CheckedCall,
  userId: number,
  own: { readonly token: string },
): Promise<void> {
  const [oldPassword, password] = ['Größe-und-Länge-1', '大きさ-Length-2'];
  await call('POST', `/user-admin/${userId}/change-password`, { password: oldPassword });
  await call('POST', '/user/change-password', { oldPassword, password }, own);
}

/** To be called before the last user of all is created. */
export async function serviceAccounts(call: CheckedCall): Promise<void> {
  const add = async (fields: object): Promise<number> =>
    (await call('POST', '/service-account', fields)).body.id;
  const robot = await add({ name: 'Röbot', username: 'deploy', rootRole: 3 });
  await call('PUT', `/service-account/${robot}`, { name: 'Deployment', rootRole: 2 });
  const tokens = `/service-account/${robot}/token`;
  await call('POST', tokens, { description: 'in the pipeline', expiresAt: FAR });
  const unused = (await call('POST', tokens, { description: 'unused', expiresAt: FAR })).body.id;
  await call('DELETE', `${tokens}/${unused}`);
  await call('POST', `/projects/default/users/${robot}/roles/5`);
  await call('DELETE', `/service-account/${await add({ username: 'gone-robot', rootRole: 3 })}`);
}

/** To be called before the last user of all is created. */
export async function invitations(call: CheckedCall): Promise<void> {
  const { id } = (await call('POST', '/user-admin', { username: 'Grete', rootRole: 2 })).body;
  await call('POST', '/user-admin/reset-password', { id: 'Grete' });
  const made = { name: 'Für alle', expiresAt: FAR };
  const { secret, url } = (await call('POST', '/invite-link/tokens', made)).body;
  await call('PUT', `/invite-link/tokens/${secret}`, { expiresAt: '2998-01-01T00:00:00.000Z' });
  await signUp(url, { username: 'Gast', password: 'Zugelassener-Gast-3' });
  await call('DELETE', `/user-admin/${id}`);
}

/** Below another prefix than the calls, for somebody without a token. */
async function signUp(url: string, person: object): Promise<void> {
  const [server, secret] = url.split('/welcome#invitation=');
  const response = await fetch(`${server}/invite/${secret}/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(person),
  });
  if (response.status !== 201) throw new Error(`signing up gives ${response.status}`);
}
