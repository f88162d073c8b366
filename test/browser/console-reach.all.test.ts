/**
 * Every operation of the administrative interface is reached from the console, by mouse and by keyboard: what the browser sends is
 * recorded while somebody goes through all of its pages and forms, and held against the description. `console-reach.test.ts` is the
 * short form.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Locator, Page, Response } from 'playwright-core';
import { evaluateInProduction } from '../support/applications.ts';
import { describePages } from '../support/browser/browser.ts';
import { consoleOf } from '../support/browser/console.ts';
import { EXCEPTIONS, type Operations, operationsOf } from '../support/browser/operations.ts';
import { addProject, addStrategy, archive, makeFlag } from '../support/interface.ts';
import { caller, serverFor, type TestServer } from '../support/server.ts';

const PASSWORD = 'Password-12';
const OTHER_PASSWORD = 'Password-34';

type Press = (button: Locator) => Promise<void>;

/** The ways in which people press a button: each of them goes through everything. A key reaches only what can have the focus. */
const WAYS: Readonly<Record<string, Press>> = {
  mouse: (button) => button.click(),
  keyboard: (button) => button.and(button.page().locator(':not(:disabled)')).press('Enter'),
};

/** Hands on the console, which note what they reach. */
class Hands {
  readonly reached = new Set<string>();
  readonly page: Page;
  readonly server: TestServer;
  readonly #operations: Operations;
  readonly #press: Press;

  constructor(page: Page, server: TestServer, operations: Operations, press: Press) {
    this.page = page;
    this.server = server;
    this.#operations = operations;
    this.#press = press;
    page.on('request', (request) => {
      const id = operations.of(request.method(), request.url());
      if (id !== null) this.reached.add(id);
    });
  }

  get dialog(): Locator {
    return this.page.getByRole('dialog').last();
  }

  /** Opens another page, and waits until it has got the focus, which goes on from there. The very first page does not take it. */
  async open(place: string, heading: string): Promise<void> {
    await this.page.getByRole('heading', { level: 1 }).first().waitFor();
    await this.page.evaluate('document.activeElement.blur()');
    await this.page.goto(`${this.server.origin}/#/${place}`);
    await this.page.locator('main:focus').waitFor();
    await this.page.getByRole('heading', { name: heading, exact: true, level: 1 }).waitFor();
  }

  press(button: string | RegExp | Locator, within: Page | Locator = this.page): Promise<void> {
    const isText = typeof button === 'string' || button instanceof RegExp;
    const found = isText ? within.getByRole('button', { name: button, exact: true }) : button;
    return this.#press(found.first());
  }

  /** Does what leads to an operation, and waits for its response, which has to be a success. */
  async reach(operation: string, act: string | RegExp | Locator | (() => Promise<unknown>)): Promise<void> {
    const isIt = (one: Response): boolean =>
      this.#operations.of(one.request().method(), one.url()) === operation;
    const [response] = await Promise.all([
      this.page.waitForResponse(isIt),
      typeof act === 'function' ? act() : this.press(act),
    ]);
    assert(response.status() < 400, `${operation} is answered ${response.status()}`);
  }

  /** Agrees in the dialog that is open, by what stands on its buttons, of which the last one leads to the operation. */
  async agree(operation: string, ...buttons: readonly string[]): Promise<void> {
    const last = buttons.at(-1) ?? '';
    for (const button of buttons.slice(0, -1)) await this.press(button, this.dialog);
    await this.reach(operation, async () => {
      const { dialog } = this;
      await dialog.getByRole('button', { name: last, exact: true }).waitFor();
      await this.press(last, dialog);
    });
  }

  /** Fills in the form that a button opens, and sends it; `buttons`: as `agree` takes them. All is closed then. */
  async form(...form: Parameters<Hands['fill']>): Promise<void> {
    await this.fill(...form);
    await this.closed();
  }

  /** The same, after which a token or a link is shown, and put away. */
  async secret(...form: Parameters<Hands['fill']>): Promise<void> {
    await this.fill(...form);
    await this.press('Done');
    await this.closed();
  }

