/**
 * `node --import tsx test/browser/take-pictures.ts`: takes the pictures of the console that the README and docs/console.md show, of a server of its own
 * with flags that a shop could have, and writes them into docs/pictures. With a folder as its argument it takes every page instead, as
 * wide as people have it or as the further arguments say, light and dark, to be looked at.
 */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { closeBrowser, endPages } from '../support/browser/browser.ts';
import { type ConsoleOptions, consoleOf } from '../support/browser/console.ts';
import { type Call, startTestServer } from '../support/server.ts';

const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const [WIDTH, HEIGHT] = [1280, 740];

/** A README with more is slow to open. */
const BYTES_MAX = 150 * 1024;

/** After so long, what fades in has faded in. */
const SETTLED_MS = 500;

const FEATURES = '/projects/shop/features';

const ADMIN_ROLE_ID = 1;
const OWNER_ROLE_ID = 4;

/** `countries`: whether a constraint selects by them. */
const FLAGS = [
  { name: 'checkout-redesign', type: 'release', on: true, share: 25, countries: true },
  { name: 'pay-by-phone', type: 'experiment', on: true, share: 50, countries: false },
  { name: 'free-returns', type: 'release', on: true, share: 100, countries: false },
  { name: 'stock-warnings', type: 'operational', on: true, share: 100, countries: false },
  { name: 'supplier-portal', type: 'permission', on: false, share: 10, countries: true },
  { name: 'stop-orders', type: 'kill-switch', on: false, share: 100, countries: false },
  { name: 'gift-cards', type: 'release', on: false, share: 5, countries: false },
  { name: 'delivery-slots', type: 'release', on: true, share: 75, countries: false },
  { name: 'search-suggestions', type: 'experiment', on: true, share: 10, countries: false },
  { name: 'new-invoices', type: 'release', on: true, share: 100, countries: true },
  { name: 'loyalty-points', type: 'experiment', on: false, share: 20, countries: false },
  { name: 'slow-database-page', type: 'kill-switch', on: false, share: 100, countries: false },
] as const;

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  'checkout-redesign': 'The checkout on one page',
};

const FAVORITES = ['checkout-redesign', 'stop-orders'];
const STALE = 'new-invoices';

/** Resolves to the token of whoever looks at it. */
async function fill(call: Call, callClients: Call): Promise<string> {
  const sendBy = async (token: string | undefined, method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body, token === undefined ? {} : { token });
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const send = (method: string, path: string, body?: unknown) => sendBy(undefined, method, path, body);
  const environments = ['development', 'production'];
  const projects = { shop: 'The shop', search: 'Search', accounts: 'Accounts' };
  for (const [id, name] of Object.entries(projects)) {
    await send('POST', '/projects', { id, name, environments });
  }
  await send('POST', '/context', {
    name: 'country',
    legalValues: [{ value: 'AT' }, { value: 'CH' }, { value: 'DE' }],
  });
  const ada = await send('POST', '/user-admin', {
    name: 'Ada Lovelace',
    email: 'ada@shop.example',
    rootRole: ADMIN_ROLE_ID,
  });
  await send('POST', `/projects/shop/users/${ada.id}/roles/${OWNER_ROLE_ID}`);
  const { secret } = await send('POST', `/user-admin/${ada.id}/tokens`, {
    description: 'pictures',
    expiresAt: '2999-01-01T00:00:00.000Z',
  });
  const sendAsAda = (method: string, path: string, body?: unknown) => sendBy(secret, method, path, body);
  for (const { name, type, on, share, countries } of FLAGS) {
    await sendAsAda('POST', FEATURES, { name, type, description: DESCRIPTIONS[name] ?? '' });
    for (const environment of environments) {
      const path = `${FEATURES}/${name}/environments/${environment}`;
      const rollout = environment === 'production' ? share : 100;
      await sendAsAda('POST', `${path}/strategies`, {
        name: 'flexibleRollout',
        parameters: { rollout: String(rollout), stickiness: 'default', groupId: name },
        constraints: countries
          ? [{ contextName: 'country', operator: 'IN', values: ['AT', 'CH', 'DE'] }]
          : [],
      });
      if (on || environment === 'development') await sendAsAda('POST', `${path}/on`);
    }
  }
  await sendAsAda('POST', '/features/checkout-redesign/tags', { type: 'simple', value: 'mobile' });
  await sendAsAda('POST', '/projects/shop/stale', { features: [STALE], stale: true });
  for (const name of FAVORITES) await sendAsAda('POST', `${FEATURES}/${name}/favorites`);
  await evaluate(send, callClients);
  return secret;
}

