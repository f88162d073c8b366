/** The pages that are made from the rows of kinds, by keyboard alone; and what is done with many flags, or with the place of one. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { choose, DRAFT_KEPT, describeConsole, fitsTheWidth } from '../support/browser/console.ts';
import { addStrategy, addUser, environmentPath, FEATURES, makeFlag } from '../support/interface.ts';

const ADMIN_ROLE_ID = 1;

/** A kind whose name changes, and one whose name is fixed: the word in the address, and what one of them is called. `console-reach.all.test.ts` has all of them. */
const KINDS = { groups: 'group', 'tag-types': 'tag type' };

/** Puts the focus there, and presses Enter: what a button does by mouse, it does by keyboard. */
async function enter(page: Page, button: Locator): Promise<void> {
  await button.focus();
  await page.keyboard.press('Enter');
}

describeConsole('the pages of kinds in the console', (shared) => {
  for (const [view, one] of Object.entries(KINDS)) {
    it(`makes, changes and deletes a ${one}`, async () => {
      const page = await shared.signedIn({ place: `#/${view}` });
      const button = (name: string, within: Page | Locator = page) =>
        within.getByRole('button', { name, exact: true });
      const row = (name: string) => page.getByRole('rowheader', { name, exact: true });
      await enter(page, button(`New ${one}`));
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name', { exact: true }).fill('checkout');
      await page.keyboard.press('Enter');
      await row('checkout').waitFor();

      await enter(page, button('Edit checkout'));
      const isFixed = view === 'tag-types';
      const changed = isFixed ? 'checkout' : 'basket';
      if (isFixed) await dialog.getByLabel('Description').fill('Of the basket');
      else await dialog.getByLabel('Name', { exact: true }).fill(changed);
      await enter(page, button('Save', dialog));
      await row(changed).waitFor();
      if (isFixed) await page.getByRole('cell', { name: 'Of the basket' }).waitFor();

      await enter(page, page.getByLabel(`More for ${changed}`, { exact: true }));
      await enter(page, button(`Delete ${changed}`));
      await enter(page, button('Delete for good', dialog));
      await row(changed).waitFor({ state: 'detached' });
    });
  }

  it('gives a role the permissions that are ticked, and a group its users', async () => {
    const { call } = shared.server;
    await call('POST', '/user-admin', { username: 'grace', rootRole: 3 });
    const page = await shared.signedIn({ place: '#/roles' });
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'New role' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('Releaser');
    for (const group of ['the project', 'production']) {
      const permissions = dialog.getByRole('group', { name: `Permissions in ${group}` });
      await permissions.getByRole('checkbox').first().check();
    }
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('rowheader', { name: 'Releaser' }).waitFor();
    const { roles } = (await call('GET', '/roles')).body;
    const { id } = roles.find(({ name }: { name: string }) => name === 'Releaser');
    const { permissions } = (await call('GET', `/roles/${id}`)).body;
    assert.deepEqual(
      permissions.map(({ environment }: { environment?: string | null }) => environment ?? null).sort(),
      [null, 'production'],
    );

    await page.goto(`${shared.server.origin}/#/groups`);
    await page.getByRole('button', { name: 'New group' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('Checkout');
    await dialog.getByRole('checkbox', { name: 'grace' }).check();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('rowheader', { name: 'Checkout' }).waitFor();
    await page.getByRole('cell', { name: '1 user' }).waitFor();
  });

  it('makes an integration, keeps its secrets out of the page, and shows how its deliveries fail', async () => {
    const { call } = shared.server;
    const page = await shared.signedIn({ place: '#/integrations' });
    const dialog = page.getByRole('dialog');
    const secret = 'https://127.0.0.1/secret-path';
    await page.getByRole('button', { name: 'New integration' }).click();
    await dialog.getByLabel('Description').fill('Releases');
    await dialog.getByLabel('Webhook URL').fill(secret);
    await dialog.getByText('Show as curl').click();
    assert.doesNotMatch((await dialog.textContent()) ?? '', /secret-path/);
    await page.evaluate(DRAFT_KEPT);
    const kept = await page.evaluate<string>('JSON.stringify(history.state)');
    assert.match(kept, /Releases/);
    assert.doesNotMatch(kept, /secret-path/);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('rowheader', { name: 'Releases' }).waitFor();
    const { addons } = (await call('GET', '/addons')).body;
    assert.deepEqual(
      addons.map(({ description, parameters }: Record<string, unknown>) => ({ description, parameters })),
      [{ description: 'Releases', parameters: { url: '*****' } }],
    );

    await page.getByRole('button', { name: 'Edit Releases' }).click();
    assert.equal(await dialog.getByLabel('Webhook URL').inputValue(), '*****');
    await dialog.getByLabel('Description').fill('Releases of the shop');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('rowheader', { name: 'Releases of the shop' }).waitFor();

    await page.getByLabel('More for Releases of the shop', { exact: true }).click();
    await page.getByRole('button', { name: 'Deliveries Releases of the shop' }).click();
    await dialog.getByText('up to date').waitFor();
    await dialog.getByRole('button', { name: 'Send a test' }).click();
    await page.getByRole('status').getByText('The test was not delivered.').waitFor();
    await dialog.getByRole('rowheader', { name: 'Test' }).waitFor();
    await dialog.getByRole('cell', { name: 'failed' }).waitFor();
  });

  it('switches and tags many flags at once', async () => {
    const { call } = shared.server;
    for (const name of ['bulk-1', 'bulk-2']) {
      await makeFlag(call, name);
      await addStrategy(call, name);
    }
    const page = await shared.signedIn({ place: '#/projects/default?text=bulk' });
    await page.getByLabel('Select all flags').check();
    await makeFlag(call, 'bulk-bare');
    await page.getByLabel('Select bulk-bare').check();
    await page.getByRole('button', { name: 'Switch…' }).click();
    const form = page.getByRole('dialog', { name: 'Switch 3 flags' });
    await form.getByText('Not switched, because they have no strategies there: bulk-bare.').waitFor();
    await form.getByRole('button', { name: 'Switch', exact: true }).click();
    await page.getByText('2 flags are on in development.').waitFor();
    assert.equal((await call('GET', environmentPath('bulk-2'))).body.enabled, true);
    await page.getByLabel('Select bulk-bare').uncheck();
    await choose(page, 'More for the selected flags', 'Add tag…');
    await page.getByRole('dialog').getByLabel('Value').fill('spring');
    await page.getByRole('dialog').getByRole('button', { name: 'Add tag' }).click();
    await page.locator('.notice').filter({ hasText: '2 flags are tagged spring.' }).waitFor();
    const { body } = await call('GET', '/features/bulk-1/tags');
    assert.deepEqual(
      body.tags.map(({ value }: { value: string }) => value),
      ['spring'],
    );
  });

  it('marks many flags as favorites, moves them to another project, and takes each back at once', async () => {
    const { call } = shared.server;
    for (const name of ['lot-1', 'lot-2']) await makeFlag(call, name);
    await call('POST', '/projects', { id: 'attic', name: 'Attic' });
    const { token } = await addUser(shared.server, ADMIN_ROLE_ID);
    const page = await shared.signedIn({ token, place: '#/projects/default?text=lot-' });
    const favorites = async () => {
      const { features } = (await call('GET', '/projects/default', undefined, { token })).body;
      return features.filter(({ favorite }: { favorite: boolean }) => favorite).length;
    };
    const notice = (text: string) => page.locator('.notice').filter({ hasText: text });
    const undo = (text: string) => notice(text).getByRole('button', { name: 'Undo' }).click();
    await page.getByLabel('Select all flags').check();
    await choose(page, 'More for the selected flags', 'Mark as favorites');
    await notice('2 flags are favorites of yours.').waitFor();
    assert.equal(await favorites(), 2);
    await undo('2 flags are favorites of yours.');
    await notice('Undone.').waitFor();
    assert.equal(await favorites(), 0);

    await page.getByLabel('Select all flags').check();
    await choose(page, 'More for the selected flags', 'Move…');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Project').selectOption('attic');
    await dialog.getByRole('button', { name: 'Move' }).click();
    await notice('2 flags are in attic.').waitFor();
    for (const name of ['lot-1', 'lot-2'])
      assert.equal((await call('GET', `/projects/attic/features/${name}`)).status, 200);
    await undo('2 flags are in attic.');
    await page.getByRole('link', { name: 'lot-2', exact: true }).waitFor();
    for (const name of ['lot-1', 'lot-2'])
      assert.equal((await call('GET', `${FEATURES}/${name}`)).status, 200);
  });

  it('moves a flag to another project', async () => {
    const { call } = shared.server;
    await makeFlag(call, 'moving');
    await call('POST', '/projects', { id: 'other', name: 'Other' });
    const page = await shared.signedIn({
      place: '#/projects/default/flags/moving',
      // The address that the flag leaves is asked for once more.
      expected: /status of 40[14]/,
    });
    await choose(page, 'More for this flag', 'Move…');
    await page.getByRole('dialog').getByLabel('Project').selectOption('other');
    await page.getByRole('dialog').getByRole('button', { name: 'Move' }).click();
    await page.locator('.crumb').getByText('Other').waitFor();
    assert.equal((await call('GET', '/projects/other/features/moving')).status, 200);
    assert.equal((await call('GET', `${FEATURES}/moving`)).status, 404);
  });

  it('shows the first steps where there is no flag, and tells when an application has connected', async () => {
    const { call } = shared.server;
    await call('POST', '/projects', { id: 'empty', name: 'Empty' });
    const page = await shared.signedIn({ place: '#/projects/empty' });
    await page.getByRole('heading', { name: 'Connect an application' }).waitFor();
    await page.getByRole('button', { name: 'Create a token' }).click();
    await page.getByText('Waiting for the first request…').waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    await fitsTheWidth(page, 'the code with a token');
    const snippet = page.getByRole('group', { name: 'Code of the application' });
    const [, token = ''] = /Authorization: '([^']+)'/.exec((await snippet.textContent()) ?? '') ?? [];
    const read = await shared.server.callBelow('/api')('GET', '/client/features', undefined, { token });
    assert.equal(read.status, 200);
    await page.getByText('Connected: the first request was received').waitFor();
  });

  it('has keys for the search of a page, and for what keys there are', async () => {
    await makeFlag(shared.server.call, 'keyed');
    const page = await shared.signedIn({ place: '#/projects/default' });
    await page.getByRole('link', { name: 'keyed' }).waitFor();
    await page.keyboard.press('/');
    await page.locator('input[type=search]:focus').waitFor();
    await page.getByRole('heading', { name: 'Default' }).click();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor({ state: 'detached' });
  });
});