  async fill(
    operation: string,
    opener: string | RegExp | Locator | (() => Promise<void>),
    values: Readonly<Record<string, string>>,
    ...buttons: readonly string[]
  ): Promise<void> {
    await (typeof opener === 'function' ? opener() : this.press(opener));
    for (const [label, value] of Object.entries(values)) {
      await this.dialog.getByLabel(label, { exact: true }).fill(value);
    }
    await this.agree(operation, ...buttons);
  }

  /** Opens a menu of rare actions, and takes one. */
  async choose(menu: string, action: string): Promise<void> {
    await this.press(this.page.getByLabel(menu, { exact: true }));
    await this.press(action);
  }

  /** Takes a rare action of a row. */
  chooseOf(name: string, action: string): Promise<void> {
    return this.choose(`More for ${name}`, `${action} ${name}`);
  }

  /** All that was open is closed. */
  async closed(): Promise<void> {
    await this.page.getByRole('dialog').waitFor({ state: 'detached' });
  }

  row(name: string): Promise<void> {
    return this.page.getByRole('rowheader', { name, exact: true }).waitFor();
  }
}

async function strategies(hands: Hands): Promise<void> {
  const { page } = hands;
  for (const Title of ['One', 'Two']) {
    await hands.form('addFeatureStrategy', /^(?:Choose who…|Add strategy) in development$/, { Title }, 'Add');
    await page.getByRole('button', { name: `Edit ${Title} in development` }).waitFor();
  }
  await hands.form('updateFeatureStrategy', 'Edit One in development', { Title: 'First' }, 'Save');
  await page.getByRole('button', { name: 'Edit First in development' }).waitFor();
  const of = async (operation: string, action: string): Promise<void> => {
    await hands.reach(operation, () =>
      hands.choose('More for Two in development', `${action} Two in development`),
    );
  };
  await of('setStrategySortOrder', 'Move up');
  // The page shows the new order, from which the next change is made.
  await page.locator('.strategies > li').first().getByText('Two').waitFor();
  await of('updateFeatureStrategy', 'Disable');
  await page.locator('.strategy-disabled').waitFor();
  await of('deleteFeatureStrategy', 'Remove');
  await page.locator('.strategy-disabled').waitFor({ state: 'detached' });
  await hands.form('copyStrategies', 'Copy strategies… to production', {}, 'Copy');
  const on = page.getByRole('switch', { name: 'made in development' });
  await hands.reach('toggleFeatureEnvironmentOn', on);
  await on.and(page.locator('[aria-checked=true]:not([aria-busy])')).waitFor();
  const promote = () => hands.choose('More for this flag', 'Promote…');
  await hands.form('applyFlagsAsCode', promote, {}, 'Promote in production');
  const there = page.getByRole('switch', { name: 'made in production' });
  await there.and(page.locator('[aria-checked=true]')).waitFor();
  await hands.reach('applyFlagsAsCode', page.locator('.notice').last().getByRole('button', { name: 'Undo' }));
  await there.and(page.locator('[aria-checked=false]')).waitFor();
  await hands.reach('toggleFeatureEnvironmentOff', on);
  await on.and(page.locator('[aria-checked=false]:not([aria-busy])')).waitFor();
}

