/** Steps that people take on the API page. */
import type { Page } from 'playwright-core';
import { ADMIN_TOKEN } from '../server.ts';

export async function authorize(page: Page): Promise<void> {
  await page.locator('.auth-wrapper .authorize').click();
  await page.locator('.auth-container input').fill(ADMIN_TOKEN);
  await page.locator('.auth-container button.authorize').click();
  await page.locator('.auth-container button.btn-done').click();
}
