/** The metrics page: made once for everybody who asks within a second, and for those with the token where one is set. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { METRICS_AGE_MS_MAX, METRICS_PATH } from '../../../src/http/serving/metrics-page.ts';
import { probeSurface } from '../../../src/http/serving/probes.ts';
import type { TransportRequest } from '../../../src/http/transport/transport.ts';

function metricsPage(token: string | null) {
  let made = 0;
  let nowMs = 5_000;
  const registry = new Registry();
  registry.metrics = async () => {
    made += 1;
    return `made ${made}`;
  };
  const { routes } = probeSurface({
    engine: undefined as never,
    addons: [],
    historyCheck: undefined as never,
    metrics: { registry, token, monotonicMs: () => nowMs },
    phase: () => 'ready',
  });
  const route = routes.find(({ path }) => path === METRICS_PATH);
  assert(route?.kind === 'plain');
  return {
    pass: (ms: number) => {
      nowMs += ms;
    },
    get: async (authorization = '') => {
      const header = (name: string): string => (name === 'authorization' ? authorization : '');
      const { status, body } = await route.respond({ header } as TransportRequest);
      return { status, body: String(body) };
    },
  };
}

test('the metrics are made once for all who ask within a second', async () => {
  const page = metricsPage(null);
  const both = await Promise.all([page.get(), page.get()]);
  page.pass(METRICS_AGE_MS_MAX - 1);
  assert.deepEqual(
    [...both, await page.get()].map(({ body }) => body),
    ['made 1', 'made 1', 'made 1'],
  );
  page.pass(1);
  assert.equal((await page.get()).body, 'made 2');
});

test('with a token set, the metrics are for those who present it', async () => {
  const page = metricsPage('a-token-of-metrics');
  for (const wrong of ['', 'a-token-of-metrics', 'Bearer a-token-of-metric', 'Bearer a-token-of-metrics2']) {
    assert.equal((await page.get(wrong)).status, 401, wrong);
  }
  assert.deepEqual(await page.get('Bearer a-token-of-metrics'), { status: 200, body: 'made 1' });
});
