/** The common tasks of a console, in as few clicks and fields as they take: a change that makes one of them longer is noticed here. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { evaluateInProduction } from '../support/applications.ts';
import { describeConsole, flagSwitch } from '../support/browser/console.ts';
import { addStrategy, environmentPath, FEATURES, makeFlag } from '../support/interface.ts';

/** Steps of a task: each click, and each field that is filled in or chosen. */
interface Hand {
  readonly page: Page;
  readonly dialog: Locator;
  press(name: string | RegExp, within?: Page | Locator): Promise<void>;
  click(what: Locator): Promise<void>;
  fill(label: string, value: string): Promise<void>;
}

type Task = (hand: Hand) => Promise<void>;

describeConsole('common tasks in the console', (shared) => {
  const LIST = '#/projects/default';
  const FLAG = `${LIST}/flags/counted`;
  const read = async (path: string) => (await shared.server.call('GET', path)).body;
  const inPlace = (environment = 'production') => read(environmentPath('counted', environment));
  const share = async () => (await inPlace()).strategies[0].parameters.rollout;
  let before = 0;

  async function setUp(): Promise<void> {
    const { call } = shared.server;
    await call('DELETE', `${FEATURES}/counted`);
    await call('DELETE', '/archive/counted');
    await makeFlag(call, 'counted');
    const parameters = { rollout: '10', stickiness: 'default', groupId: 'counted' };
    await addStrategy(call, 'counted', { name: 'flexibleRollout', parameters }, 'production');
    before = shared.server.server.store.engine.lastId;
    await call('POST', `${environmentPath('counted', 'production')}/on`);
    // Somebody gets it there, so that changes of production are asked about.
    await evaluateInProduction(shared.server, 'counted');
  }

  /**
   * Each with the place where it begins, its steps, and those in Unleash 8.2, counted in its own pages from the same place. Unleash has no way
   * back: one reads in its event log what there was, and sets it again.
   */
  const TASKS: Readonly<
    Record<string, readonly [place: string, steps: readonly [here: number, there: number], task: Task]>
  > = {
    'makes a flag that is on for everyone in development': [
      LIST,
      [4, 4],
      async ({ page, dialog, press, click, fill }) => {
        await press('New flag');
        await fill('Name', 'brand-new');
        await click(dialog.getByLabel('development', { exact: true }));
        await press('Create', dialog);
        await page.getByText('brand-new is created, and on in development').waitFor();
        assert.equal((await read(environmentPath('brand-new'))).enabled, true);
      },
    ],
    'goes from 10 to 50 and to 100 % in production': [
      FLAG,
      [6, 9],
      async ({ page, dialog, press, fill }) => {
        for (const percent of ['50', '100']) {
          await press('Edit Gradual rollout in production');
          await fill('Share of users in percent', percent);
          await press('Save in production', dialog);
          await page
            .locator('.rollout-text', { hasText: percent === '50' ? '50 % of users' : 'everyone' })
            .waitFor();
          assert.equal(await share(), percent);
        }
      },
    ],
    'kills a flag in production': [
      FLAG,
      [2, 2],
      async ({ page, dialog, press, click }) => {
        await click(flagSwitch(page, 'counted', 'production'));
        await press('Switch off in production', dialog);
        await page.getByText('counted is off in production').waitFor();
        assert.equal((await inPlace()).enabled, false);
      },
    ],
    'rolls a flag back': [
      FLAG,
      [2, 4],
      async ({ page, dialog, press }) => {
        await press(`Roll back to here, event ${before}`);
        await press('Roll back in production', dialog);
        await page.getByText(`Rolled back to event #${before}`).waitFor();
        assert.equal((await inPlace()).enabled, false);
      },
    ],
    'copies strategies to another environment': [
      FLAG,
      [2, 3],
      async ({ page, dialog, press }) => {
        await press('Copy strategies… to development');
        await press('Copy', dialog);
        await page.getByText('counted has the strategies of production').waitFor();
        assert.equal((await inPlace('development')).strategies.length, 1);
      },
    ],
    'adds a constraint': [
      FLAG,
      [6, 11],
      async ({ page, dialog, press, click, fill }) => {
        await press('Edit Gradual rollout in production');
        await click(dialog.getByLabel('Targets'));
        await press('Add constraint', dialog);
        await fill('Context field', 'userId');
        await fill('Values, separated by commas', 'ada');
        await press('Save in production', dialog);
        await page.getByText('the strategies in production are changed').waitFor();
        assert.equal((await inPlace()).strategies[0].constraints.length, 1);
      },
    ],
    'archives a flag': [
      FLAG,
      [3, 3],
      async ({ page, dialog, press, click }) => {
        await click(page.getByLabel('More for this flag', { exact: true }));
        await press('Archive…');
        await press(/^Archive/, dialog);
        await page.getByText('counted is archived').waitFor();
        assert.notEqual((await read(`${FEATURES}/counted`)).archivedAt, null);
      },
    ],
    'finds who changed a flag': [
      FLAG,
      [0, 1],
      async ({ page }) => {
        const newest = page.getByRole('region', { name: 'History' }).getByRole('listitem').first();
        await newest.getByText('switched on in production').waitFor();
        await newest.getByText('admin').waitFor();
      },
    ],
    'invites somebody': [
      FLAG,
      [4, 6],
      async ({ page, dialog, press, click, fill }) => {
        await click(page.getByRole('link', { name: 'Admin', exact: true }));
        await press('New user');
        await fill('Email', 'grace@shop.example');
        await press('Create', dialog);
        await page.getByText('grace@shop.example').first().waitFor();
      },
    ],
    'makes a token': [
      FLAG,
      [4, 6],
      async ({ page, dialog, press, click, fill }) => {
        await click(page.getByRole('link', { name: 'Configure', exact: true }));
        await press('New API token');
        await fill('Name', 'shop');
        await press('Create', dialog);
        await page.locator('.secret').waitFor();
      },
    ],
  };

  it('takes no more steps than Unleash in any task, and seven tenths of them in all', () => {
    const counts = Object.values(TASKS).map(([, steps]) => steps);
    for (const [here, there] of counts) assert(here <= there);
    const [here, there] = [0, 1].map((at) => counts.reduce((sum, steps) => sum + (steps[at] ?? 0), 0));
    assert((here ?? 0) <= 0.7 * (there ?? 0), `${here} and ${there}`);
  });

  for (const [name, [place, [steps], task]] of Object.entries(TASKS))
    it(`${name} in ${steps === 1 ? '1 step' : `${steps} steps`}`, async () => {
      await setUp();
      const page = await shared.signedIn({ place });
      const dialog = page.getByRole('dialog');
      let count = 0;
      const click = async (what: Locator) => {
        count += 1;
        await what.click();
      };
      await task({
        page,
        dialog,
        click,
        press: (button, within = page) => click(within.getByRole('button', { name: button, exact: true })),
        async fill(label, value) {
          count += 1;
          await dialog.getByLabel(label, { exact: true }).fill(value);
        },
      });
      assert.equal(count, steps);
    });
});
