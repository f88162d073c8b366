/** Every page of the console in one of the looks that people have, which take turns; `console-pages.all.test.ts` has each in all of them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { describeConsole, fitsTheWidth, isAccessible } from '../support/browser/console.ts';
import { fillPages, LOOKS, openMenu, PAGES } from '../support/browser/pages.ts';
import { ROOT_FOLDER } from '../support/server.ts';

const NARROWEST = 320;

/** The views that the type of places names, so that a new one is in the table above. */
function viewsOfConsole(): readonly string[] {
  const read = (name: string) => readFileSync(join(ROOT_FOLDER, 'web/console', name), 'utf8');
  const tables =
    read('place.js')
      .match(/export const (?:PLAIN|OF_PROJECT) =[^;]*;/g)
      ?.join('') ?? '';
  const [, places = ''] = /export type Place =([^;]*(?:;[^;]*?)*?);\n\n/.exec(read('types.d.ts')) ?? [];
  const named = [...tables.matchAll(/^ {2}'?([a-z-]+)'?:/gm), ...places.matchAll(/view: '([a-z-]+)'/g)];
  return ['home', ...named.map(([, view = '']) => view)];
}

describeConsole('each page of the console', (shared) => {
  it('is in the table of this test', () => {
    const views = viewsOfConsole();
    assert.ok(views.length > 16, `${views.length} views are found`);
    assert.deepEqual(
      views.filter((view) => !(view in PAGES)),
      [],
    );
  });

  it('is accessible in one of the looks, and fits the narrowest window', async () => {
    const token = await fillPages(shared.server);
    const page = await shared.signedIn({ token });
    for (const [index, [view, [place, content]]] of Object.entries(PAGES).entries()) {
      const { look, width, ...media } = LOOKS[index % LOOKS.length]!;
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none', ...media });
      await page.goto(`${shared.server.origin}/${place}`);
      await page.locator(content).first().waitFor();
      await isAccessible(page, `${view}, ${look}`);
      await page.setViewportSize({ width: NARROWEST, height: 900 });
      await fitsTheWidth(page, view);
    }
    await openMenu(page);
  });
});
