/** The SDKs for React and for Next.js, unmodified: in a page of another origin, and in the server that renders it. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';
import { evaluateFlags, flag, flagsClient, getDefinitions, getFrontendFlags } from '@unleash/nextjs';
import * as next from '@unleash/nextjs/client';
import * as react from '@unleash/proxy-client-react';
import { createElement, type ReactNode } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { renderToString } from 'react-dom/server';
import { addToken, makeFlagWithVariants, makeRunningFlag } from '../../support/applications.ts';
import { type BrowserPage, openPage } from '../../support/browser/browser-page.ts';
import { environmentPath } from '../../support/interface.ts';
import { describeInterface, type TestServer } from '../../support/server.ts';

const FOR_ADA = { constraints: [{ contextName: 'userId', operator: 'IN', values: ['ada'] }] };
const COMPACT = { name: 'v', weight: 1000, payload: { type: 'string', value: 'compact' } };

/** The configuration of a frontend client that asks again every 20 ms. */
async function configOf(server: TestServer, page: BrowserPage) {
  return {
    url: `${server.origin}/api/frontend`,
    clientKey: await addToken(server, { type: 'frontend', environment: 'development' }),
    appName: 'shop',
    refreshInterval: 0.02,
    disableMetrics: true,
    context: { userId: 'ada' },
    fetch: page.fetch,
  };
}

describeInterface('a page made with React', (server) => {
  let page: BrowserPage;
  beforeEach(() => {
    page = openPage('http://shop.example/');
  });
  afterEach(() => page.close());

  it('shows flags and variants, and what becomes of them', async () => {
    const { call } = server();
    await makeRunningFlag(call, 'checkout', FOR_ADA);
    await makeFlagWithVariants(call, 'layout', [COMPACT]);
    const changeContext: { current?: ReturnType<typeof react.useUnleashContext> } = {};
    const Shop = (): ReactNode => {
      const { flagsReady, flagsError } = react.useFlagsStatus();
      const [isOn, layout] = [react.useFlag('checkout'), react.useVariant('layout')];
      changeContext.current = react.useUnleashContext();
      return flagsReady ? `${isOn} ${layout.payload?.value} ${flagsError}` : 'waiting';
    };
    const config = await configOf(server(), page);
    const root = createRoot(page.root);
    root.render(createElement(react.FlagProvider, { config }, createElement(Shop)));
    await page.shows('true compact null');
    await call('POST', `${environmentPath('checkout')}/off`);
    await page.shows('false compact null');
    await call('POST', `${environmentPath('checkout')}/on`);
    await page.shows('true compact null');
    await changeContext.current?.({ userId: 'grace' });
    await page.shows('false compact null');
    root.unmount();
  });

  it('says that a token is refused, since a page of another origin may read errors too', async () => {
    const Shop = (): ReactNode => String(react.useFlagsStatus().flagsError?.code);
    const config = { ...(await configOf(server(), page)), clientKey: 'default:development.unknown' };
    const root = createRoot(page.root);
    root.render(createElement(react.FlagProvider, { config }, createElement(Shop)));
    await page.shows('401');
    root.unmount();
  });
});

describeInterface('a page made with Next.js', (server) => {
  const definitionsOptions = async (environment = 'development') => ({
    url: `${server().origin}/api/client/features`,
    token: await addToken(server(), { type: 'client', environment }),
    appName: 'shop',
  });

  it('gets its flags evaluated by its own server, which hears of changes and keeps what has not changed', async () => {
    const { call } = server();
    await makeRunningFlag(call, 'checkout', FOR_ADA);
    await makeFlagWithVariants(call, 'layout', [COMPACT]);
    const options = await definitionsOptions();
    const definitions = await getDefinitions(options);
    // It gives out its own copy where the server responds that nothing has changed.
    assert.equal(await getDefinitions(options), definitions);
    const client = flagsClient(evaluateFlags(definitions, { userId: 'ada' }).toggles);
    assert.deepEqual([client.isEnabled('checkout'), client.isEnabled('not-there')], [true, false]);
    assert.equal(client.getVariant('layout').payload?.value, 'compact');
    const isOn = async (userId: string) => (await flag('checkout', { userId }, options)).enabled;
    assert.deepEqual([await isOn('ada'), await isOn('grace')], [true, false]);
    await call('POST', `${environmentPath('checkout')}/off`);
    assert.equal(await isOn('ada'), false);
  });

  it('is shown with its flags at once, and with what they become while it is open', async () => {
    const { call } = server();
    await makeRunningFlag(call, 'banner', FOR_ADA);
    const Shop = (): ReactNode => `banner ${next.useFlag('banner')}`;
    const { toggles } = evaluateFlags(await getDefinitions(await definitionsOptions()), { userId: 'ada' });
    const element = (config: object) =>
      createElement(next.FlagProvider, {
        config: { bootstrap: toggles, disableRefresh: true, ...config },
        children: createElement(Shop),
      });
    const rendered = renderToString(element({}));
    assert.equal(rendered, 'banner true');
    const page = openPage('http://shop.example/');
    page.root.innerHTML = rendered;
    const config = await configOf(server(), page);
    const root = hydrateRoot(page.root, element({ ...config, disableRefresh: false }));
    await call('POST', `${environmentPath('banner')}/off`);
    await page.shows('banner false');
    root.unmount();
    await page.close();
  });

  it('gets its flags evaluated by Flagstaff', async () => {
    const { call, origin } = server();
    await makeRunningFlag(call, 'search', FOR_ADA);
    const clientKey = await addToken(server(), { type: 'frontend', environment: 'development' });
    const evaluated = async (userId: string) => {
      const config = { url: `${origin}/api/frontend`, clientKey, context: { userId } };
      const { toggles } = await getFrontendFlags({ appName: 'shop', ...config });
      return toggles.map(({ name }) => name).includes('search');
    };
    assert.deepEqual([await evaluated('ada'), await evaluated('grace')], [true, false]);
  });
});