/** Makes things for the pages of kinds to list. */
async function fillKinds(call: Call): Promise<void> {
  const constraints = [{ contextName: 'country', operator: 'IN', values: ['AT', 'CH', 'DE'] }];
  const bodies: readonly (readonly [path: string, body: unknown])[] = [
    ['/segments', { name: 'The Alps', description: 'Where parcels take a day longer', constraints }],
    ['/segments', { name: 'Everybody who pays by invoice', constraints: [] }],
    [
      '/addons',
      {
        provider: 'teamsworkflow',
        description: 'Checkout team',
        parameters: { url: 'https://127.0.0.1/hook' },
      },
    ],
    ['/tag-types', { name: 'team', description: 'Who looks after the flag', icon: 'T' }],
    ['/strategies', { name: 'warehouse', description: 'By warehouse', parameters: [] }],
    ['/groups', { name: 'Checkout', description: 'The people of the checkout', users: [] }],
    ['/service-account', { name: 'Terraform', rootRole: ADMIN_ROLE_ID }],
    ['/roles', { name: 'Releaser', description: 'Switches flags', type: 'custom', permissions: [] }],
    ['/invite-link/tokens', { name: 'The warehouse', expiresAt: '2999-01-01T00:00:00.000Z' }],
    ['/user-admin', { name: 'Grace Hopper', username: 'grace', rootRole: 2, password: 'Password-1' }],
    [`${FEATURES}/checkout-redesign/link`, { url: 'https://tickets.example/SHOP-1', title: 'SHOP-1' }],
    [`${FEATURES}/free-returns/dependencies`, { feature: 'stock-warnings' }],
  ];
  for (const [path, body] of bodies) {
    const { status } = await call('POST', path, body);
    if (status >= 300) throw new Error(`POST ${path}: ${status}`);
  }
  const variants = ['blue', 'green'].map((name) => ({ name, weight: 500, weightType: 'variable' }));
  await call('PUT', `${FEATURES}/pay-by-phone/variants`, variants);
  await call('DELETE', `${FEATURES}/gift-cards`);
}

