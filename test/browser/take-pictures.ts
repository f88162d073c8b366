/**
 * `node --import tsx test/browser/take-pictures.ts`: takes the pictures of the console that the README and docs/console.md show, of a server of its own
 * with flags that a shop could have, and writes them into docs/pictures.
 */
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { openConsoleBrowser } from '../support/browser/console.ts';
import type { Call } from '../support/server.ts';

const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const [WIDTH, HEIGHT] = [1280, 760];

/** A README with more is slow to open. */
const BYTES_MAX = 150 * 1024;

/** What fades in has faded in. */
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

/** What an application reports of what it has evaluated. */
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

const PICTURES: readonly Picture[] = [
  {
    name: 'flags',
    place: '#/projects/shop',
    show: (page) => page.getByRole('link', { name: 'gift-cards', exact: true }).waitFor(),
  },
  {
    name: 'flag',
    place: '#/projects/shop/flags/checkout-redesign',
    show: (page) => page.getByRole('heading', { name: 'checkout-redesign' }).waitFor(),
  },
];

const { server, signedIn, close } = await openConsoleBrowser();
try {
  const token = await fill(server.call, server.callBelow('/api'));
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const { name, place, show } of PICTURES) {
      const opened = await signedIn({ token, place, colorScheme, width: WIDTH, height: HEIGHT });
      await show(opened.page);
      // Away from what it would point at.
      await opened.page.mouse.move(WIDTH - 1, HEIGHT - 1);
      await opened.page.waitForTimeout(SETTLED_MS);
      const path = `${FOLDER}${name}-${colorScheme}.png`;
      await opened.page.screenshot({ path, animations: 'disabled' });
      if (statSync(path).size > BYTES_MAX) throw new Error(`${path} has more than ${BYTES_MAX} bytes`);
      await opened.close();
    }
  }
} finally {
  await close();
}
