/** Finding, looking back and asking why in the console. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { it } from 'node:test';
import { evaluateIn, evaluateInProduction } from '../support/applications.ts';
import { describeConsole, fitsTheWidth, isAccessible } from '../support/browser/console.ts';
import { addStrategy, archive, environmentPath, FEATURES, makeFlag } from '../support/interface.ts';

/** The height of a small laptop, and how many flags are seen at once there. */
const HEIGHT = 800;
const ROWS_SEEN_MIN = 12;

/** Runs in the page: how many rows stand in the window as a whole. */
const ROWS_SEEN = `[...document.querySelectorAll('[data-row]')]
  .filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length`;

/** Runs in the page: resolves once it is scrolled so far. */
const scrolledTo = (position: number): string => `new Promise((resolve) => {
  const look = () => (scrollY === ${position} ? resolve() : requestAnimationFrame(look));
  look();
})`;

/** More than any screen shows. */
const MANY = 150;

describeConsole('finding in the console', (shared) => {
  it('finds a flag of any project by a few keys', async () => {
    await shared.server.call('POST', '/projects', { id: 'far', name: 'Far away' });
    await shared.server.call('POST', '/projects/far/features', {
      name: 'needle',
      description: 'In the hay.',
    });
    const page = await shared.signedIn();
    const keys = new EventEmitter();
    await page.route('**/console/rest-*', async (route) => {
      await once(keys, 'typed');
      await route.continue();
    });
    await page.reload();
    await page.getByRole('heading', { name: 'Default' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('the h');
    keys.emit('typed');
    const dialog = page.getByRole('dialog', { name: 'Find' });
    await dialog.waitFor();
    await page.keyboard.type('ay');
    await dialog.getByRole('option', { name: 'needle' }).waitFor();
    await isAccessible(page, 'the finder');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'needle' }).waitFor();
    assert.match(page.url(), /#\/projects\/far\/flags\/needle$/);

    await page.keyboard.press('Control+k');
    await page.keyboard.type('far aw');
    await dialog.getByRole('option', { name: 'Far away project' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Far away' }).waitFor();
  });

  it('puts what is called so before what was found by its description, and begins actions', async () => {
    await makeFlag(shared.server.call, 'a-flag', { description: 'Beside the ranked one.' });
    await makeFlag(shared.server.call, 'very-ranked');
    await makeFlag(shared.server.call, 'ranked');
    const page = await shared.signedIn({ place: '#/projects/default' });
    await page.getByRole('heading', { name: 'Default' }).waitFor();
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog', { name: 'Find' });
    await page.keyboard.type('ranked');
    await dialog.getByRole('option', { name: 'a-flag' }).waitFor();
    assert.deepEqual(await dialog.locator('.hit-name').allTextContents(), [
      'ranked',
      'very-ranked',
      'a-flag',
    ]);
    await dialog.getByRole('combobox').fill('new flag');
    await dialog.getByRole('option', { name: 'New flag in default' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'New flag' }).getByLabel('Name').fill('begun-from-anywhere');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'begun-from-anywhere' }).waitFor();
  });

  it('finds the pages and the files of the project that is shown, and context fields', async () => {
    await shared.server.call('POST', '/context', { name: 'loyalty-tier' });
    const page = await shared.signedIn({ place: '#/projects/default' });
    await page.getByRole('heading', { name: 'Default' }).waitFor();
    const dialog = page.getByRole('dialog');
    for (const [text, found] of Object.entries({
      archive: 'Archive of Default',
      insights: 'Insights into Default',
      stale: 'Stale flags of Default',
      settings: 'Settings of Default',
      export: 'Export the flags of default',
      loyal: 'loyalty-tier',
      produc: 'production environment',
      tokens: 'Tokens',
      manual: 'Manual',
    })) {
      await page.keyboard.press('Control+k');
      await page.keyboard.type(text);
      await dialog.getByRole('option', { name: found }).waitFor();
      await page.keyboard.press('Escape');
    }
    await page.keyboard.press('Control+k');
    await page.keyboard.type('import flags');
    await dialog.getByRole('option', { name: 'Import flags into default' }).click();
    await page.getByRole('dialog', { name: /^Import/ }).waitFor();
  });

  it('does what it is asked to by a verb, a flag and an environment, as the page of the flag does', async () => {
    const { call } = shared.server;
    await call('POST', '/projects', { id: 'till', name: 'The till' });
    const at = '/projects/till/features';
    const place = (environment: string) => `${at}/pay-by-phone/environments/${environment}`;
    const isOn = async (environment: string) => (await call('GET', place(environment))).body.enabled;
    await call('POST', at, { name: 'pay-by-phone' });
    for (const environment of ['development', 'production']) {
      await call('POST', `${place(environment)}/strategies`, { name: 'default' });
      await call('POST', `${place(environment)}/on`);
    }
    const page = await shared.signedIn({ place: '#/' });
    const finder = page.getByRole('dialog', { name: 'Find' });
    const ask = async (text: string, found: string) => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type(text);
      const [first, option] = [
        finder.getByRole('option').first(),
        finder.getByRole('option', { name: found }),
      ];
      await option.waitFor();
      assert.match((await first.textContent()) ?? '', new RegExp(`^${found}`));
      await page.keyboard.press('Enter');
    };
    await ask('switch pay-by-phone off in dev', 'Switch pay-by-phone off in development');
    await page.getByText('pay-by-phone is off in development.').waitFor();
    assert.equal(await isOn('development'), false);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone.').waitFor();
    assert.equal(await isOn('development'), true);

    await evaluateInProduction(shared.server, 'pay-by-phone');
    await ask('production pay-by-phone disable', 'Switch pay-by-phone off in production');
    await page.getByRole('dialog', { name: 'Change production?' }).waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await isOn('production'), true, 'nothing is switched before the question is answered');

    await ask('archive pay-by', 'Archive pay-by-phone');
    await page
      .getByRole('dialog', { name: 'Archive this flag?' })
      .getByRole('button', { name: 'Archive' })
      .click();
    await page.getByText('pay-by-phone is archived.').waitFor();
    await ask('new flag in till', 'New flag in till');
    await page.getByRole('dialog', { name: 'New flag' }).waitFor();
  });

  it('says how many environments are out of view, and brings them into it', async () => {
    const { call } = shared.server;
    await call('POST', '/projects', { id: 'wide', name: 'Wide' });
    await call('POST', '/projects/wide/features', { name: 'wide' });
    for (const name of ['one', 'two', 'three', 'four', 'five']) {
      await call('POST', '/environments', { name, type: 'production' });
      await call('POST', '/projects/wide/environments', { environment: name });
    }
    const page = await shared.signedIn({ place: '#/projects/wide' });
    const more = page.getByRole('button', { name: /more environments? to the right/ });
    await more.click();
    await more.waitFor({ state: 'detached' });
  });

  it('opens the view of a list within the window, at every width', async () => {
    await makeFlag(shared.server.call, 'listed');
    for (const width of [1280, 820, 390, 320]) {
      const page = await shared.signedIn({ place: '#/projects/default', width });
      for (const title of ['View', 'More filters']) {
        await page.getByRole('button', { name: title }).click();
        await page.locator('.popover-content:popover-open').waitFor();
        await fitsTheWidth(page, `${title} at ${width} pixels`);
        await page.keyboard.press('Escape');
      }
    }
  });

  it('draws only the rows in sight of a long list, the others as it is scrolled, and those of before when it is gone back to', async () => {
    await shared.server.call('POST', '/projects', { id: 'long', name: 'Long' });
    for (let index = 0; index < MANY; index += 1) {
      await shared.server.call('POST', '/projects/long/features', { name: `row-${index}` });
    }
    const page = await shared.signedIn({ place: '#/projects/long', width: 1280, height: HEIGHT });
    await page.getByRole('link', { name: `row-${MANY - 1}`, exact: true }).waitFor();
    const drawn = await page.getByRole('rowheader').count();
    assert(drawn > 10 && drawn < MANY / 2, `${drawn} rows of ${MANY} are drawn`);
    const seen = await page.evaluate<number>(ROWS_SEEN);
    assert(seen >= ROWS_SEEN_MIN, `${seen} rows are seen`);
    assert.equal(await page.getByRole('table').getAttribute('aria-rowcount'), String(MANY + 1));
    await page.keyboard.press('End');
    await page.getByRole('link', { name: 'row-0', exact: true }).waitFor();
    assert.equal(await page.getByRole('link', { name: `row-${MANY - 1}`, exact: true }).count(), 0);
    const scrolled = await page.evaluate<number>('scrollY');
    await page.getByRole('link', { name: 'row-0', exact: true }).click();
    await page.getByRole('heading', { name: 'row-0' }).waitFor();
    assert.equal(await page.evaluate('scrollY'), 0);
    await page.goBack();
    await page.evaluate(scrolledTo(scrolled));
  });

  it('explains why a flag is on or off for somebody', async () => {
    await makeFlag(shared.server.call, 'explained');
    const constraints = [{ contextName: 'country', operator: 'IN', values: ['NO'] }];
    await addStrategy(shared.server.call, 'explained', { title: 'The north', constraints });
    await shared.server.call('POST', `${FEATURES}/explained/environments/development/on`);
    const page = await shared.signedIn({ place: '#/projects/default/flags/explained' });
    const card = page.getByRole('region', { name: 'Test with a user' });
    await card.getByText('Test with a user').click();
    await card.getByLabel('Context of the user, one field per line').fill('userId: ada\ncountry: SE');
    await card.getByRole('button', { name: 'Why?' }).click();
    await card.getByText('Off in development: no strategy selects this user.').waitFor();
    await card.getByText('country is one of NO: it is SE').waitFor();
    await card.getByLabel('Context of the user, one field per line').fill('country: NO');
    await card.getByRole('button', { name: 'Why?' }).click();
    await card.getByText('On in development: a strategy selects this user.').waitFor();
    await isAccessible(page, 'the explanation');
  });

  it('shows in the search box what the list is narrowed by, and keeps both filters that are set at once', async () => {
    await makeFlag(shared.server.call, 'placed');
    for (const environment of ['development', 'production']) {
      await addStrategy(shared.server.call, 'placed', {}, environment);
      await shared.server.call('POST', `${environmentPath('placed', environment)}/on`);
    }
    await makeFlag(shared.server.call, 'put-away');
    await archive(shared.server.call, 'put-away');
    const page = await shared.signedIn({ place: '#/all-flags' });
    await page.locator('[data-row=placed]').getByText('production, development', { exact: true }).waitFor();
    const box = page.getByLabel('Search all flags');
    await box.fill('of no flag');
    // Mostly before the address has what is typed; beside other work behind it, in the other order.
    await page.getByLabel('Any type').selectOption('release');
    await page.waitForURL(({ hash }) => hash.includes('type=release') && hash.includes('query=of+no+flag'));
    // How many there are of each is said before it is opened.
    await page.getByRole('link', { name: /^Archived \(\d+\)$/ }).click();
    await page.locator('.saved [aria-current]').filter({ hasText: 'Archived' }).waitFor();
    assert.equal(await box.inputValue(), '');
  });

  it('shows a flag as it was, changes nothing meanwhile, and restores it', async () => {
    await makeFlag(shared.server.call, 'looked-back', { description: 'First.' });
    await shared.server.call('PUT', `${FEATURES}/looked-back`, { description: 'Second.' });
    await shared.server.call('PUT', `${FEATURES}/looked-back`, { description: 'Third.' });
    const page = await shared.signedIn({ place: '#/projects/default/flags/looked-back' });
    const lead = page.locator('.lead');
    await lead.filter({ hasText: 'Third.' }).waitFor();
    await page.getByText('Time machine').click();
    await page.getByRole('slider', { name: 'Point in time' }).focus();
    await page.keyboard.press('ArrowLeft');
    await lead.filter({ hasText: 'Second.' }).waitFor();
    // The list of events says the same.
    const compared = page.getByRole('region', { name: 'Two points in time' });
    await compared.getByText('description: Second. → Third.').waitFor();
    await page.keyboard.press('ArrowLeft');
    await lead.filter({ hasText: 'First.' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Edit…' }).isDisabled(), true);
    await page.getByRole('slider', { name: 'Compared with' }).focus();
    await page.keyboard.press('ArrowLeft');
    await compared.getByText('description: First. → Second.').waitFor();
    await isAccessible(page, 'the flag as it was');
    await page.getByRole('button', { name: 'Restore this version' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByText('As it is now').waitFor();
    await lead.filter({ hasText: 'First.' }).waitFor();
    const { body } = await shared.server.call('GET', `${FEATURES}/looked-back`);
    assert.equal(body.description, 'First.');
  });

  it('counts the flags in each stage, and lists those of one by a link that the keyboard reaches', async () => {
    const { call } = shared.server;
    await call('POST', '/projects', { id: 'staged', name: 'Staged' });
    for (const name of ['initial', 'tried', 'live', 'completed'])
      await call('POST', '/projects/staged/features', { name: `staged-${name}` });
    await evaluateIn(shared.server, 'development', 'staged-tried');
    await evaluateIn(shared.server, 'production', 'staged-live');
    await call('POST', '/projects/staged/features/staged-completed/lifecycle/complete', { status: 'kept' });
    const page = await shared.signedIn({ place: '#/projects/staged' });
    const stage = (name: string) =>
      page.getByRole('navigation', { name: 'Stages' }).getByRole('link', { name });
    for (const name of ['All 4', 'Defined 1', 'In development 1', 'In production 1', 'Completed 1'])
      await stage(name).waitFor();
    await stage('Completed').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: '1 of 4 flags' }).waitFor();
    assert.deepEqual(await page.getByRole('rowheader').allTextContents(), ['staged-completed']);
    assert.equal(await stage('Completed').getAttribute('aria-current'), 'true');
    await isAccessible(page, 'the stages of flags');
    await page.getByRole('searchbox', { name: /Filter flags/ }).fill('nothing-has-this-name');
    await page.getByText('Nothing matches').waitFor();
    await stage('Completed 1').waitFor();
    await call('POST', '/projects/staged/features/staged-initial/lifecycle/complete', { status: 'kept' });
    await stage('Completed 2').waitFor();
    await page.goBack();
    await page.getByRole('rowheader').nth(3).waitFor();
    await stage('Archived').click();
    await page.getByRole('heading', { name: 'Archive' }).waitFor();
  });
});
