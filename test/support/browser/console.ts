/** The console in a browser, for the suites about it: opened, signed in, looked at by an accessibility checker, and closed. */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import axe from 'axe-core';
import type { Browser, Locator, Page } from 'playwright-core';
import { ADMIN_TOKEN, startTestServer, type TestServer } from '../server.ts';
import { launchBrowser, NO_BROWSER, type OpenPage, openPage, type PageOptions } from './browser.ts';

export type ConsoleOptions = Partial<PageOptions> & {
  readonly token?: string;
  /** The part of the address after the origin, such as `#/events`. */
  readonly place?: string;
};

export interface ConsoleBrowser {
  readonly server: TestServer;
  readonly browser: Browser;
  /** Opens the console at a place, signed in by a session that began without its form. */
  signedIn(options?: ConsoleOptions): Promise<OpenPage>;
  close(): Promise<void>;
}

/** A server, and one browser for all the tests of a file. */
export async function openConsoleBrowser(): Promise<ConsoleBrowser> {
  const server = await startTestServer();
  const browser = await launchBrowser();
  return {
    server,
    browser,
    signedIn: async ({ token = ADMIN_TOKEN, place = '', ...options } = {}) => {
      const opened = await openPage(browser, {
        origin: server.origin,
        ...options,
      });
      const { page } = opened;
      // The form for it has tests of its own.
      const begun = await page.request.post(`${server.origin}/auth/session`, {
        headers: { authorization: token },
      });
      assert(begun.ok(), `the session is begun: ${begun.status()}`);
      await page.goto(`${server.origin}/${place}`);
      await page.locator('.shell').waitFor();
      return opened;
    },
    close: async () => {
      await browser.close();
      await server.stop();
    },
  };
}

/** A suite about the console: the server and the browser are there for all its tests. */
export function describeConsole(name: string, tests: (shared: ConsoleBrowser) => void): void {
  describe(name, { skip: NO_BROWSER }, () => {
    let opened: ConsoleBrowser | null = null;
    before(async () => {
      opened = await openConsoleBrowser();
    });
    after(() => opened?.close());
    const there = (): ConsoleBrowser => {
      assert.ok(opened !== null, 'the server and the browser are there once the tests run');
      return opened;
    };
    tests({
      get server() {
        return there().server;
      },
      get browser() {
        return there().browser;
      },
      signedIn: (options) => there().signedIn(options),
      close: () => there().close(),
    });
  });
}

/** Closes the page, which must have done nothing that no page may do. */
export async function ending({ faults, close }: OpenPage): Promise<void> {
  assert.deepEqual(faults, []);
  await close();
}

/** Opens a menu of rare actions, and takes one. */
export async function choose(within: Page | Locator, menu: string, action: string): Promise<void> {
  await within.getByLabel(menu, { exact: true }).click();
  await within.getByRole('button', { name: action, exact: true }).click();
}

/** Goes to a part of a long form. */
export const openTab = (form: Locator, name: string): Promise<void> =>
  form.getByRole('tab', { name }).click();

export const flagSwitch = (page: Page, flag: string, environment = 'development'): Locator =>
  page.getByRole('switch', { name: `${flag} in ${environment}` });

/** Runs in the page: by how many pixels it is wider than the window. */
const WIDTH_TOO_MUCH = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

export async function fitsTheWidth(page: Page, what: string): Promise<void> {
  assert.equal(await page.evaluate(WIDTH_TOO_MUCH), 0, `${what} is as wide as the window`);
}

interface Violation {
  readonly id: string;
  readonly targets: readonly string[];
}

/** Runs in the page: all that the accessibility checker finds on it as it is now. */
const FIND_VIOLATIONS = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => ({ id, targets: nodes.map(({ target, failureSummary }) => target + ' ' + failureSummary) })))`;

export async function isAccessible(page: Page, what: string): Promise<void> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
  const violations: readonly Violation[] = await page.evaluate(FIND_VIOLATIONS);
  assert.deepEqual(violations, [], what);
}

interface Signal {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

/** Something that a test waits for, or lets others wait for. */
export function signal(): Signal {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
