/** Changes of others, as the console hears of them: by the stream of events, and by asking where there is no stream. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Page } from 'playwright-core';
import { recordedStreams } from '../../src/http/admin/event-stream.ts';
import { describeConsole } from '../support/browser/console.ts';
import { addStrategy, archive, environmentPath, makeFlag } from '../support/interface.ts';

/** The paths that the page asks for from now on, below `/api/admin`. */
function requestsOf(page: Page): string[] {
  const paths: string[] = [];
  page.on('request', (request) => paths.push(new URL(request.url()).pathname.replace('/api/admin', '')));
  return paths;
}

describeConsole('the console beside others', (shared) => {
  const streamCount = () => recordedStreams(shared.server.server.store.engine).count;

  it('hears of a change at once, reads the one flag again, and ends its stream with the session', async () => {
    const { call } = shared.server;
    for (const name of ['live', 'leaving']) await makeFlag(call, name);
    await addStrategy(call, 'live');
    // What the page asks for as the session ends is refused.
    const page = await shared.signedIn({ expected: /status of 401/ });
    await page.getByRole('link', { name: 'leaving' }).waitFor();
    while (streamCount() === 0) await page.waitForTimeout(20);
    // The server may know of the stream before we hear that the page has asked for it; what it answers comes after that.
    await page.evaluate(() => 0);
    const asked = requestsOf(page);
    // From here on no search responds, so that whatever the page hears of, the stream tells.
    await page.route('**/api/admin/events/search', () => undefined);
    await call('POST', `${environmentPath('live')}/on`);
    await page.locator('[aria-label="live in development"][aria-checked=true]').waitFor();
    await archive(call, 'leaving');
    await page.getByRole('link', { name: 'leaving' }).waitFor({ state: 'detached' });
    await makeFlag(call, 'arriving');
    await page.getByRole('rowheader').first().getByRole('link', { name: 'arriving' }).waitFor();
    const ofFlags = asked.filter((path) => path.includes('/features/'));
    assert.deepEqual(
      ofFlags,
      ['live', 'leaving', 'arriving'].map((name) => `/projects/default/features/${name}`),
    );
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API token or personal token').waitFor();
    while (streamCount() > 0) await page.waitForTimeout(20);
  });

  it('knows the newest event before it reads what events change, so that it misses no change in between', async () => {
    const page = await shared.signedIn();
    const address = page.url();
    // What the page before had asked for is not answered to this one.
    await page.goto('about:blank');
    const steps: string[] = [];
    page.on('request', (request) => {
      if (/\/admin\/(?:projects|environments)/.test(request.url())) steps.push('read');
    });
    page.on('response', (response) => {
      if (response.url().endsWith('/auth/console')) steps.push('known');
    });
    await page.goto(address);
    await page.getByRole('link', { name: 'live' }).waitFor();
    assert.deepEqual(steps.slice(0, 2), ['known', 'read']);
  });

  it('asks for changes where there is no stream', async () => {
    const page = await shared.signedIn({ expected: /status of 401|ERR_FAILED|event-stream/ });
    await page.route('**/api/admin/event-stream*', (route) => route.abort());
    await page.reload();
    await page.getByRole('link', { name: 'live' }).waitFor();
    const asked = page.waitForRequest((request) => request.url().endsWith('/events/search'));
    await makeFlag(shared.server.call, 'asked-for');
    await page.getByRole('link', { name: 'asked-for' }).waitFor();
    await asked;
  });
});
