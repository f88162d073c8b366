/** The edges of a day in the console: what goes wrong is said where one looks, nothing that was typed is lost, and nobody's text misleads. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { evaluateInProduction } from '../support/applications.ts';
import {
  type ConsoleOptions,
  choose,
  chooseTargets,
  DRAFT_KEPT,
  describeConsole,
  isAccessible,
  signal,
} from '../support/browser/console.ts';
import { addStrategy, addUser, environmentPath, FEATURES, makeFlag } from '../support/interface.ts';
import type { Call } from '../support/server.ts';

const ADMIN_ROLE_ID = 1;
const VIEWER_ROLE_ID = 3;

/** The height of a small laptop: a strategy's form is higher. */
const HEIGHT = 800;

async function isInSight(element: Locator, what: string): Promise<void> {
  await element.waitFor();
  const { y = -1, height = 0 } = (await element.boundingBox()) ?? {};
  assert(y >= 0 && y + height <= HEIGHT, `${what} is in sight without scrolling: from ${y} to ${y + height}`);
}

describeConsole('the edges of a day in the console', (shared) => {
  const signedIn = (options?: ConsoleOptions) => shared.signedIn({ height: HEIGHT, ...options });
  const call: Call = (...given) => shared.server.call(...given);
  const openFlag = (name: string, options?: ConsoleOptions) =>
    signedIn({ place: `#/projects/default/flags/${name}`, ...options });
  const press = (within: Page | Locator, name: string) =>
    within.getByRole('button', { name, exact: true }).click();
  const editStrategy = async (page: Page, environment = 'development') => {
    await page.getByRole('button', { name: `Edit Gradual rollout in ${environment}`, exact: true }).click();
    const dialog = page.getByRole('dialog', { name: `Edit a strategy in ${environment}` });
    await dialog.waitFor();
    return dialog;
  };
  const share = (dialog: Locator) => dialog.getByLabel('Share of users as a number');
  const rollout = (percent: number) => ({
    name: 'flexibleRollout',
    parameters: { rollout: String(percent), stickiness: 'default', groupId: 'edge' },
  });

  it('a conflict is in sight, has the focus, and offers the way on', async () => {
    await makeFlag(call, 'conflict');
    await addStrategy(call, 'conflict', rollout(10));
    const page = await openFlag('conflict', { expected: /status of 4(?:01|12)/ });
    const dialog = await editStrategy(page);
    await share(dialog).fill('50');
    await call('PUT', `${FEATURES}/conflict`, { description: 'By somebody else.' });
    await press(dialog, 'Save');
    const conflict = dialog.locator('.conflict');
    await isInSight(conflict, 'the conflict');
    await isInSight(dialog.getByRole('button', { name: 'Merge' }), 'the way on');
    await page.locator('.conflict:focus').waitFor();
    await press(dialog, 'Merge');
    await press(dialog, 'Save');
    await dialog.waitFor({ state: 'detached' });
    await page.locator('.rollout-text').filter({ hasText: '50 % of users' }).waitFor();
  });

  it('a server that cannot be reached is said beside Save, which can be pressed again', async () => {
    await makeFlag(call, 'unreachable');
    await addStrategy(call, 'unreachable', rollout(10));
    const page = await openFlag('unreachable', {
      expected: /status of 401|ERR_INTERNET_DISCONNECTED/,
    });
    const dialog = await editStrategy(page);
    await share(dialog).fill('50');
    await page.context().setOffline(true);
    await press(dialog, 'Save');
    await isInSight(dialog.getByText('The server cannot be reached.'), 'why it was not saved');
    await isInSight(dialog.getByRole('button', { name: 'Save' }), 'Save');
    await page.context().setOffline(false);
    await press(dialog, 'Save');
    await page.locator('.rollout-text').filter({ hasText: '50 % of users' }).waitFor();
  });

  it('a change whose response was lost is made once when it is sent again, and is in conflict with nobody', async () => {
    await makeFlag(call, 'lost');
    const page = await openFlag('lost', { expected: /ERR_CONNECTION_RESET/ });
    /** Sends the form twice: the server makes the first change, and nobody hears of that. */
    const sendTwice = async (dialog: Locator, agree: string, path: RegExp) => {
      await page.route(
        path,
        async (route) => {
          await route.fetch();
          await route.abort('connectionreset');
        },
        { times: 1 },
      );
      await press(dialog, agree);
      await dialog.getByText('The server cannot be reached.').waitFor();
      await press(dialog, agree);
      await dialog.waitFor({ state: 'detached' });
    };
    await press(page, 'Comment…');
    const comment = page.getByRole('dialog', { name: 'Comment on lost' });
    await comment.getByLabel('Comment', { exact: true }).fill('Said once.');
    await sendTwice(comment, 'Comment', /comments$/);
    await press(page, 'Choose who… in development');
    const strategy = page.getByRole('dialog', { name: 'New strategy in development' });
    await sendTwice(strategy, 'Add', /development.strategies$/);
    const { events } = (await call('POST', '/events/search', { feature: 'lost' })).body;
    assert.deepEqual(
      events.map(({ type }: { type: string }) => type),
      ['feature-strategy-add', 'feature-commented', 'feature-created'],
    );
    await page.goto(`${shared.server.origin}/#/tokens`);
    await press(page, 'New API token');
    const token = page.getByRole('dialog', { name: 'New API token' });
    await token.getByLabel('Name', { exact: true }).fill('lost');
    await sendTwice(token, 'Create', /api-tokens$/);
    await page.getByText('its secret was lost on the way: delete it, and make another.').waitFor();
  });

  it('a press that a slow server has not answered yet begins nothing else, and is seen to be on its way', async () => {
    await makeFlag(call, 'slow');
    const page = await openFlag('slow');
    const asked: string[] = [];
    const answer = signal();
    for (const path of ['environments/project/default', 'projects/default/flags-as-code'])
      await page.route(`**/api/admin/${path}*`, async (route) => {
        asked.push(path);
        await answer.promise;
        await route.continue();
      });
    const opener = page.getByRole('button', { name: 'Choose who… in development', exact: true });
    await opener.click();
    await opener.and(page.locator('[aria-busy=true]')).click();
    for (const _ of [1, 2]) await choose(page, 'More for this flag', 'Promote…');
    answer.resolve();
    for (const name of ['New strategy in development', 'Promote slow'])
      await page.getByRole('dialog', { name, includeHidden: true }).waitFor({ state: 'attached' });
    assert.deepEqual(asked, ['environments/project/default', 'projects/default/flags-as-code']);
  });

  it('a conflict tells in words what both changed', async () => {
    await makeFlag(call, 'both');
    const page = await openFlag('both', { expected: /status of 412/ });
    await press(page, 'Add variants');
    const dialog = page.getByRole('dialog', { name: 'Variants of both' });
    await press(dialog, 'Add variant');
    await dialog.getByLabel('Name', { exact: true }).fill('blue');
    const theirs = [{ name: 'red', weight: 1000, weightType: 'variable', stickiness: 'default' }];
    await call('PUT', `${FEATURES}/both/variants`, theirs);
    await press(dialog, 'Save');
    await dialog.locator('.conflict').getByText('variants: red 100 % → blue 100 %').waitFor();
  });

  it('a server that cannot be reached is said where a form would open, until it is back', async () => {
    await makeFlag(call, 'out-of-reach');
    const page = await openFlag('out-of-reach', { expected: /ERR_INTERNET_DISCONNECTED/ });
    await page.getByRole('heading', { name: 'development' }).waitFor();
    await page.context().setOffline(true);
    await press(page, 'Choose who… in development');
    const refusal = page.locator('.notice').filter({ hasText: 'The server cannot be reached.' });
    await refusal.waitFor();
    await page.context().setOffline(false);
    await refusal.waitFor({ state: 'detached' });
    await press(page, 'Choose who… in development');
    await page.getByRole('dialog', { name: 'New strategy in development' }).waitFor();
  });

  it('a page of an earlier version of the server says that it is to be loaded again, and works then', async () => {
    await makeFlag(call, 'upgraded');
    const page = await openFlag('upgraded', { expected: /status of 404|ERR_CONNECTION_RESET/ });
    // A connection that breaks is no other version.
    await page.route('**/console/rest-*', (route) => route.abort('connectionreset'), { times: 1 });
    await page.reload();
    await press(page, 'Choose who… in development');
    await page.getByRole('dialog', { name: 'New strategy in development' }).waitFor();
    await page.route('**/console/rest-*', (route) =>
      route.fulfill({ status: 404, body: 'There is no such file.' }),
    );
    await page.reload();
    await press(page, 'Choose who… in development');
    const sentence = 'Reload the page: it is of an earlier version of the server.';
    await page.locator('.notice').filter({ hasText: sentence }).waitFor();
    await page.getByRole('link', { name: 'All flags' }).click();
    await page.locator('main').getByText(sentence).waitFor();
    await page.unrouteAll();
    await page.reload();
    await page.locator('main').getByRole('link', { name: 'upgraded' }).click();
    await press(page, 'Choose who… in development');
    await page.getByRole('dialog', { name: 'New strategy in development' }).waitFor();
  });

  it('a session that ends asks for the token above the open form, keeps it, and sends it', async () => {
    await makeFlag(call, 'outlived');
    await addStrategy(call, 'outlived', rollout(10));
    const { token } = await addUser(shared.server, ADMIN_ROLE_ID);
    const page = await openFlag('outlived', { token, expected: /status of 401/ });
    const dialog = await editStrategy(page);
    await share(dialog).fill('50');
    await page.context().clearCookies();
    // Another request may have been refused before it, and the question for the token may lie above the form already.
    await page.evaluate("document.querySelector('dialog form').requestSubmit()");
    const again = page.getByRole('dialog', { name: 'Sign in again' });
    await again.waitFor();
    await page.keyboard.press('Escape');
    const form = again.locator('form').filter({ hasText: 'API token or personal token' });
    if (!(await form.isVisible())) await again.getByText('Sign in with a token instead').click();
    await form.getByLabel('API token or personal token').fill(token);
    await press(form, 'Sign in');
    await dialog.waitFor({ state: 'detached' });
    await page.locator('.rollout-text').filter({ hasText: '50 % of users' }).waitFor();
  });

  it('what is typed on a page is there again once somebody whose sessions were ended has signed in', async () => {
    const { token } = await addUser(shared.server, ADMIN_ROLE_ID);
    const page = await signedIn({ token, place: '#/playground', expected: /status of 401/ });
    await page.getByLabel('Context of the users').fill('userId: grace');
    await page.evaluate(DRAFT_KEPT);
    await page.request.delete(`${shared.server.origin}/auth/sessions`);
    await page.getByLabel('API token or personal token').fill(token);
    await press(page, 'Sign in');
    await page.getByRole('button', { name: 'Evaluate' }).waitFor();
    assert.equal(await page.getByLabel('Context of the users').inputValue(), 'userId: grace');
  });

  it('what was typed is there again after a reload, until it is sent or given up, and gone after signing out', async () => {
    await makeFlag(call, 'drafted');
    await addStrategy(call, 'drafted', rollout(10));
    // What the page asks for as the session ends is refused.
    const page = await openFlag('drafted', { expected: /status of 401/ });
    let dialog = await editStrategy(page);
    await share(dialog).fill('35');
    await page.evaluate(DRAFT_KEPT);
    await page.reload();
    dialog = await editStrategy(page);
    await dialog.getByText('Restored from your draft.').waitFor();
    assert.equal(await share(dialog).inputValue(), '35');
    await press(dialog, 'Start over');
    assert.equal(await share(dialog).inputValue(), '10');
    await press(dialog, 'Cancel');
    dialog = await editStrategy(page);
    assert.equal(await dialog.getByText('Restored from your draft.').count(), 0);

    await share(dialog).fill('36');
    await page.evaluate(DRAFT_KEPT);
    await page.keyboard.press('Escape');
    await press(page, 'Sign out');
    await page.getByText('Signed out.').waitFor();
    assert.equal(await page.evaluate('JSON.stringify(history.state.drafts)'), '{}');
  });

  it('the history says what changed in sentences, names segments, and tells no change where there is none', async () => {
    await makeFlag(call, 'told');
    await call('POST', '/segments', { name: 'The north', constraints: [] });
    const { segments } = (await call('GET', '/segments')).body;
    const north = segments.find(({ name }: { name: string }) => name === 'The north').id;
    const strategy = await addStrategy(call, 'told', rollout(10));
    const constraints = [
      { contextName: 'country', operator: 'IN', values: ['NO'], inverted: false, caseInsensitive: false },
    ];
    await call('PUT', `${environmentPath('told')}/strategies/${strategy.id}`, {
      ...rollout(50),
      constraints,
      segments: [north],
    });
    const page = await openFlag('told');
    const newest = page.getByRole('listitem').filter({ hasText: 'strategy changed in development' }).first();
    await newest.getByText('rollout: 10 % of users → 50 % of users').waitFor();
    await newest.getByText('segments: nothing → The north').waitFor();
    await newest.getByText('constraints: nothing → country').waitFor();
    const fields = await newest.locator('.event-field').allTextContents();
    assert.deepEqual(fields.map((text) => text.split(':')[0]).sort(), ['constraints', 'rollout', 'segments']);
    assert.doesNotMatch(fields.join(), /[{[]/);
  });

  it('a question about production shows the figures of now, and is not asked about what is not complete', async () => {
    await makeFlag(call, 'asked');
    await addStrategy(call, 'asked', rollout(10), 'production');
    const page = await openFlag('asked', { expected: /status of 4(?:01|12)/ });
    const dialog = await editStrategy(page, 'production');
    await chooseTargets(dialog);
    await press(dialog, 'Add constraint');
    await dialog.getByLabel('Context field').and(page.locator(':focus')).waitFor();
    await press(dialog, 'Save');
    await dialog.getByText('Choose a context field.').waitFor();
    assert.equal(await page.getByRole('dialog', { name: 'Change production?' }).count(), 0);
    await press(dialog, 'Remove constraint 1');

    await evaluateInProduction(shared.server, 'asked');
    await call('POST', `${environmentPath('asked', 'production')}/on`);
    await share(dialog).fill('50');
    await press(dialog, 'Save');
    await dialog.locator('.conflict').getByText('switched on in production').waitFor();
    await press(dialog, 'Merge');
    await press(dialog, 'Save');
    const question = page.getByRole('dialog', { name: 'Change production?' });
    await question.getByText('Currently on for 10 % of users.').waitFor();
    await press(question, 'Cancel');
  });

  it('no row moves when one is chosen', async () => {
    for (const name of ['row-one', 'row-two', 'row-three']) await makeFlag(call, name);
    const page = await signedIn({ place: '#/projects/default?text=row' });
    const second = page.getByRole('checkbox', { name: 'Select row-two' });
    const before = await second.boundingBox();
    await page.getByRole('checkbox', { name: 'Select row-three' }).click();
    await page.getByText('1 flag selected').waitFor();
    assert.deepEqual(await second.boundingBox(), before);
  });

  it('the question before archiving says where the flag is on, whether it is used, and what depends on it', async () => {
    for (const name of ['parent', 'child']) await makeFlag(call, name);
    await addStrategy(call, 'parent', {}, 'production');
    await call('POST', `${environmentPath('parent', 'production')}/on`);
    await call('POST', `${FEATURES}/child/dependencies`, { feature: 'parent' });
    const page = await openFlag('parent');
    await choose(page, 'More for this flag', 'Archive…');
    const question = page.getByRole('dialog', { name: 'Archive this flag?' });
    await question.getByText('It is on in production.').waitFor();
    await question.getByText('No application has used it yet.').waitFor();
    await question.getByText('child depends on it, and must be archived first.').waitFor();
    await press(question, 'Cancel');
    await page.goto(`${shared.server.origin}/#/projects/default?text=parent`);
    await page.getByRole('checkbox', { name: 'Select parent' }).click();
    await press(page, 'Archive…');
    await question.getByText('It is on in production.').waitFor();
  });

  it('every page is whole for a Viewer', async () => {
    await makeFlag(call, 'viewed');
    const { token } = await addUser(shared.server, VIEWER_ROLE_ID);
    const page = await signedIn({ token, expected: /status of 40[13]/ });
    const places = [
      ...['', '/archive', '/settings', '/history', '/insights', '/stale-flags', '/flags/viewed'].map(
        (rest) => `projects/default${rest}`,
      ),
      ...['projects', 'environments', 'segments', 'context-fields', 'users', 'tokens', 'account'],
      ...['events', 'health', 'server', 'all-flags', 'stale-flags', 'playground', 'applications'],
      ...['groups', 'roles', 'service-accounts', 'tag-types', 'strategy-types', 'integrations'],
    ];
    for (const place of places) {
      await page.goto(`${shared.server.origin}/#/${place}`);
      await page.locator('main h1').waitFor();
      await page.waitForLoadState('networkidle');
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      assert.equal(await page.getByText(/could not be (?:loaded|displayed)/).count(), 0, place);
    }
    await page.goto(`${shared.server.origin}/#/projects/default/flags/viewed`);
    await page.getByTitle('Ask an owner of default, or an Admin').first().waitFor();
  });

  it('two words, and words with a fault, find what has them', async () => {
    await makeFlag(call, 'checkout-new-basket');
    const page = await signedIn();
    await page.getByRole('heading', { name: 'Default' }).waitFor();
    await page.keyboard.press('Control+k');
    const finder = page.getByRole('dialog', { name: 'Find' });
    for (const text of ['basket checkout', 'chekout basket', 'checkout baskte']) {
      await finder.getByRole('combobox').fill('');
      await finder.getByRole('option', { name: 'checkout-new-basket' }).waitFor({ state: 'detached' });
      await finder.getByRole('combobox').fill(text);
      await finder.getByRole('option', { name: 'checkout-new-basket' }).waitFor();
    }
  });

  it('a name that reads as a sentence of the console is seen to be a name', async () => {
    const sentence = 'userId is one of ada, bob, and country';
    await makeFlag(call, 'misread');
    await addStrategy(
      call,
      'misread',
      { name: 'default', constraints: [{ contextName: sentence, operator: 'NOT_IN', values: ['XX'] }] },
      'production',
    );
    await evaluateInProduction(shared.server, 'misread');
    const page = await openFlag('misread');
    await page.getByRole('switch', { name: 'misread in production' }).click();
    const question = page.getByRole('dialog', { name: 'Change production?' });
    await question.locator('q').getByText(sentence, { exact: true }).waitFor();
    await question.getByText('a field that is not defined').waitFor();
    assert.deepEqual(await question.locator('q').allTextContents(), [sentence, 'XX']);
  });

  it('no address takes the console away', async () => {
    const page = await signedIn({ expected: /status of 404/ });
    for (const query of [
      'seen=x',
      'sort=on%20',
      'state=on',
      'show=,,&hide=%00',
      'owner=-&tag=:',
      'rows=x&first=y',
    ]) {
      await page.goto(`${shared.server.origin}/#/projects/default?${query}`);
      await page.locator('main h1').waitFor();
    }
    for (const place of [
      'projects/%E0%A4%A',
      'projects//flags/',
      'projects/none/flags/none',
      '%',
      'projects/a?b?c',
    ]) {
      await page.goto(`${shared.server.origin}/#/${place}`);
      await page.locator('main').getByText(/\S/).first().waitFor();
    }
    await page.goto(`${shared.server.origin}/#/projects`);
    await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor();
  });

  it('one Undo is offered at a time', async () => {
    for (const name of ['undo-one', 'undo-two']) {
      await makeFlag(call, name);
      await addStrategy(call, name);
    }
    const page = await signedIn({ place: '#/projects/default?text=undo' });
    for (const name of ['undo-one', 'undo-two']) {
      await page.getByRole('switch', { name: `${name} in development` }).click();
      await page
        .locator('.notice')
        .filter({ hasText: `${name} is on` })
        .waitFor();
    }
    assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 1);
  });

  it('a name in a notice is seen in both themes', async () => {
    await makeFlag(call, 'noticed');
    for (const colorScheme of ['light', 'dark'] as const) {
      await call('POST', '/features/noticed/tags', { type: 'simple', value: 'spring' });
      const page = await openFlag('noticed', { colorScheme });
      await press(page, 'Remove the tag simple: spring');
      const said = page.locator('.notice .said');
      await said.waitFor();
      const [name, notice] = await page.evaluate<string[]>(
        `['.notice .said', '.notice'].map((of) => getComputedStyle(document.querySelector(of)).color)`,
      );
      assert.equal(name, notice, colorScheme);
      await isAccessible(page, `a notice, ${colorScheme}`);
    }
  });
});
