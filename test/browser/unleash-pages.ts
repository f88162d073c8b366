/** Unleash's own pages, from its package at npm, in a browser in front of a server of ours. Nothing of them is kept. */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { openPage } from '../support/browser/browser.ts';
import { type TestServer, temporaryFolder } from '../support/server.ts';

const VERSION = '8.2.0';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

/** The folder with the built pages; null where npm does not give them. */
export function fetchUnleashPages(): string | null {
  const folder = temporaryFolder();
  try {
    const pack = ['pack', '--silent', '--pack-destination', folder, `unleash-server@${VERSION}`];
    execFileSync('npm', pack, { stdio: 'ignore' });
  } catch {
    return null;
  }
  execFileSync('tar', ['-xzf', join(folder, `unleash-server-${VERSION}.tgz`), '-C', folder]);
  return join(folder, 'package', 'frontend', 'build');
}

export interface UnleashBrowser {
  readonly page: Page;
  /** The calls that the server answered with 400 or above, as `404 GET /api/admin/banners`. */
  readonly refused: readonly string[];
}

/** Opens the pages as a user who is signed in: the calls go to the server, everything else comes from the folder. */
export async function openUnleash(
  { origin }: TestServer,
  folder: string,
  { username, password }: { readonly username: string; readonly password: string },
): Promise<UnleashBrowser> {
  // Its pages ask for fonts and avatars elsewhere, and log what the server does not have.
  const page = await openPage({ origin, expected: /^Failed to load resource/, mayAskOthers: true });
  const refused: string[] = [];
  await page.route('**/*', async (route) => {
    const url = new URL(route.request().url());
    if (url.origin !== origin) return route.fulfill({ status: 204 });
    if (/^\/(?:api|auth|logout)\b/.test(url.pathname)) return route.continue();
    const asked = join(folder, url.pathname);
    const path = statSync(asked, { throwIfNoEntry: false })?.isFile() ? asked : join(folder, 'index.html');
    const isPage = path.endsWith('.html');
    await route.fulfill({
      contentType: CONTENT_TYPES[extname(path)] ?? 'application/octet-stream',
      // Its server fills in where it is found.
      body: isPage ? readFileSync(path, 'utf8').replaceAll(/::\w+::/g, '') : readFileSync(path),
    });
  });
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (response.status() >= 400)
      refused.push(`${response.status()} ${response.request().method()} ${pathname}`);
  });
  const signedIn = await page.request.post(`${origin}/auth/simple/login`, { data: { username, password } });
  if (!signedIn.ok()) throw new Error(`sign-in: ${signedIn.status()}`);
  return { page, refused };
}
