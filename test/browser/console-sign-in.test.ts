/** How people come into the console and go out of it: passwords, links that are handed on, sessions, and a provider of OpenID Connect. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { CLIENT_ID, CLIENT_SECRET, startProvider } from '../addons/people/oidc-provider.ts';
import { describePages, openPage } from '../support/browser/browser.ts';
import { choose, describeConsole, isAccessible, signal } from '../support/browser/console.ts';
import { freePort } from '../support/free-port.ts';
import { closedAfter, serverFor } from '../support/server.ts';

const EDITOR_ROLE_ID = 2;
const [PASSWORD, OTHER_PASSWORD] = ['Correct-horse-1', 'Battery-staple-2'];

/** Wrong passwords that a user may have from one address (docs/specification/users.md#passwords). */
const TRIES_MAX = 10;

const main = (page: Page): Locator => page.getByRole('main');
const press = (at: Page | Locator, name: string): Promise<void> =>
  at.getByRole('button', { name, exact: true }).click();
const dialogOf = (page: Page, name: string | RegExp): Locator => page.getByRole('dialog', { name });

async function typePassword(page: Page, username: string, password: string): Promise<void> {
  await main(page).getByLabel('Username or email').fill(username);
  await main(page).getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
}

describeConsole('people', (shared) => {
  const expected = /status of 4(?:00|01|04|09|29)/;
  const call: typeof shared.server.call = (...args) => shared.server.call(...args);

  /** A browser of its own, which shows the sign-in page. */
  async function visit(place = ''): Promise<Page> {
    const page = await openPage({ origin: shared.server.origin, expected });
    await page.goto(`${shared.server.origin}/${place}`);
    return page;
  }
  async function signedInBy(username: string, password = PASSWORD, place = ''): Promise<Page> {
    const page = await visit(place);
    await typePassword(page, username, password);
    await page.locator('.shell').waitFor();
    return page;
  }
  const createUser = (username: string, password = PASSWORD) =>
    call('POST', '/user-admin', { username, rootRole: EDITOR_ROLE_ID, password });

  it('sign in with a password by keyboard alone, and come to the address that they asked for', async () => {
    await createUser('ada');
    const page = await visit('#/projects/default/archive');
    const [name, password] = [main(page).getByLabel('Username or email'), main(page).getByLabel('Password')];
    await name.waitFor();
    assert.equal(await name.getAttribute('autocomplete'), 'username', 'password managers fill it in');
    assert.equal(await password.getAttribute('autocomplete'), 'current-password');
    assert.equal(await page.getByLabel('API token or personal token').isVisible(), false);
    await isAccessible(page, 'the sign-in page');

    await page.keyboard.type('ada');
    await page.keyboard.press('Tab');
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await main(page).getByRole('alert').filter({ hasText: 'password is wrong' }).waitFor();
    assert.equal(await password.getAttribute('aria-invalid'), 'true');
    await isAccessible(page, 'the refusal');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^Archive/ }).waitFor();
    await page.getByText('Root role Editor').waitFor();
    assert.equal((await page.content()).includes(PASSWORD), false);
    await page.reload();
    await page.getByRole('heading', { name: /^Archive/ }).waitFor();
  });

  it('are told how long to wait after too many wrong passwords', async () => {
    await createUser('guessed');
    const guess = { method: 'POST', body: JSON.stringify({ username: 'guessed', password: 'wrong' }) };
    const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
    for (let tried = 0; tried < TRIES_MAX; tried += 1) {
      await fetch(`${shared.server.origin}/auth/simple/login`, { ...guess, headers });
    }
    const page = await visit();
    await typePassword(page, 'guessed', PASSWORD);
    await main(page)
      .getByRole('alert')
      .filter({ hasText: /try again in \d+ seconds/ })
      .waitFor();
  });

  it('may sign in with a token where there are passwords too', async () => {
    const page = await visit();
    await page.getByText('Sign in with a token instead').click();
    const form = page.locator('details');
    await form.getByLabel('API token or personal token').fill('*:*.test-secret');
    await press(form, 'Sign in');
    await page.getByText('Root role Admin').waitFor();
  });

  it('change their password, stay signed in where they did, and are signed out elsewhere', async () => {
    await createUser('changing');
    const elsewhere = await signedInBy('changing');
    const page = await signedInBy('changing', PASSWORD, '#/account');
    await press(page, 'Change password…');
    const dialog = dialogOf(page, 'Change your password');
    await dialog.getByLabel('Current password').fill('wrong');
    await dialog.getByLabel('New password', { exact: true }).fill(OTHER_PASSWORD);
    await dialog.getByLabel('Confirm new password').fill(OTHER_PASSWORD);
    await dialog.getByText('Show as curl').click();
    assert.equal((await dialog.locator('.curl pre').textContent())?.includes(OTHER_PASSWORD), false);
    await press(dialog, 'Change');
    await dialog.getByText('The old password is wrong.').waitFor();
    await isAccessible(page, 'the refused password');
    assert.equal(await page.locator(':focus').getAttribute('name'), 'oldPassword', 'to type it again');
    await dialog.getByLabel('Current password').fill(PASSWORD);
    await press(dialog, 'Change');
    await page.getByText('Your password was changed.').waitFor();
    await elsewhere.getByText('You are signed out').waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'changing' }).waitFor();
    await page.getByText('this browser').waitFor();
    await typePassword(elsewhere, 'changing', PASSWORD);
    await elsewhere.getByRole('alert').filter({ hasText: 'password is wrong' }).waitFor();
    await typePassword(elsewhere, 'changing', OTHER_PASSWORD);
    await elsewhere.locator('.shell').waitFor();
  });

  it('stay signed in where a refusal of the session before the new password comes late', async () => {
    await createUser('late');
    const page = await signedInBy('late', PASSWORD, '#/account');
    const [searched, shown] = [signal(), signal()];
    // The end of the old session ends the stream of events, and the page looks for them by a search.
    await page.route('**/events/search', async (route) => {
      const response = await route.fetch();
      if (response.status() === 401) {
        searched.resolve();
        await shown.promise;
      }
      await route.fulfill({ response });
    });
    await page.route('**/auth/simple/login', async (route) => {
      await searched.promise;
      await route.continue();
    });
    await press(page, 'Change password…');
    const dialog = dialogOf(page, 'Change your password');
    await dialog.getByLabel('Current password').fill(PASSWORD);
    await dialog.getByLabel('New password', { exact: true }).fill(OTHER_PASSWORD);
    await dialog.getByLabel('Confirm new password').fill(OTHER_PASSWORD);
    await press(dialog, 'Change');
    await page.getByText('Your password was changed.').waitFor();
    const again = page.waitForResponse((one) => one.url().endsWith('/events/search') && one.ok());
    shown.resolve();
    await again;
    await page.getByRole('heading', { name: 'late' }).waitFor();
  });

  it('see where they are signed in, and end one session or all', async () => {
    await createUser('twice');
    const first = await signedInBy('twice');
    const second = await signedInBy('twice');
    const page = await signedInBy('twice');
    await page.getByRole('link', { name: 'twice' }).click();
    await page
      .getByRole('button', { name: /^End the session/ })
      .nth(1)
      .waitFor();
    // The newest of the others comes first.
    await page
      .getByRole('button', { name: /^End the session/ })
      .first()
      .click();
    await second.getByText('You are signed out').waitFor();
    await page
      .getByRole('button', { name: /^End the session/ })
      .nth(1)
      .waitFor({ state: 'detached' });
    await press(page, 'End all…');
    await press(dialogOf(page, 'End all your sessions?'), 'End all');
    await main(page).getByLabel('Username or email').waitFor();
    await first.getByText('You are signed out').waitFor();
  });

  it('get a link from an Admin, with which they choose their password, once', async () => {
    const page = await shared.signedIn({ place: '#/users', expected });
    await press(page, 'New user');
    const form = dialogOf(page, 'New user');
    await form.getByLabel('Username').fill('linked');
    await press(form, 'Create');
    const shown = dialogOf(page, 'Send this link to linked');
    const link = (await shown.locator('.secret').textContent()) ?? '';
    await isAccessible(page, 'the link');
    await press(shown, 'Done');
    assert.equal((await page.content()).includes(link), false);

    const visitor = await visit(link.slice(shared.server.origin.length + 1));
    await visitor.getByText('Set the password of linked.').waitFor();
    await visitor.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await visitor.getByLabel('Password again').fill(PASSWORD);
    await press(visitor, 'Set password');
    await visitor.getByRole('link', { name: 'Go on to the console' }).click();
    await typePassword(visitor, 'linked', PASSWORD);
    await visitor.getByRole('link', { name: 'linked' }).waitFor();

    await choose(page, 'More for linked', 'Password linked');
    const choice = dialogOf(page, 'Password of linked');
    await choice.getByLabel('Method').selectOption('Set it here');
    await choice.getByLabel('New password').fill('short');
    await press(choice, 'Continue');
    await choice.getByRole('alert').filter({ hasText: 'at least 10 characters' }).waitFor();
    await choice.getByLabel('New password').fill(OTHER_PASSWORD);
    await press(choice, 'Continue');
    await visitor.getByText('You are signed out').waitFor();
    await typePassword(visitor, 'linked', OTHER_PASSWORD);
    await visitor.locator('.shell').waitFor();

    await choose(page, 'More for linked', 'Password linked');
    await press(choice, 'Continue');
    await shown.waitFor();
    await press(shown, 'Done');
  });

  it('come by an invitation, until it is switched off', async () => {
    const page = await shared.signedIn({ place: '#/users', expected });
    await press(page, 'New invitation');
    await dialogOf(page, 'New invitation').getByLabel('Name').fill('The shop');
    await press(dialogOf(page, 'New invitation'), 'Create');
    const shown = dialogOf(page, 'Send this invitation');
    const link = (await shown.locator('.secret').textContent()) ?? '';
    await press(shown, 'Done');
    const path = link.slice(shared.server.origin.length + 1);
    const guest = await visit(path);
    await guest.getByLabel('Email').fill('grace@shop.example');
    await guest.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await guest.getByLabel('Password again').fill(PASSWORD);
    await press(guest, 'Set password');
    await guest.getByText('Your password is set').waitFor();
    const invitation = page.getByRole('row', { name: /^The shop/ });
    await invitation.getByText('grace@shop.example').waitFor();
    await press(invitation, 'Switch off The shop');
    await invitation.getByRole('button', { name: 'Switch on The shop' }).waitFor();
    const late = await visit(path);
    await late.getByRole('status').filter({ hasText: 'This invitation is not valid' }).waitFor();
    await late.getByLabel('Email').waitFor({ state: 'hidden' });
  });
});

