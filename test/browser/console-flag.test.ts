/** The page of a flag: how its environments stand beside each other, and strategies copied between them. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { it } from 'node:test';
import { evaluateIn, evaluateInProduction } from '../support/applications.ts';
import { describeConsole, fitsTheWidth, isAccessible, signal } from '../support/browser/console.ts';
import { addStrategy, addUser, environmentPath, FEATURES, makeFlag } from '../support/interface.ts';

const EDITOR_ROLE_ID = 2;

describeConsole('the page of a flag', (shared) => {
  it('has production first, marks what differs, and copies strategies after a look at what that changes', async () => {
    const { call } = shared.server;
    await makeFlag(call, 'staged');
    await addStrategy(call, 'staged', { name: 'flexibleRollout', parameters: { rollout: '35' } });
    await addStrategy(call, 'staged', { title: 'to go' }, 'production');
    const page = await shared.signedIn({ place: '#/projects/default/flags/staged' });
    const development = page.getByRole('region', { name: 'development', exact: true });
    await development.getByText('Off. Would apply to:').waitFor();
    await development.getByText('35 % of users', { exact: true }).waitFor();
    await development.getByText('differs from production in the strategies').click();
    await development.getByText('to go: everyone → Gradual rollout: 35 % of users').waitFor();
    const names = await page
      .locator('section.card')
      .evaluateAll((cards) =>
        cards
          .slice(0, 2)
          .map((card) => (card as { getAttribute(name: string): string | null }).getAttribute('aria-label')),
      );
    assert.deepEqual(names, ['production', 'development']);
    for (const forcedColors of ['none', 'active'] as const) {
      await page.emulateMedia({ forcedColors });
      await isAccessible(page, `the flag with forced colors: ${forcedColors}`);
    }
    const variant = (name: string) => [{ name, weight: 1000, weightType: 'variable', stickiness: 'default' }];
    for (const [environment, name] of Object.entries({ development: 'blue', production: 'green' })) {
      await call('PUT', `${FEATURES}/staged/environments/${environment}/variants`, variant(name));
    }
    await development.getByText('in the strategies and the variants').waitFor();
    await call('PUT', `${FEATURES}/staged/environments/development/variants`, variant('green'));
    await development
      .getByText('in the strategies', { exact: false })
      .and(page.locator(':not(:has-text("variants"))'))
      .waitFor();
    await page.getByRole('button', { name: 'Copy strategies… to production' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 changes in production, applied together:').waitFor();
    await dialog.getByText('strategy added in production').waitFor();
    await isAccessible(page, 'the dialog');
    await dialog.getByRole('button', { name: 'Copy', exact: true }).click();
    await development.getByText('the same as production').waitFor();
    const strategies = async () =>
      (await call('GET', `${FEATURES}/staged/environments/production/strategies`)).body.map(
        ({ name }: { name: string }) => name,
      );
    assert.deepEqual(await strategies(), ['flexibleRollout']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await development.getByText('differs from production in the strategies').waitFor();
    assert.deepEqual(await strategies(), ['default']);
  });

  it('compares no environments in which nothing is set up, and names few of many strategies', async () => {
    const { call } = shared.server;
    await makeFlag(call, 'bare');
    const page = await shared.signedIn({ place: '#/projects/default/flags/bare' });
    const development = page.getByRole('region', { name: 'development', exact: true });
    await development.getByText('never used here').waitFor();
    assert.equal(await development.getByText('production').count(), 0);

    for (let added = 0; added < 7; added += 1) await addStrategy(call, 'bare', {}, 'production');
    const production = page.getByRole('region', { name: 'production', exact: true });
    await production
      .getByText(
        'Off. Would apply to everyone, and for everyone, and for everyone, and by 4 more strategies.',
      )
      .waitFor();
    assert.equal(await production.locator('.strategies').isVisible(), false);
  });

  it('switches a flag on for everyone where nothing was set up, and takes that back at once', async () => {
    const { call } = shared.server;
    await makeFlag(call, 'simple');
    const page = await shared.signedIn({ place: '#/projects/default/flags/simple' });
    const inProduction = async () => (await call('GET', environmentPath('simple', 'production'))).body;
    const onForEveryone = page.getByRole('button', { name: 'On for everyone in production' });
    await onForEveryone.click();
    await page.getByText('simple is on in production for everyone.').waitFor();
    await page.getByText('On in production', { exact: true }).waitFor();
    assert.deepEqual([(await inProduction()).enabled, (await inProduction()).strategies.length], [true, 1]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Off in production', { exact: true }).waitFor();
    assert.deepEqual([(await inProduction()).enabled, (await inProduction()).strategies], [false, []]);
    await evaluateInProduction(shared.server, 'simple');
    await onForEveryone.click();
    const question = page.getByRole('dialog', { name: 'Switch on for everyone?' });
    await question.getByText('1 evaluation in the last hour').waitFor();
    await question.getByRole('button', { name: 'Switch on in production' }).click();
    await page.getByText('On in production', { exact: true }).waitFor();
  });

  it('fits three screens with ten environments and thirty strategies, production in sight and the others in reach', async () => {
    const { call } = shared.server;
    const name = 'a-name-in-ten-environments-that-is-cut-nowhere';
    const others = Array.from({ length: 8 }, (_, index) => `environment-${index}-with-a-long-name`);
    for (const one of others) await call('POST', '/environments', { name: one, type: 'test' });
    const environments = ['development', 'production', ...others];
    await call('POST', '/projects', { id: 'wide', name: 'Wide', environments });
    await call('POST', '/projects/wide/features', { name });
    for (const environment of environments)
      for (let added = 0; added < (environment === 'production' ? 12 : 2); added += 1)
        await call('POST', `/projects/wide/features/${name}/environments/${environment}/strategies`, {
          ...{ name: 'flexibleRollout', title: `Rule ${added}`, parameters: { rollout: `${added * 5}` } },
        });
    for (const [width, height] of [
      [1280, 900],
      [390, 844],
    ] as const) {
      const page = await shared.signedIn({ width, height, place: `#/projects/wide/flags/${name}` });
      await page.getByText('Older changes').waitFor();
      await page.getByRole('list', { name: '10 environments' }).waitFor();
      const production = await page.getByRole('switch', { name: `${name} in production` }).boundingBox();
      assert.ok(production !== null && production.y + production.height < height, 'production is in sight');
      const pageHeight = await page.evaluate<number>('document.documentElement.scrollHeight');
      assert.ok(pageHeight <= 3 * height, `${pageHeight} px at ${width} px`);
      await fitsTheWidth(page, 'the flag');
      await page.getByRole('button', { name: others[7]!, exact: true }).click();
      const region = page.getByRole('region', { name: others[7]!, exact: true });
      await region.locator('.strategies').getByText('Rule 1', { exact: true }).waitFor();
      await region.getByText('differs from production in the strategies').waitFor();
      await isAccessible(page, `ten environments at ${width} px`);
    }
  });

  it('lists the changes of a flag by day, and narrows them by kind, environment and person', async () => {
    const { call } = shared.server;
    await makeFlag(call, 'busy');
    await addStrategy(call, 'busy');
    await call('POST', `${environmentPath('busy', 'development')}/on`);
    for (let made = 0; made < 40; made += 1)
      await call('PUT', `${FEATURES}/busy`, { description: `${made}` });
    const page = await shared.signedIn({ place: '#/projects/default/flags/busy' });
    const history = page.getByRole('region', { name: 'History' });
    await history.getByText('27 changes on', { exact: false }).click();
    await history.getByText('description: 10 → 11').waitFor();
    await history.getByRole('button', { name: 'Older changes' }).click();
    await history.getByText('40 changes on', { exact: false }).waitFor();
    await history.getByRole('button', { name: 'Filter' }).click();
    await history.getByLabel('Kind of change').selectOption('Switched on or off');
    await history.getByText('switched on in development').waitFor();
    assert.equal(await history.locator('.event').count(), 1);
    await history.getByLabel('Environment').selectOption('production');
    await history.getByText('No change matches.').waitFor();
    await history.getByLabel('Environment').selectOption('');
    await history.getByLabel('Person').selectOption('admin');
    await history.getByText('switched on in development').waitFor();
    await isAccessible(page, 'the history with its filters');
  });

  it('shows the use of a flag once there is one, and leads to the applications that it names', async () => {
    await makeFlag(shared.server.call, 'used');
    const page = await shared.signedIn({
      place: '#/projects/default/flags/used',
      expected: /ERR_INTERNET_DISCONNECTED/,
    });
    await page.getByRole('heading', { name: 'Stages' }).waitFor();
    assert.equal(await page.getByRole('heading', { name: 'Usage' }).count(), 0);
    await evaluateInProduction(shared.server, 'used');
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
    await page.setViewportSize({ width: 1280, height: 300 });
    await page.reload();
    const usage = page.getByRole('region', { name: 'Usage' });
    await usage.getByText('As a table').waitFor({ state: 'attached' });
    const library = () => loaded.filter((path) => /\/uPlot\.esm-\w+\.js$/.test(path)).length;
    assert.equal(library(), 0, 'nothing draws before the picture comes into view');
    await page.setViewportSize({ width: 1280, height: 900 });
    await usage.scrollIntoViewIfNeeded();
    await usage.locator('canvas').waitFor();
    assert.equal(library(), 1);
    await usage.getByRole('img', { name: /^1 evaluation in production, \d+ % on$/ }).waitFor();
    // What was done to the flag in this hour is one mark.
    const mark = usage.getByRole('img', { name: /created by/ });
    await mark.focus();
    await usage
      .getByText(/created by/)
      .first()
      .waitFor();
    await usage.getByText('As a table').click();
    await usage.getByRole('row').nth(1).getByText('1', { exact: true }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await isAccessible(page, `the picture, ${colorScheme}`);
    }
    await usage.getByLabel('Period').selectOption('Last hour');
    await usage.getByRole('columnheader', { name: 'Minute' }).waitFor();
    await usage.getByRole('row').nth(1).getByText('1', { exact: true }).waitFor();
    await usage.locator('canvas').waitFor();
    await isAccessible(page, 'the last hour');
    await usage.getByLabel('Period').selectOption('Last 30 days');
    await usage.getByRole('columnheader', { name: 'Day' }).waitFor();
    await usage.locator('canvas').waitFor();
    // Nothing is said of a time that is not loaded.
    await page.context().setOffline(true);
    await usage.getByLabel('Period').selectOption('Last hour');
    await usage.getByRole('status').getByText('The server cannot be reached.').waitFor();
    await page.context().setOffline(false);
    await usage.getByRole('columnheader', { name: 'Minute' }).waitFor();
    await usage
      .getByRole('status')
      .getByText(/^1 evaluation/)
      .waitFor();
    await page.getByText('asked for by').getByRole('button', { name: 'shop' }).click();
    await page.getByRole('dialog', { name: /^Application/ }).waitFor();
  });

  it('names three applications that ask for it, and the others on demand', async () => {
    await makeFlag(shared.server.call, 'asked');
    for (const name of ['app-1', 'app-2', 'app-3', 'app-4', 'app-5'])
      await evaluateIn(shared.server, 'production', 'asked', name);
    const page = await shared.signedIn({ place: '#/projects/default/flags/asked' });
    const askers = page.getByText('asked for by');
    await askers.getByText('app-1, app-2, app-3 and 2 more').waitFor();
    await askers.getByRole('button', { name: '2 more' }).click();
    await askers.getByRole('button', { name: 'app-5' }).click();
    await page.getByRole('dialog', { name: 'Application app-5' }).waitFor();
  });

  it('marks changes of flags on the curve of their project, those of one step as one mark', async () => {
    const { call } = shared.server;
    await call('POST', '/projects', { id: 'marked', name: 'Marked' });
    const flags = '/projects/marked/features';
    for (let at = 1; at <= 7; at += 1) await call('POST', flags, { name: `marked-${at}` });
    await evaluateInProduction(shared.server, 'marked-1');
    for (const place of ['#/health', '#/projects/marked/insights']) {
      const page = await shared.signedIn({ place });
      const usage = page.getByRole('region', { name: 'Usage' });
      const mark = usage.getByRole('img', { name: /^marked-7: created by/ });
      await mark.scrollIntoViewIfNeeded();
      assert.match((await mark.getAttribute('aria-label')) ?? '', /marked-3: created by \w+; and \d+ more$/);
      await usage.getByText('As a table').click();
      await usage.getByRole('listitem').getByText('marked-7: created by').waitFor();
      await isAccessible(page, `the usage at ${place}`);
      if (place === '#/health') continue;
      // A change that comes is marked while one looks.
      assert.equal((await call('POST', flags, { name: 'marked-8' })).status, 201);
      await usage.getByRole('img', { name: /^marked-8: created by/ }).waitFor();
    }
  });

  it('draws how a project is and how it is used, in the theme that is chosen, and leads to its applications', async () => {
    await makeFlag(shared.server.call, 'drawn');
    await evaluateInProduction(shared.server, 'drawn');
    const page = await shared.signedIn({ place: '#/projects/default/insights', colorScheme: 'light' });
    for (const name of [
      /flags? created and 0 archived in 4 weeks/,
      /changes? in 30 days/,
      /evaluations? in/,
    ]) {
      const picture = page.getByRole('img', { name });
      await picture.scrollIntoViewIfNeeded();
      await picture.locator('canvas').waitFor();
    }
    await page.getByText('Neither stale nor overdue').waitFor();
    const canvas = page.locator('.plot-canvas canvas').first();
    await page.evaluate('new Promise(requestAnimationFrame)');
    const pixels = () =>
      canvas.evaluate((drawn) => (drawn as unknown as { toDataURL(): string }).toDataURL());
    const light = await pixels();
    await page.getByLabel('Theme').selectOption('Dark');
    await page.waitForFunction(
      (before) =>
        (
          globalThis as unknown as { document: { querySelector(what: string): { toDataURL(): string } } }
        ).document
          .querySelector('.plot-canvas canvas')
          .toDataURL() !== before,
      light,
    );
    await isAccessible(page, 'the insights');
    await page.getByRole('button', { name: 'shop', exact: true }).click();
    await page.getByRole('dialog', { name: /^Application/ }).waitFor();
  });

  it('takes a change that is made from what it shows, though somebody changed the flag while it was being read', async () => {
    const { call } = shared.server;
    await makeFlag(call, 'torn');
    await addStrategy(call, 'torn');
    const setVariants = (environment: string, name: string) =>
      call('PUT', `${environmentPath('torn', environment)}/variants`, [
        { name, weight: 1000, weightType: 'variable', stickiness: 'default' },
      ]);
    await setVariants('development', 'blue');
    await setVariants('production', 'green');
    const page = await shared.signedIn();
    const begun = new EventEmitter();
    const isBegun = once(begun, 'dialog');
    // Between the two reads of the page somebody changes the flag, and the page hears of it only once its change is begun.
    await page.route(
      '**/torn/environments/development/variants',
      async (route) => {
        await page.route('**/events/search', async (held) => {
          if (held.request().postData()?.includes('torn')) await isBegun;
          await held.continue();
        });
        await setVariants('development', 'green');
        await route.continue();
      },
      { times: 1 },
    );
    await page.goto(`${shared.server.origin}/#/projects/default/flags/torn`);
    const development = page.getByRole('region', { name: 'development', exact: true });
    await development.getByText('differs from production in the strategies', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Copy strategies… to production' }).click();
    begun.emit('dialog');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 change in production').waitFor();
    await dialog.getByRole('button', { name: 'Copy', exact: true }).click();
    await development.getByText('the same as production').waitFor();
  });

  it('stays as it is now where the past comes late', async () => {
    const { call } = shared.server;
    await makeFlag(call, 'late', { description: 'then' });
    await call('PUT', `${FEATURES}/late`, { description: 'now' });
    const page = await shared.signedIn({ place: '#/projects/default/flags/late' });
    const [asked, released] = [signal(), signal()];
    await page.route('**/features/late?at=*', async (route) => {
      asked.resolve();
      await released.promise;
      await route.continue();
    });
    await page.getByText('Time machine').click();
    await page.getByRole('slider', { name: 'Point in time' }).focus();
    await page.keyboard.press('ArrowLeft');
    await asked.promise;
    await page.keyboard.press('ArrowRight');
    const came = page.waitForResponse((response) => response.url().includes('/features/late?at='));
    released.resolve();
    await (await came).finished();
    await page.getByRole('button', { name: 'Edit…', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Description').waitFor();
    assert.equal(await page.getByRole('status').filter({ hasText: 'As it is now' }).count(), 1);
  });

  it('has a project whose flags are all brought back at once, after a look at what that changes', async () => {
    const { call } = shared.server;
    for (const name of ['lost.a', 'lost.b']) await makeFlag(call, name, { description: 'then' });
    for (const name of ['lost.a', 'lost.b']) await call('PUT', `${FEATURES}/${name}`, { description: 'now' });
    const page = await shared.signedIn();
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    const made = page.locator('.event').filter({ hasText: 'lost.b' }).filter({ hasText: 'created' });
    await made.getByRole('button', { name: 'Restore the project to here' }).waitFor();
    const moment = page.getByRole('slider', { name: 'Point in time' });
    await moment.focus();
    for (const _ of [1, 2]) await page.keyboard.press('ArrowLeft');
    const differences = page.getByRole('list', { name: 'Differences between the two points in time' });
    for (const name of ['lost.a', 'lost.b']) {
      const ofFlag = differences.getByRole('listitem').filter({ hasText: name });
      await ofFlag.getByText('description: then → now').waitFor();
    }
    await page.getByRole('slider', { name: 'Compared with' }).focus();
    await page.keyboard.press('ArrowLeft');
    await differences.getByText('lost.b').waitFor({ state: 'detached' });
    await isAccessible(page, 'the history');
    await page.getByRole('button', { name: 'Restore the project to this point in time' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('lost.a').waitFor();
    await dialog.getByText('lost.b').waitFor();
    await dialog.getByRole('button', { name: 'Roll back' }).click();
    await page.getByText('Rolled back to event').waitFor();
    for (const name of ['lost.a', 'lost.b']) {
      assert.equal((await call('GET', `${FEATURES}/${name}`)).body.description, 'then');
    }
  });

  it('is found in a list by its owner, tag and use, with chosen columns, an order and favorites first, which the address keeps', async () => {
    const { call } = shared.server;
    const { token } = await addUser(shared.server, EDITOR_ROLE_ID);
    for (const name of ['listed.a', 'listed.b']) await makeFlag(call, name);
    await call('POST', FEATURES, { name: 'listed.mine' }, { token });
    await call('POST', '/features/listed.mine/tags', { type: 'simple', value: 'mobile' });
    await addStrategy(call, 'listed.a', { name: 'flexibleRollout', parameters: { rollout: '35' } });
    for (const _ of [1, 2, 3]) await addStrategy(call, 'listed.b');
    const page = await shared.signedIn({ token, place: '#/projects/default?text=listed.' });
    const names = async () =>
      (await page.getByRole('rowheader').allTextContents()).map((text) => text.replace(/^.*listed/, ''));
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row('listed.a').getByText('35 %').waitFor();
    await row('listed.b').getByText('3 strategies').waitFor();
    await row('listed.b').getByRole('button', { name: 'Favorite listed.b', pressed: false }).click();
    await row('listed.b').getByRole('button', { name: 'Favorite listed.b', pressed: true }).waitFor();
    assert.deepEqual(await names(), ['.b', '.mine', '.a']);
    await page.getByRole('button', { name: 'Flag', exact: true }).click();
    await page
      .getByRole('columnheader', { name: 'Flag' })
      .and(page.locator('[aria-sort=ascending]'))
      .waitFor();
    assert.deepEqual(await names(), ['.b', '.a', '.mine']);
    await page.getByRole('button', { name: 'View' }).click();
    for (const name of ['Dense rows', 'Owner', 'Tags']) await page.getByRole('checkbox', { name }).check();
    await page.getByRole('checkbox', { name: 'production', exact: true }).uncheck();
    await isAccessible(page, 'the list with its view open');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByRole('combobox', { name: 'Use' }).selectOption('Never used');
    await page.getByRole('combobox', { name: 'Tag' }).selectOption('simple:mobile');
    const owner = page.getByRole('combobox', { name: 'Owner' });
    await owner.selectOption({ index: (await owner.locator('option').count()) - 1 });
    // It is written once what was chosen is painted.
    await page.waitForURL(/owner=\d+/);
    await page.reload();
    await page.getByText('1 of', { exact: false }).waitFor();
    assert.deepEqual(await names(), ['.mine']);
    const columns = (await page.getByRole('columnheader').allTextContents()).filter(Boolean);
    assert.deepEqual(columns, ['Flag ↑', 'Type', 'Owner', 'Last used', 'Tags', 'development']);
    await row('listed.mine').getByRole('cell', { name: 'mobile', exact: true }).waitFor();
    const height = (await row('listed.mine').boundingBox())?.height ?? 0;
    assert.ok(height <= 32, `a dense row is ${height} px high`);
    const query =
      /seen=never&owner=\d+&tag=simple%3Amobile&sort=name&show=type%2Cowner%2Cseen%2Ctags&hide=production&rows=dense/;
    assert.match(page.url(), query);

    await page.goto(`${shared.server.origin}/#/projects/default`);
    await page.getByRole('button', { name: 'Favorites', exact: true }).click();
    await page.getByText('1 of', { exact: false }).waitFor();
    await page.getByRole('link', { name: 'listed.b' }).click();
    await page.getByRole('button', { name: 'Favorite listed.b', pressed: true }).click();
    await page.getByRole('button', { name: 'Favorite listed.b', pressed: false }).waitFor();
  });
});
