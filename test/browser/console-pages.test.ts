/**
 * Every page of the console, in each look that people have: light, dark and forced colors, on a desk, at 320 pixels and enlarged to
 * 200 %. The accessibility checker finds nothing, and nothing is wider than the window.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, it } from 'node:test';
import type { Page } from 'playwright-core';
import { openPage } from '../support/browser/browser.ts';
import { describeConsole, ending, fitsTheWidth, isAccessible } from '../support/browser/console.ts';
import { addStrategy, addUser, archive, FEATURES, makeFlag } from '../support/interface.ts';
import { ROOT_FOLDER } from '../support/server.ts';

const ADMIN_ROLE_ID = 1;

/** A name as long as names may be, and texts without a space. */
const FLAG = `a-name-that-is-as-long-as-names-may-be-${'x'.repeat(60)}`;

/** By view: an address that shows it, and what shows that it is there. */
const PAGES: Readonly<Record<string, readonly [place: string, content: string]>> = {
  flags: ['#/projects/default', '.flags'],
  flag: [`#/projects/default/flags/${FLAG}`, '.event'],
  archive: ['#/projects/default/archive', '.listing'],
  settings: ['#/projects/default/settings', '.listing'],
  history: ['#/projects/default/history', '.event'],
  insights: ['#/projects/default/insights', '.tile'],
  projects: ['#/projects', '.listing'],
  'all-flags': ['#/all-flags', '.listing'],
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
  account: ['#/account', '.listing'],
  events: ['#/events', '.event'],
  health: ['#/health', '.tile'],
  nothing: ['#/no/such/place', '.empty'],
};

/** Each color scheme at one width, because colors are the same at each; the narrow widths with the menu that they have. */
const LOOKS = [
  { look: 'light on a desk', width: 1280 },
  { look: 'dark on a phone', width: 390, colorScheme: 'dark' },
  { look: 'forced colors on a desk', width: 1280, forcedColors: 'active' },
  { look: 'light at 320 pixels', width: 320 },
  // A browser that enlarges 1280 pixels to 200 % lays the page out for 640.
  { look: 'light at 200 %', width: 640 },
] as const;

/** The views that the type of places names, so that a new one is in the table above. */
function viewsOfConsole(): readonly string[] {
  const read = (name: string) => readFileSync(join(ROOT_FOLDER, 'web/console', name), 'utf8');
  const types = read('types.d.ts');
  const [, plain = ''] = /export type PlainView =([^;]*);/.exec(types) ?? [];
  const [, places = ''] = /export type Place =([^;]*(?:;[^;]*?)*?);\n\n/.exec(types) ?? [];
  const [, kinds = ''] = /export const KINDS =.*\(\{([^}]*)\}\)/.exec(read('kinds.jsx')) ?? [];
  return [
    ...[...plain.matchAll(/\| '([a-z-]+)'/g), ...places.matchAll(/(?:view:|\|) '([a-z-]+)'/g)],
    ...kinds.matchAll(/^ {2}'?([a-z-]+)'?:/gm),
  ].map(([, view = '']) => view);
}

async function opensTheMenu(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('link', { name: 'Events' }).click();
  await page.getByRole('heading', { name: 'Events' }).waitFor();
  await page.getByRole('button', { name: 'Menu', expanded: false }).waitFor();
}

describeConsole('each page of the console', (shared) => {
  let token: string;
  before(async () => {
    const { call } = shared.server;
    ({ token } = await addUser(shared.server, ADMIN_ROLE_ID));
    await makeFlag(call, FLAG, { description: 'y'.repeat(300) });
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
    await call('POST', '/groups', { name: 'Checkout', users: [] });
    await call('POST', '/service-account', { name: 'Terraform', rootRole: ADMIN_ROLE_ID });
    await call('POST', '/invite-link/tokens', { name: 'The shop', expiresAt: '2999-01-01T00:00:00.000Z' });
    await call('POST', '/user-admin', { username: 'grace', rootRole: ADMIN_ROLE_ID, password: 'Password-1' });
  });
  it('is in the table of this test', () => {
    const views = viewsOfConsole();
    assert.ok(views.length > 16, `${views.length} views are found`);
    assert.deepEqual(
      views.filter((view) => !(view in PAGES)),
      [],
    );
  });

  for (const { look, width, ...media } of LOOKS) {
    it(`is accessible and fits: ${look}`, async () => {
      const opened = await shared.signedIn({ token, width, height: 900 });
      const { page } = opened;
      await page.emulateMedia(media);
      for (const [view, [place, content]] of Object.entries(PAGES)) {
        await page.goto(`${shared.server.origin}/${place}`);
        await page.locator(content).first().waitFor();
        await fitsTheWidth(page, `${view}, ${look}`);
        await isAccessible(page, `${view}, ${look}`);
      }
      if (width < 700) await opensTheMenu(page);
      await ending(opened);
    });
  }

  it('that needs nobody to be signed in is so too', async () => {
    const { origin } = shared.server;
    const opened = await openPage({ origin, expected: /status of 401/ });
    const { page } = opened;
    for (const { look, width, ...media } of LOOKS) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none', ...media });
      await page.goto(origin);
      await page.getByRole('button', { name: 'Sign in' }).first().waitFor();
      await fitsTheWidth(page, `sign-in, ${look}`);
      await isAccessible(page, `sign-in, ${look}`);
    }
    await ending(opened);
  });
});
