/** A day of somebody who works on a product, from the first flag to looking back at all of them, without ever touching the mouse. */
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { evaluateInProduction } from '../support/applications.ts';
import { describeConsole } from '../support/browser/console.ts';
import { addUser, FEATURES } from '../support/interface.ts';

const EDITOR_ROLE_ID = 2;

const FLAGS = 500;
const AT_ONCE = 50;

/** More than any page has that the Tab key reaches. */
const TAB_STOPS_MAX = 150;

interface Rule {
  readonly parameters: { readonly rollout: string };
  readonly constraints: readonly { readonly values: readonly string[] }[];
  readonly variants: readonly unknown[];
}

/** Hands on a keyboard. */
class Hands {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  press(key: string): Promise<void> {
    return this.#page.keyboard.press(key);
  }

  async type(text: string): Promise<void> {
    await this.#page.keyboard.press('Control+a');
    await this.#page.keyboard.type(text);
  }

  /** Goes on by the Tab key until the element has the focus. */
  async to(element: Locator): Promise<void> {
    await element.waitFor();
    const focused = element.and(this.#page.locator(':focus'));
    for (let pressed = 0; (await focused.count()) === 0; pressed += 1) {
      assert(pressed < TAB_STOPS_MAX, `${element} is not reached by the Tab key`);
      await this.#page.keyboard.press('Tab');
    }
  }

  async fill(field: Locator, text: string): Promise<void> {
    await this.to(field);
    await this.type(text);
  }

  async enter(button: Locator): Promise<void> {
    await this.to(button);
    await this.press('Enter');
  }

  /** Goes on to the next part of a long form, which is the one named. */
  async nextTab(form: Locator, name: string): Promise<void> {
    await this.to(form.getByRole('tab', { selected: true }));
    await this.press('ArrowRight');
    await form.getByRole('tab', { name, selected: true }).waitFor();
  }

  /** Whatever Ctrl K finds first, once that is what is looked for. */
  async find(text: string, name: string): Promise<void> {
    await this.press('Control+k');
    const dialog = this.#page.getByRole('dialog', { name: 'Find' });
    await dialog.waitFor();
    await this.#page.keyboard.type(text);
    await dialog.getByRole('option', { name, exact: false, selected: true }).waitFor();
    await this.press('Enter');
    await dialog.waitFor({ state: 'detached' });
  }
}

describeConsole('a day in the console', (shared) => {
  before(async () => {
    const { call } = shared.server;
    await call('POST', '/environments', { name: 'staging', type: 'preproduction' });
    await call('POST', '/projects/default/environments', { environment: 'staging' });
    for (let from = 0; from < FLAGS; from += AT_ONCE) {
      const names = Array.from({ length: AT_ONCE }, (_, index) => `flag-${from + index}`);
      await Promise.all(names.map((name) => call('POST', FEATURES, { name })));
    }
  });

  it('goes by keyboard alone', async () => {
    const { call } = shared.server;
    const grace = await addUser(shared.server, EDITOR_ROLE_ID, { username: 'Grace' });
    const page = await shared.signedIn({ expected: /status of 4(?:01|12)/ });
    const hands = new Hands(page);
    const button = (name: string | RegExp, within: Page | Locator = page) =>
      within.getByRole('button', { name, exact: true });
    const dialog = page.getByRole('dialog').last();
    const closed = () => page.getByRole('dialog').waitFor({ state: 'detached' });
    const heading = (name: string) => page.getByRole('heading', { name, exact: true }).waitFor();
    const notice = (text: string) => page.locator('.notice').filter({ hasText: text }).waitFor();
    const flag = async () => (await call('GET', `${FEATURES}/one-page`)).body;
    const environment = async (name: string) =>
      (await flag()).environments.find((one: { name: string }) => one.name === name);

    // A flag, and three rules for it.
    await page.getByRole('link', { name: 'flag-499', exact: true }).waitFor();
    await hands.enter(button('New flag'));
    await hands.fill(dialog.getByLabel('Name'), 'one-page');
    await hands.press('Enter');
    await heading('one-page');
    await hands.enter(button('development'));
    for (const [share, country] of [
      ['10', 'NO'],
      ['20', 'SE'],
      ['30', 'DK'],
    ] as const) {
      await closed();
      await hands.enter(button(/^(?:Choose who…|Add strategy) in development$/));
      await hands.fill(dialog.getByLabel('Share of users as a number'), share);
      await hands.to(dialog.getByRole('radio', { checked: true }));
      await hands.press('ArrowRight');
      await dialog.getByRole('radio', { name: 'Targets', checked: true }).waitFor();
      await hands.enter(button('Add constraint', dialog));
      await hands.fill(dialog.getByLabel('Context field'), 'country');
      await hands.fill(dialog.getByLabel('Values, separated by commas'), country);
      await hands.nextTab(dialog, 'Variants');
      for (const [index, name] of ['blue', 'green'].entries()) {
        await hands.enter(button('Add variant', dialog));
        const variant = dialog.getByRole('group', { name: `Variant ${index + 1}` });
        await hands.fill(variant.getByLabel('Name'), name);
      }
      await hands.enter(button('Add', dialog));
      await page.getByText(`${share} % of users`, { exact: true }).waitFor();
    }
    await closed();
    const rules = (await environment('development')).strategies;
    assert.deepEqual(
      rules.map(({ parameters, constraints, variants }: Rule) => [
        parameters.rollout,
        constraints.flatMap(({ values }) => values),
        variants.length,
      ]),
      [
        ['10', ['NO'], 2],
        ['20', ['SE'], 2],
        ['30', ['DK'], 2],
      ],
    );

    // The same in staging; and who sees what there.
    await hands.enter(button('staging'));
    await hands.enter(button('Copy strategies… to staging'));
    await dialog.getByText('3 changes in staging').waitFor();
    await hands.enter(button('Copy', dialog));
    await notice('one-page has the strategies of development in staging.');
    await hands.to(page.getByRole('switch', { name: 'one-page in development' }));
    await hands.press('Space');
    await notice('one-page is on in development.');
    await hands.enter(page.locator('summary').filter({ hasText: 'Test with a user' }));
    await hands.fill(page.getByLabel('Context of the user, one field per line'), 'userId: ada');
    await hands.press('Enter');
    await page.keyboard.type('country: FI');
    await hands.enter(button('Why?'));
    await page.getByText('Off in development: no strategy selects this user.').waitFor();

    // Production asks, and Undo takes it back.
    await hands.enter(button('production'));
    await hands.enter(button('Copy strategies… to production'));
    await dialog.getByText('3 changes in production').waitFor();
    await hands.enter(button('Copy', dialog));
    await notice('one-page has the strategies of development in production.');
    await evaluateInProduction(shared.server, 'one-page');
    await hands.to(page.getByRole('switch', { name: 'one-page in production' }));
    await hands.press('Space');
    await dialog.getByText('1 evaluation').waitFor();
    await hands.press('Enter');
    await closed();
    assert.equal((await environment('production')).enabled, false, 'Enter is on Cancel');
    await hands.press('Space');
    await hands.enter(button('Switch on in production', dialog));
    const done = page.locator('.notice').filter({ hasText: 'one-page is on in production.' });
    await hands.enter(button('Undo', done));
    await notice('Undone.');
    assert.equal((await environment('production')).enabled, false);

    // Somebody else is faster.
    await hands.enter(button('Edit…'));
    await hands.to(dialog.getByLabel('Type'));
    await page.keyboard.type('exp');
    await call('PUT', `${FEATURES}/one-page`, { description: 'By Grace.' }, { token: grace.token });
    await hands.enter(button('Save', dialog));
    await dialog.getByText('Grace changed this').waitFor();
    await hands.enter(button('Merge', dialog));
    await hands.enter(button('Save', dialog));
    await closed();
    const { description, type } = await flag();
    assert.deepEqual([description, type], ['By Grace.', 'experiment']);

    // A project, a user in it, and a token.
    await hands.find('new proj', 'New project');
    await hands.fill(dialog.getByLabel('Name'), 'Checkout');
    await hands.press('Enter');
    await heading('Checkout');
    await hands.find('new user', 'New user');
    await hands.fill(dialog.getByLabel('Email'), 'ada@shop.example');
    await hands.press('Enter');
    await hands.enter(button('Done', dialog));
    await closed();
    await hands.enter(page.getByRole('link', { name: 'Settings' }));
    await hands.enter(button('Add member'));
    await hands.fill(dialog.getByLabel('Search users'), 'ada@');
    await hands.to(dialog.getByLabel('ada@shop.example'));
    await hands.press('Space');
    await hands.enter(button('Add', dialog));
    await page.getByLabel('Role of ada@shop.example').waitFor();
    await hands.find('api token', 'New API token');
    await hands.fill(dialog.getByLabel('Name'), 'shop');
    await hands.press('Enter');
    await dialog.locator('.secret').waitFor();
    await hands.press('Enter');
    await closed();

    // One flag of 500; and the first one as it was this morning.
    await hands.find('flag-123', 'flag-123');
    await heading('flag-123');
    await hands.find('one-page', 'one-page');
    await heading('one-page');
    await hands.enter(page.locator('summary').filter({ hasText: 'Time machine' }));
    await hands.to(page.getByRole('slider', { name: 'Point in time' }));
    await hands.press('ArrowLeft');
    await page.getByRole('status').filter({ hasText: 'As it was then' }).waitFor({ state: 'attached' });
    await hands.press('Home');
    await page.getByText('10 % of users', { exact: true }).first().waitFor({ state: 'detached' });
    await hands.enter(button('Restore this version'));
    await dialog.getByText('strategy removed in development').first().waitFor();
    await hands.enter(button('Roll back in production', dialog));
    await page.getByRole('status').filter({ hasText: 'As it is now' }).waitFor({ state: 'attached' });
    assert.deepEqual((await environment('development')).strategies, []);
  });
});