/** Goes through the page of a flag, from its creation to its archive. */
async function oneFlag(hands: Hands): Promise<void> {
  const { page } = hands;
  await hands.open('projects/default', 'Default');
  await hands.reach('getProjectFlagCreators', page.getByRole('button', { name: 'More filters' }));
  await hands.form('createFeature', 'New flag', { Name: 'made' }, 'Create');
  await hands.reach('addFavoriteFeature', 'Favorite made');
  await page.locator('[aria-label="Favorite made"][aria-pressed=true]').waitFor();
  await hands.reach('removeFavoriteFeature', 'Favorite made');
  await strategies(hands);
  // The page shows the use of a flag that has one.
  await evaluateInProduction(hands.server, 'made');
  await hands.form(
    'overwriteFeatureVariants',
    async () => {
      await hands.press('Add variants');
      await hands.press('Add variant', hands.dialog);
    },
    { Name: 'blue' },
    'Save',
  );
  await hands.form('addTag', page.getByRole('button', { name: 'Add tag' }), { Value: 'spring' }, 'Add tag');
  await hands.reach('removeTag', 'Remove the tag simple: spring');
  await hands.form(
    'createFeatureLink',
    'Add link',
    { URL: 'https://shop.example/1', Title: 'Ticket' },
    'Add link',
  );
  await hands.form('commentOnFeature', 'Comment…', { Comment: 'As the ticket says.' }, 'Comment');
  await hands.form(
    'updateFeatureLink',
    () => hands.choose('More for Ticket', 'Edit Ticket'),
    { Title: 'The ticket' },
    'Save',
  );
  await hands.reach('deleteFeatureLink', () => hands.chooseOf('The ticket', 'Remove'));
  await hands.form('complete', 'Mark as completed…', {}, 'Mark as completed');
  await hands.reach('uncomplete', 'Reopen');
  // The page shows the flag as it is now, from which the next change is made.
  await page.getByRole('button', { name: 'Mark as completed…' }).waitFor();
  await hands.form('addFeatureDependency', 'Add dependency', { Flag: 'bulk-1' }, 'Add dependency');
  const dependency = page.getByRole('button', { name: 'Remove the dependency on bulk-1' });
  await hands.reach('deleteFeatureDependency', dependency);
  await dependency.waitFor({ state: 'detached' });
  await page.getByText('Test with a user').click();
  await hands.reach('explainFeature', 'Why?');
  await hands.form('updateFeature', 'Edit…', { Description: 'Of the basket' }, 'Save');
  await hands.form('rollbackFeature', /^Roll back to here/, {}, 'Roll back');
  await hands.form('cloneFeature', () => hands.choose('More for this flag', 'Copy…'), {}, 'Copy');
  await page.getByRole('heading', { name: 'made-copy' }).waitFor();
  await hands.choose('More for this flag', 'Move…');
  await hands.dialog.getByLabel('Project').selectOption('far');
  await hands.agree('changeProject', 'Move');
  await hands.closed();
  await page.getByRole('link', { name: 'far' }).first().waitFor();
  await hands.form('archiveFeatures', () => hands.choose('More for this flag', 'Archive…'), {}, 'Archive');
  await hands.reach('reviveFeature', 'Revive');
}

/** Flags of a project that are changed together, and its archive. */
async function manyFlags(hands: Hands): Promise<void> {
  const { page } = hands;
  await hands.open('projects/default?text=bulk', 'Default');
  const all = page.getByLabel('Select all flags');
  const more = 'More for the selected flags';
  await all.check();
  await hands.reach('staleFeatures', 'Mark stale');
  const place = async (
    operation: string,
    action: string,
    values: object,
    ...buttons: string[]
  ): Promise<void> => {
    await all.check();
    await hands.form(operation, () => hands.choose(more, action), { ...values }, ...buttons);
  };
  await place('addTagToFeatures', 'Add tag…', { Value: 'spring' }, 'Add tag');
  await all.check();
  await hands.form('bulkToggleFeaturesEnvironmentOn', 'Switch…', {}, 'Switch');
  const switchOff = async (): Promise<void> => {
    await hands.press('Switch…');
    await hands.dialog.getByLabel('Position').selectOption('off');
  };
  await hands.form('bulkToggleFeaturesEnvironmentOff', switchOff, {}, 'Switch');
  await hands.form('archiveFeatures', 'Archive…', {}, 'Archive 2 flags');
  await hands.reach('reviveFeatures', page.locator('.notice').last().getByRole('button', { name: 'Undo' }));
  await hands.open('projects/default/archive', 'Archive');
  await hands.form('deleteFeatures', () => hands.chooseOf('gone-1', 'Delete'), {}, 'Delete for good');
  // The list is asked for anew after the deletion.
  await page.getByRole('rowheader', { name: 'gone-1', exact: true }).waitFor({ state: 'detached' });
  await hands.form('deleteFeatures', 'Delete all…', {}, 'Delete for good');
  await hands.open('projects/default/history', 'History');
  const on = page.locator('.event').filter({ hasText: 'switched on in development' }).first();
  await hands.form('rollbackProject', on.getByRole('button'), {}, 'Roll back');
}

