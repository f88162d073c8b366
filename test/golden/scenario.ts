/**
 * The requests that fill a golden folder. They cover every write of the interface, and the values that a change of
 * format loses easily: non-ASCII text, numbers in parameters, nulls, archived and deleted flags, and names that are
 * used a second time.
 */
import assert from 'node:assert/strict';
import type { Call, ReceivedResponse } from '../support/server.ts';
import type { Expected } from './expected.ts';
import { invitations, passwords, rolesAndGroups, serviceAccounts } from './people-scenario.ts';
import type { Json } from './picture.ts';
import { targeting, transfer } from './targeting-scenario.ts';

const FLAGS = '/projects/default/features';
const inEnvironment = (flag: string, environment: string): string =>
  `${FLAGS}/${flag}/environments/${environment}`;

/** Flags of the project `default` whose past is recorded. */
export const PAST_FLAGS = ['checkout', 'Checkout-2', 'gone'] as const;

export interface ScenarioOptions {
  readonly call: Call;
  /** Makes the server take a snapshot. */
  snapshot(): Promise<void>;
  /** Notes the newest event as one whose state is recorded in `expected.moments`. */
  moment(): Promise<void>;
}

/** The part that only the responses show, and the folder does not. */
export type ScenarioResult = Pick<
  Expected,
  'retried' | 'personalToken' | 'nextUserId' | 'nextPersonalTokenId'
>;

