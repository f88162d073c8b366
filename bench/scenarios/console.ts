/**
 * The list of flags of the console, in a browser of this machine: from the last byte of the data until its first rows are painted, and
 * from a key in its search until the list without the others is painted.
 */
import type { Page } from 'playwright-core';
import { launchBrowser } from '../../test/support/browser/browser.ts';
import type { BenchRun, Scenario } from '../lib/measurement.ts';
import { PROJECT } from '../lib/paths.ts';
import { dataFolderOf, flagName } from '../lib/servers/data-set.ts';
import { type ServerProcess, startServerProcess } from '../lib/servers/server-process.ts';
import { quantile } from '../lib/statistics.ts';

/** Of the full bench: more than a project should ever have. */
const FLAGS = 20_000;

const ROUNDS = 5;

/** Runs in the page: notes when rows are painted first, and how long each key takes until it is. */
const WATCH = `{
  const afterPaint = (then) => requestAnimationFrame(() => { const { port1, port2 } = new MessageChannel(); port1.onmessage = () => then(performance.now()); port2.postMessage(null); });
  globalThis.painted = { list: 0, keys: [] };
  new MutationObserver((_, observer) => {
    if (document.querySelector('[data-row]') === null) return;
    observer.disconnect();
    afterPaint((at) => { painted.list = at; });
  }).observe(document, { childList: true, subtree: true });
  addEventListener('input', ({ timeStamp }) => afterPaint((at) => painted.keys.push(at - timeStamp)), { capture: true });
}`;

/** Runs in the page: milliseconds from the last byte of the project. */
const LIST_MS = `painted.list - performance.getEntriesByType('resource').find(({ name }) => name.endsWith('${PROJECT}')).responseEnd`;

export const consoleList: Scenario = {
  name: 'console',
  title: 'The list of flags in a browser',
  async run(bench) {
    const flags = bench.effort.name === 'full' ? FLAGS : bench.effort.flags;
    const server = await startServerProcess(await dataFolderOf(bench, { flags, projects: 1, events: 0 }));
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
      await page.addInitScript({ content: WATCH });
      const { lists, keys } = await measured(bench, server, page);
      const values = {
        listMs: quantile(lists, 0.5),
        slowListMs: quantile(lists, 0.9),
        keyMs: quantile(keys, 0.5),
        slowKeyMs: quantile(keys, 0.9),
      };
      bench.say(`list ${values.listMs.toFixed(0)} ms, a key ${values.keyMs.toFixed(0)} ms`);
      return [{ table: 'console', what: 'one project', at: flags, values }];
    } finally {
      await browser.close();
      await server.kill();
    }
  },
};

/** Not by `waitForFunction`, which the policy of the console forbids. */
async function until(page: Page, condition: string): Promise<void> {
  while ((await page.evaluate<boolean>(condition)) !== true) await page.waitForTimeout(5);
}

async function measured(
  { effort }: BenchRun,
  { target }: ServerProcess,
  page: Page,
): Promise<{ readonly lists: number[]; readonly keys: number[] }> {
  await page.goto(`${target.origin}/#/projects/default`);
  await page.getByLabel('API token').fill(target.token);
  await page.keyboard.press('Enter');
  await page.locator('[data-row]').first().waitFor();
  const lists: number[] = [];
  const keys: number[] = [];
  for (let round = 0; round < (effort.name === 'full' ? ROUNDS : 1); round += 1) {
    await page.goto(`${target.origin}/#/projects/default`);
    await page.reload();
    await until(page, 'painted.list > 0');
    lists.push(await page.evaluate<number>(LIST_MS));
    await page.getByRole('searchbox').focus();
    const text = flagName(0);
    await page.evaluate('painted.keys.length = 0');
    for (const [index, key] of [...text].entries()) {
      await page.keyboard.press(key);
      await until(page, `painted.keys.length === ${index + 1}`);
    }
    keys.push(...(await page.evaluate<number[]>('painted.keys')));
  }
  return { lists, keys };
}