describePages('people of a provider', () => {
  it('sign in there, come back to the address that they asked for, and are signed out there too', async (t) => {
    const port = await freePort();
    // Another site than that of the provider, as it is in life.
    const origin = `http://localhost:${port}`;
    const provider = closedAfter(t, await startProvider([origin]));
    await serverFor(t, {
      env: {
        ...{ PORT: String(port), OIDC_ISSUER: provider.issuer, OIDC_BASE_URL: origin },
        ...{ OIDC_CLIENT_ID: CLIENT_ID, OIDC_CLIENT_SECRET: CLIENT_SECRET },
        ...{ OIDC_BUTTON: 'Sign in with the shop', OIDC_DEFAULT_ROLE: 'Editor' },
      },
    });
    const otherOrigin = provider.issuer;
    const page = await openPage({ origin, otherOrigin, expected: /status of 40[14]/ });
    await page.goto(`${origin}/#/projects/default/archive`);
    const button = page.getByRole('link', { name: 'Sign in with the shop' });
    await button.waitFor();
    await isAccessible(page, 'the sign-in page with a provider');
    assert.equal(await page.locator(':focus').textContent(), 'Sign in with the shop');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'The provider did not sign you in.' }).waitFor();
    assert.equal(new URL(page.url()).search, '', 'a reload does not say it again');

    provider.person = { sub: 'ada', name: 'Ada', email: 'ada@shop.example', email_verified: true };
    await button.click();
    await page.getByRole('heading', { name: /^Archive/ }).waitFor();
    await page.getByRole('link', { name: 'Ada', exact: true }).click();
    await page.getByText('Editor', { exact: true }).waitFor();
    await page.getByRole('cell', { name: 'OpenID Connect' }).waitFor();
    await press(page, 'Sign out');
    await page.waitForURL((url) => url.origin === provider.issuer);
    await press(page, 'Sign out here too');
    await button.waitFor();
    assert.equal(new URL(page.url()).origin, origin, 'the provider sends the browser back');
  });
});
