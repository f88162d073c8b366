/** Health, readiness and metrics: what supervisors and dashboards ask. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { VERSION } from '../../../src/process/installation.ts';
import { describeInterface, serverFor } from '../../support/server.ts';

describeInterface('probes', (server) => {
  const get = (path: string) => fetch(`${server().origin}${path}`);

  it('a server that can write is healthy and ready, without any token', async () => {
    const health = await get('/health');
    assert.equal(health.status, 200);
    const { health: state, warning, historyCheckedAt } = (await health.json()) as Record<string, unknown>;
    assert.deepEqual([state, warning], ['GOOD', undefined]);
    assert(!Number.isNaN(Date.parse(String(historyCheckedAt))));
    const ready = await get('/ready');
    assert.equal(ready.status, 200);
    assert.deepEqual(await ready.json(), { ready: true, phase: 'ready' });
  });

  it('the metrics count each response under its route and status, and what the journal did', async () => {
    const { call } = server();
    await call('POST', '/projects/default/features', { name: 'measured' });
    await call('GET', '/projects/default/features/measured');
    await call('GET', '/projects/default/features/absent');
    await call('GET', '/nowhere');
    const page = await get('/internal-backstage/prometheus');
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-type') ?? '', /^text\/plain/);
    const text = await page.text();
    const route = '/api/admin/projects/:projectId/features/:featureName';
    assert.equal(
      sample(text, `flagstaff_http_requests_total{method="GET",route="${route}",status="200"}`),
      1,
    );
    assert.equal(
      sample(text, `flagstaff_http_requests_total{method="GET",route="${route}",status="404"}`),
      1,
    );
    assert.equal(sample(text, 'flagstaff_http_requests_total{method="",route="none",status="404"}'), 1);
    assert.equal(
      sample(text, `flagstaff_http_request_duration_seconds_bucket{method="GET",route="${route}",le="+Inf"}`),
      2,
    );
    assert.equal(sample(text, 'flagstaff_flags'), 1);
    assert.equal(sample(text, 'flagstaff_projects'), 1);
    assert.equal(sample(text, 'flagstaff_writable'), 1);
    const lastId = server().server.store.engine.lastId;
    assert.equal(sample(text, 'flagstaff_last_event_id'), lastId);
    assert.equal(sample(text, 'flagstaff_durable_event_id'), lastId);
    assert(sample(text, 'flagstaff_commit_seconds_count') >= 2);
    assert(sample(text, 'flagstaff_commit_frames_sum') >= 2);
    assert(sample(text, 'flagstaff_journal_written_bytes_total') > 100);
  });

  it('the metrics say what runs, how its start went, and how many had no valid token', async () => {
    const text = await (await get('/internal-backstage/prometheus')).text();
    const { engine } = server().server.transport;
    const labels = `version="${VERSION}",node="${process.version}",engine="${engine}"`;
    assert.equal(sample(text, `flagstaff_build_info{${labels}}`), 1);
    assert.equal(sample(text, 'flagstaff_journal_unchecked_bytes'), 0);
    assert.equal(sample(text, 'flagstaff_replay_seconds'), server().server.store.recoveryMs / 1000);
    assert.equal(sample(text, 'flagstaff_snapshot_failures_total'), 0);
  });

  it('the buckets of a distribution grow towards its count', async () => {
    const text = await (await get('/internal-backstage/prometheus')).text();
    const buckets = [...text.matchAll(/^flagstaff_commit_seconds_bucket\{le="([^"]+)"\} (\S+)$/gm)].map(
      ([, , n]) => Number(n),
    );
    assert(buckets.length > 10);
    assert.deepEqual(
      buckets,
      buckets.toSorted((a, b) => a - b),
    );
    assert.equal(buckets.at(-1), sample(text, 'flagstaff_commit_seconds_count'));
  });

  it('a secret is in no metric', async () => {
    const text = await (await get('/internal-backstage/prometheus')).text();
    assert.doesNotMatch(text, /secret/);
  });
});

it('a server below its reserve of free space says so, refuses writes and goes on reading', async (t) => {
  const server = await serverFor(t, { store: { reserveBytes: Number.MAX_SAFE_INTEGER } });
  // The first events of a new folder are the server's own and no command: they are recorded all the same.
  const health = await fetch(`${server.origin}/health`);
  assert.equal(health.status, 503);
  assert.equal(((await health.json()) as { health: string }).health, 'BAD');
  const write = await server.call('POST', '/projects/default/features', { name: 'no-room' });
  assert.equal(write.status, 503);
  assert.equal(write.body.name, 'ServiceUnavailableError');
  assert.equal(write.headers.get('retry-after'), '1');
  assert.equal((await server.call('GET', '/projects/default')).status, 200);
});

it('with METRICS=off there is no metrics page, and all else is as ever', async (t) => {
  const server = await serverFor(t, { env: { METRICS: 'off' } });
  assert.equal((await fetch(`${server.origin}/internal-backstage/prometheus`)).status, 404);
  assert.equal((await server.call('POST', '/projects/default/features', { name: 'uncounted' })).status, 201);
});

it('every path is below the base path, the probes too', async (t) => {
  const server = await serverFor(t, { env: { BASE_URI_PATH: '/flags' } });
  assert.equal((await fetch(`${server.origin}/flags/health`)).status, 200);
  assert.equal((await fetch(`${server.origin}/health`)).status, 404);
  assert.equal((await fetch(`${server.origin}/flags/internal-backstage/prometheus`)).status, 200);
});

it('the metrics count every request without a valid token', async (t) => {
  const server = await serverFor(t);
  for (const token of [null, '*:*.guessed']) {
    assert.equal((await server.call('GET', '/projects', undefined, { token })).status, 401);
  }
  const text = await (await fetch(`${server.origin}/internal-backstage/prometheus`)).text();
  assert.equal(sample(text, 'flagstaff_auth_failures_total'), 2);
});

function sample(text: string, name: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  assert(line !== undefined, `no sample ${name}`);
  return Number(line.slice(name.length + 1));
}