export async function runScenario({ call, snapshot, moment }: ScenarioOptions): Promise<ScenarioResult> {
  const checked: CheckedCall = async (method, path, body, options) => {
    const response = await call(method, path, body, options);
    assert(response.status < 300, `${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
    return response;
  };
  await flags(checked);
  await moment();
  await strategies(checked, await targeting(checked));
  await snapshot();
  await variants(checked);
  await environments(checked);
  await moment();
  await projects(checked);
  const userIdMax = await users(checked);
  await snapshot();
  const tokens = await allTokens(checked);
  await rolesAndGroups(checked);
  await archive(checked);
  await moment();
  await dependenciesAndTags(checked);
  await rollback(checked);
  const retried = await retriedWrite(checked);
  return { retried, ...tokens, nextUserId: userIdMax + 1 };
}

type CheckedCall = (...args: Parameters<Call>) => Promise<ReceivedResponse>;

async function flags(call: CheckedCall): Promise<void> {
  await call('POST', FLAGS, {
    name: 'checkout',
    description: 'Größe, 特徴, 🚀 and "quotes"',
    type: 'experiment',
    stale: true,
    impressionData: true,
  });
  await call('POST', FLAGS, { name: 'Checkout-2', description: null, type: 'kill-switch' });
  await call('POST', FLAGS, { name: 'constructor' });
  await call('POST', FLAGS, { name: 'gone', description: '', type: 'operational' });
  await call('POST', '/features/validate', { name: 'not-there-yet' });
  await call('POST', '/constraints/validate', { contextName: 'userId', operator: 'IN', values: ['7'] });
  await call('PUT', `${FLAGS}/checkout`, { description: null, type: 'permission', stale: false });
  await call('PATCH', `${FLAGS}/Checkout-2`, [
    { op: 'replace', path: '/description', value: 'patché' },
    { op: 'replace', path: '/impressionData', value: true },
  ]);
  await call('POST', '/projects/default/stale', { features: ['Checkout-2', 'gone'], stale: true });
  await call('POST', '/projects/default/stale', { features: ['gone'], stale: false });
  await call('POST', `${FLAGS}/Checkout-2/lifecycle/complete`, { status: 'kept', statusValue: '青' });
  await call('POST', `${FLAGS}/gone/lifecycle/complete`, { status: 'discarded' });
  await call('POST', `${FLAGS}/gone/lifecycle/uncomplete`);
}

const CONSTRAINTS = [
  { contextName: 'land', operator: 'IN', values: ['Österreich', '日本'], inverted: true },
  { contextName: 'email', operator: 'STR_ENDS_WITH', values: ['@EXAMPLE.com'], caseInsensitive: true },
  { contextName: 'age', operator: 'NUM_GTE', value: '17.5' },
  { contextName: 'since', operator: 'DATE_AFTER', value: '2024-02-29T12:00:00Z' },
  { contextName: 'version', operator: 'SEMVER_LT', value: '2.0.0-rc.1' },
];

const STRATEGY = {
  name: 'flexibleRollout',
  title: 'Ein Viertel – 四分の一',
  disabled: false,
  constraints: CONSTRAINTS,
  parameters: {
    rollout: 25,
    fraction: 0.1,
    large: 1e21,
    groupId: 'checkout',
    nested: { list: [null, true, -1] },
  },
  variants: [
    {
      name: 'a',
      weight: 333,
      weightType: 'fix',
      stickiness: 'userId',
      payload: { type: 'number', value: '0.5' },
    },
    { name: 'b', weight: 1, weightType: 'variable', stickiness: 'userId' },
  ],
  sortOrder: 2.5,
};

async function strategies(call: CheckedCall, segments: readonly number[]): Promise<void> {
  const development = `${inEnvironment('checkout', 'development')}/strategies`;
  const first = (await call('POST', development, { ...STRATEGY, segments })).body.id;
  const second = (await call('POST', development, { name: 'default', parameters: null, title: null })).body
    .id;
  const third = (await call('POST', development, { name: 'userWithId', parameters: { userIds: 'a,ß' } })).body
    .id;
  const fourth = (await call('POST', development, { name: 'default', disabled: null })).body.id;
  await call('PUT', `${development}/${second}`, {
    ...STRATEGY,
    title: 'replaced',
    segments: [],
    sortOrder: 1,
  });
  await call('PATCH', `${development}/${first}`, [
    { op: 'replace', path: '/parameters/rollout', value: 37.25 },
    { op: 'remove', path: '/constraints/0' },
  ]);
  await call('POST', `${development}/set-sort-order`, [
    { id: fourth, sortOrder: -1 },
    { id: first, sortOrder: 9 },
  ]);
  await call('DELETE', `${development}/${third}`);
  await call('POST', `${inEnvironment('checkout', 'development')}/on`);
  await call('POST', `${inEnvironment('checkout', 'production')}/strategies`, { name: 'default' });
  await call('POST', `${inEnvironment('checkout', 'production')}/on`);
  await call('POST', `${inEnvironment('checkout', 'production')}/off`);
  await onlyDisabled(call);
  await call('POST', `${FLAGS}/checkout/clone`, { name: 'checkout-copy', replaceGroupId: true });
  const copied = `${inEnvironment('checkout-copy', 'production')}/strategies/copy`;
  await call('POST', copied, { from: 'development' });
  await call('PATCH', `${development}/${fourth}`, [{ op: 'replace', path: '/segments', value: segments }]);
}

/** Enables an environment whose only strategy is disabled. Later builds must keep it as it is. */
async function onlyDisabled(call: CheckedCall): Promise<void> {
  const path = inEnvironment('Checkout-2', 'production');
  const { id } = (await call('POST', `${path}/strategies`, { ...STRATEGY, disabled: true })).body;
  await call('POST', `${path}/on`);
  await call('PATCH', `${path}/strategies/${id}`, [{ op: 'replace', path: '/disabled', value: true }]);
}

const VARIANTS = [
  {
    name: 'rot',
    weight: 250,
    weightType: 'fix',
    stickiness: 'random',
    payload: { type: 'json', value: '{"größe":[1,2.50]}' },
    overrides: [{ contextName: 'userId', values: ['ä', 'b'] }],
  },
  { name: 'blau', weight: 0, stickiness: 'random' },
  { name: '緑', weight: 0, stickiness: 'random' },
];

async function variants(call: CheckedCall): Promise<void> {
  await call('PUT', `${FLAGS}/checkout/variants`, VARIANTS);
  await call('PATCH', `${FLAGS}/checkout/variants`, [{ op: 'remove', path: '/1' }]);
  await call('PUT', `${inEnvironment('checkout', 'production')}/variants`, VARIANTS.slice(0, 2));
  await call('PATCH', `${inEnvironment('checkout', 'production')}/variants`, [
    { op: 'replace', path: '/0/payload', value: { type: 'csv', value: 'a,"ß, c"' } },
  ]);
  await call('PUT', `${FLAGS}/gone/variants`, VARIANTS);
  for (const environment of ['development', 'production'])
    await call('PUT', `${inEnvironment('gone', environment)}/variants`, VARIANTS.slice(1));
}

async function environments(call: CheckedCall): Promise<void> {
  await call('POST', '/environments', {
    name: 'staging',
    type: 'preproduction',
    enabled: false,
    sortOrder: 50,
  });
  await call('POST', '/environments', { name: 'short-lived', type: 'test' });
  await call('PUT', '/environments/update/staging', { type: 'test', sortOrder: 3 });
  await call('PUT', '/environments/sort-order', { production: 0, staging: 1 });
  await call('POST', '/environments/staging/on');
  await call('POST', '/environments/production/off');
  await call('POST', '/projects/default/environments', { environment: 'staging' });
  await call('POST', `${inEnvironment('checkout', 'staging')}/strategies`, { name: 'default' });
  await call('DELETE', '/environments/short-lived');
}

async function projects(call: CheckedCall): Promise<void> {
  await call('POST', '/projects', {
    id: 'shop',
    name: 'Läden 店',
    description: 'Alles, was Kunden sehen',
    mode: 'private',
    defaultStickiness: 'userId',
    environments: ['development'],
  });
  await call('POST', '/projects', { name: 'Named by its name', description: null });
  await call('PUT', '/projects/shop', { name: 'Läden', mode: 'protected' });
  await call('PUT', '/projects/shop/settings', { defaultStickiness: 'random', lifetimes: { release: 14 } });
  await call('POST', '/projects/shop/environments', { environment: 'staging' });
  await call('POST', '/projects/shop/features', { name: 'basket', description: 'Körbe' });
  await call('PUT', '/projects/shop/features/basket/environments/staging/variants', VARIANTS);
  for (const environment of ['development', 'staging']) {
    const path = `/projects/shop/environments/${environment}/default-strategy`;
    await call('POST', path, { name: 'flexibleRollout', parameters: { rollout: '25' } });
  }
  await call('DELETE', '/projects/shop/environments/staging');
  for (const enabled of [true, false]) await call('POST', '/maintenance', { enabled });
  for (const lifetimeDays of [14, 0])
    await call('PUT', '/feature-types/experiment/lifetime', { lifetimeDays });
  for (const frontendApiOrigins of [[], ['*'], ['https://shop.example']])
    await call('POST', '/ui-config/cors', { frontendApiOrigins });
  await call('POST', '/projects', { id: 'closed', name: 'Closed' });
  await call('DELETE', '/projects/closed');
}

/** Returns the highest user id ever given. Its user is deleted, and no later user may get the id. */
async function users(call: CheckedCall): Promise<number> {
  await serviceAccounts(call);
  await invitations(call);
  const add = async (fields: object): Promise<number> => (await call('POST', '/user-admin', fields)).body.id;
  const ada = await add({ username: 'Ada', name: 'Ada Lövelace', email: 'ada@example.com', rootRole: 2 });
  const other = await add({ username: 'ada-2', name: null, rootRole: 'Editor' });
  const nameless = await add({ email: 'Nobody@Example.com', username: null, rootRole: 3 });
  const gone = await add({ username: 'gone', rootRole: 1 });
  await call('PUT', `/user-admin/${other}`, {
    name: 'the other ada',
    email: 'other@example.com',
    rootRole: 3,
  });
  await call('POST', `/projects/default/users/${ada}/roles/5`);
  await call('PUT', `/projects/default/users/${ada}/roles/4`);
  await call('POST', `/projects/default/users/${other}/roles/5`);
  await call('DELETE', `/projects/default/users/${other}/roles/5`);
  await call('PUT', '/projects/shop/access', {
    roles: [
      { id: 5, users: [nameless] },
      { id: 4, users: [gone, ada] },
    ],
  });
  await call('DELETE', `/user-admin/${gone}`);
  await call('POST', '/projects/shop/access', { roles: [5], users: [other], groups: [] });
  await call('PUT', `/projects/shop/users/${other}/roles/4`);
  await call('DELETE', `/projects/shop/users/${other}/roles/4`);
  return gone;
}

const FAR = '2999-12-31T23:59:59.999Z';

async function allTokens(
  call: CheckedCall,
): Promise<Pick<ScenarioResult, 'personalToken' | 'nextPersonalTokenId'>> {
  const made = async (fields: object): Promise<string> => {
    const { body } = await call('POST', '/api-tokens', fields);
    return body.digest;
  };
  await made({
    tokenName: 'Müller',
    type: 'client',
    environment: 'development',
    projects: ['default', 'shop'],
    expiresAt: FAR,
  });
  const frontend = await made({
    username: 'older name',
    type: 'FRONTEND',
    environment: 'production',
    project: '*',
  });
  const admin = await made({ tokenName: 'second admin', type: 'admin' });
  await call('PUT', `/api-tokens/${frontend}`, { expiresAt: FAR });
  await call('DELETE', `/api-tokens/${admin}`);
  const inShop = { tokenName: 'Läden', type: 'client', environment: 'development' };
  const { secret: ofShop } = (await call('POST', '/projects/shop/api-tokens', inShop)).body;
  await call('DELETE', `/projects/shop/api-tokens/${encodeURIComponent(ofShop)}`);
  const { users: all } = (await call('GET', '/user-admin')).body as {
    users: readonly { id: number; username: string | null }[];
  };
  const owner = all.find(({ username }) => username === 'Ada');
  assert(owner !== undefined);
  const tokens = `/user-admin/${owner.id}/tokens`;
  const { secret } = (await call('POST', tokens, { description: 'für Skripte', expiresAt: FAR })).body;
  const { id } = (await call('POST', tokens, { description: 'unused', expiresAt: FAR })).body;
  await call('DELETE', `${tokens}/${id}`);
  const own = { token: secret as string };
  for (const marked of ['/projects/default', `${FLAGS}/checkout`]) {
    await call('POST', `${marked}/favorites`, undefined, own);
  }
  await call('POST', '/projects/shop/favorites', undefined, own);
  await call('DELETE', '/projects/shop/favorites', undefined, own);
  await call('POST', `${FLAGS}/gone/favorites`, undefined, own);
  await call('DELETE', `${FLAGS}/gone/favorites`, undefined, own);
  const mine = (await call('POST', '/user/tokens', { description: 'my own', expiresAt: FAR }, own)).body.id;
  await call('DELETE', `/user/tokens/${mine}`, undefined, own);
  await passwords(call, owner.id, own);
  await changeRequests(call, own);
  return { personalToken: { secret, username: 'Ada' }, nextPersonalTokenId: mine + 1 };
}

/** None is left a draft, which the server would cancel some day. */
async function changeRequests(call: CheckedCall, own: { readonly token: string }): Promise<void> {
  await call('POST', '/projects', { id: 'governed', name: 'Geprüft' }, own);
  await call('POST', '/projects/governed/features', { name: 'governed' }, own);
  const proposals = '/projects/governed/environments/development/change-requests';
  const protection = { changeRequestsEnabled: true, requiredApprovals: 0 };
  await call('PUT', `${proposals}/config`, protection, own);
  const requests = '/projects/governed/change-requests';
  const change = { feature: 'governed', action: 'updateEnabled', payload: { enabled: true } };
  const propose = async () => (await call('POST', proposals, change, own)).body;
  await call('DELETE', `${requests}/${(await propose()).id}`, undefined, own);
  const { id, features } = await propose();
  const first = `${requests}/${id}/changes/${features[0].changes[0].id}`;
  await call('PUT', first, change, own);
  await call('DELETE', first, undefined, own);
  await propose();
  await call('PUT', `${requests}/${id}/title`, { title: 'Für alle' }, own);
  await call('PUT', `${requests}/${id}/approvers`, { reviewers: [] }, own);
  await call('POST', `${requests}/${id}/comments`, { text: 'Schön.' }, own);
  for (const state of ['In review', 'Applied']) await call('PUT', `${requests}/${id}/state`, { state }, own);
  const off = { ...change, payload: { enabled: false } };
  const { id: open } = (await call('POST', proposals, off, own)).body;
  await call('PUT', `${requests}/${open}/state`, { state: 'In review' }, own);
}

async function archive(call: CheckedCall): Promise<void> {
  for (const name of ['f1', 'f2', 'f3', 'f4']) await call('POST', FLAGS, { name });
  await call('DELETE', `${FLAGS}/gone`);
  await call('DELETE', '/archive/gone');
  await call('POST', FLAGS, { name: 'gone', description: 'the same name, another flag' });
  await call('DELETE', `${FLAGS}/f1`);
  await call('POST', '/archive/revive/f1');
  await call('POST', '/projects/default/archive/validate', { features: ['f1', 'f2'] });
  await call('POST', '/projects/default/archive', { features: ['f1', 'f2', 'f3', 'f4'] });
  await call('POST', '/projects/default/revive', { features: ['f1', 'f2'] });
  await call('POST', '/projects/default/delete', { features: ['f3'] });
}

async function dependenciesAndTags(call: CheckedCall): Promise<void> {
  await call('POST', `${FLAGS}/f1/dependencies`, { feature: 'checkout', enabled: true, variants: ['緑'] });
  await call('POST', `${FLAGS}/f2/dependencies`, { feature: 'checkout', enabled: false });
  await call('POST', `${FLAGS}/gone/dependencies`, { feature: 'checkout' });
  await call('DELETE', `${FLAGS}/f2/dependencies/checkout`);
  await call('DELETE', `${FLAGS}/gone/dependencies`);
  await call('POST', '/features/checkout/tags', { type: 'team', value: 'größe' });
  await call('POST', '/features/checkout/tags', { type: 'simple', value: 'kurz' });
  await call('DELETE', '/features/checkout/tags/simple/kurz');
  const changed = { addedTags: [{ value: 'später' }], removedTags: [{ value: 'fehlt' }] };
  await call('PUT', '/projects/default/tags', { features: ['checkout', 'f1', 'f2'], tags: changed });
  await call('POST', `${inEnvironment('f1', 'development')}/strategies`, { name: 'default' });
  for (const position of ['on', 'off']) {
    const switches = `/projects/default/bulk_features/environments/development/${position}`;
    await call('POST', switches, { features: ['f1'] });
  }
  await call('POST', '/tag-types', { name: 'team', description: 'Wer es besitzt', icon: 'T' });
  await call('PUT', '/tag-types/team', { color: '#0b5394' });
  await call('POST', '/tag-types', { name: 'short-lived' });
  await call('DELETE', '/tag-types/short-lived');
  const integration = { provider: 'webhook', parameters: { url: 'https://golden.example/' }, enabled: false };
  const { body: sent } = await call('POST', '/addons', { ...integration, events: ['feature-created'] });
  await call('PUT', `/addons/${sent.id}`, { ...integration, description: 'Wer es hört' });
  const { body: unsent } = await call('POST', '/addons', integration);
  await call('DELETE', `/addons/${unsent.id}`);
  await call('POST', `${FLAGS}/f1/link`, { url: 'https://tracker.example/1', title: 'Größe' });
  const old = { id: 'old', url: 'https://tracker.example/2', title: null };
  await call('POST', FLAGS, { name: 'wanders', links: [{ ...old, id: 'ticket' }, old] });
  await call('PUT', `${FLAGS}/wanders/link/ticket`, { url: 'https://tracker.example/3' });
  await call('DELETE', `${FLAGS}/wanders/link/old`);
  await call('POST', `${FLAGS}/wanders/changeProject`, { newProjectId: 'named-by-its-name' });
}

/** Rolls the flag back to an early event, so that the events of a rollback follow the newest snapshot. */
async function rollback(call: CheckedCall): Promise<void> {
  const { events } = (await call('POST', '/events/search', { feature: 'checkout', limit: 100 })).body as {
    events: readonly { id: number; type: string }[];
  };
  const switchedOn = events.findLast(({ type }) => type === 'feature-environment-enabled');
  assert(switchedOn !== undefined);
  await call('POST', '/features/checkout-copy/tags', { value: 'vorher' });
  await call('POST', `${FLAGS}/checkout/rollback`, { eventId: switchedOn.id });
  await call('POST', '/projects/shop/rollback', { eventId: switchedOn.id });
  await transfer(call, ['checkout']);
}

async function retriedWrite(call: CheckedCall): Promise<ScenarioResult['retried']> {
  const path = FLAGS;
  const body = { name: 'sent-twice', description: 'einmal – 一度' };
  const key = 'golden-retry';
  const first = await call('POST', path, body, { headers: { 'idempotency-key': key } });
  await call('PUT', `${FLAGS}/sent-twice`, { description: 'changed since' });
  return { path, body, key, status: first.status, response: first.body as Json };
}