async function projects(hands: Hands): Promise<void> {
  const { page } = hands;
  const more = (action: string) => () => hands.choose('More for this project', action);
  await hands.open('projects', 'Projects');
  await hands.form('createProject', 'New project', { Name: 'Shop', Id: 'shop' }, 'Create');
  await page.getByRole('heading', { name: 'Shop' }).waitFor();
  await hands.reach('addFavoriteProject', 'Favorite Shop');
  await page.locator('[aria-label="Favorite Shop"][aria-pressed=true]').waitFor();
  await hands.reach('removeFavoriteProject', 'Favorite Shop');
  await hands.open('projects/shop/insights', 'Insights');
  await hands.open('projects/shop/stale-flags', 'Stale flags');
  await hands.open('projects/shop/settings', 'Settings');
  await hands.form('updateProject', 'Edit…', { Description: 'What customers see' }, 'Save');
  const rules = {
    'Naming pattern': 'shop-.*',
    'Links of new flags': 'Ticket: https://shop.example/{{feature}}',
  };
  await hands.form('updateProjectEnterpriseSettings', more('Rules for new flags…'), rules, 'Save');
  await hands.form(
    'updateProjectEnterpriseSettings',
    'Edit lifetimes…',
    { 'Release, in days': '90' },
    'Save',
  );
  await hands.form('exportFeatures', more('Export flags…'), {}, 'Export');
  const content = JSON.stringify({ features: [{ name: 'shop-brought' }] });
  await more('Import flags…')();
  await hands.reach('validateImport', () => hands.dialog.getByLabel('Export content').fill(content));
  await hands.agree('importFeatures', 'Import');
  await hands.closed();
  await hands.form('addDefaultStrategyToProjectEnvironment', 'Edit development', {}, 'Save');
  const remove = (name: string) => () => hands.chooseOf(name, 'Remove');
  await hands.form('removeEnvironmentFromProject', remove('production'), {}, 'Remove for good');
  await hands.reach('addEnvironmentToProject', 'Add production');
  await hands.secret('createProjectApiToken', 'New API token', { Name: 'till' }, 'Create');
  await hands.form('deleteProjectApiToken', 'Delete till', {}, 'Delete for good');
  await hands.press('Add member');
  await hands.dialog.getByLabel('Search users').fill('grace');
  await hands.dialog.getByLabel('grace', { exact: true }).check();
  await hands.agree('addUserToProject', 'Add');
  await hands.closed();
  await hands.reach('changeUserRoleInProject', () => page.getByLabel('Role of grace').selectOption('Owner'));
  await hands.reach('removeUserFromProject', 'Remove grace');
  await hands.form('addProjectAccess', 'Add group', {}, 'Add');
  await hands.reach('setRolesForGroup', () => page.getByLabel('Role of Checkout').selectOption('Owner'));
  await hands.reach('removeGroupAccess', 'Remove Checkout');
  await hands.open('projects/empty/settings', 'Settings');
  await hands.form(
    'deleteProject',
    () => hands.choose('More for this project', 'Delete…'),
    {},
    'Delete for good',
  );
}

/** The pages of kinds: by the word in the address, what one is called, the names of its operations, and what changes in its form. */
const KINDS = [
  ['users', 'Users', 'user', 'User', 'Email'],
  ['groups', 'Groups', 'group', 'Group', 'Description'],
  ['roles', 'Roles', 'role', 'Role', 'Description'],
  ['service-accounts', 'Service accounts', 'service account', 'ServiceAccount', 'Name'],
  ['tag-types', 'Tag types', 'tag type', 'TagType', 'Description'],
  ['strategy-types', 'Strategy types', 'strategy type', 'Strategy', 'Description'],
  ['segments', 'Segments', 'segment', 'Segment', 'Description'],
  ['context-fields', 'Context fields', 'context field', 'ContextField', 'Description'],
  ['environments', 'Environments', 'environment', 'Environment', 'Position'],
] as const;

