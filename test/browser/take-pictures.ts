/**
 * `node --import tsx test/browser/take-pictures.ts`: takes the pictures of the console that the README shows, of a server of its own
 * with flags that a shop could have, and writes them into docs/pictures.
 */
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { openConsoleBrowser } from '../support/browser/console.ts';
import type { Call } from '../support/server.ts';

const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const [WIDTH, HEIGHT] = [1280, 800];

/** A README with more is slow to open. */
const BYTES_MAX = 150 * 1024;

/** What fades in has faded in. */
const SETTLED_MS = 500;

const FEATURES = '/projects/shop/features';

const FLAGS = [
  {
    name: 'checkout-redesign',
    type: 'release',
    description: 'The checkout on one page',
    on: true,
    share: 25,
  },
  { name: 'pay-by-phone', type: 'experiment', description: 'Which button people take', on: true, share: 50 },
  {
    name: 'free-returns',
    type: 'release',
    description: 'Returns without a fee, within 30 days',
    on: true,
    share: 100,
  },
  {
    name: 'stock-warnings',
    type: 'operational',
    description: 'Load of the warehouse: switch it off first',
    on: true,
    share: 100,
  },
  {
    name: 'supplier-portal',
    type: 'permission',
    description: 'For those who deliver to us',
    on: false,
    share: 10,
  },
  {
    name: 'stop-orders',
    type: 'kill-switch',
    description: 'No orders while the till is being repaired',
    on: false,
    share: 100,
  },
  { name: 'gift-cards', type: 'release', description: 'Sell and take gift cards', on: false, share: 5 },
] as const;

async function fill(call: Call): Promise<void> {
  const send = async (method: string, path: string, body?: unknown): Promise<void> => {
    const { status, body: answer } = await call(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
  };
  await send('POST', '/projects', {
    id: 'shop',
    name: 'The shop',
    environments: ['development', 'production'],
  });
  await send('POST', '/projects', {
    id: 'search',
    name: 'Search',
    environments: ['development', 'production'],
  });
  await send('POST', '/context', {
    name: 'country',
    legalValues: [{ value: 'AT' }, { value: 'CH' }, { value: 'DE' }],
  });
  await send('POST', '/user-admin', {
    name: 'Ada Lovelace',
    email: 'ada@shop.example',
    rootRole: 2,
    sendEmail: false,
  });
  for (const { name, type, description, on, share } of FLAGS) {
    await send('POST', FEATURES, { name, type, description });
    for (const environment of ['development', 'production']) {
      const path = `${FEATURES}/${name}/environments/${environment}`;
      const rollout = environment === 'production' ? share : 100;
      await send('POST', `${path}/strategies`, {
        name: 'flexibleRollout',
        parameters: { rollout: String(rollout), stickiness: 'default', groupId: name },
        constraints: [{ contextName: 'country', operator: 'IN', values: ['AT', 'CH', 'DE'] }],
      });
      if (on || environment === 'development') await send('POST', `${path}/on`);
    }
  }
  await send('POST', '/features/checkout-redesign/tags', { type: 'simple', value: 'mobile' });
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
  await fill(server.call);
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const { name, place, show } of PICTURES) {
      const opened = await signedIn({ place, colorScheme, width: WIDTH, height: HEIGHT });
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
