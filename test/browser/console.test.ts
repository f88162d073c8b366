/** The console in a real browser: what an operator does with it, by mouse, by keyboard and on a phone. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Page, Request } from 'playwright-core';
import { evaluateInProduction } from '../support/applications.ts';
import { describePages, openPage } from '../support/browser/browser.ts';
import { type ConsoleOptions, choose, describeConsole, flagSwitch } from '../support/browser/console.ts';
import { addStrategy, addUser, FEATURES, makeFlag } from '../support/interface.ts';
import { ADMIN_TOKEN, serverFor } from '../support/server.ts';

/** The part of elements that the tests read; this project compiles without the types of browsers. */
interface ShownElement {
  getAttribute(name: string): string | null;
}

/** Run in the page: what the browser keeps where scripts can read it. */
const STORED_COUNT = 'sessionStorage.length + document.cookie.length';
const KEPT = 'Object.values(localStorage).map((text) => Object.keys(JSON.parse(text)))';

const VIEWER_ROLE_ID = 3;

/** At the first visit, and compressed. */
const REQUESTS_MAX = 8;
const BYTES_MAX = 120_000;

describeConsole('the console', (shared) => {
  const signedIn = (options?: ConsoleOptions) => shared.signedIn(options);
  const flagOf = (name: string) =>
    shared.server.server.store.engine.world.projects.get('default')?.flags.get(name)?.flag;
  const isOn = (name: string, environment: string) =>
    flagOf(name)?.environments.some((one) => one.name === environment && one.enabled) === true;

  it('lets nobody in with a wrong token, and keeps who signed in through reloads and tabs until they sign out', async () => {
    const page = await openPage({
      origin: shared.server.origin,
      expected: /status of 401/,
    });
    await page.goto(shared.server.origin);
    const token = page.getByLabel('API token or personal token');
    await token.fill('*:*.wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'unknown, revoked or expired' }).waitFor();
    await token.fill(ADMIN_TOKEN);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Welcome' }).waitFor();

    assert.equal(await page.evaluate(STORED_COUNT), 0);
    assert.deepEqual(await page.evaluate(KEPT), [['recent', 'unfolded', 'startsIn', 'seenAt', 'before']]);
    assert.equal(page.url().includes('secret'), false);
    await page.getByText('Root role Admin').waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Welcome' }).waitFor();
    const tab = await page.context().newPage();
    await tab.goto(shared.server.origin);
    await tab.getByRole('heading', { name: 'Welcome' }).waitFor();
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await tab.getByLabel('API token or personal token').waitFor();
    await token.waitFor();
    assert.equal(await token.inputValue(), '');
  });

  it('takes few requests and few bytes at the first visit, and asks for no file again', async () => {
    const { origin } = shared.server;
    const page = await openPage({ origin });
    const received: Request[] = [];
    page.on('requestfinished', (request) => received.push(request));
    await page.goto(origin, { waitUntil: 'networkidle' });
    assert(received.length <= REQUESTS_MAX, `${received.length} requests`);
    const sizes = await Promise.all(received.map((request) => request.sizes()));
    const bytes = sizes.reduce((sum, one) => sum + one.responseBodySize, 0);
    assert(bytes > 30_000 && bytes <= BYTES_MAX, `${bytes} bytes`);

    const asked = new Map<string, string>();
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    session.on('Network.requestWillBeSent', ({ requestId, request: { url } }) => {
      if (!url.includes('/api/') && !url.includes('/auth/')) asked.set(requestId, url);
    });
    session.on('Network.requestServedFromCache', ({ requestId }) => asked.delete(requestId));
    session.on('Network.responseReceived', ({ requestId, response }) => {
      if (response.fromDiskCache === true) asked.delete(requestId);
    });
    await page.reload({ waitUntil: 'networkidle' });
    assert.deepEqual([...asked.values()], [`${origin}/`]);
  });

  it('is there again after a reload by three requests, and by the stream of what happens', async () => {
    await makeFlag(shared.server.call, 'shown-soon');
    const page = await signedIn({ place: '#/projects/default' });
    await page.getByRole('link', { name: 'shown-soon' }).waitFor();
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    const asked = new Map<string, string>();
    session.on('Network.requestWillBeSent', ({ requestId, request: { url } }) => asked.set(requestId, url));
    session.on('Network.requestServedFromCache', ({ requestId }) => asked.delete(requestId));
    session.on('Network.responseReceived', ({ requestId, response }) => {
      if (response.fromDiskCache === true) asked.delete(requestId);
    });
    await page.reload();
    await page.getByRole('link', { name: 'shown-soon' }).waitFor();
    const paths = [...asked.values()].map((url) => new URL(url).pathname).sort();
    assert.deepEqual(
      // What waits in the menu is counted once the page is there.
      paths.filter((path) => !/\/(?:event-stream|search\/change-requests)$/.test(path)),
      ['/', '/api/admin/projects/default', '/auth/console'],
    );
  });

  it('switches a flag on and off, and shows what others do without a reload', async () => {
    await makeFlag(shared.server.call, 'switched');
    await addStrategy(shared.server.call, 'switched');
    const page = await signedIn();
    const flag = flagSwitch(page, 'switched');
    await flag.click();
    await page
      .locator('[role=switch][aria-label="switched in development"][aria-checked=true]:not([aria-busy])')
      .waitFor();
    assert.equal(isOn('switched', 'development'), true);

    await shared.server.call('POST', `${FEATURES}/switched/environments/development/off`);
    await page.locator('[aria-label="switched in development"][aria-checked=false]').waitFor();
    await makeFlag(shared.server.call, 'made-elsewhere');
    await page.getByRole('link', { name: 'made-elsewhere' }).waitFor();
  });

  it('puts a switch back, and says why, when the server refuses', async () => {
    await makeFlag(shared.server.call, 'refused');
    await addStrategy(shared.server.call, 'refused');
    const page = await signedIn({ expected: /status of 409/ });
    const refusal = { status: 409, json: { name: 'InvalidOperationError', message: 'It stays off.' } };
    await page.route('**/refused/environments/development/on', (route) => route.fulfill(refusal));
    await flagSwitch(page, 'refused').click();
    await page.getByRole('alert').filter({ hasText: 'It stays off.' }).waitFor();
    assert.equal(await flagSwitch(page, 'refused').getAttribute('aria-checked'), 'false');
  });

  it('gives a flag that is switched on for the first time the strategy that new ones begin as, and takes both back by one Undo', async () => {
    await makeFlag(shared.server.call, 'first');
    const page = await signedIn({ place: '#/projects/default/flags/first' });
    await flagSwitch(page, 'first', 'production').click();
    const question = page.getByRole('dialog', { name: 'Switch on for everyone?' });
    await question.getByRole('button', { name: 'Switch on in production' }).click();
    await page.getByText('first is on in production for everyone.').waitFor();
    assert.equal(isOn('first', 'production'), true);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone.').waitFor();
    const production = flagOf('first')?.environments.find(({ name }) => name === 'production');
    assert.deepEqual([production?.enabled, production?.strategies], [false, []]);
  });

  it('lets whoever switches a flag on for the first time choose for whom, and switches it on with that strategy', async () => {
    await makeFlag(shared.server.call, 'chosen');
    const page = await signedIn();
    await flagSwitch(page, 'chosen', 'production').click();
    await page.getByRole('button', { name: 'Choose who…' }).click();
    const dialog = page.getByRole('dialog', { name: 'New strategy in production' });
    await dialog.getByLabel('Share of users as a number').fill('35');
    await dialog.getByText('is on in production for 35 % of users.').waitFor();
    await dialog.getByRole('button', { name: 'Add and switch on' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal(isOn('chosen', 'production'), true);
  });

  it('filters flags by name and type', async () => {
    await makeFlag(shared.server.call, 'filter-one', { type: 'experiment' });
    await makeFlag(shared.server.call, 'filter-two');
    const page = await signedIn();
    await page.getByRole('searchbox', { name: /Filter flags/ }).fill('FILTER exper');
    await page.getByRole('link', { name: 'filter-two' }).waitFor({ state: 'detached' });
    assert.equal(await page.getByRole('rowheader').count(), 1);
    await page
      .getByRole('status')
      .filter({ hasText: /^1 of / })
      .waitFor();
    // What all flags match draws no row again; its heads change the filter of this moment.
    await page.getByRole('searchbox').fill('');
    await page.getByRole('link', { name: 'filter-two' }).waitFor();
    await page.getByRole('searchbox').fill('e');
    await page.getByRole('columnheader', { name: 'Flag' }).getByRole('button').click();
    await page.locator('th[aria-sort=ascending]', { hasText: 'Flag' }).waitFor();
    assert.equal(await page.getByRole('searchbox').inputValue(), 'e');
    await page.getByRole('searchbox').fill('filter.one');
    await page.getByText('Nothing matches').waitFor();
  });

  it('archives once that is confirmed, and revives from the archive', async () => {
    await makeFlag(shared.server.call, 'to-archive');
    const page = await signedIn({ place: '#/projects/default/flags/to-archive' });
    await choose(page, 'More for this flag', 'Archive…');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal(flagOf('to-archive')?.archivedAt, null);

    await choose(page, 'More for this flag', 'Archive…');
    await page.getByRole('dialog').getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByRole('button', { name: 'Revive' }).waitFor();
    assert.notEqual(flagOf('to-archive')?.archivedAt, null);

    await page.goto(`${shared.server.origin}/#/projects/default/archive`);
    const archived = page.getByRole('row').filter({ hasText: 'to-archive' });
    await archived.getByRole('button', { name: 'Revive' }).click();
    await archived.waitFor({ state: 'detached' });
    assert.equal(flagOf('to-archive')?.archivedAt, null);
  });

  it('shows for whom a flag is on, and rolls it back to an event after saying what changes', async () => {
    await makeFlag(shared.server.call, 'rolled-back', { description: 'As it was.' });
    await addStrategy(shared.server.call, 'rolled-back', {
      name: 'flexibleRollout',
      title: 'A quarter',
      parameters: { rollout: '25', stickiness: 'userId', groupId: 'rolled-back' },
      constraints: [
        { contextName: 'country', operator: 'IN', values: ['NO', 'SE'] },
        { contextName: 'appVersion', operator: 'SEMVER_GTE', value: '2.0.0' },
      ],
    });
    const before = shared.server.server.store.engine.lastId;
    await shared.server.call('PUT', `${FEATURES}/rolled-back`, { description: 'As it is.' });
    const page = await signedIn({ place: '#/projects/default/flags/rolled-back' });
    await page.getByText('25 % of users, by userId').waitFor();
    await page.getByText('country, a field that is not defined, is one of NO, SE', { exact: true }).waitFor();
    await page
      .getByText('appVersion, a field that is not defined, is at least version 2.0.0', { exact: true })
      .waitFor();

    await page.getByRole('button', { name: `Roll back to here, event ${before}` }).click();
    const dialog = page.getByRole('dialog', { name: 'Roll back?' });
    await dialog.getByText('As it is.').waitFor();
    await dialog.getByRole('button', { name: 'Roll back' }).click();
    await page.locator('.lead').filter({ hasText: 'As it was.' }).waitFor();
    assert.equal(flagOf('rolled-back')?.description, 'As it was.');
  });

  it('asks about production before it rolls back what somebody gets there', async () => {
    const { call } = shared.server;
    const production = `${FEATURES}/back-in-production/environments/production`;
    await makeFlag(call, 'back-in-production');
    await addStrategy(call, 'back-in-production', {}, 'production');
    await call('POST', `${production}/on`);
    const on = shared.server.server.store.engine.lastId;
    await call('POST', `${production}/off`);
    await evaluateInProduction(shared.server, 'back-in-production');
    const page = await signedIn({ place: '#/projects/default/flags/back-in-production' });
    await page.getByRole('button', { name: `Roll back to here, event ${on}` }).click();
    const question = page.getByRole('dialog', { name: 'Change production?' });
    await question.getByText('1 evaluation in the last hour').waitFor();
    await question.locator('.button-danger').filter({ hasText: 'Roll back in production' }).click();
    await page.getByText(`Rolled back to event #${on}.`).waitFor();
    assert.equal(isOn('back-in-production', 'production'), true);
  });

  it('shows events live, tells those who hear the page, and searches', async () => {
    const page = await signedIn({ place: '#/events' });
    await page.locator('.event').first().waitFor();
    await makeFlag(shared.server.call, 'made-while-watched');
    const first = page.getByRole('list', { name: 'Events, newest first' }).getByRole('listitem').first();
    await first.filter({ hasText: 'made-while-watched' }).waitFor();
    const strategy = { name: 'flexibleRollout', title: 'A quarter', parameters: { rollout: '25' } };
    await addStrategy(shared.server.call, 'made-while-watched', strategy);
    await first.filter({ hasText: 'A quarter: 25 % of users' }).waitFor();
    await page.getByText('signed in with a token').first().waitFor();
    await page.getByRole('status').filter({ hasText: 'made-while-watched' }).waitFor({ state: 'attached' });

    await page.getByRole('searchbox', { name: 'Search events' }).fill('project-created');
    await page.getByText('1 event', { exact: true }).waitFor();
    assert.equal(await page.locator('.event').count(), 1);
  });

  it('leaves no gap in the events when more come at once than one look fetches', async () => {
    const page = await signedIn({ place: '#/events' });
    await page.locator('.event').first().waitFor();
    const features = Array.from({ length: 60 }, (_, index) => `burst-${index}`);
    for (const name of features) await makeFlag(shared.server.call, name);
    await shared.server.call('POST', '/projects/default/stale', { features, stale: true });
    await page.locator('.event').first().filter({ hasText: 'marked stale' }).waitFor();
    await page.getByRole('button', { name: 'Older events' }).click();
    await page.locator('.event').nth(99).waitFor();
    await assertWithoutGap(page);
  });

  it('leaves no gap in the events when many come while older ones are fetched', async () => {
    const features = Array.from({ length: 60 }, (_, index) => `meanwhile-${index}`);
    for (const name of features) await makeFlag(shared.server.call, name);
    const page = await signedIn({ place: '#/events' });
    await page.locator('.event').nth(49).waitFor();
    const asked = page.waitForRequest(/search\/events.*offset=0/);
    await page.route('**/search/events?*offset=50*', async (route) => {
      const response = await route.fetch();
      await shared.server.call('POST', '/projects/default/stale', { features, stale: true });
      // A list that asks for the new ones meanwhile has them before the older ones.
      await Promise.race([asked, page.waitForTimeout(500)]);
      await page.waitForTimeout(200);
      await route.fulfill({ response });
    });
    const older = page.waitForResponse(/search\/events.*offset=50/);
    await page.getByRole('button', { name: 'Older events' }).click();
    await (await older).finished();
    await page.locator('.event').first().filter({ hasText: 'marked stale' }).waitFor();
    await assertWithoutGap(page);
  });

  it('says in words that something other than the server answered', async () => {
    const page = await signedIn({ expected: /status of (?:401|502)/ });
    const page502 = { status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' };
    await page.route('**/api/admin/archive/features/**', (route) => route.fulfill(page502));
    await page.goto(`${shared.server.origin}/#/projects/default/archive`);
    await page.getByText('The server answered 502.').waitFor();
  });

  it('shows the health of the server', async () => {
    const page = await signedIn({ place: '#/health' });
    await page.getByText('All is well').waitFor();
    await page.getByText('Newest snapshot').waitFor();
  });

  it('can be used by keyboard alone: the focus stays where it was when the page renews itself', async () => {
    await makeFlag(shared.server.call, 'by-keyboard');
    await addStrategy(shared.server.call, 'by-keyboard');
    const page = await signedIn();
    await flagSwitch(page, 'by-keyboard').waitFor();
    await page.keyboard.press('Tab');
    assert.equal(await page.locator(':focus').textContent(), 'Skip to the content');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Filter flags by name, description, type or tag');
    await page.keyboard.type('by-keyboard');
    await page.getByText('1 of').waitFor();
    await tabTo(page, 'by-keyboard in development');
    await page.keyboard.press('Space');
    await page
      .locator('[aria-label="by-keyboard in development"][aria-checked=true]:not([aria-busy])')
      .waitFor();

    await shared.server.call('PUT', `${FEATURES}/by-keyboard`, { stale: true });
    await page
      .getByRole('row', { name: /by-keyboard/ })
      .getByText('stale')
      .waitFor();
    assert.equal(await page.locator(':focus').getAttribute('aria-label'), 'by-keyboard in development');
  });

  it('offers no switch to a token that may only read', async () => {
    await makeFlag(shared.server.call, 'read-only');
    const { token } = await addUser(shared.server, VIEWER_ROLE_ID);
    const page = await signedIn({ token });
    await flagSwitch(page, 'read-only').waitFor();
    assert.equal(await flagSwitch(page, 'read-only').isDisabled(), true);
  });

  it('says when the server cannot be reached, and takes it back', async () => {
    const page = await signedIn({ expected: /status of 401|ERR_INTERNET_DISCONNECTED/ });
    await page.context().setOffline(true);
    await page.getByRole('alert').filter({ hasText: 'The server cannot be reached.' }).waitFor();
    await page.context().setOffline(false);
    await page.getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor({ state: 'hidden' });
  });
});

/** Goes on by the Tab key to the element that is called so. */
async function assertWithoutGap(page: Page): Promise<void> {
  const ids = await page
    .locator('.event')
    .evaluateAll((events: ShownElement[]) => events.map((event) => Number(event.getAttribute('data-id'))));
  assert.deepEqual(
    ids,
    ids.map((_, index) => (ids[0] ?? 0) - index),
  );
}

async function tabTo(page: Page, name: string): Promise<void> {
  for (let pressed = 0; pressed < 20; pressed += 1) {
    await page.keyboard.press('Tab');
    if ((await page.locator(':focus').getAttribute('aria-label')) === name) return;
  }
  assert.fail(`${name} is not reached by the Tab key`);
}

describePages('the console of a server under a base path and without authentication', () => {
  it('is there at once, with nothing to sign in to', async (t) => {
    const server = await serverFor(t, { env: { BASE_URI_PATH: '/flags', AUTH_TYPE: 'none' } });
    const page = await openPage({ origin: server.origin });
    await page.goto(`${server.origin}/flags`);
    await page.getByText('No flags yet').waitFor();
    await page.getByText('Authentication is off').waitFor();
    assert.equal(page.url(), `${server.origin}/flags/`);
    const docs = await page.getByRole('link', { name: 'API', exact: true }).getAttribute('href');
    assert.equal(new URL(docs ?? '', page.url()).pathname, '/flags/docs');
    await server.call('POST', '/projects/default/features', { name: 'drawn' });
    await page.goto(`${server.origin}/flags/#/projects/default/insights`);
    await page.locator('.plot-canvas canvas').first().waitFor();
  });
});