/** Operations whose names say "remove". */
const REMOVED = new Set(['Strategy', 'Segment', 'Environment']);

/** Things done to one of a kind besides changing it. */
const BESIDES: Readonly<Record<string, (hands: Hands) => Promise<void>>> = {
  'strategy-types': async (hands) => {
    await hands.reach('deprecateStrategy', () => hands.chooseOf('kind-1', 'Deprecate'));
    await hands.reach('reactivateStrategy', () => hands.chooseOf('kind-1', 'Offer again'));
  },
  segments: (hands) => uses(hands, 'getStrategiesBySegmentId'),
  'context-fields': (hands) => uses(hands, 'getStrategiesByContextField'),
  environments: async (hands) => {
    await hands.form('toggleEnvironmentOff', () => hands.chooseOf('kind-1', 'Switch off'), {}, 'Switch off');
    await hands.reach('toggleEnvironmentOn', () => hands.chooseOf('kind-1', 'Switch on'));
    await hands.reach('updateSortOrder', () => hands.chooseOf('kind-1', 'Move up'));
  },
  'service-accounts': (hands) => tokensOf(hands, 'ServiceAccountToken'),
  users: async (hands) => {
    await tokensOf(hands, 'UserToken');
    await hands.secret('resetUserPassword', () => hands.chooseOf('kind-1', 'Password'), {}, 'Continue');
    await hands.chooseOf('kind-1', 'Password');
    await hands.dialog.getByLabel('Method').selectOption('Set it here');
    await hands.dialog.getByLabel('New password').fill(PASSWORD);
    await hands.agree('changeUserPassword', 'Continue');
    await hands.closed();
  },
};

async function uses(hands: Hands, operation: string): Promise<void> {
  await hands.reach(operation, () => hands.chooseOf('kind-1', 'Uses'));
  await hands.press('Close', hands.dialog);
  await hands.closed();
}

async function tokensOf(hands: Hands, operation: string): Promise<void> {
  await hands.chooseOf('kind-1', 'Tokens');
  await hands.fill(`create${operation}`, 'New personal token', { 'What it is for': 'deploys' }, 'Create');
  await hands.press('Done', hands.dialog);
  await hands.fill(`delete${operation}`, 'Delete deploys', {}, 'Delete for good');
  await hands.press('Close');
  await hands.closed();
}

async function kinds(hands: Hands): Promise<void> {
  for (const [place, title, one, name, changed] of KINDS) {
    await hands.open(place, title);
    const made = { Name: 'kind-1', ...(one === 'user' ? { Username: 'kind-1' } : {}) };
    await hands[one === 'user' ? 'secret' : 'form'](`create${name}`, `New ${one}`, made, 'Create');
    await hands.row('kind-1');
    await BESIDES[place]?.(hands);
    const value =
      { Position: '7', Name: 'kind-1', Email: 'one@shop.example' }[changed as string] ?? 'Changed';
    await hands.form(`update${name}`, 'Edit kind-1', { [changed]: value }, 'Save');
    await hands.form(
      `${REMOVED.has(name) ? 'remove' : 'delete'}${name}`,
      () => hands.chooseOf('kind-1', 'Delete'),
      {},
      'Delete for good',
    );
  }
}

