/** The page of a flag: how its environments stand beside each other, and strategies copied between them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { NO_BROWSER } from '../support/browser/browser.ts';
import { type ConsoleBrowser, ending, isAccessible, openConsoleBrowser } from '../support/browser/console.ts';
import { addStrategy, FEATURES, makeFlag } from '../support/interface.ts';

describe('the page of a flag', { skip: NO_BROWSER }, () => {
  let shared: ConsoleBrowser;
  before(async () => {
    shared = await openConsoleBrowser();
  });
  after(() => shared.close());

  it('has production first, marks what differs, and copies strategies after a look at what that changes', async () => {
    const { call } = shared.server;
    await makeFlag(call, 'staged');
    await addStrategy(call, 'staged', { name: 'flexibleRollout', parameters: { rollout: '35' } });
    await addStrategy(call, 'staged', { title: 'to go' }, 'production');
    const opened = await shared.signedIn({ place: '#/projects/default/flags/staged' });
    const { page } = opened;
    const [production, development] = ['production', 'development'].map((name) =>
      page.getByRole('region', { name, exact: true }),
    );
    assert(production !== undefined && development !== undefined);
    await development.getByText('Off. When it is on, it is for 35 % of users.').waitFor();
    await development.getByText('differs from production in the strategies').waitFor();
    const names = await page
      .locator('section.card')
      .evaluateAll((cards) =>
        cards
          .slice(0, 2)
          .map((card) => (card as { getAttribute(name: string): string | null }).getAttribute('aria-label')),
      );
    assert.deepEqual(names, ['production', 'development']);
    for (const forcedColors of ['none', 'active'] as const) {
      await page.emulateMedia({ forcedColors });
      await isAccessible(page, `the flag with forced colours: ${forcedColors}`);
    }
    await page.getByRole('button', { name: 'Copy strategies… to production' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 changes in production, all at once or none:').waitFor();
    await dialog.getByText('strategy added in production').waitFor();
    await isAccessible(page, 'the dialog');
    await dialog.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByRole('button', { name: 'Copy in production' }).click();
    await development.getByText('the same as production').waitFor();
    const strategies = async () =>
      (await call('GET', `${FEATURES}/staged/environments/production/strategies`)).body.map(
        ({ name }: { name: string }) => name,
      );
    assert.deepEqual(await strategies(), ['flexibleRollout']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await development.getByText('differs from production in the strategies').waitFor();
    assert.deepEqual(await strategies(), ['default']);
    await ending(opened);
  });

  it('has a project whose flags are all brought back at once, after a look at what that changes', async () => {
    const { call } = shared.server;
    for (const name of ['lost.a', 'lost.b']) await makeFlag(call, name, { description: 'then' });
    for (const name of ['lost.a', 'lost.b']) await call('PUT', `${FEATURES}/${name}`, { description: 'now' });
    const opened = await shared.signedIn();
    const { page } = opened;
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    const made = page.locator('.event').filter({ hasText: 'lost.b' }).filter({ hasText: 'created' });
    await isAccessible(page, 'the history');
    await made.getByRole('button', { name: 'Restore the project to here' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('lost.a').waitFor();
    await dialog.getByText('lost.b').waitFor();
    await dialog.getByRole('button', { name: 'Roll back' }).click();
    await page.getByText('Rolled back to event').waitFor();
    for (const name of ['lost.a', 'lost.b']) {
      assert.equal((await call('GET', `${FEATURES}/${name}`)).body.description, 'then');
    }
    await ending(opened);
  });

  it('is found in a list with chosen columns, dense rows and those never used, which the address keeps', async () => {
    await makeFlag(shared.server.call, 'listed');
    const opened = await shared.signedIn();
    const { page } = opened;
    await page.getByRole('link', { name: 'listed' }).waitFor();
    await page.getByText('View', { exact: true }).click();
    await page.getByRole('checkbox', { name: 'Dense rows' }).check();
    await page.getByRole('checkbox', { name: 'production', exact: true }).uncheck();
    await page.getByRole('combobox', { name: 'Use' }).selectOption('Never used');
    await isAccessible(page, 'the list with its view open');
    await page.reload();
    await page.getByRole('link', { name: 'listed' }).waitFor();
    const columns = page.getByRole('columnheader');
    assert.deepEqual((await columns.allTextContents()).filter(Boolean), ['Flag', 'development']);
    const row = await page.getByRole('row').filter({ hasText: 'listed' }).boundingBox();
    assert((row?.height ?? 0) <= 32, `a dense row is ${row?.height} px high`);
    assert.match(page.url(), /seen=never&hide=production&rows=dense/);
    await ending(opened);
  });
});
