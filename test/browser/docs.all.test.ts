/** The API page of a server under a base path, which takes a request; and a reload, after which it has forgotten the token. */
import { it } from 'node:test';
import { authorize } from '../support/browser/api-page.ts';
import { describePages, openPage } from '../support/browser/browser.ts';
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
