/**
 * The list of flags of the console, in a browser of this machine: from the last byte of the data until its first rows are painted, and
 * from a key in its search until the list without the others is painted. The same with a processor that is four times slower, as old
 * phones have it, with a press on a switch; and a first visit by a slow line besides.
 */
import type { Browser, CDPSession, Page } from 'playwright-core';
import { launchBrowser } from '../../test/support/browser/browser.ts';
import type { BenchRun, Scenario } from '../lib/measurement.ts';
import { PROJECT } from '../lib/paths.ts';
import { dataFolderOf, flagName } from '../lib/servers/data-set.ts';
import { startServerProcess } from '../lib/servers/server-process.ts';
import { quantile } from '../lib/statistics.ts';

/** Flags of the full bench: more than a project should ever have. */
const FLAGS = 20_000;

/** Flags of the project of a first visit: what most have. */
const VISITED_FLAGS = 50;

const ROUNDS = 5;

/** Presses on a switch: on and off again. */
const PRESSES = 10;

const TIMES_SLOWER = 4;

/** Round trips of 150 ms, and 1.6 Mbit/s. */
const SLOW_LINE = {
  offline: false,
  latency: 150,
  downloadThroughput: 1_600_000 / 8,
  uploadThroughput: 1_600_000 / 8,
};

/** Runs in the page: notes when rows are painted first, and how long each key takes until it is, and until the list follows it. */
const WATCH = `{
  const afterTask = (then) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = () => then(performance.now()); port2.postMessage(null); };
  const afterPaint = (then) => requestAnimationFrame(() => afterTask(then));
  const isFollowing = () => document.querySelector('.tools [role=status][aria-busy=true]') === null;
  const whenFollowed = (then) => requestAnimationFrame(() => (isFollowing() ? afterTask(then) : whenFollowed(then)));
  globalThis.painted = { list: 0, largest: 0, keys: [], echoes: [], presses: [] };
  new PerformanceObserver((list) => { painted.largest = list.getEntries().at(-1).startTime; }).observe({ type: 'largest-contentful-paint', buffered: true });
  new MutationObserver((_, observer) => {
    if (document.querySelector('[data-row]') === null) return;
    observer.disconnect();
    afterPaint((at) => { painted.list = at; });
  }).observe(document, { childList: true, subtree: true });
  addEventListener('input', ({ timeStamp }) => {
    afterPaint((at) => painted.echoes.push(at - timeStamp));
    whenFollowed((at) => {
      painted.keys.push(at - timeStamp);
      dispatchEvent(new Event('followed'));
    });
  }, { capture: true });
  addEventListener('click', ({ target, timeStamp }) => {
    if (target.matches('[role=switch]')) afterPaint((at) => painted.presses.push(at - timeStamp));
  }, { capture: true });
}`;

/** Runs in the page: milliseconds from the last byte of the project. */
const LIST_MS = `painted.list - performance.getEntriesByType('resource').find(({ name }) => name.endsWith('${PROJECT}')).responseEnd`;

export const consoleList: Scenario = {
  name: 'console',
  title: 'The list of flags in a browser',
  async run(bench) {
    const flags = bench.effort.name === 'full' ? FLAGS : bench.effort.flags;
    const browser = await launchBrowser();
    try {
      const listed = await withServer(bench, browser, flags, listFigures);
      const { visitMs } = await withServer(bench, browser, VISITED_FLAGS, visitFigures);
      bench.say(
        `list ${listed.listMs.toFixed(0)} ms, a key ${listed.keyMs.toFixed(0)} ms; slowed down: a key ${listed.slowedKeyMs.toFixed(0)} ms, p90 ${listed.slowedSlowKeyMs.toFixed(0)} ms, seen in its field after ${listed.slowedEchoMs.toFixed(0)} ms, a switch ${listed.slowedSwitchMs.toFixed(0)} ms, a first visit ${visitMs.toFixed(0)} ms`,
      );
      return [{ table: 'console', what: 'one project', at: flags, values: { ...listed, visitMs } }];
    } finally {
      await browser.close();
    }
  },
};

