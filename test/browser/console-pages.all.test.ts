/**
 * Every page of the console, in each look that people have: light, dark and forced colors, on a desk, at 320 pixels and enlarged to
 * 200 %. The accessibility checker finds nothing, and nothing is wider than the window. `console-pages.test.ts` is the short form.
 */
import { before, it } from 'node:test';
import { openPage } from '../support/browser/browser.ts';
import { describeConsole, fitsTheWidth, isAccessible } from '../support/browser/console.ts';
import { fillPages, LOOKS, openMenu, PAGES } from '../support/browser/pages.ts';

describeConsole('each page of the console, in each look', (shared) => {
  let token: string;
  before(async () => {
    token = await fillPages(shared.server);
  });

  for (const { look, width, ...media } of LOOKS) {
    it(`is accessible and fits: ${look}`, async () => {
      const page = await shared.signedIn({ token, width, height: 900 });
      await page.emulateMedia(media);
      for (const [view, [place, content]] of Object.entries(PAGES)) {
        await page.goto(`${shared.server.origin}/${place}`);
        await page.locator(content).first().waitFor();
        await fitsTheWidth(page, `${view}, ${look}`);
        await isAccessible(page, `${view}, ${look}`);
      }
      if (width < 700) await openMenu(page);
    });
  }

  it('that needs nobody to be signed in is so too', async () => {
    const { origin } = shared.server;
    const page = await openPage({ origin });
    for (const { look, width, ...media } of LOOKS) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none', ...media });
      await page.goto(origin);
      await page.getByRole('button', { name: 'Sign in' }).first().waitFor();
      await fitsTheWidth(page, `sign-in, ${look}`);
      await isAccessible(page, `sign-in, ${look}`);
    }
  });
});
