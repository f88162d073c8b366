/** The API page in a real browser: it opens, takes a token, sends a request and shows the answer. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';
import type { Page } from 'playwright-core';
import { authorize } from '../support/browser/api-page.ts';
import { describePages, openPage } from '../support/browser/browser.ts';
import { isAccessible } from '../support/browser/console.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** Runs in the page. */
const STORED_COUNT = 'localStorage.length + sessionStorage.length + document.cookie.length';

describePages('the API page', () => {
  let server: TestServer;
  /** With the token given to it. */
  let page: Page;
  before(async () => {
    server = await startTestServer();
  });
  beforeEach(async () => {
    page = await openPage({ origin: server.origin });
    await page.goto(`${server.origin}/docs`);
    await page.locator('.opblock-tag').first().waitFor();
    await authorize(page);
  });
  after(() => server.stop());

  it('opens with the operations, and has its prose and limits behind a title', async () => {
    const limits = page.getByRole('table').filter({ hasText: 'STRATEGIES_PER_ENVIRONMENT_MAX' });
    assert.equal(await limits.isVisible(), false);
    const first = await page.locator('.opblock-tag').first().boundingBox();
    assert(first !== null && first.y < 900, 'without scrolling');
    await isAccessible(page, 'the API page');
    await page.getByText('About the interface').click();
    await limits.waitFor();
    await page.getByText('About the interface').click();
  });

  it('lists the operations, and sends a request with the token that it was given', async () => {
    assert.match((await page.locator('.info .title').textContent()) ?? '', /Flagstaff/);

    assert.equal(await page.locator('.opblock').count(), 0, 'sections are folded');
    await page.locator('#operations-tag-Features').click();
    const operation = page.locator('#operations-Features-createFeature');
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('button.execute').click();
    const response = operation.locator('.live-responses-table .response');
    await response.waitFor();
    assert.equal((await response.locator('.response-col_status').textContent())?.trim().slice(0, 3), '201');
    assert.match(
      (await response.locator('.response-col_description').textContent()) ?? '',
      /checkout-redesign/,
    );

    const { flag } =
      server.server.store.engine.world.projects.get('default')?.flags.get('checkout-redesign') ?? {};
    assert.equal(flag?.description, 'The checkout on one page.');
  });

  it('finds operations by a part of their words, whatever the case', async () => {
    const filter = page.locator('.operation-filter-input');
    await filter.fill('strateg');
    await page.locator('[id$="-getProjects"]').waitFor({ state: 'detached' });
    await page.locator('[id$="-addFeatureStrategy"]').waitFor();
    await filter.fill('ROLLBACK');
    await page.locator('[id$="-addFeatureStrategy"]').waitFor({ state: 'detached' });
    assert(
      (await page.locator('.opblock-summary-path').allTextContents()).every((path) =>
        /rollback/i.test(path.replaceAll('\u200b', '')),
      ),
    );
  });

  it('keeps the token in memory only: nothing is stored', async () => {
    await page.locator('.auth-wrapper .authorize.locked').waitFor();
    assert.equal(await page.evaluate(STORED_COUNT), 0);
  });
});
