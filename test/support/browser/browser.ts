/**
 * A headless Chromium for the tests of pages. Everything that a page must never do is noted for every page: breaking
 * its Content-Security-Policy, an error in its scripts, a request to another host.
 */
import assert from 'node:assert/strict';
import { after, afterEach, describe } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { installedProgram } from '../installed-program.ts';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const executablePath = installedProgram('chromium');

/** For the option `skip` of a suite: the reason, or false. */
export const NO_BROWSER: string | false =
  executablePath === undefined ? 'no Chromium on this machine; name one in CHROMIUM' : false;

export function launchBrowser(): Promise<Browser> {
  assert(executablePath !== undefined, 'there is no Chromium to launch');
  return chromium.launch({ executablePath, args: FLAGS });
}

/** The browser of all suites in the process, from the first page on. */
let shared: Promise<Browser> | null = null;

export async function closeBrowser(): Promise<void> {
  await (await shared)?.close();
  shared = null;
}

let isClosedAtTheEnd = false;

/** A suite about pages, closed after each test. All suites of a process share a browser, which is closed after the last of them. */
export function describePages(name: string, tests: () => void): void {
  if (!isClosedAtTheEnd) after(closeBrowser);
  isClosedAtTheEnd = true;
  describe(name, { skip: NO_BROWSER }, () => {
    afterEach(endPages);
    tests();
  });
}

/** The pages that are open, each with its faults. */
const open = new Map<Page, string[]>();

/** Closes all pages, which must have done nothing that no page may do. */
export async function endPages(): Promise<void> {
  const faults = [...open.values()].flat();
  for (const page of open.keys()) {
    // What the page asked for last may still be on its way through a route of the test.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.context().close();
  }
  open.clear();
  assert.deepEqual(faults, []);
}

export interface PageOptions {
  readonly origin: string;
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
  /** The origin of a provider that the browser is sent to. */
  readonly otherOrigin?: string;
  /** For pages of others, whose requests to further hosts a test answers. */
  readonly mayAskOthers?: boolean;
  /** Messages that are expected on the browser's own console: of responses with an error status. */
  readonly expected?: RegExp;
}

/** Runs in the page: tells also those violations of its policy that no console shows. */
const TELL_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) => {
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample);
});`;

/** Opens a page in a context of its own: with the cookies, the storage and the cache of a browser that was never used. */
export async function openPage(options: PageOptions): Promise<Page> {
  const {
    origin,
    width = 1280,
    height = 900,
    colorScheme = 'light',
    expected,
    otherOrigin,
    mayAskOthers,
  } = options;
  shared ??= launchBrowser();
  const context = await (await shared).newContext({
    viewport: { width, height },
    colorScheme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const faults: string[] = [];
  open.set(page, faults);
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && expected?.test(text) !== true) faults.push(`console: ${text}`);
  });
  page.on('request', (request) => {
    const known = [origin, otherOrigin].some((one) => request.url().startsWith(`${one}/`));
    if (!/^(?:data|blob):/.test(request.url()) && !known && !mayAskOthers) {
      faults.push(`asked another host: ${request.url()}`);
    }
  });
  await page.addInitScript({ content: TELL_VIOLATIONS });
  return page;
}