/** Has whoever looks at it propose changes of one flag: a scheduled one, one in review and a draft; and makes one without a request. */
async function fillRequests(call: Call, token: string): Promise<void> {
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, `/projects/shop/${path}`, body, { token });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.message}`);
    return answer.body;
  };
  const protect = (environment: string, requiredApprovals: number) =>
    send('PUT', `environments/${environment}/change-requests/config`, {
      ...{ changeRequestsEnabled: true, requiredApprovals },
    });
  const feature = 'checkout-redesign';
  const propose = async (environment: string, rollout: number) => {
    const [{ segments: _, ...strategy }] = await send(
      'GET',
      `features/${feature}/environments/${environment}/strategies`,
    );
    const payload = { ...strategy, parameters: { ...strategy.parameters, rollout: String(rollout) } };
    const changes = [{ feature, action: 'updateStrategy', payload }];
    return send('POST', `environments/${environment}/change-requests`, changes);
  };
  const setState = (id: number, state: string, more = {}) =>
    send('PUT', `change-requests/${id}/state`, { state, ...more });
  await protect('production', 0);
  const scheduled = await propose('production', 50);
  await send('PUT', `change-requests/${scheduled.id}/title`, { title: 'Half of the customers' });
  await setState(scheduled.id, 'In review');
  await setState(scheduled.id, 'Scheduled', {
    scheduledAt: `${new Date().getUTCFullYear() + 1}-01-07T06:00:00.000Z`,
  });
  await protect('production', 2);
  const reviewed = await propose('production', 100);
  await send('PUT', `change-requests/${reviewed.id}/title`, { title: 'The new checkout for everyone' });
  await setState(reviewed.id, 'In review', { comment: 'Nobody has complained since Monday.' });
  await protect('development', 1);
  await propose('development', 5);
  await send('POST', 'features/search-suggestions/environments/production/off');
}

/** Reports as an application that has evaluated flags. */
async function evaluate(
  send: (method: string, path: string, body?: unknown) => Promise<{ secret: string }>,
  callClients: Call,
): Promise<void> {
  const { secret } = await send('POST', '/api-tokens', {
    ...{ tokenName: 'shop', type: 'client', environment: 'production', projects: ['*'] },
  });
  const on = FLAGS.filter((flag) => flag.on);
  const toggles = Object.fromEntries(on.map(({ name, share }) => [name, { yes: share, no: 100 - share }]));
  const [start, stop] = [new Date(Date.now() - 60_000).toISOString(), new Date().toISOString()];
  const report = { appName: 'shop', instanceId: 'one', bucket: { start, stop, toggles } };
  const { status } = await callClients('POST', '/client/metrics', report, { token: secret });
  if (status >= 300) throw new Error(`the report is refused: ${status}`);
}

interface Picture {
  readonly name: string;
  readonly place: string;
  /** Brings the page to what is to be seen. */
  show(page: Page): Promise<void>;
}

const SHOP = '#/projects/shop';

const PICTURES: readonly Picture[] = [
  {
    name: 'flags',
    place: SHOP,
    show: (page) => page.getByRole('link', { name: 'gift-cards', exact: true }).waitFor(),
  },
  {
    name: 'flag',
    place: `${SHOP}/flags/checkout-redesign`,
    show: (page) => page.getByRole('heading', { name: 'checkout-redesign' }).waitFor(),
  },
];

const WIDTHS = [390, 820, 1280, 1920];

/** Addresses of pages, and what shows that they are there. */
const PAGES: Readonly<Record<string, readonly [place: string, content: string]>> = {
  flags: [SHOP, '.flags'],
  flag: [`${SHOP}/flags/checkout-redesign`, '.event'],
  variants: [`${SHOP}/flags/pay-by-phone`, '.event'],
  empty: ['#/projects/search', '.steps'],
  archive: [`${SHOP}/archive`, '.listing'],
  settings: [`${SHOP}/settings`, '.listing'],
  history: [`${SHOP}/history`, '.event'],
  insights: [`${SHOP}/insights`, '.picture'],
  'stale-flags': [`${SHOP}/stale-flags`, '.listing'],
  'all-stale-flags': ['#/stale-flags', '.listing'],
  health: ['#/health', '.tile'],
  events: ['#/events', '.event'],
  nothing: ['#/no/such/place', '.empty'],
  ...Object.fromEntries(
    [
      ...['projects', 'all-flags', 'environments', 'segments', 'context-fields', 'users', 'tokens', 'groups'],
      ...[
        'roles',
        'service-accounts',
        'tag-types',
        'strategy-types',
        'applications',
        'integrations',
        'account',
      ],
    ].map((view) => [view, [`#/${view}`, '.listing']] as const),
  ),
  playground: ['#/playground', '.playground'],
  server: ['#/server', '.tile'],
  'change-requests': ['#/change-requests?show=mine', '.listing'],
  'change-requests-none': ['#/change-requests', '.problem'],
  'skipped-requests': ['#/events?type=change-request-skipped', '.event'],
  'request-scheduled': [`${SHOP}/change-requests/1`, '.event'],
  'request-in-review': [`${SHOP}/change-requests/2`, '.event'],
  'request-draft': [`${SHOP}/change-requests/3`, '.event'],
};

