/** The pages of the console, with something on each of them, and the looks that people have of them. */
import type { Page } from 'playwright-core';
import { addStrategy, addUser, archive, FEATURES, makeFlag } from '../interface.ts';
import type { TestServer } from '../server.ts';

const ADMIN_ROLE_ID = 1;

/** A name as long as names may be, and texts without a space. */
const FLAG = `a-name-that-is-as-long-as-names-may-be-${'x'.repeat(60)}`;

/** By view: an address that shows it, and what shows that it is there. */
export const PAGES: Readonly<Record<string, readonly [place: string, content: string]>> = {
  home: ['#/', '.news-of-person'],
  flags: ['#/projects/default', '.flags'],
  flag: [`#/projects/default/flags/${FLAG}`, '.event'],
  archive: ['#/projects/default/archive', '.listing'],
  settings: ['#/projects/default/settings', '.listing'],
  history: ['#/projects/default/history', '.event'],
  insights: ['#/projects/default/insights', '.part'],
  'stale-flags': ['#/projects/default/stale-flags', '.listing'],
  'all-stale-flags': ['#/stale-flags', '.listing'],
  projects: ['#/projects', '.listing'],
  'all-flags': ['#/all-flags', '.listing'],
  'change-requests': ['#/change-requests?show=all', '.listing'],
  'change-request': ['#/projects/default/change-requests/1', '.rollback-list'],
  playground: ['#/playground', '.playground'],
  server: ['#/server', '.tile'],
  environments: ['#/environments', '.listing'],
  segments: ['#/segments', '.listing'],
  'context-fields': ['#/context-fields', '.listing'],
  users: ['#/users', '.listing'],
  tokens: ['#/tokens', '.listing'],
  groups: ['#/groups', '.listing'],
  roles: ['#/roles', '.listing'],
  'service-accounts': ['#/service-accounts', '.listing'],
  'tag-types': ['#/tag-types', '.listing'],
  'strategy-types': ['#/strategy-types', '.listing'],
  applications: ['#/applications', '.empty'],
  integrations: ['#/integrations', '.listing'],
  account: ['#/account', '.listing'],
  events: ['#/events', '.event'],
  health: ['#/health', '.tile'],
  nothing: ['#/no/such/place', '.empty'],
};

/** Each color scheme at one width, because colors are the same at each; the narrow widths with the menu that they have. */
export const LOOKS = [
  { look: 'light on a desk', width: 1280 },
  { look: 'dark on a phone', width: 390, colorScheme: 'dark' },
  { look: 'forced colors on a desk', width: 1280, forcedColors: 'active' },
  { look: 'light at 320 pixels', width: 320 },
  // A browser that enlarges 1280 pixels to 200 % lays the page out for 640.
  { look: 'light at 200 %', width: 640 },
] as const;

/** Makes what the pages show; resolves to the token of somebody with an account. */
export async function fillPages(server: TestServer): Promise<string> {
  const { call } = server;
  const { token } = await addUser(server, ADMIN_ROLE_ID);
  await makeFlag(call, FLAG, { description: 'y'.repeat(300), stale: true });
  await addStrategy(call, FLAG, { parameters: { ids: 'z'.repeat(200) } });
  await addStrategy(call, FLAG, { name: 'flexibleRollout', parameters: { rollout: '35' }, disabled: true });
  const constraints = [{ contextName: 'country', operator: 'IN', values: ['NO', 'SE'] }];
  await addStrategy(call, FLAG, { title: 'The north', constraints }, 'production');
  const variants = ['blue', 'green'].map((name) => ({ name, weight: 500, weightType: 'variable' }));
  await call('PUT', `${FEATURES}/${FLAG}/variants`, variants);
  await call('POST', `/features/${FLAG}/tags`, { type: 'simple', value: 'mobile' });
  await call('POST', `${FEATURES}/${FLAG}/favorites`, undefined, { token });
  await call('POST', `${FEATURES}/${FLAG}/environments/development/on`);
  await makeFlag(call, 'archived');
  await archive(call, 'archived');
  await call('POST', '/segments', { name: 'The north', constraints });
  await call('POST', '/api-tokens', { tokenName: 'shop', type: 'admin' });
  const parameters = { url: 'https://127.0.0.1/hook' };
  await call('POST', '/addons', {
    provider: 'webhook',
    description: 'Releases',
    parameters,
    events: ['feature-created'],
  });
  await call('POST', '/groups', { name: 'Checkout', users: [] });
  await call('POST', '/service-account', { name: 'Terraform', rootRole: ADMIN_ROLE_ID });
  await call('POST', '/invite-link/tokens', { name: 'The shop', expiresAt: '2999-01-01T00:00:00.000Z' });
  await call('POST', '/user-admin', { username: 'grace', rootRole: ADMIN_ROLE_ID, password: 'Password-1' });
  const at = '/projects/default/environments/production/change-requests';
  await call('PUT', `${at}/config`, { changeRequestsEnabled: true, requiredApprovals: 2 });
  const change = { feature: FLAG, action: 'updateEnabled', payload: { enabled: true } };
  await call('POST', at, change, { token });
  await call(
    'PUT',
    '/projects/default/change-requests/1/state',
    { state: 'In review', comment: 'z'.repeat(300) },
    { token },
  );
  return token;
}

/** Goes to another page by the menu of narrow windows. */
export async function openMenu(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('link', { name: 'All flags' }).click();
  await page.getByRole('heading', { name: 'All flags' }).waitFor();
  await page.getByRole('button', { name: 'Menu', expanded: false }).waitFor();
}