async function integrations(hands: Hands): Promise<void> {
  const { call } = hands.server;
  await hands.open('integrations', 'Integrations');
  const made = { Description: 'kind-1', 'Webhook URL': 'https://127.0.0.1/hook' };
  await hands.form('createAddon', 'New integration', made, 'Create');
  await hands.row('kind-1');
  await hands.form('updateAddon', 'Edit kind-1', { 'Webhook URL': 'https://127.0.0.1/other' }, 'Save');
  await makeFlag(call, 'not-sent');
  const { addons } = (await call('GET', '/addons')).body;
  const at = `/addons/${addons[0].id}/delivery`;
  while ((await call('GET', at)).body.state !== 'retrying');
  await hands.reach('getIntegrationEvents', () => hands.chooseOf('kind-1', 'Deliveries'));
  await hands.reach('retryIntegration', 'Send again');
  await hands.reach('testIntegration', 'Send a test');
  await hands.fill('moveIntegration', 'Go on from an event…', {}, 'Go on');
  await hands.press('Close');
  await hands.closed();
  await hands.form('deleteAddon', () => hands.chooseOf('kind-1', 'Delete'), {}, 'Delete for good');
}

/** Goes through sign-in, tokens and applications. */
async function service(hands: Hands): Promise<void> {
  const { page } = hands;
  await hands.open('users', 'Users');
  await hands.secret('createPublicSignupToken', 'New invitation', { Name: 'The shop' }, 'Create');
  await hands.reach('updatePublicSignupToken', 'Switch off The shop');
  await hands.open('tokens', 'Tokens');
  await hands.secret('createPat', 'New personal token', { 'What it is for': 'mine' }, 'Create');
  await hands.form('deletePat', 'Delete mine', {}, 'Delete for good');
  await hands.secret('createApiToken', 'New API token', { Name: 'shop' }, 'Create');
  await hands.form('updateApiToken', 'Edit shop', { 'Expires (UTC)': '2999-01-01T00:00' }, 'Save');
  await hands.form('deleteApiToken', () => hands.chooseOf('shop', 'Delete'), {}, 'Delete for good');
  await hands.open('applications', 'Applications');
  await hands.form('createApplication', 'Edit till', { Description: 'In each shop' }, 'Save');
  await hands.reach('getApplicationEnvironmentInstances', 'till');
  await hands.press('Close', hands.dialog);
  await hands.form('deleteApplication', () => hands.chooseOf('till', 'Delete'), {}, 'Delete for good');
  await hands.open('playground', 'Playground');
  await hands.reach('getAdvancedPlayground', 'Evaluate');
  await hands.open('all-flags', 'All flags');
  await hands.open('stale-flags', 'Stale flags');
  await hands.open('events', 'Events');
  await hands.reach('getEventTypes', () => hands.press(page.getByRole('button', { name: 'More filters' })));
  await hands.open('health', 'Health');
  await hands.open('account', 'kim');
  const passwords = {
    'Current password': PASSWORD,
    'New password': OTHER_PASSWORD,
    'Confirm new password': OTHER_PASSWORD,
  };
  await hands.form('changeMyPassword', 'Change password…', passwords, 'Change');
  await hands.open('server', 'Server');
  await hands.form('setCors', 'Edit origins…', { Origins: 'https://shop.example' }, 'Save');
  await hands.form('updateFeatureTypeLifetime', 'Edit Release', { Days: '60' }, 'Save');
  await hands.form('toggleMaintenance', 'Start maintenance…', {}, 'Start maintenance');
  await hands.reach('toggleMaintenance', 'End maintenance');
}