/** Dialogs that are opened on a page by its buttons. */
const OPENED: Readonly<Record<string, readonly [place: string, ...buttons: readonly (string | RegExp)[]]>> = {
  'strategy-form': [`${SHOP}/flags/checkout-redesign`, 'Edit Gradual rollout in production'],
  'variants-form': [`${SHOP}/flags/pay-by-phone`, 'Edit variants'],
  'user-form': ['#/users', 'New user'],
  'role-form': ['#/roles', 'New role'],
  question: [SHOP, 'checkout-redesign in production'],
  chosen: [SHOP, 'Select stop-orders', 'Select checkout-redesign', 'More for the selected flags'],
  find: [SHOP, 'Control+k'],
  'lifetimes-form': [`${SHOP}/settings`, 'Edit lifetimes…'],
  'lifetime-form': ['#/server', 'Edit Release'],
  'request-change-form': [`${SHOP}/change-requests/3`, /^Edit change/],
  'proposal-form': [`${SHOP}/flags/checkout-redesign`, 'Copy strategies… to production'],
  'requests-form': [`${SHOP}/settings`, 'More for production', 'Change requests… production'],
  'row-menu': ['#/users', 'More for Ada Lovelace'],
};

const everyPage: readonly Picture[] = [
  ...Object.entries(PAGES).map(([name, [place, content]]) => ({
    ...{ name, place },
    show: (page: Page) => page.locator(content).first().waitFor(),
  })),
  ...Object.entries(OPENED).map(([name, [place, ...buttons]]) => ({
    ...{ name, place },
    show: async (page: Page) => {
      for (const name of buttons)
        if (typeof name === 'string' && name.startsWith('Control+')) await page.keyboard.press(name);
        else
          await page.getByLabel(name, { exact: true }).or(page.getByRole('button', { name })).first().click();
    },
  })),
];

const { server, signedIn } = consoleOf(await startTestServer());

async function take(pictures: readonly Picture[], looks: ConsoleOptions, fileOf: (name: string) => string) {
  const page = await signedIn(looks);
  for (const { name, place, show } of pictures) {
    await page.goto(`${server.origin}/${place}`);
    // Nothing is left open of the picture before.
    await page.reload();
    await page.locator('.shell').waitFor();
    await show(page);
    // Away from what it would point at.
    await page.mouse.move((looks.width ?? WIDTH) - 1, HEIGHT - 1);
    await page.waitForTimeout(SETTLED_MS);
    await page.screenshot({ path: fileOf(name), animations: 'disabled' });
  }
  await endPages();
}

try {
  const token = await fill(server.call, server.callBelow('/api'));
  const [, , folder, ...widths] = process.argv;
  if (folder !== undefined) {
    await fillKinds(server.call);
    await fillRequests(server.call, token);
  }
  for (const colorScheme of ['light', 'dark'] as const) {
    if (folder === undefined) {
      const fileOf = (name: string) => `${FOLDER}${name}-${colorScheme}.png`;
      await take(PICTURES, { token, colorScheme, width: WIDTH, height: HEIGHT }, fileOf);
      for (const file of PICTURES.map(({ name }) => fileOf(name)))
        if (statSync(file).size > BYTES_MAX) throw new Error(`${file} has more than ${BYTES_MAX} bytes`);
    } else {
      mkdirSync(folder, { recursive: true });
      for (const width of widths.length === 0 ? WIDTHS : widths.map(Number))
        await take(everyPage, { token, colorScheme, width, height: 900 }, (name) =>
          join(folder, `${name}-${width}-${colorScheme}.png`),
        );
    }
  }
} finally {
  await closeBrowser();
  await server.stop();
}
