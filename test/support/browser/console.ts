/** The console in a browser, for the suites about it: opened, signed in, looked at by an accessibility checker, and closed. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import axe from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import { ADMIN_TOKEN, startTestServer, type TestServer } from '../server.ts';
import { describePages, openPage, type PageOptions } from './browser.ts';

export type ConsoleOptions = Partial<PageOptions> & {
  readonly token?: string;
  /** The part of the address after the origin, such as `#/events`; the default project unless it is given. */
  readonly place?: string;
};

export interface ConsoleBrowser {
  readonly server: TestServer;
  /** Opens the console at a place, signed in by a session that began without its form. */
  signedIn(options?: ConsoleOptions): Promise<Page>;
}

/** The console of a server. */
export const consoleOf = (server: TestServer): ConsoleBrowser => ({
  server,
  async signedIn({ token = ADMIN_TOKEN, place = '#/projects/default', ...options } = {}) {
    const page = await openPage({ origin: server.origin, ...options });
    // The form for it has tests of its own.
    const begun = await page.request.post(`${server.origin}/auth/session`, {
      headers: { authorization: token },
    });
    assert(begun.ok(), `the session is begun: ${begun.status()}`);
    await page.goto(`${server.origin}/${place}`);
    await page.locator('.shell').waitFor();
    return page;
  },
});

/**
 * A suite about the console. Its server takes 0.03 s of the processor to start, and nothing that other suites make is on its pages, so
 * that a suite finds by itself what it finds beside all the others.
 */
export function describeConsole(name: string, tests: (console: ConsoleBrowser) => void): void {
  describePages(name, () => {
    let opened: ConsoleBrowser | null = null;
    before(async () => {
      opened = consoleOf(await startTestServer());
    });
    after(() => opened?.server.stop());
    const there = (): ConsoleBrowser => {
      assert.ok(opened !== null, 'the server is there once the tests run');
      return opened;
    };
    tests({
      get server() {
        return there().server;
      },
      signedIn: (options) => there().signedIn(options),
    });
  });
}

/** Opens a menu of rare actions, and takes one. */
export async function choose(within: Page | Locator, menu: string, action: string): Promise<void> {
  await within.getByLabel(menu, { exact: true }).click();
  await within.getByRole('button', { name: action, exact: true }).click();
}

/** Goes to a part of a long form. */
export const openTab = (form: Locator, name: string): Promise<void> =>
  form.getByRole('tab', { name }).click();

/** Has a strategy select users by its constraints and segments. */
export const chooseTargets = (form: Locator): Promise<void> => form.getByLabel('Targets').check();

export const flagSwitch = (page: Page, flag: string, environment = 'development'): Locator =>
  page.getByRole('switch', { name: `${flag} in ${environment}` });

/** Runs in the page: resolves once what was typed is kept. */
export const DRAFT_KEPT = `new Promise((resolve) => {
  const look = () => (Object.keys(history.state?.drafts ?? {}).length === 0 ? requestAnimationFrame(look) : resolve());
  look();
})`;

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
