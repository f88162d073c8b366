/** Change requests by Unleash's own pages, so that teams keep the ones they know. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { Page } from 'playwright-core';
import { describePages } from '../support/browser/browser.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { fetchUnleashPages, openUnleash, type UnleashBrowser } from './unleash-pages.ts';

const PASSWORD = 'Correct-horse-1';
const [ADMIN_ROLE_ID, EDITOR_ROLE_ID] = [1, 2];
const FLAGS = ['applied', 'rejected', 'scheduled'];
const DAY_MS = 86_400_000;
const SENT_WITHIN_MS = 20_000;
const ATTEMPTS = 3;

const press = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('button', { name, exact: typeof name === 'string' }).click();

/** Waits for a message of the pages. */
const says = (page: Page, text: string): Promise<void> =>
  page.getByText(text, { exact: true }).first().waitFor();

async function choose(page: Page, menu: string, action: string): Promise<void> {
  await press(page, menu);
  await page.getByRole('menuitem', { name: action }).click();
}

/**
 * Does something that sends a change, once more if none was sent: these pages draw their buttons anew while they load,
 * and a click on one that goes is lost. Their messages are no proof, since they go away by themselves.
 */
async function send(page: Page, act: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const sent = page.waitForResponse(
      (response) => response.request().method() !== 'GET' && response.url().includes('change-requests'),
      { timeout: SENT_WITHIN_MS },
    );
    try {
      const [response] = await Promise.all([sent, act()]);
      assert(response.ok(), `${response.status()} ${response.url()}`);
      return;
    } catch (error) {
      if (attempt === ATTEMPTS || error instanceof assert.AssertionError) throw error;
      await page.reload();
    }
  }
}

/** No call about change requests was refused. */
function isUnderstood(...browsers: readonly UnleashBrowser[]): void {
  const refused = browsers.flatMap((browser) => browser.refused);
  assert.deepEqual(
    refused.filter((call) => call.includes('change-requests')),
    [],
  );
}

describePages("Unleash's pages for change requests", () => {
  const folder = fetchUnleashPages();
  if (folder === null) {
    it.skip('are not here: npm does not give unleash-server');
    return;
  }
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
    const people = { eva: EDITOR_ROLE_ID, ada: ADMIN_ROLE_ID };
    for (const [username, rootRole] of Object.entries(people))
      await server.call('POST', '/user-admin', { username, rootRole, password: PASSWORD });
    for (const name of FLAGS) await server.call('POST', '/projects/default/features', { name });
  });
  after(() => server.stop());

  const open = (username: string): Promise<UnleashBrowser> =>
    openUnleash(server, folder, { username, password: PASSWORD });
  const address = (place: string): string => `${server.origin}/projects/default/${place}`;
  const isOn = async (flag: string): Promise<boolean> => {
    const { body } = await server.call('GET', `/projects/default/features/${flag}/environments/production`);
    return body.enabled;
  };

  /** Asks for a flag to be turned on, and opens the request as its reviewer. */
  async function request(flag: string, author: Page, reviewer: Page): Promise<void> {
    await author.goto(address(`features/${flag}`));
    await send(author, async () => {
      await author.getByRole('switch', { name: 'production' }).click();
      await press(author, 'Add suggestion to draft');
    });
    await send(author, async () => {
      await press(author, /^View changes/);
      await author.getByPlaceholder('Add your comment here').fill(`Turn ${flag} on.`);
      await press(author, /^Submit change request/);
    });
    await author.getByText('that are in review').waitFor();
    assert.equal(await isOn(flag), false);

    await reviewer.goto(address('change-requests'));
    // The page writes its order into its own address first.
    await reviewer.waitForURL(/sort=/);
    const row = reviewer.getByRole('row').filter({ hasText: flag });
    // The page draws its rows anew while it loads, and a click on one that goes is lost.
    const link = await row.getByRole('link', { name: /request/i }).getAttribute('href');
    await reviewer.goto(server.origin + link);
    await says(reviewer, `Turn ${flag} on.`);
  }

  it('offer constraints on the fields of the server', async () => {
    const { body } = await server.call(
      'POST',
      '/projects/default/features/applied/environments/development/strategies',
      {
        name: 'flexibleRollout',
      },
    );
    const { page } = await open('eva');
    await page.goto(
      address(`features/applied/strategies/edit?environmentId=development&strategyId=${body.id}`),
    );
    await page.getByRole('tab', { name: /^Targeting/ }).click();
    await press(page, 'Add constraint');
    await page.getByText('is one of').waitFor();
  });

  it('protect an environment, and make, review, approve, apply and reject requests', async () => {
    const [author, reviewer] = [await open('eva'), await open('ada')];
    const { page } = reviewer;
    await page.goto(address('settings/change-requests'));
    await send(page, async () => {
      await page.getByRole('switch', { name: 'production' }).click();
      await press(page, 'Enable');
    });

    await request('applied', author.page, page);
    await send(page, () => choose(page, 'review or reject changes', 'Approve'));
    await send(page, () => choose(page, 'apply or schedule changes', 'Apply changes'));
    assert.equal(await isOn('applied'), true);

    await request('rejected', author.page, page);
    await send(page, async () => {
      await choose(page, 'review or reject changes', 'Reject');
      const dialog = page.getByRole('dialog');
      await dialog.getByPlaceholder('Add your comment here').fill('Not on a Friday.');
      await dialog.getByRole('button', { name: 'Reject changes' }).click();
    });
    await says(page, 'Not on a Friday.');

    await page.goto(`${server.origin}/change-requests?state=IS:closed`);
    for (const flag of ['applied', 'rejected']) await page.getByRole('link', { name: flag }).waitFor();
    isUnderstood(author, reviewer);
  });

  it('schedule what was approved, and reject it again', async () => {
    const [author, reviewer] = [await open('eva'), await open('ada')];
    const { page } = reviewer;
    await request('scheduled', author.page, page);
    await send(page, () => choose(page, 'review or reject changes', 'Approve'));
    const dialog = page.getByRole('dialog');
    await send(page, async () => {
      await choose(page, 'apply or schedule changes', 'Schedule changes');
      const tomorrow = new Date(Date.now() + DAY_MS).toISOString().slice(0, 'YYYY-MM-DDTHH:mm'.length);
      await dialog.locator('input').fill(tomorrow);
      await dialog.getByRole('button', { name: 'Schedule changes' }).click();
    });
    assert.equal(await isOn('scheduled'), false);
    await send(page, async () => {
      await press(page, 'Reject changes');
      await dialog.getByRole('button', { name: 'Reject changes' }).click();
    });
    const { body } = await server.call('GET', '/projects/default/change-requests');
    const [last] = body.toSorted((one: { id: number }, other: { id: number }) => other.id - one.id);
    assert.equal(last.state, 'Rejected');
    isUnderstood(author, reviewer);
  });
});