/** An environment that takes change requests, and what people do with one. */
async function changeRequests(hands: Hands): Promise<void> {
  const { page, server } = hands;
  const more = (action: string) => () => hands.choose('More for this change request', action);
  const openFlag = async (): Promise<void> => {
    await hands.open('all-flags', 'All flags');
    await page.goto(`${server.origin}/#/projects/default/flags/asked`);
  };
  const protecting = async (): Promise<void> => {
    await hands.chooseOf('production', 'Change requests…');
    await hands.dialog.getByLabel('Take changes by change request only').check();
  };
  await hands.open('projects/default/settings', 'Settings');
  await hands.form('updateProjectChangeRequestConfig', protecting, {}, 'Save');
  await openFlag();
  await hands.reach('addChange', page.getByRole('switch', { name: 'asked in production' }));
  await hands.form('addChange', 'Add strategy in production', {}, 'Propose');
  // Somebody else changes what the switch is about.
  const config = '/projects/default/environments/production/change-requests/config';
  await server.call('PUT', config, { changeRequestsEnabled: false });
  await addStrategy(server.call, 'asked', {}, 'production');
  await server.call('PUT', config, { changeRequestsEnabled: true });
  await hands.open('projects/default/change-requests/1', 'Change request 1');
  await hands.reach('editChange', /^Confirm for what is there now/);
  await hands.reach('discardChange', 'Discard change 2');
  await hands.form('updateChangeRequestTitle', more('Rename…'), { Title: 'Open the shop' }, 'Save');
  await hands.form('addChangeRequestComment', 'Comment…', { Comment: 'Why now?' }, 'Comment');
  await hands.form('changeChangeRequestState', 'Send to review…', {}, 'Send');
  await page.getByText('In review, 0 of 1').waitFor();
  await hands.form('updateChangeRequestApprovers', more('Reviewers…'), {}, 'Save');
  await hands.form('changeChangeRequestState', more('Cancel the request…'), {}, 'Cancel the request');
  await openFlag();
  await hands.reach('addChange', page.getByRole('switch', { name: 'asked in production' }));
  await hands.open('projects/default/change-requests/2', 'Change request 2');
  await hands.form('discardChangeRequest', more('Discard…'), {}, 'Discard');
  await page.getByRole('heading', { name: 'Change requests', level: 1 }).waitFor();
}

/** Makes what is there before; resolves to the token of an Admin who has a password. */
async function prepare(server: TestServer): Promise<string> {
  const { call, origin } = server;
  await addProject(server, 'far');
  await addProject(server, 'empty');
  for (const name of ['bulk-1', 'bulk-2', 'gone-1', 'gone-2']) {
    await makeFlag(call, name);
    await addStrategy(call, name);
  }
  await makeFlag(call, 'asked');
  await addStrategy(call, 'asked', {}, 'production');
  for (const name of ['gone-1', 'gone-2']) await archive(call, name);
  await call('POST', '/user-admin', { username: 'grace', rootRole: 2, password: PASSWORD });
  await call('POST', '/groups', { name: 'Checkout', users: [] });
  const { secret } = (
    await call('POST', '/api-tokens', {
      tokenName: 'till',
      type: 'client',
      projects: ['*'],
      environment: 'development',
    })
  ).body;
  const report = {
    appName: 'till',
    instanceId: 'one',
    strategies: [],
    started: new Date().toISOString(),
    interval: 10,
  };
  await caller(origin, '/api/client')('POST', '/register', report, { token: secret });
  const { id } = (await call('POST', '/user-admin', { username: 'kim', rootRole: 1, password: PASSWORD }))
    .body;
  const token = { description: 'test', expiresAt: '2999-01-01T00:00:00.000Z' };
  return (await call('POST', `/user-admin/${id}/tokens`, token)).body.secret;
}

describePages('each operation of the administrative interface', () => {
  for (const [way, press] of Object.entries(WAYS)) {
    it(`is reached from the console by ${way}`, async (t) => {
      const server = await serverFor(t);
      const token = await prepare(server);
      const operations = await operationsOf(server);
      const looks = { token, place: '#/health', expected: /status of 40[134]/ };
      const page = await consoleOf(server).signedIn(looks);
      const hands = new Hands(page, server, operations, press);
      await page.reload();
      for (const journey of [oneFlag, manyFlags, projects, kinds, integrations, changeRequests, service])
        await journey(hands);
      const { ids } = operations;
      const missing = ids.filter((id) => !hands.reached.has(id) && !(id in EXCEPTIONS));
      assert.deepEqual(missing, [], 'nothing of the description is out of reach without a reason');
      const needless = Object.keys(EXCEPTIONS).filter((id) => hands.reached.has(id));
      assert.deepEqual(needless, [], 'each exception is one');
    });
  }
});
