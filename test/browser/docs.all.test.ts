/**
 * The API page of a server under a base path, which takes a request; and a reload, after which it has forgotten the token. And the manual,
 * as a checkout builds it.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { authorize } from '../support/browser/api-page.ts';
import { describePages, openPage } from '../support/browser/browser.ts';
import { isAccessible } from '../support/browser/console.ts';
import { serverFor } from '../support/server.ts';

describePages('the API page under a base path', () => {
  it('sends a request with the token that it was given, and forgets the token in a reload', async (t) => {
    const server = await serverFor(t, { env: { BASE_URI_PATH: '/flags' } });
    const page = await openPage({ origin: server.origin });
    await page.goto(`${server.origin}/flags/docs`);
    await authorize(page);
    await page.locator('#operations-tag-Features').click();
    const operation = page.locator('#operations-Features-createFeature');
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('button.execute').click();
    await operation.locator('.live-responses-table .response-col_status', { hasText: '201' }).waitFor();
    await page.reload();
    await page.locator('.auth-wrapper .authorize.unlocked').waitFor();
  });
});

describePages('the manual under a base path', () => {
  it('leads from page to page, finds by words, and keeps to its policy', async (t) => {
    const { origin } = await serverFor(t, { env: { BASE_URI_PATH: '/flags' } });
    // On a slow machine building the manual takes longer than a request may.
    while ((await fetch(`${origin}/flags/docs/manual/`)).status === 503);
    const page = await openPage({ origin });
    await page.goto(`${origin}/flags/docs/manual`);
    assert.equal(page.url(), `${origin}/flags/docs/manual/`);
    await page.getByRole('main').getByRole('link', { name: 'Operating', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Operating Flagstaff' }).waitFor();
    assert.equal(page.url(), `${origin}/flags/docs/manual/operating`);
    await page.keyboard.press('Control+k');
    await page.getByRole('searchbox').fill('potentially stale lifetime');
    await page.getByRole('option', { name: 'Staleness' }).first().click();
    await page.waitForURL('**/docs/manual/specification/flags#staleness');
    await page.reload();
    await page.getByRole('heading', { name: 'Staleness' }).waitFor();
    await isAccessible(page, 'a page of the manual');
    for (const missing of ['nothing', 'specification/..%2fflags', 'config.js'])
      assert.equal((await fetch(`${origin}/flags/docs/manual/${missing}`)).status, 404);
  });
});
