/** The beginnings in the console: the menu by role, the home with its news, and the first minutes of an application. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeConsole, isAccessible } from '../support/browser/console.ts';
import { addStrategy, addUser, FEATURES, makeFlag } from '../support/interface.ts';

const [ADMIN_ROLE_ID, VIEWER_ROLE_ID, OWNER_ROLE_ID] = [1, 3, 4];

/** Entries of the menu for somebody who works in one project. */
const ENTRIES_MAX = 7;

const REQUESTS_MAX = 8;

describeConsole('the first page of the console', (shared) => {
  it('has at most seven entries for a developer of one project, and unfolds what they seldom need', async () => {
    const { call } = shared.server;
    for (const id of ['shop', 'search', 'accounts']) await call('POST', '/projects', { id, name: id });
    const { id, token } = await addUser(shared.server, VIEWER_ROLE_ID);
    await call('POST', `/projects/shop/users/${id}/roles/${OWNER_ROLE_ID}`);
    const page = await shared.signedIn({ token, place: '#/' });
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    const entries = page.locator('.menu nav').getByRole('link');
    const names = async () => (await entries.allTextContents()).map((text) => text.replace(/\d+ .*/, ''));
    assert.deepEqual(await names(), [
      ...['Home', 'All flags', 'Change requests', 'Playground', 'shop', 'All projects', 'Configure'],
    ]);
    assert.ok((await entries.count()) <= ENTRIES_MAX);
    const unfold = page.getByRole('button', { name: 'Pages of Configure' });
    await unfold.click();
    await page.getByRole('link', { name: 'Segments' }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Segments' }).click();
    await page.getByRole('heading', { name: 'Segments' }).waitFor();
    await page.getByRole('link', { name: 'Home' }).click();
    await unfold.click();
    await page.getByRole('link', { name: 'Segments' }).waitFor({ state: 'hidden' });
  });

  it('opens with whatever else the browser has stored for it', async () => {
    const page = await shared.signedIn();
    await page.getByRole('heading', { name: 'Default' }).waitFor();
    const stored = JSON.stringify({ recent: 7, unfolded: 'Admin', startsIn: [1], seenAt: 9e15, before: 'x' });
    await page.evaluate(`for (const key of Object.keys(localStorage))
      if (key.startsWith('flagstaff ')) localStorage.setItem(key, '${stored}')`);
    await page.reload();
    await page.getByRole('heading', { name: 'Default' }).waitFor();
    await page.getByRole('navigation', { name: 'Projects' }).getByRole('link').first().waitFor();
  });

  it('lists the projects that somebody opened last, and administration for Admins alone', async () => {
    const { token } = await addUser(shared.server, ADMIN_ROLE_ID);
    const page = await shared.signedIn({ token, place: '#/projects/accounts' });
    await page.getByRole('heading', { name: 'accounts' }).waitFor();
    await page.goto(`${shared.server.origin}/#/`);
    await page.reload();
    const projects = page.getByRole('navigation', { name: 'Projects' }).getByRole('link');
    await projects.first().waitFor();
    assert.deepEqual(await projects.allTextContents(), ['accounts0 flags', 'All projects']);
    await page.getByRole('link', { name: 'Admin', exact: true }).click();
    await page.getByRole('heading', { name: 'Users' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Integrations' }).isVisible(), true);
  });

  it('is there by eight requests', async () => {
    const { token } = await addUser(shared.server, VIEWER_ROLE_ID);
    const page = await shared.signedIn({ token, place: '#/' });
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.clearBrowserCache');
    await page.reload({ waitUntil: 'load' });
    await page.getByText('Nothing: no change request needs you').waitFor();
    await page.getByText('None: no flag here is stale').waitFor();
    assert.ok(asked.length <= REQUESTS_MAX, asked.join('\n'));
  });

  it('says in sentences who did what, what waits for somebody, and which flags may go', async () => {
    const { call } = shared.server;
    const grace = await addUser(shared.server, ADMIN_ROLE_ID);
    const { id, token } = await addUser(shared.server, ADMIN_ROLE_ID);
    await call('POST', `/projects/shop/users/${id}/roles/${OWNER_ROLE_ID}`);
    const at = '/projects/shop/features';
    await call('POST', at, { name: 'new-checkout' }, { token: grace.token });
    const place = `${at}/new-checkout/environments/development`;
    await call('POST', `${place}/strategies`, { name: 'default' }, { token: grace.token });
    await call('POST', `${place}/on`, undefined, { token: grace.token });
    for (const name of ['old-one', 'old-two']) await call('POST', at, { name, stale: true });
    await makeFlag(call, 'elsewhere');
    const page = await shared.signedIn({ token, place: '#/' });
    const news = page.getByRole('region', { name: 'Today' });
    await news
      .getByText('created new-checkout, added a strategy to it and switched it on in development')
      .waitFor();
    await news.getByText('created old-one and old-two').waitFor();
    assert.equal(await news.getByText('elsewhere').count(), 0, 'only of projects that are followed');
    await page.getByText('Nothing: no change request needs you, and no integration fails.').waitFor();
    const mayGo = page.getByRole('region', { name: 'Flags that may go' });
    await mayGo
      .getByText(/old-one is marked as stale since .* In production it is off for everyone/)
      .waitFor();
    await isAccessible(page, 'the home');

    await call('PUT', '/projects/shop/environments/production/change-requests/config', {
      changeRequestsEnabled: true,
      requiredApprovals: 1,
    });
    const requests = '/projects/shop/environments/production/change-requests';
    const change = { feature: 'new-checkout', action: 'updateEnabled', payload: { enabled: true } };
    const { body } = await call('POST', requests, change, { token: grace.token });
    await call(
      'PUT',
      `/projects/shop/change-requests/${body.id}/state`,
      { state: 'In review' },
      { token: grace.token },
    );
    await page.getByText(/waits for your review: it changes new-checkout in production/).waitFor();
    await page.getByRole('link', { name: 'Change requests 1 waits for you' }).waitFor();
    // What others do shows up, and an archived flag is gone.
    await call('DELETE', `${at}/old-two`);
    await news.getByText('archived').waitFor();
  });

  it('gives the code of each SDK with a token of its type, copies it, and says once the application has asked', async () => {
    await makeFlag(shared.server.call, 'in-code');
    await addStrategy(shared.server.call, 'in-code');
    const page = await shared.signedIn({ place: '#/projects/default/flags/in-code' });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByLabel('More for this flag', { exact: true }).click();
    await page.getByRole('button', { name: 'Use in code…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Use in-code in code' });
    const code = dialog.getByRole('group', { name: 'Code of the application' });
    const sdk = dialog.getByLabel('SDK of the application');
    const names = await sdk.getByRole('option').allTextContents();
    for (const name of names) {
      await sdk.selectOption(name);
      const text = (await code.textContent()) ?? '';
      assert.match(text, /YOUR-TOKEN/, name);
      assert.ok(text.includes(`${shared.server.origin}/api`), name);
      assert.match(text, /in-code/, name);
    }
    await sdk.selectOption('React');
    await dialog.getByRole('button', { name: 'Create a token' }).click();
    await dialog.getByText('Waiting for the first request…').waitFor();
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await dialog.getByText('Copied.').waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.equal(copied, await code.textContent());
    const [, token = ''] = /clientKey: '([^']+)'/.exec(copied) ?? [];
    await isAccessible(page, 'the code of an application');
    const read = await shared.server.callBelow('/api')('GET', '/frontend', undefined, { token });
    assert.equal(read.status, 200);
    await dialog.getByText(/^Connected: the first request was received/).waitFor();
    await sdk.selectOption('Go');
    await dialog.getByRole('button', { name: 'Create a token' }).waitFor();
    assert.match((await code.textContent()) ?? '', /YOUR-TOKEN/, 'a server takes a token of another type');
    assert.equal((await shared.server.call('GET', `${FEATURES}/in-code`)).status, 200);
  });
});
