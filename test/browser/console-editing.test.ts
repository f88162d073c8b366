/** Things that people make and change in the console: flags, strategies, variants, and what stands around them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { evaluateInProduction } from '../support/applications.ts';
import {
  type ConsoleOptions,
  choose,
  chooseTargets,
  describeConsole,
  flagSwitch,
  isAccessible,
  openTab,
} from '../support/browser/console.ts';
import { addStrategy, addUser, environmentPath, FEATURES, makeFlag } from '../support/interface.ts';

const EDITOR_ROLE_ID = 2;

describeConsole('editing in the console', (shared) => {
  const signedIn = (options?: ConsoleOptions) => shared.signedIn(options);
  const read = async (path: string) => (await shared.server.call('GET', path)).body;
  const strategiesOf = (flag: string, environment?: string) =>
    read(`${environmentPath(flag, environment)}/strategies`);
  const openFlag = (name: string) => signedIn({ place: `#/projects/default/flags/${name}` });
  const dialogOf = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name });
  const press = (within: Page | Locator, name: string) =>
    within.getByRole('button', { name, exact: true }).click();
  const notice = (page: Page, text: string) => page.locator('.notice').filter({ hasText: text }).waitFor();

  const dependOn = async (page: Page, parent: string) => {
    await press(page, 'Add dependency');
    const dialog = dialogOf(page, /depend on another/);
    await dialog.getByLabel('Flag', { exact: true }).fill(parent);
    await press(dialog, 'Add dependency');
    await page.getByText('needs', { exact: false }).and(page.locator('.badge')).waitFor();
  };

  it('sets lifetimes of a project, with 0 for no limit, undoes them, and shows a refusal at its type', async () => {
    const page = await signedIn({ place: '#/projects/default/settings', expected: /status of 400/ });
    await press(page, 'Edit lifetimes…');
    const dialog = dialogOf(page, /^Lifetimes/);
    const release = dialog.getByLabel('Release, in days');
    await release.fill('ninety');
    await dialog.getByLabel('Operational, in days').fill('0');
    await press(dialog, 'Save');
    await dialog.getByRole('alert').waitFor();
    assert.equal(await release.getAttribute('aria-invalid'), 'true');
    await isAccessible(page, 'the dialog of lifetimes');
    await release.fill('90');
    await press(dialog, 'Save');
    await notice(page, 'The lifetimes are changed.');
    await page.getByRole('row', { name: /^Release 90/ }).waitFor();
    await page.getByRole('row', { name: /^Operational no limit/ }).waitFor();
    assert.deepEqual((await read('/projects/default/overview')).lifetimes, {
      release: 90,
      operational: null,
    });
    await press(page, 'Undo');
    await page.getByRole('row', { name: /^Release 40/ }).waitFor();
    assert.deepEqual((await read('/projects/default/overview')).lifetimes, {});
  });

  it('says of a stale flag where its outcome is constant and what needs it, and archives one that nothing needs', async () => {
    const { call } = shared.server;
    for (const name of ['left-over', 'needed', 'needing'])
      await makeFlag(call, name, { stale: name !== 'needing' });
    await call('POST', `${FEATURES}/needing/dependencies`, { feature: 'needed' });
    const page = await signedIn({ place: '#/projects/default/stale-flags' });
    await page.getByText('No application has reported yet').waitFor();
    const rowOf = (name: string) =>
      page.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) });
    await rowOf('left-over').getByText('production: off for everyone since').waitFor();
    await rowOf('left-over').getByText('not known').waitFor();
    await rowOf('needed').getByRole('link', { name: 'needing' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Archive… needed' }).count(), 0);
    await press(page, 'Archive… left-over');
    await press(dialogOf(page, 'Archive this flag?'), 'Archive');
    await rowOf('left-over').waitFor({ state: 'detached' });
  });

  it('creates a flag, says what will be true, and shows a refusal at the field that it is about', async () => {
    const page = await signedIn({ expected: /status of 40[01]/ });
    await press(page, 'New flag');
    const dialog = dialogOf(page, 'New flag');
    const name = dialog.getByLabel('Name');
    await name.fill('has a space');
    await press(dialog, 'Create');
    await dialog.getByRole('alert').waitFor();
    assert.equal(await name.getAttribute('aria-invalid'), 'true');
    assert.equal(await page.locator(':focus').getAttribute('id'), await name.getAttribute('id'));
    assert.equal(await name.inputValue(), 'has a space', 'what was typed stays');

    await name.fill('made-in-the-console');
    await dialog.getByLabel('Type').selectOption('experiment');
    await dialog.getByText('An experiment flag made-in-the-console exists').waitFor();
    await dialog.getByText('Show as curl').click();
    assert.match(
      (await dialog.locator('pre').textContent()) ?? '',
      /curl -X POST '.*\/api\/admin\/projects\/default\/features'/,
    );
    await isAccessible(page, 'the dialog of a new flag');
    await press(dialog, 'Create');
    await page.getByRole('heading', { name: 'made-in-the-console' }).waitFor();
    assert.equal((await read(`${FEATURES}/made-in-the-console`)).type, 'experiment');
  });

  it('creates a flag that is on at once where that is no production, all or nothing, and offers the same places again', async () => {
    const { call } = shared.server;
    const flags = '/projects/starting/features';
    await call('POST', '/environments', { name: 'guarded', type: 'test' });
    await call('POST', '/projects', { id: 'starting', name: 'Starting' });
    const page = await signedIn({ place: '#/projects/starting', expected: /status of 412/ });
    await press(page, 'New flag');
    const dialog = dialogOf(page, 'New flag');
    const places = dialog.getByRole('group', { name: 'On for everyone in' });
    await places.getByLabel('guarded').waitFor();
    assert.equal(await places.getByLabel('production').count(), 0, 'production is a decision of its own');
    await press(dialog, 'Cancel');
    const guard = { changeRequestsEnabled: true, requiredApprovals: 1 };
    await call('PUT', '/projects/starting/environments/guarded/change-requests/config', guard);
    await page.reload();
    await press(page, 'New flag');
    await places.getByLabel('development').check();
    assert.deepEqual(
      await places.getByRole('checkbox').count(),
      1,
      'what takes change requests is not offered',
    );

    const name = dialog.getByLabel('Name');
    await call('POST', '/projects/starting/features', { name: 'taken' });
    await name.fill('taken');
    await press(dialog, 'Create');
    await dialog.getByRole('alert').filter({ hasText: 'There is a flag "taken" already.' }).waitFor();
    assert.equal(await name.getAttribute('aria-invalid'), 'true');

    await name.fill('on-at-once');
    await dialog.getByLabel('Type').selectOption('kill-switch');
    await dialog.getByText('on for everyone in development, and off elsewhere').waitFor();
    await isAccessible(page, 'the dialog of a new flag that is on at once');
    await press(dialog, 'Create');
    await notice(page, 'on-at-once is created, and on in development.');
    const flag = await read(`${flags}/on-at-once`);
    const on = flag.environments.filter(({ enabled }: { enabled: boolean }) => enabled);
    assert.deepEqual(
      [flag.type, on.map((one: { name: string }) => one.name)],
      ['kill-switch', ['development']],
    );
    const [strategy] = await read(`${flags}/on-at-once/environments/development/strategies`);
    assert.deepEqual(strategy.parameters, { rollout: '100', stickiness: 'default', groupId: 'on-at-once' });
    await press(page, 'Undo');
    await notice(page, 'Undone.');
    assert.equal((await read(`${flags}/on-at-once`)).archived, true);

    await page.goBack();
    await press(page, 'New flag');
    assert.equal(await places.getByLabel('development').isChecked(), true, 'as it was chosen last');
    await places.getByLabel('development').uncheck();
    await name.fill('off-at-first');
    await press(dialog, 'Create');
    await notice(page, 'off-at-first is created.');
    assert.deepEqual(await read(`${flags}/off-at-first/environments/development/strategies`), []);
    await call('DELETE', '/environments/guarded');
  });

  it('writes a comment into the history, where it stands as it was written and is no moment to roll back to', async () => {
    await makeFlag(shared.server.call, 'discussed');
    await shared.server.call('PUT', `${FEATURES}/discussed`, { description: 'Newer', type: 'release' });
    const page = await openFlag('discussed');
    await press(page, 'Comment…');
    const dialog = dialogOf(page, 'Comment on discussed');
    await press(dialog, 'Comment');
    await dialog.getByText('Comment is required.').waitFor();
    await dialog.getByLabel('Comment', { exact: true }).fill('<b>Why</b>\nnot \u202eon?');
    await press(dialog, 'Comment');
    const history = page.getByRole('region', { name: 'History' });
    const newest = history.getByRole('listitem').first();
    await newest.getByText('commented', { exact: true }).waitFor();
    assert.equal(await newest.getByRole('blockquote').innerText(), '<b>Why</b>\nnot ⟨U+202E⟩on?');
    // To the creation alone.
    await history.getByRole('button', { name: /^Roll back/ }).waitFor();
    await isAccessible(page, 'a comment in the history');
    await history.getByText('Filter', { exact: true }).click();
    await page.getByLabel('Kind of change').selectOption('Comments');
    await history.getByText('changed', { exact: true }).waitFor({ state: 'detached' });
    await newest.waitFor();
    assert.equal(await history.getByRole('listitem').count(), 1);
  });

  it('adds a strategy with a share, constraints and variants of its own, and takes it back at once', async () => {
    await makeFlag(shared.server.call, 'with-rules');
    const page = await openFlag('with-rules');
    await press(page, 'Choose who… in development');
    const dialog = dialogOf(page, 'New strategy in development');
    await dialog.getByLabel('Share of users as a number').fill('35');
    await chooseTargets(dialog);
    await press(dialog, 'Add constraint');
    const first = dialog.getByRole('group', { name: 'Constraint 1' });
    await first.getByLabel('Context field').fill('country');
    await first.getByLabel('Values, separated by commas').fill('NO, SE');
    await press(dialog, 'Add constraint');
    const second = dialog.getByRole('group', { name: 'Constraint 2' });
    await second.getByLabel('Context field').fill('appVersion');
    await second.getByLabel('Comparison').selectOption('SEMVER_GTE');
    await second.getByLabel('Version').fill('2.0.0');
    await openTab(dialog, 'Variants');
    await press(dialog, 'Add variant');
    await press(dialog, 'Add variant');
    await dialog.getByRole('group', { name: 'Variant 1' }).getByLabel('Name').fill('blue');
    await dialog.getByRole('group', { name: 'Variant 1' }).getByLabel('Share in percent').fill('70');
    const green = dialog.getByRole('group', { name: 'Variant 2' });
    await green.getByLabel('Name').fill('green');
    assert.equal(
      await green.getByLabel('Share in percent').inputValue(),
      '30',
      'the shares sum to the whole',
    );
    await dialog
      .getByText(
        'with-rules is on in development for 35 % of users where country, a field that is not defined, is one of NO, SE and appVersion, a field that is not defined, is at least version 2.0.0',
      )
      .waitFor();
    await isAccessible(page, 'the dialog of a strategy');
    await press(dialog, 'Add');
    await page.getByText('35 % of users', { exact: true }).waitFor();
    const [strategy] = await strategiesOf('with-rules');
    assert.equal(strategy.parameters.rollout, '35');
    assert.deepEqual(
      strategy.constraints.map(({ operator, values, value }: Record<string, unknown>) => [
        operator,
        values,
        value,
      ]),
      [
        ['IN', ['NO', 'SE'], undefined],
        ['SEMVER_GTE', [], '2.0.0'],
      ],
    );
    assert.deepEqual(
      strategy.variants.map(({ name, weight }: Record<string, unknown>) => [name, weight]),
      [
        ['blue', 700],
        ['green', 300],
      ],
    );

    await press(page, 'Undo');
    await page.getByText('35 % of users', { exact: true }).waitFor({ state: 'detached' });
    assert.deepEqual(await strategiesOf('with-rules'), []);
  });

  it('shows what the server refuses at the constraint that it is about', async () => {
    await makeFlag(shared.server.call, 'refused-rule');
    const page = await signedIn({
      expected: /status of 40[01]/,
      place: '#/projects/default/flags/refused-rule',
    });
    await press(page, 'Choose who… in development');
    const dialog = dialogOf(page, /New strategy/);
    await chooseTargets(dialog);
    await press(dialog, 'Add constraint');
    const constraint = dialog.getByRole('group', { name: 'Constraint 1' });
    await constraint.getByLabel('Context field').fill('age');
    await constraint.getByLabel('Comparison').selectOption('NUM_GT');
    await constraint.getByLabel('Number').fill('many');
    await openTab(dialog, 'Variants');
    await press(dialog, 'Add');
    // The part of the form with what is refused is in sight again.
    await constraint.getByRole('alert').waitFor();
    assert.deepEqual(await strategiesOf('refused-rule'), []);
  });

  it('orders, disables, edits and removes strategies', async () => {
    await makeFlag(shared.server.call, 'ordered');
    await addStrategy(shared.server.call, 'ordered', { title: 'First' });
    await addStrategy(shared.server.call, 'ordered', { title: 'Second' });
    const page = await openFlag('ordered');
    const titles = async () => (await strategiesOf('ordered')).map(({ title }: { title: string }) => title);
    await choose(page, 'More for Second in development', 'Move up Second in development');
    await notice(page, 'were reordered');
    assert.deepEqual(await titles(), ['Second', 'First']);

    await choose(page, 'More for First in development', 'Disable First in development');
    await notice(page, 'is disabled');

    await press(page, 'Edit Second in development');
    await dialogOf(page, /Edit a strategy/)
      .getByLabel('Title')
      .fill('Renamed');
    await press(dialogOf(page, /Edit a strategy/), 'Save');
    await choose(page, 'More for Renamed in development', 'Remove Renamed in development');
    await notice(page, 'is removed');
    assert.deepEqual(await titles(), ['First']);
  });

  it('asks before it changes what somebody gets in production, names who is affected, and has Enter on Cancel', async () => {
    await makeFlag(shared.server.call, 'in-production');
    await addStrategy(
      shared.server.call,
      'in-production',
      {
        name: 'flexibleRollout',
        parameters: { rollout: '35' },
        constraints: [{ contextName: 'country', operator: 'IN', values: ['NO'] }],
      },
      'production',
    );
    await evaluateInProduction(shared.server, 'in-production');
    const page = await openFlag('in-production');
    const toggle = flagSwitch(page, 'in-production', 'production');
    const question = dialogOf(page, 'Change production?');
    await toggle.click();
    await question
      .getByText('35 % of users where country, a field that is not defined, is one of NO')
      .waitFor();
    await question.getByText('1 evaluation').waitFor();
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'detached' });
    assert.equal((await read(environmentPath('in-production', 'production'))).enabled, false);
    assert.equal(await toggle.getAttribute('aria-checked'), 'false');

    await toggle.click();
    await press(question, 'Switch on in production');
    await notice(page, 'in-production is on in production.');
    assert.equal((await read(environmentPath('in-production', 'production'))).enabled, true);
    await press(page, 'Undo');
    await page.locator('[aria-label="in-production in production"][aria-checked=false]').waitFor();
    assert.equal((await read(environmentPath('in-production', 'production'))).enabled, false);
    // While it is off, its strategies are nobody's yet.
    await choose(page, 'More for Gradual rollout in production', 'Remove Gradual rollout in production');
    await notice(page, 'is removed from production.');
  });

  it('does not ask before it switches in production what no application has evaluated', async () => {
    await makeFlag(shared.server.call, 'never-used');
    await addStrategy(shared.server.call, 'never-used', {}, 'production');
    const page = await openFlag('never-used');
    await flagSwitch(page, 'never-used', 'production').click();
    await notice(page, 'never-used is on in production.');
  });

  it('says who was faster and what they changed, and takes both', async () => {
    await makeFlag(shared.server.call, 'contended', { description: 'As it was.' });
    const { token } = await addUser(shared.server, EDITOR_ROLE_ID);
    const page = await signedIn({
      expected: /status of 4(?:01|12)/,
      place: '#/projects/default/flags/contended',
    });
    await press(page, 'Edit…');
    const dialog = dialogOf(page, 'Edit contended');
    await dialog.getByLabel('Type').selectOption('experiment');
    await shared.server.call('PUT', `${FEATURES}/contended`, { description: 'By somebody else.' }, { token });
    await press(dialog, 'Save');
    await dialog.getByText(/changed this/).waitFor();
    await dialog.getByText('By somebody else.').waitFor();
    await isAccessible(page, 'the conflict');
    await press(dialog, 'Merge');
    assert.equal(await dialog.getByLabel('Description').inputValue(), 'By somebody else.');
    await press(dialog, 'Save');
    await dialog.waitFor({ state: 'detached' });
    const { description, type } = await read(`${FEATURES}/contended`);
    assert.deepEqual({ description, type }, { description: 'By somebody else.', type: 'experiment' });
  });

  it('says so too for a project, a segment, a context field, an environment and the role of a member', async () => {
    const { call } = shared.server;
    await call('POST', '/projects', { id: 'shared', name: 'Shared' });
    await call('POST', '/segments', { name: 'Shared', description: 'As it was.', constraints: [] });
    await call('POST', '/context', { name: 'shared', description: 'As it was.' });
    await call('POST', '/environments', { name: 'shared', type: 'test' });
    const mary = await addUser(shared.server, EDITOR_ROLE_ID, { name: 'Mary' });
    await call('POST', `/projects/shared/users/${mary.id}/roles/5`);
    const { segments } = await read('/segments');
    const { id, constraints } = segments.find(({ name }: { name: string }) => name === 'Shared');
    const page = await signedIn({ expected: /status of 4(?:01|12)/ });
    const open = (place: string) => page.goto(`${shared.server.origin}/${place}`);
    const token = { token: (await addUser(shared.server, 1, { username: 'Ada' })).token };
    const bothIn = async (title: string, label: string, mine: string, theirs: () => Promise<unknown>) => {
      const dialog = dialogOf(page, title);
      await dialog.getByLabel(label, { exact: true }).fill(mine);
      await theirs();
      await press(dialog, 'Save');
      await dialog.getByText('Ada changed this just now').waitFor();
      await press(dialog, 'Merge');
      await press(dialog, 'Save');
      await dialog.waitFor({ state: 'detached' });
    };

    await open('#/projects/shared/settings');
    await press(page, 'Edit…');
    await bothIn('Edit the project Shared', 'Name', 'Shared by us', () =>
      call('PUT', '/projects/shared', { description: 'By somebody else.' }, token),
    );
    const { name, description } = await read('/projects/shared/overview');
    assert.deepEqual([name, description], ['Shared by us', 'By somebody else.']);

    const theirs = { name: 'Shared', description: 'By somebody else.', constraints };
    await open('#/segments');
    await page.getByRole('button', { name: 'Edit Shared' }).click();
    await bothIn('Edit the segment Shared', 'Name', 'Shared by us', () =>
      call('PUT', `/segments/${id}`, theirs, token),
    );
    const segment = await read(`/segments/${id}`);
    assert.deepEqual([segment.name, segment.description], ['Shared by us', 'By somebody else.']);

    await open('#/context-fields');
    await page.getByRole('button', { name: 'Edit shared' }).click();
    await bothIn('Edit the context field shared', 'Values to choose from', 'NO', () =>
      call('PUT', '/context/shared', { description: 'By somebody else.' }, token),
    );
    const field = await read('/context/shared');
    assert.deepEqual([field.legalValues, field.description], [[{ value: 'NO' }], 'By somebody else.']);

    await open('#/environments');
    await page.getByRole('button', { name: 'Edit shared' }).click();
    await bothIn('Edit the environment shared', 'Position', '7', () =>
      call('PUT', '/environments/update/shared', { type: 'preproduction' }, token),
    );
    const environment = await read('/environments/shared');
    assert.deepEqual([environment.sortOrder, environment.type], [7, 'preproduction']);

    await open('#/projects/shared/settings');
    const role = page.getByLabel('Role of Mary');
    await role.waitFor();
    // Somebody else is faster than the page hears of it.
    let isHeard = false;
    await page.route('**/api/admin/projects/shared/access', (route) =>
      isHeard ? route.continue() : route.abort(),
    );
    await page.route('**/api/admin/projects/shared/users/**', async (route) => {
      if (!isHeard) await call('PUT', `/projects/shared/users/${mary.id}/roles/4`, undefined, token);
      isHeard = true;
      await route.continue();
    });
    await role.selectOption({ value: '4' });
    const question = dialogOf(page, 'Someone else changed this in the meantime');
    await question.getByText('Ada changed this').waitFor();
    await press(question, 'Merge');
    await notice(page, 'The role is changed.');
  });

  it('edits variants whose shares sum to the whole, in production only once that is agreed to', async () => {
    await makeFlag(shared.server.call, 'varied');
    await addStrategy(shared.server.call, 'varied', {}, 'production');
    await shared.server.call('POST', `${environmentPath('varied', 'production')}/on`);
    await evaluateInProduction(shared.server, 'varied');
    const page = await openFlag('varied');
    await press(page, 'Add variants');
    const dialog = dialogOf(page, 'Variants of varied');
    for (const name of ['one', 'two', 'three']) {
      await press(dialog, 'Add variant');
      await dialog.getByLabel('Name').last().fill(name);
    }
    await dialog
      .getByText('varied has 3 variants: one for 33.4 %, two for 33.3 %, three for 33.3 %.')
      .waitFor();
    await dialog.getByRole('group', { name: 'Variant 1' }).getByLabel('Payload').selectOption('json');
    await dialog.getByLabel('Value of the payload').fill('{"color":');
    await dialog.getByText('This is not valid JSON yet.').waitFor();
    await dialog.getByLabel('Value of the payload').fill('{"color":"blue"}');
    const second = dialog.getByRole('group', { name: 'Variant 2' });
    await press(second, 'Always for specific users');
    await second.getByLabel('Values, separated by commas').fill('ada, grace');
    await dialog.getByText('1 evaluation in the last hour').waitFor();
    await press(dialog, 'Save in production');
    await notice(page, 'The variants of varied are changed.');
    const { variants } = await read(`${FEATURES}/varied/variants`);
    assert.deepEqual(
      variants.map(({ weight }: { weight: number }) => weight),
      [334, 333, 333],
    );
    assert.deepEqual(variants[1].overrides, [{ contextName: 'userId', values: ['ada', 'grace'] }]);
    await page.locator('.variant-list').getByText('always for userId ada, grace').waitFor();
  });

  it('copies, tags, and makes flags depend on each other', async () => {
    await makeFlag(shared.server.call, 'parent');
    await makeFlag(shared.server.call, 'child');
    const page = await openFlag('child');
    await press(page, 'Add tag');
    await dialogOf(page, 'Tag child').getByLabel('Value').fill('checkout');
    await press(dialogOf(page, 'Tag child'), 'Add tag');
    await page.getByText('simple: checkout').waitFor();
    await dependOn(page, 'parent');
    assert.deepEqual((await read(`${FEATURES}/child`)).dependencies, [
      { feature: 'parent', enabled: true, variants: [] },
    ]);

    await choose(page, 'More for this flag', 'Copy…');
    await dialogOf(page, 'Copy child').getByLabel('Name of the copy').fill('child-2');
    await press(dialogOf(page, 'Copy child'), 'Copy');
    await page.getByRole('heading', { name: 'child-2' }).waitFor();
  });

  it('makes a change right after another one without a conflict between them, and takes a dependency back', async () => {
    await makeFlag(shared.server.call, 'upper');
    await makeFlag(shared.server.call, 'lower');
    const page = await openFlag('lower');
    // What is read again because of the events of the changes does not arrive.
    await page.route('**/api/admin/events/search', () => undefined);
    await press(page, 'Add tag');
    await dialogOf(page, 'Tag lower').getByLabel('Value').fill('checkout');
    await press(dialogOf(page, 'Tag lower'), 'Add tag');
    await dialogOf(page, 'Tag lower').waitFor({ state: 'detached' });
    await page.getByText('simple: checkout').waitFor();
    await dependOn(page, 'upper');
    await page.getByText('lower depends on upper.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await page.getByText('Undone.').waitFor();
    assert.deepEqual((await read(`${FEATURES}/lower`)).dependencies, []);
  });

  it('changes many flags at once, and takes that back at once', async () => {
    for (const name of ['many-1', 'many-2', 'many-3']) await makeFlag(shared.server.call, name);
    const page = await signedIn({ place: '#/projects/default?text=many-' });
    await page.getByLabel('Select many-1').check();
    await page.getByLabel('Select many-3').check();
    await press(page, 'Archive…');
    await press(page.getByRole('dialog'), 'Archive 2 flags');
    await page.getByLabel('Select many-1').waitFor({ state: 'detached' });
    assert.equal((await read(`${FEATURES}/many-3`)).archived, true);
    assert.equal((await read(`${FEATURES}/many-2`)).archived, false);
    await press(page, 'Undo');
    await page.getByLabel('Select many-1').waitFor();
    assert.equal((await read(`${FEATURES}/many-3`)).archived, false);
  });

  it('makes a project, invites a user to it, and changes their role', async () => {
    const page = await signedIn({ place: '#/users' });
    await press(page, 'New user');
    const user = dialogOf(page, 'New user');
    await user.getByLabel('Name', { exact: true }).fill('Grace');
    await user.getByLabel('Email').fill('grace@example.com');
    await press(user, 'Create');
    await press(dialogOf(page, 'Send this link to Grace'), 'Done');
    await page.getByRole('rowheader', { name: 'Grace' }).waitFor();

    await page.getByRole('link', { name: 'All projects' }).click();
    await press(page, 'New project');
    const project = dialogOf(page, 'New project');
    await project.getByLabel('Name').fill('Checkout');
    await project.getByLabel('Id').fill('checkout');
    await press(project, 'Create');
    await page.getByRole('heading', { name: 'Checkout' }).waitFor();
    await page.getByRole('link', { name: 'Settings' }).click();
    await press(page, 'Add member');
    const member = dialogOf(page, 'Add a member to checkout');
    await member.getByLabel('Search users').fill('grace');
    await member.getByLabel('Grace').check();
    await press(member, 'Add');
    await page.getByLabel('Role of Grace').waitFor();
    await press(page, 'New API token');
    await dialogOf(page, 'New API token').getByLabel('Name').fill('till');
    await press(dialogOf(page, 'New API token'), 'Create');
    const secret = dialogOf(page, 'Copy this token now');
    assert.match((await secret.locator('.secret').textContent()) ?? '', /^checkout:development\./);
    await press(secret, 'Done');
    await page.getByRole('button', { name: 'Delete till' }).click();
    await press(page.getByRole('dialog'), 'Delete for good');
    await page.getByRole('rowheader', { name: 'till' }).waitFor({ state: 'detached' });
    const { users } = await read('/projects/checkout/access');
    assert(users.some(({ name }: { name: string }) => name === 'Grace'));
  });

  it('makes a segment, a context field, an environment and an API token, whose secret it shows once', async () => {
    const page = await signedIn({ place: '#/context-fields' });
    await press(page, 'New context field');
    const field = dialogOf(page, 'New context field');
    await field.getByLabel('Name').fill('country');
    await field.getByLabel('Values to choose from').fill('NO: Norway\nSE');
    await press(field, 'Create');
    await page.getByRole('rowheader', { name: 'country' }).waitFor();

    await press(page, 'New context field');
    await field.getByLabel('Name').fill('mistaken');
    await press(field, 'Create');
    await page.getByRole('rowheader', { name: 'mistaken' }).waitFor();
    const made = page.locator('.notice').filter({ hasText: 'The context field mistaken is created.' });
    await press(made, 'Undo');
    await page.getByRole('rowheader', { name: 'mistaken' }).waitFor({ state: 'detached' });

    await page.getByRole('link', { name: 'Segments' }).click();
    await press(page, 'New segment');
    const segment = dialogOf(page, 'New segment');
    await segment.getByLabel('Name').fill('North');
    await press(segment, 'Add constraint');
    await segment.getByLabel('Context field').fill('country');
    await segment.getByRole('checkbox', { name: 'SE' }).check();
    await press(segment, 'Create');
    await page.getByRole('rowheader', { name: 'North' }).waitFor();
    const { segments } = await read('/segments');
    const north = segments.find(({ name }: { name: string }) => name === 'North');
    assert.deepEqual(north.constraints[0].values, ['SE']);
    await press(page.locator('.notice').filter({ hasText: 'The segment North is created.' }), 'Undo');
    await page.getByRole('rowheader', { name: 'North' }).waitFor({ state: 'detached' });

    await page.getByRole('link', { name: 'Environments' }).click();
    await press(page, 'New environment');
    await dialogOf(page, 'New environment').getByLabel('Name').fill('staging');
    await press(dialogOf(page, 'New environment'), 'Create');
    await page.getByRole('rowheader', { name: 'staging' }).waitFor();

    await page.getByRole('link', { name: 'Tokens' }).click();
    await press(page, 'New API token');
    await dialogOf(page, 'New API token').getByLabel('Name').fill('shop');
    await press(dialogOf(page, 'New API token'), 'Create');
    const secret = await dialogOf(page, 'Copy this token now').locator('.secret').textContent();
    assert.match(secret ?? '', /^\*:development\.\w{64}$/);
    await isAccessible(page, 'the secret');
    await press(page, 'Done');
    await page.getByRole('rowheader', { name: 'shop' }).waitFor();
    assert.equal((await page.content()).includes(secret ?? ''), false);
  });

  it('keeps the filter in the address, through “Back” and a new view', async () => {
    await makeFlag(shared.server.call, 'found-again');
    const page = await signedIn();
    await page.getByRole('searchbox').fill('found-again');
    await page.getByText(/^1 of/).waitFor();
    await page.getByRole('link', { name: 'found-again' }).click();
    await page.getByRole('heading', { name: 'found-again' }).waitFor();
    await page.goBack();
    await page.getByText(/^1 of/).waitFor();
    assert.equal(await page.getByRole('searchbox').inputValue(), 'found-again');
  });

  it('has the maximum of flags refused where it is no number, and takes it away where it is empty', async () => {
    const { call } = shared.server;
    await call('PUT', '/projects/default/settings', { featureLimit: 400 });
    const page = await signedIn({ place: '#/projects/default/settings', expected: /status of 400/ });
    const limit = async () => (await call('GET', '/projects/default/overview')).body.featureLimit;
    await choose(page, 'More for this project', 'Rules for new flags…');
    const form = page.getByRole('dialog');
    await form.getByLabel('Maximum number of flags').fill('many');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.locator('.problem').filter({ hasText: 'featureLimit' }).waitFor();
    assert.equal(await limit(), 400);
    await form.getByLabel('Maximum number of flags').fill('');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    assert.equal(await limit(), null);
  });
});
