/** "Undo" in the console takes back what was done, all of it, and nothing else. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { type ConsoleOptions, choose, describeConsole } from '../support/browser/console.ts';
import { addStrategy, FEATURES, makeFlag } from '../support/interface.ts';

describeConsole('undo in the console', (shared) => {
  const signedIn = (options?: ConsoleOptions) => shared.signedIn(options);
  const read = async (path: string) => (await shared.server.call('GET', path)).body;
  const flagNamed = (name: string) => read(`${FEATURES}/${name}`);
  const openFlag = (name: string) => signedIn({ place: `#/projects/default/flags/${name}` });
  const dialogOf = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name });
  const press = (within: Page | Locator, name: string) =>
    within.getByRole('button', { name, exact: true }).click();
  const notice = (page: Page, text: string) => page.locator('.notice').filter({ hasText: text }).waitFor();
  const undo = async (page: Page) => {
    await press(page, 'Undo');
    await notice(page, 'Undone.');
  };
  const isOn = async (name: string, environment = 'development'): Promise<boolean> => {
    const { environments } = await flagNamed(name);
    return environments.find((one: { name: string }) => one.name === environment).enabled;
  };
  const makeFlagThatIsOn = async (name: string) => {
    const { call } = shared.server;
    await makeFlag(call, name);
    await addStrategy(call, name, {});
    await call('POST', `${FEATURES}/${name}/environments/development/on`);
  };

  it('brings archived flags back with their switches and dependencies', async () => {
    const { call } = shared.server;
    await makeFlag(call, 'parent');
    for (const name of ['alone', 'together-1', 'together-2']) {
      await makeFlagThatIsOn(name);
      await call('POST', `${FEATURES}/${name}/dependencies`, { feature: 'parent' });
    }
    await call('POST', `${FEATURES}/together-2/environments/development/off`);
    const before = await flagNamed('alone');

    const page = await openFlag('alone');
    await choose(page, 'More for this flag', 'Archive…');
    await press(page.getByRole('dialog'), 'Archive');
    await notice(page, 'alone is archived.');
    await undo(page);
    const after = await flagNamed('alone');
    assert.equal(await isOn('alone'), true);
    assert.deepEqual(after.dependencies, before.dependencies);

    await page.goto(`${shared.server.origin}/#/projects/default?text=together-`);
    await page.getByLabel('Select together-1').check();
    await page.getByLabel('Select together-2').check();
    await press(page, 'Archive…');
    await press(page.getByRole('dialog'), 'Archive 2 flags');
    await notice(page, '2 flags are archived.');
    await undo(page);
    assert.deepEqual([await isOn('together-1'), await isOn('together-2')], [true, false]);
    assert.deepEqual((await flagNamed('together-2')).dependencies, before.dependencies);
  });

  it('is not even asked for where more flags are chosen than one change takes, and none of them is read', async () => {
    const { call } = shared.server;
    const names = Array.from({ length: 501 }, (_, index) => `crowd-${index}`);
    await Promise.all(names.map((name) => makeFlag(call, name)));
    const page = await signedIn({ place: '#/projects/default?text=crowd-' });
    let readCount = 0;
    page.on('request', (request) => {
      if (/features\/crowd-/.test(request.url())) readCount += 1;
    });
    await page.getByLabel('Select all', { exact: false }).first().check();
    await press(page, 'Archive…');
    await notice(page, 'At most 500 flags can be archived at once; select fewer.');
    assert.equal(readCount, 0);
  });

  it('leaves flags as they are that a change of many did not change', async () => {
    const { call } = shared.server;
    await makeFlagThatIsOn('some-1');
    await makeFlagThatIsOn('some-2');
    await call('POST', `${FEATURES}/some-2/environments/development/off`);
    await call('POST', '/features/some-1/tags', { type: 'simple', value: 'summer' });
    const page = await signedIn({ place: '#/projects/default?text=some-' });
    const select = async () => {
      await page.getByLabel('Select some-1').check();
      await page.getByLabel('Select some-2').check();
    };
    await select();
    await press(page, 'Switch…');
    await press(page.getByRole('dialog'), 'Switch');
    await notice(page, '2 flags are on in development.');
    await undo(page);
    assert.deepEqual([await isOn('some-1'), await isOn('some-2')], [true, false]);

    await select();
    await choose(page, 'More for the selected flags', 'Add tag…');
    await page.getByRole('dialog').getByLabel('Value').fill('summer');
    await press(page.getByRole('dialog'), 'Add tag');
    await notice(page, '2 flags are tagged');
    await undo(page);
    const tagsOf = async (name: string) => (await read(`/features/${name}/tags`)).tags.length;
    assert.deepEqual([await tagsOf('some-1'), await tagsOf('some-2')], [1, 0]);
  });

  it('completes a flag again as it was, and lets the next change be made at once', async () => {
    await makeFlag(shared.server.call, 'done');
    const completed = { status: 'kept', statusValue: 'blue' };
    await shared.server.call('POST', `${FEATURES}/done/lifecycle/complete`, completed);
    const page = await openFlag('done');
    await press(page, 'Reopen');
    await notice(page, 'done is reopened.');
    await undo(page);
    await page.getByRole('button', { name: 'Reopen', exact: true }).waitFor();
    const { events } = (
      await shared.server.call('POST', '/events/search', { feature: 'done', type: 'feature-completed' })
    ).body;
    assert.deepEqual(
      events.map(({ data }: { data: unknown }) => data),
      [completed, completed],
    );

    // What is read again because of the events of the changes does not arrive.
    await page.route('**/api/admin/events/search', () => undefined);
    await press(page, 'Edit…');
    await dialogOf(page, 'Edit done').getByLabel('Description').fill('First.');
    await press(dialogOf(page, 'Edit done'), 'Save');
    await notice(page, 'done is changed.');
    await undo(page);
    await press(page, 'Edit…');
    await dialogOf(page, 'Edit done').getByLabel('Description').fill('Second.');
    await press(dialogOf(page, 'Edit done'), 'Save');
    await notice(page, 'done is changed.');
    assert.equal((await flagNamed('done')).description, 'Second.');
  });

  it('keeps what somebody else changed meanwhile', async () => {
    const { call } = shared.server;
    await call('POST', '/segments', { name: 'Both', description: 'As it was.', constraints: [] });
    const { segments } = await read('/segments');
    const { id, constraints } = segments.find(({ name }: { name: string }) => name === 'Both');
    const page = await signedIn({ place: '#/segments', expected: /status of 4(?:01|12)/ });
    await page.getByRole('button', { name: 'Edit Both' }).click();
    const dialog = dialogOf(page, 'Edit the segment Both');
    await dialog.getByLabel('Name', { exact: true }).fill('Both of us');
    await call('PUT', `/segments/${id}`, { name: 'Both', description: 'By somebody else.', constraints });
    await press(dialog, 'Save');
    await press(dialog, 'Merge');
    await press(dialog, 'Save');
    await dialog.waitFor({ state: 'detached' });
    await undo(page);
    const segment = await read(`/segments/${id}`);
    assert.deepEqual([segment.name, segment.description], ['Both', 'By somebody else.']);
  });

  it('is not offered, and that is said, where a project gives an environment up', async () => {
    const { call } = shared.server;
    await call('POST', '/projects', { id: 'leaving', name: 'Leaving' });
    const page = await signedIn({ place: '#/projects/leaving/settings' });
    await choose(page, 'More for development', 'Remove development');
    await page.getByRole('dialog').getByText('loses its strategies and variants in development').waitFor();
    await press(page.getByRole('dialog'), 'Remove for good');
    await notice(page, 'no longer uses development.');
    assert.equal(await page.getByRole('button', { name: 'Undo', exact: true }).count(), 0);
  });
});