/** A page of somebody who is signed in to a server of so many flags. */
async function withServer<T>(
  bench: BenchRun,
  browser: Browser,
  flags: number,
  measure: (bench: BenchRun, page: Page, origin: string) => Promise<T>,
): Promise<T> {
  const server = await startServerProcess(await dataFolderOf(bench, { flags, projects: 1, events: 0 }));
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  try {
    const { origin, token } = server.target;
    await page.addInitScript({ content: WATCH });
    await page.goto(`${origin}/#/projects/default`);
    await page.getByLabel('API token').fill(token);
    await page.keyboard.press('Enter');
    await page.locator('[data-row]').first().waitFor();
    return await measure(bench, page, origin);
  } finally {
    await page.close();
    await server.kill();
  }
}

/** Not by `waitForFunction`, which the policy of the console forbids. */
async function until(page: Page, condition: string): Promise<void> {
  while ((await page.evaluate<boolean>(condition)) !== true) await page.waitForTimeout(5);
}

async function open(page: Page, origin: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(`${origin}/#/projects/default`);
  await until(page, 'painted.list > 0');
}

async function listFigures({ effort }: BenchRun, page: Page, origin: string) {
  const rounds = effort.name === 'full' ? ROUNDS : 1;
  const [lists, keys]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    await open(page, origin);
    lists.push(await page.evaluate<number>(LIST_MS));
    keys.push(...(await keysOf(page)));
  }
  const devTools = await slowDown(page);
  const [slowedKeys, slowedEchoes]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    await open(page, origin);
    slowedKeys.push(...(await keysOf(page)));
    slowedEchoes.push(...(await page.evaluate<number[]>('painted.echoes')));
  }
  const presses = await pressesOf(page);
  await devTools.detach();
  return {
    listMs: quantile(lists, 0.5),
    slowListMs: quantile(lists, 0.9),
    keyMs: quantile(keys, 0.5),
    slowKeyMs: quantile(keys, 0.9),
    slowedKeyMs: quantile(slowedKeys, 0.5),
    slowedSlowKeyMs: quantile(slowedKeys, 0.9),
    // The browser's own measure of interactions (INP) takes the slowest of few.
    slowedEchoMs: quantile(slowedEchoes, 0.98),
    slowedSwitchMs: quantile(presses, 0.5),
  };
}

async function slowDown(page: Page): Promise<CDPSession> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('Emulation.setCPUThrottlingRate', { rate: TIMES_SLOWER });
  return devTools;
}

/** Types the name of the first flag, which is left alone then. */
async function keysOf(page: Page): Promise<number[]> {
  await page.getByRole('searchbox').focus();
  await page.evaluate('painted.keys.length = painted.echoes.length = 0');
  for (const [index, key] of [...flagName(0)].entries()) {
    await page.keyboard.press(key);
    // A page that is asked again and again has less time for its keys.
    await page.evaluate(
      `new Promise((done) => painted.keys.length > ${index} ? done() : addEventListener('followed', () => done(), { once: true }))`,
    );
  }
  return await page.evaluate<number[]>('painted.keys');
}

async function pressesOf(page: Page): Promise<number[]> {
  // Where the flag has strategies, and no application has asked for it: nothing is asked first.
  const one = page.getByRole('switch', { name: /production$/ }).first();
  for (let pressed = 1; pressed <= PRESSES; pressed += 1) {
    await one.click();
    await until(page, `painted.presses.length === ${pressed}`);
    await until(page, `document.querySelector('[role=switch][aria-busy]') === null`);
  }
  return await page.evaluate<number[]>('painted.presses');
}

/** The largest part of the page is painted last: the text that people came for. */
async function visitFigures({ effort }: BenchRun, page: Page, origin: string) {
  const devTools = await slowDown(page);
  await devTools.send('Network.enable');
  await devTools.send('Network.emulateNetworkConditions', SLOW_LINE);
  const visits: number[] = [];
  for (let round = 0; round < (effort.name === 'full' ? ROUNDS : 1); round += 1) {
    await devTools.send('Network.clearBrowserCache');
    await open(page, origin);
    await until(page, 'painted.largest > 0');
    visits.push(await page.evaluate<number>('painted.largest'));
  }
  await devTools.detach();
  return { visitMs: quantile(visits, 0.5) };
}
