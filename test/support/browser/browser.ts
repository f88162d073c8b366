/**
 * A headless Chromium for the tests of pages. Everything that a page must never do is noted for every page: breaking
 * its Content-Security-Policy, an error in its scripts, a request to another host.
 */
import assert from 'node:assert/strict';
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

export interface OpenPage {
  readonly page: Page;
  /** Faults of the page; to be empty at the end of every test. */
  readonly faults: readonly string[];
  close(): Promise<void>;
}

export interface PageOptions {
  readonly origin: string;
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
  /** The origin of a provider that the browser is sent to. */
  readonly otherOrigin?: string;
  /** Messages that are expected on the browser's own console: of responses with an error status. */
  readonly expected?: RegExp;
}

/** Runs in the page: tells also those violations of its policy that no console shows. */
const TELL_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) => {
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample);
});`;

export async function openPage(browser: Browser, options: PageOptions): Promise<OpenPage> {
  const { origin, width = 1280, height = 900, colorScheme = 'light', expected, otherOrigin } = options;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && expected?.test(text) !== true) faults.push(`console: ${text}`);
  });
  page.on('request', (request) => {
    const known = [origin, otherOrigin].some((one) => request.url().startsWith(`${one}/`));
    if (!/^(?:data|blob):/.test(request.url()) && !known) {
      faults.push(`asked another host: ${request.url()}`);
    }
  });
  await page.addInitScript({ content: TELL_VIOLATIONS });
  return {
    page,
    faults,
    async close() {
      // What the page asked for last may still be on its way through a route of the test.
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
    },
  };
}
