/** Change requests in the console: forms propose in a protected environment, another person approves, and the author applies. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import {
  approvedRequest,
  as,
  authorAndReviewer,
  EDITOR,
  propose,
  protect,
  REQUESTS,
  setState,
  succeeded,
  switchOn,
} from '../addons/change-requests/scene.ts';
import {
  choose,
  describeConsole,
  fitsTheWidth,
  flagSwitch,
  isAccessible,
} from '../support/browser/console.ts';
import { type AddedUser, addStrategy, addUser, environmentPath, makeFlag } from '../support/interface.ts';

describeConsole('change requests in the console', (shared) => {
  const press = (within: Page | Locator, name: string) =>
    within.getByRole('button', { name, exact: true }).click();
  const notice = (page: Page, text: string) => page.locator('.notice').filter({ hasText: text });
  const open = ({ token }: AddedUser, place: string) => shared.signedIn({ token, place });
  const openFlag = (user: AddedUser, flag: string) => open(user, `#/projects/default/flags/${flag}`);
  const inProduction = async (flag: string) =>
    (await shared.server.call('GET', environmentPath(flag, 'production'))).body;

  /** A flag that is set up in production before that takes change requests. */
  async function flagInProduction(name: string): Promise<void> {
    const { call } = shared.server;
    await protect(shared.server, { changeRequestsEnabled: false });
    await makeFlag(call, name);
    const strategy = {
      name: 'flexibleRollout',
      parameters: { rollout: '10', stickiness: 'default', groupId: name },
    };
    await addStrategy(call, name, strategy, 'production');
    await protect(shared.server, { allowSwitchOff: false });
  }

  async function addSkipper(name: string): Promise<AddedUser> {
    const skipper = await addUser(shared.server, EDITOR);
    const permissions = [{ name: 'SKIP_CHANGE_REQUEST', environment: 'production' }];
    const role = { name, type: 'custom', description: '', permissions };
    const { roles } = (await shared.server.call('POST', '/roles', role)).body;
    await shared.server.call('POST', `/projects/default/users/${skipper.id}/roles/${roles.id}`);
    return skipper;
  }

  it('takes a change from the form to production by two people in nine clicks', async () => {
    await flagInProduction('checkout');
    const author = await addUser(shared.server, EDITOR);
    const reviewer = await addUser(shared.server, EDITOR);
    const page = await openFlag(author, 'checkout');
    await page.getByRole('button', { name: 'Edit Gradual rollout in production' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Share of users in percent', { exact: true }).fill('35');
    await form.getByText('Changes of production need a change request').waitFor();
    await press(form, 'Propose');
    assert.equal((await inProduction('checkout')).strategies[0].parameters.rollout, '10');
    await notice(page, 'Proposed for production').getByRole('link').click();
    const change = page.locator('.rollback-list li');
    await change.getByText('10 % of users').waitFor();
    await change.getByText('35 % of users').waitFor();
    await press(page, 'Send to review…');
    await page.getByRole('dialog').getByLabel('Title').fill('Checkout for more');
    await press(page.getByRole('dialog'), 'Send');
    await page.getByText('In review, 0 of 1').waitFor();

    const other = await open(reviewer, '#/all-flags?query=checkout');
    await other.getByRole('rowheader', { name: 'change requested' }).waitFor();
    await other.getByRole('link', { name: 'Change requests 1 waits for you' }).click();
    await other.getByRole('link', { name: 'Checkout for more' }).click();
    await press(other, 'Approve');
    await notice(other, 'You approved').waitFor();

    await choose(page, 'More for this change request', 'Apply at a time…');
    await page
      .getByRole('dialog')
      .getByLabel('Time (UTC)')
      .fill(`${new Date().getUTCFullYear() + 1}-01-01T06:00`);
    await press(page.getByRole('dialog'), 'Schedule');
    await page.getByText('Scheduled, ').waitFor();
    await press(page, 'Apply now');
    await page.getByText('recorded as the events').waitFor();
    assert.equal((await inProduction('checkout')).strategies[0].parameters.rollout, '35');
  });

  it('proposes what the switch would do, and takes it back', async () => {
    await flagInProduction('switched');
    const author = await addUser(shared.server, EDITOR);
    const page = await openFlag(author, 'switched');
    await flagSwitch(page, 'switched', 'production').click();
    await notice(page, 'Proposed for production').waitFor();
    assert.equal(await flagSwitch(page, 'switched', 'production').getAttribute('aria-checked'), 'false');
    assert.equal((await inProduction('switched')).enabled, false);
    await press(page, 'Undo');
    await notice(page, 'Undone.').waitFor();
    const pending = await as(shared.server, author)('GET', `${REQUESTS}/pending`);
    assert.deepEqual(pending.body, []);
  });

  it('names the change that somebody makes without a request, and offers it to nobody without the right', async () => {
    await flagInProduction('urgent');
    const page = await openFlag(await addSkipper('Breaks glass'), 'urgent');
    await page.getByRole('button', { name: 'Edit Gradual rollout in production' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Share of users in percent', { exact: true }).fill('35');
    await form.getByText('One without it is recorded as such').waitFor();
    await form.getByRole('button', { name: 'Propose' }).waitFor();
    await press(form, 'Save anyway');
    await notice(page, 'the strategies in production are changed').waitFor();
    await page.getByRole('link', { name: /^Change requests/ }).click();
    await page.getByRole('link', { name: 'made without a change request' }).click();
    await page
      .getByText('changed without a change request in production: urgent, strategy changed')
      .waitFor();
    assert.equal((await inProduction('urgent')).strategies[0].parameters.rollout, '35');
  });

  it('changes nothing while it is not known whether production takes change requests', async () => {
    await flagInProduction('unknown');
    const { token } = await addSkipper('May skip');
    const place = '#/projects/default/flags/unknown';
    const page = await shared.signedIn({ token, place, expected: /status of 500/ });
    await page.route('**/change-requests/config', (route) => route.fulfill({ status: 500, body: '{}' }));
    await page.reload();
    await page.getByRole('button', { name: 'Edit Gradual rollout in production' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Share of users in percent', { exact: true }).fill('35');
    await press(form, 'Save');
    await form.locator('.problem').first().waitFor();
    assert.equal((await inProduction('unknown')).strategies[0].parameters.rollout, '10');
  });

  it('says what is in conflict, and is accessible on a phone', async () => {
    await flagInProduction('disputed');
    const author = await addUser(shared.server, EDITOR);
    const { strategies } = await inProduction('disputed');
    const { id } = strategies[0];
    const by = as(shared.server, author);
    const payload = {
      id,
      name: 'flexibleRollout',
      parameters: { rollout: '50', stickiness: 'default', groupId: 'x' },
    };
    const { body } = await by('POST', '/projects/default/environments/production/change-requests', [
      { feature: 'disputed', action: 'updateStrategy', payload },
    ]);
    await protect(shared.server, { changeRequestsEnabled: false });
    await shared.server.call('PUT', `${environmentPath('disputed', 'production')}/strategies/${id}`, {
      ...payload,
      parameters: { ...payload.parameters, rollout: '20' },
    });
    await protect(shared.server);
    const page = await open(author, `#/projects/default/change-requests/${body.id}`);
    await page.getByText('Conflict:').waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await fitsTheWidth(page, 'a change request');
    await isAccessible(page, 'a change request');
    await page.getByRole('button', { name: /^Confirm for/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Conflict:').waitFor({ state: 'detached' });
  });

  it('shows all requests of a long list, however many there are', async () => {
    await flagInProduction('often');
    const author = await addUser(shared.server, EDITOR);
    for (let count = 0; count < 110; count += 1) {
      const by = as(shared.server, author);
      const { id } = await propose(by, switchOn('often'));
      assert.equal((await setState(by, id, 'In review')).status, 200);
      assert.equal((await setState(by, id, 'Cancelled')).status, 200);
    }
    const page = await open(author, '#/change-requests?show=mine');
    await page.getByText('110 change requests').waitFor();
    const rows = page.getByRole('rowheader');
    for (const shown of [50, 100]) {
      assert.equal(await rows.count(), shown);
      await press(page, 'More change requests');
      await rows.nth(Math.min(shown + 49, 109)).waitFor();
    }
    assert.equal(await rows.count(), 110);
  });

  it('marks flags with open requests, and names scheduled ones that change the same', async () => {
    await flagInProduction('marked');
    const { people, author, reviewer } = await authorAndReviewer(shared.server);
    const { id } = await approvedRequest(author, reviewer, switchOn('marked'));
    const scheduledAt = `${new Date().getUTCFullYear() + 1}-01-01T06:00:00.000Z`;
    const scheduled = await author('PUT', `${REQUESTS}/${id}/state`, { state: 'Scheduled', scheduledAt });
    assert.equal(scheduled.status, 200);
    const other = await propose(author, switchOn('marked'));
    const page = await open(people.reviewer, '#/projects/default');
    await page.getByRole('rowheader', { name: 'marked change requested' }).waitFor();
    await page.getByRole('link', { name: 'marked', exact: true }).click();
    const card = page.getByRole('region', { name: 'production', exact: true });
    await card.getByText(/^Scheduled, /).waitFor();
    await card.getByText('Draft').waitFor();
    assert.equal(await page.getByText(/^Scheduled, /).count(), 1);
    await page.goto(`${shared.server.origin}/#/projects/default/change-requests/${other.id}`);
    const conflict = page.locator('.problem').filter({ hasText: 'Scheduled requests change the same' });
    await conflict.getByRole('link', { name: scheduled.body.title }).waitFor();
  });

  it('proposes what rolling back and copying strategies would change, and says what waits', async () => {
    await flagInProduction('returned');
    const { call } = shared.server;
    const { revision } = shared.server.server.store.engine.world.projects
      .get('default')!
      .flags.get('returned')!;
    await protect(shared.server, { changeRequestsEnabled: false });
    await addStrategy(call, 'returned', { name: 'default' }, 'production');
    await call('POST', `${environmentPath('returned', 'production')}/on`);
    await addStrategy(call, 'returned', { name: 'default' });
    await protect(shared.server, { allowSwitchOff: false });
    const { people, author, reviewer } = await authorAndReviewer(shared.server);
    const page = await openFlag(people.author, 'returned');
    await page.getByText(/^\d+ changes on/).click();
    await press(page, `Roll back to here, event ${revision}`);
    const question = page.getByRole('dialog');
    await question.getByText('1 other change waits').waitFor();
    await press(question, 'Propose');
    await notice(page, 'Proposed for production').waitFor();
    assert.equal((await inProduction('returned')).enabled, true);
    const [{ id }] = (await author('GET', `${REQUESTS}/pending`)).body;
    for (const [by, state] of [
      [author, 'In review'],
      [reviewer, 'Approved'],
      [author, 'Applied'],
    ] as const)
      assert.equal((await setState(by, id, state)).status, 200, state);
    const { enabled, strategies } = await inProduction('returned');
    assert.deepEqual([enabled, strategies.length], [false, 1]);

    await press(page, 'Copy strategies… to production');
    await press(question, 'Propose');
    await notice(page, 'Proposed for production').getByRole('link').click();
    await page.getByRole('heading', { name: /^Change request \d/, level: 1 }).waitFor();
    await page.getByText('strategy added in production').waitFor();
    assert.deepEqual((await inProduction('returned')).strategies, strategies);
  });

  it('proposes variants where they need a request, and changes them at once elsewhere', async () => {
    await flagInProduction('varied');
    const author = await addUser(shared.server, EDITOR);
    const page = await openFlag(author, 'varied');
    const variantsIn = async (environment: string) =>
      (await shared.server.call('GET', `${environmentPath('varied', environment)}/variants`)).body.variants;
    await page.getByRole('button', { name: /^(?:Add|Edit) variants$/ }).click();
    const form = page.getByRole('dialog');
    await press(form, 'Add variant');
    await form.getByRole('group', { name: 'Variant 1' }).getByLabel('Name').fill('blue');
    await form.getByText('Changed at once: development.').waitFor();
    await press(form, 'Propose');
    await notice(page, 'Changed at once: development.').waitFor();
    assert.deepEqual(
      [(await variantsIn('production')).length, (await variantsIn('development')).length],
      [0, 1],
    );
    await press(page, 'Undo');
    await notice(page, 'Undone.').waitFor();
    assert.deepEqual(await variantsIn('development'), []);
    assert.deepEqual((await as(shared.server, author)('GET', `${REQUESTS}/pending`)).body, []);
  });

  it('proposes for several environments, or for none where one refuses', async () => {
    await flagInProduction('half-way');
    const config = '/projects/default/environments/development/change-requests/config';
    const required = { changeRequestsEnabled: true, requiredApprovals: 1 };
    assert.equal((await shared.server.call('PUT', config, required)).status, 200);
    const author = await addUser(shared.server, EDITOR);
    const place = '#/projects/default/flags/half-way';
    const page = await shared.signedIn({ token: author.token, place, expected: /status of 500/ });
    await page.route('**/environments/development/change-requests', (route) =>
      route.fulfill({ status: 500, body: '{}' }),
    );
    await page.getByRole('button', { name: /^(?:Add|Edit) variants$/ }).click();
    const form = page.getByRole('dialog');
    await press(form, 'Add variant');
    await form.getByRole('group', { name: 'Variant 1' }).getByLabel('Name').fill('blue');
    await press(form, 'Propose');
    await form.locator('.problem').first().waitFor();
    assert.deepEqual((await as(shared.server, author)('GET', `${REQUESTS}/pending`)).body, []);
    await shared.server.call('PUT', config, { ...required, changeRequestsEnabled: false });
  });

  it('says what to do where no request can hold a change', async () => {
    await flagInProduction('staying');
    await shared.server.call('POST', '/projects', {
      id: 'other',
      name: 'Other',
      environments: ['development', 'production'],
    });
    const { token } = await addUser(shared.server, EDITOR);
    const page = await shared.signedIn({
      token,
      place: '#/projects/default/flags/staying',
      expected: /status of 403/,
    });
    await choose(page, 'More for this flag', 'Move…');
    await press(page.getByRole('dialog'), 'Move');
    await page.getByRole('dialog').getByText('no request can hold this').waitFor();
    assert.equal((await shared.server.call('GET', '/projects/default/features/staying')).status, 200);
  });

  it('edits changes of a draft, and of a request in review, whose approvals then count no more', async () => {
    const { call } = shared.server;
    await call('POST', '/segments', { name: 'Beta', constraints: [] });
    const [{ id: segment }] = (await call('GET', '/segments')).body.segments;
    await flagInProduction('drafted');
    const { people, author, reviewer } = await authorAndReviewer(shared.server);
    const strategy = (await inProduction('drafted')).strategies[0];
    const variants = [{ name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' }];
    const { id } = await propose(
      author,
      { feature: 'drafted', action: 'updateStrategy', payload: strategy },
      { feature: 'drafted', action: 'patchVariant', payload: { variants } },
      { feature: null, action: 'updateSegment', payload: { id: segment, name: 'Beta', constraints: [] } },
    );
    const page = await open(people.author, `#/projects/default/change-requests/${id}`);
    const form = page.getByRole('dialog');
    const edit = async (change: number, field: Locator, value: string) => {
      await page.getByRole('button', { name: `Edit change ${change}`, exact: true }).focus();
      await page.keyboard.press('Enter');
      await field.fill(value);
      await press(form, 'Save');
      await form.waitFor({ state: 'detached' });
    };
    const changes = async () => {
      const { features, segments } = await succeeded(author('GET', `${REQUESTS}/${id}`));
      return [...features[0].changes, ...segments];
    };
    const [first, second, third] = (await changes()).map((change) => change.id);
    await edit(second, form.getByRole('group', { name: 'Variant 1' }).getByLabel('Name'), 'green');
    await edit(third, form.getByLabel('Description'), 'Early birds');
    await press(page, 'Undo');
    await notice(page, 'Undone.').waitFor();
    await edit(third, form.getByLabel('Description'), 'Volunteers');
    await succeeded(setState(author, id, 'In review'));
    await succeeded(setState(reviewer, id, 'Approved'));
    await page.getByText('Approved').first().waitFor();
    await edit(first, form.getByLabel('Share of users in percent', { exact: true }), '65');
    await page.getByText('In review, 0 of 1').waitFor();
    await page.getByText('65 % of users').waitFor();
    const [edited, varied, described] = await changes();
    assert.equal(edited.payload.parameters.rollout, '65');
    assert.equal(varied.payload.variants[0].name, 'green');
    assert.equal(described.payload.description, 'Volunteers');
    assert.equal((await inProduction('drafted')).strategies[0].parameters.rollout, '10');
  });

  for (const colorScheme of ['light', 'dark'] as const)
    it(`is accessible in its lists, pages and forms on a phone, ${colorScheme}`, async () => {
      const flag = `seen-${colorScheme}`;
      await flagInProduction(flag);
      const { people, author, reviewer } = await authorAndReviewer(shared.server);
      const strategy = (await inProduction(flag)).strategies[0];
      const change = { feature: flag, action: 'updateStrategy', payload: strategy };
      const { id } = await approvedRequest(author, reviewer, change);
      const scheduledAt = `${new Date().getUTCFullYear() + 1}-01-01T06:00:00.000Z`;
      await succeeded(author('PUT', `${REQUESTS}/${id}/state`, { state: 'Scheduled', scheduledAt }));
      const draft = await propose(author, change);
      const { token } = people.author;
      const page = await shared.signedIn({
        token,
        colorScheme,
        width: 390,
        place: `#/projects/default/flags/${flag}`,
      });
      const look = async (what: string) => {
        await fitsTheWidth(page, what);
        await isAccessible(page, what);
      };
      await page.getByText(/^Scheduled, /).waitFor();
      await look('a flag with requests');
      await page.goto(`${shared.server.origin}/#/change-requests?show=mine`);
      await page.getByText('2 change requests').waitFor();
      await look('the list');
      await page.goto(`${shared.server.origin}/#/projects/default/change-requests/${draft.id}`);
      await page.getByText('Scheduled requests change the same').waitFor();
      await look('a draft');
      await page.getByRole('button', { name: /^Edit change/ }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').getByText('Once the change request is applied').waitFor();
      await look('the form of a change');
      await page.keyboard.press('Escape');
      await press(page, 'Send to review…');
      await page.getByRole('dialog').waitFor();
      await look('the form of a review');
      const settings = await shared.signedIn({
        colorScheme,
        width: 390,
        place: '#/projects/default/settings',
      });
      await choose(settings, 'More for production', 'Change requests… production');
      await settings.getByRole('dialog').getByLabel('Required approvals').waitFor();
      await fitsTheWidth(settings, 'the settings');
      await isAccessible(settings, 'the settings');
    });

  it('promotes the chosen differences between environments, and proposes them where requests are taken', async () => {
    const { call } = shared.server;
    await flagInProduction('promoted');
    const rollout = (share: string) => ({
      name: 'flexibleRollout',
      parameters: { rollout: share, stickiness: 'default', groupId: 'promoted' },
    });
    await addStrategy(call, 'promoted', rollout('60'));
    await call('POST', `${environmentPath('promoted')}/on`);
    const author = await addUser(shared.server, EDITOR);
    const page = await open(author, '#/projects/default');
    await page.getByRole('checkbox', { name: 'Select promoted' }).check();
    await choose(page, 'More for the selected flags', 'Promote…');
    const form = page.getByRole('dialog');
    const box = (name: RegExp) => form.getByRole('checkbox', { name });
    await box(/^promoted · strategies: .*10 % of users → .*60 % of users/).waitFor();
    await form.getByText('2 changes in production').waitFor();
    await isAccessible(page, 'a promotion');
    await box(/^promoted · switch: off → on/).focus();
    await page.keyboard.press('Space');
    await form.getByText('1 change in production').waitFor();
    await form.getByText('Changes of production need a change request').waitFor();
    await press(form, 'Propose');
    await notice(page, 'Proposed for production').waitFor();
    assert.equal((await inProduction('promoted')).strategies[0].parameters.rollout, '10');
    const [pending] = (await as(shared.server, author)('GET', `${REQUESTS}/pending`)).body;
    const proposed = pending.features[0].changes.map(({ action }: { action: string }) => action);
    assert.deepEqual(proposed, ['updateStrategy']);

    await protect(shared.server, { changeRequestsEnabled: false });
    const { token } = await addUser(shared.server, EDITOR);
    const place = '#/projects/default/flags/promoted';
    const other = await shared.signedIn({ token, place, expected: /status of 412/ });
    await choose(other, 'More for this flag', 'Promote…');
    const again = other.getByRole('dialog');
    await again.getByText('2 changes in production').waitFor();
    await addStrategy(call, 'promoted', rollout('5'), 'production');
    await press(again, 'Promote in production');
    await again.locator('.problem').filter({ hasText: 'promoted' }).waitFor();
    assert.equal((await inProduction('promoted')).enabled, false);
    await press(again, 'Cancel');
    await choose(other, 'More for this flag', 'Promote…');
    await press(again, 'Promote in production');
    await notice(other, '2 changes are promoted to production.').waitFor();
    const { enabled, strategies } = await inProduction('promoted');
    assert.deepEqual([enabled, strategies.length], [true, 1]);
    assert.equal(strategies[0].parameters.rollout, '60');
    await press(other, 'Undo');
    await notice(other, 'Undone.').waitFor();
    assert.equal((await inProduction('promoted')).enabled, false);
    await protect(shared.server);
  });
});
