/** Reports of applications to an edge: summed, bounded, kept while the upstream is away, cut where it is too large, and counted once. */
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type SendOptions, sendReports } from '../../../src/addons/edge/report-sending.ts';
import { Reports, WAITING_BYTES_MAX } from '../../../src/addons/edge/reports.ts';
import { readSettings } from '../../../src/addons/edge/settings.ts';
import { UpstreamClient } from '../../../src/addons/edge/upstream-client.ts';
import { freePort } from '../../support/free-port.ts';
import { type Test, temporaryFolder } from '../../support/server.ts';
import { CLIENT, documents, edgeFor, flag, type Received, stubFor, type TestEdge } from './edges.ts';

const HOUR = '2026-11-24T10:00:00.000Z';

const FLAGS = ['a', 'b', 'c', 'd', 'e'];
const document = documents(() => ({ version: 2, features: FLAGS.map((name) => flag(name)) }));

interface SentBulk {
  readonly metrics: readonly { readonly featureName: string; readonly yes: number }[];
}

const isBulk = ({ path }: Received): boolean => path === '/api/client/metrics/bulk';
const bulkOf = ({ body }: Received): SentBulk => JSON.parse(body) as SentBulk;

async function report(edge: TestEdge, toggles: Readonly<Record<string, object>>): Promise<void> {
  const bucket = { start: HOUR, stop: HOUR, toggles };
  const sent = { appName: 'shop', instanceId: '1', bucket };
  const { status } = await edge.call('/api/client')('POST', '/metrics', sent, { token: CLIENT });
  assert.equal(status, 202);
}

const countsOf = (reports: Reports) =>
  [...reports.waiting()].flatMap((one) => (one.kind === 'count' ? [one] : []));

const yes = (count: number) => ({ yes: count, no: 0, variants: { blue: count } });

/** An edge with a folder, whose upstream has gone since it started. */
async function startAndLeaveAlone(t: Test) {
  const folder = temporaryFolder();
  const port = await freePort();
  const options = { 'upstream-url': `http://127.0.0.1:${port}`, tokens: CLIENT, 'backup-folder': folder };
  const upstream = await stubFor(t, document, { port });
  const first = await edgeFor(t, options);
  await upstream.close();
  return { folder, port, options, first };
}

describe('reports to an edge', () => {
  it('counts of one hour are one, and come with their application', async (t) => {
    const upstream = await stubFor(t, document);
    const edge = await edgeFor(t, {
      'upstream-url': upstream.origin,
      tokens: CLIENT,
      'app-name': 'the-edge',
    });
    await report(edge, { a: yes(1), b: yes(2) });
    await report(edge, { a: yes(10), unknown: yes(5) });
    await edge.edge.sendReports();
    const [bulk, ...others] = upstream.received.filter(isBulk);
    const { metrics, applications } = JSON.parse(bulk!.body);
    assert.equal(others.length, 0);
    assert.deepEqual(metrics, [
      {
        featureName: 'a',
        appName: 'shop',
        environment: 'development',
        timestamp: HOUR,
        yes: 11,
        no: 0,
        variants: { blue: 11 },
        sdkType: 'backend',
      },
      {
        featureName: 'b',
        appName: 'shop',
        environment: 'development',
        timestamp: HOUR,
        yes: 2,
        no: 0,
        variants: { blue: 2 },
        sdkType: 'backend',
      },
    ]);
    assert.equal(applications[0].appName, 'shop');
    assert.equal('sdkVersion' in applications[0], false, 'an Unleash refuses the whole report for a null');
    assert.equal(applications[0].connectVia[0].appName, 'the-edge');
  });

  it('what a 413 refuses goes in halves, each count once', async (t) => {
    const taken: SentBulk[] = [];
    const upstream = await stubFor(t, (request, response) => {
      if (!isBulk(request)) return document(request, response);
      const bulk = bulkOf(request);
      response.statusCode = bulk.metrics.length > 2 ? 413 : 202;
      if (response.statusCode === 202) taken.push(bulk);
      response.end();
    });
    const edge = await edgeFor(t, { 'upstream-url': upstream.origin, tokens: CLIENT });
    await report(edge, Object.fromEntries(FLAGS.map((name, at) => [name, yes(at + 1)])));
    await edge.edge.sendReports();
    const counted = taken.flatMap(({ metrics }) => metrics.map((one) => [one.featureName, one.yes] as const));
    assert.deepEqual(new Map(counted), new Map(FLAGS.map((name, at) => [name, at + 1])));
    assert.equal(counted.length, FLAGS.length);
  });

  it('an upstream that is away for an hour and over two restarts gets each count once', async (t) => {
    const { port, options, first } = await startAndLeaveAlone(t);
    for (let minute = 0; minute < 60; minute += 1) {
      await report(first, { a: yes(1) });
      await first.edge.sendReports();
    }
    await report(first, { a: yes(2) });
    await first.stop();
    const second = await edgeFor(t, options);
    await report(second, { a: yes(4) });
    await second.stop();
    const after = await stubFor(t, document, { port });
    const third = await edgeFor(t, options);
    await third.edge.sendReports();
    await third.edge.sendReports();
    const bulks = after.received.filter(isBulk).map(bulkOf);
    assert.deepEqual(
      bulks.flatMap(({ metrics }) => metrics.map((one) => one.yes)),
      [60 + 2 + 4],
    );
  });

  it('what nobody knows to have arrived is not sent again, and is counted as dropped', async (t) => {
    const upstream = await stubFor(t, (request, response) => {
      if (isBulk(request)) response.destroy();
      else document(request, response);
    });
    const edge = await edgeFor(t, { 'upstream-url': upstream.origin, tokens: CLIENT });
    await report(edge, { a: yes(1) });
    await edge.edge.sendReports();
    assert.deepEqual([edge.edge.reports.size, edge.edge.reports.droppedCount], [0, 1]);
  });

  it('reads on one connection leave nothing behind on it', async (t) => {
    const upstream = await stubFor(t, document);
    const client = new UpstreamClient(readSettings({ 'upstream-url': upstream.origin }, {}).upstream);
    const warnings: string[] = [];
    const warned = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', warned);
    for (let read = 0; read < 20; read += 1) await client.get('/api/client/features', CLIENT);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', warned);
    assert.deepEqual(warnings, []);
    client.close();
  });

  it('counts that a restart finds on the disk stay there while nobody knows whether the upstream takes reports', async (t) => {
    const { folder, port, options, first } = await startAndLeaveAlone(t);
    await report(first, { a: yes(1), b: yes(1) });
    await first.stop();
    await stubFor(
      t,
      (request, response) => {
        if (isBulk(request)) response.destroy();
        else document(request, response);
      },
      { port },
    );
    const second = await edgeFor(t, options);
    await second.edge.sendReports();
    assert.deepEqual([countsOf(second.edge.reports).length, second.edge.reports.droppedCount], [2, 0]);
    assert.match(readFileSync(join(folder, 'reports.edge'), 'utf8'), /"featureName":"b"/);
  });

  it('a count goes by a token that covers its flag', async (t) => {
    const [web, shop] = ['web:development.client-one', 'shop:development.client-two'];
    const upstream = await stubFor(t, (request, response) => {
      const name = request.headers.authorization === shop ? 'of-the-shop' : 'of-the-web';
      documents(() => ({ version: 2, features: [flag(name, { project: name.slice(7) })] }))(
        request,
        response,
      );
    });
    const edge = await edgeFor(t, { 'upstream-url': upstream.origin, tokens: `${web},${shop}` });
    const bucket = { start: HOUR, stop: HOUR, toggles: { 'of-the-shop': yes(1) } };
    const sent = { appName: 'shop', instanceId: '1', bucket };
    const { status } = await edge.call('/api/client')('POST', '/metrics', sent, { token: shop });
    assert.equal(status, 202);
    await edge.edge.sendReports();
    const counting = upstream.received.filter((one) => isBulk(one) && bulkOf(one).metrics.length > 0);
    assert.deepEqual(
      counting.map(({ headers }) => headers.authorization),
      [shop],
    );
  });

  it('is sent one time after another, of which one at most waits', async (t) => {
    let [underWay, together] = [0, 0];
    const upstream = await stubFor(t, async (request, response) => {
      if (!isBulk(request)) return document(request, response);
      underWay += 1;
      together = Math.max(together, underWay);
      await new Promise((resolve) => setTimeout(resolve, 50));
      underWay -= 1;
      document(request, response);
    });
    const edge = await edgeFor(t, { 'upstream-url': upstream.origin, tokens: CLIENT });
    await report(edge, { a: yes(1) });
    const first = edge.edge.sendReports();
    await new Promise((resolve) => setImmediate(resolve));
    await report(edge, { a: yes(1) });
    const others = [edge.edge.sendReports(), edge.edge.sendReports(), edge.edge.sendReports()];
    assert.equal(new Set(others).size, 1);
    await Promise.all([first, ...others]);
    assert.deepEqual([together, upstream.received.filter(isBulk).length], [1, 2]);
  });

  it('of many failing pieces one is tried, and the others wait', async () => {
    const reports = new Reports();
    for (let at = 0; at < 5_000; at += 1) {
      const counts = [{ flag: `flag-${at}`, yes: 1, no: 0, variants: [] }];
      const named = { appName: 'shop', environment: 'development', side: 'backend' } as const;
      reports.send({ kind: 'counts', atMs: 0, report: { ...named, startMs: 0, counts, unknownFlags: [] } });
    }
    let tried = 0;
    await sendReports({
      ...{ reports, save: () => Promise.resolve(), connectVia: { appName: 'edge', instanceId: '1' } },
      secretFor: () => CLIENT,
      post: () => {
        tried += 1;
        return Promise.reject(new Error('nothing came for too long'));
      },
      onFault: () => undefined,
    });
    assert.equal(tried, 1);
    assert.deepEqual([countsOf(reports).length, reports.droppedCount], [4_000, 1_000]);
  });

  it('what pages report drives out nothing that servers report', () => {
    const reports = new Reports();
    const counted = (flagName: string, side: 'backend' | 'frontend'): void => {
      const counts = [{ flag: flagName, yes: 1, no: 0, variants: [] }];
      const named = { appName: 'shop', environment: 'development', side } as const;
      reports.send({ kind: 'counts', atMs: 0, report: { ...named, startMs: 0, counts, unknownFlags: [] } });
    };
    counted('of-a-server', 'backend');
    for (let at = 0; at < 50_000; at += 1) counted(`of-a-page-${at}`, 'frontend');
    assert.ok(reports.droppedCount > 0);
    assert.equal(countsOf(reports)[0]?.featureName, 'of-a-server');
  });

  it('while the upstream is away, counts stay on the disk: nothing of them is on its way when a kill comes', async (t) => {
    const folder = temporaryFolder();
    const upstream = await stubFor(t, document);
    const edge = await edgeFor(t, {
      ...{ 'upstream-url': upstream.origin, tokens: CLIENT, 'backup-folder': folder },
    });
    await upstream.close();
    await report(edge, { a: yes(1) });
    await edge.edge.sendReports();
    const file = join(folder, 'reports.edge');
    const { ino } = statSync(file);
    assert.match(readFileSync(file, 'utf8'), /"featureName":"a"/);
    await report(edge, { b: yes(1) });
    await edge.edge.sendReports();
    assert.equal(statSync(file).ino, ino, 'the file is not written, so it was never without them');
    assert.equal(edge.edge.reports.droppedCount, 0);
  });

  it('what a connection cannot have taken waits, though nobody ever refused it', async (t) => {
    // Like an upstream behind a network that swallows everything: no connection ever comes about.
    const silent = createServer();
    const upstream = await stubFor(t, document);
    const edge = await edgeFor(t, { 'upstream-url': upstream.origin, tokens: CLIENT });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const client = new UpstreamClient({
      ...readSettings({ 'upstream-url': `https://127.0.0.1:${port}` }, {}).upstream,
      timeoutMs: 20,
    });
    await report(edge, { a: yes(1) });
    const failures: unknown[] = [];
    const options: SendOptions = {
      reports: edge.edge.reports,
      secretFor: () => CLIENT,
      post: (secret, body) => client.post('/api/client/metrics/bulk', secret, body),
      save: () => Promise.resolve(),
      connectVia: { appName: 'edge', instanceId: '1' },
      onFault: (error) => void failures.push(error),
    };
    await sendReports(options);
    await sendReports(options);
    assert.equal(failures.length, 2);
    assert.deepEqual(
      countsOf(edge.edge.reports).map(({ yes }) => yes),
      [1],
    );
    assert.equal(edge.edge.reports.droppedCount, 0);
    client.close();
    silent.close();
  });

  it('what waits at its bound is sent in pieces that are made one by one, and shown in part', async () => {
    const reports = new Reports();
    const variants = Array.from({ length: 50 }, (_, at) => [`variant-${at}`, 1] as const);
    for (let at = 0; at < 1_000; at += 1) {
      const counts = [{ flag: `flag-${at}`, yes: 1, no: 0, variants }];
      const named = { appName: 'shop', environment: 'development', side: 'backend' } as const;
      reports.send({ kind: 'counts', atMs: 0, report: { ...named, startMs: 0, counts, unknownFlags: [] } });
    }
    let [sent, largest] = [0, 0];
    await sendReports({
      ...{ reports, save: () => Promise.resolve(), connectVia: { appName: 'edge', instanceId: '1' } },
      secretFor: () => CLIENT,
      post: (_, body) => {
        sent += (body as SentBulk).metrics.length;
        largest = Math.max(largest, JSON.stringify(body).length);
        return Promise.resolve({ status: 202, body: Buffer.alloc(0), etag: '', retryAfterMs: null });
      },
      onFault: (error) => assert.fail(String(error)),
    });
    assert.equal(sent, 1_000);
    assert.ok(largest < 512 * 1024, `${largest} bytes`);
  });

  it('what waits is bounded in bytes, and the oldest counts go', () => {
    const reports = new Reports();
    const variants = Array.from({ length: 50 }, (_, at) => [`variant-${at}-${'x'.repeat(80)}`, 1] as const);
    for (let at = 0; at < 10_000; at += 1) {
      const counts = [{ flag: `flag-${at}`, yes: 1, no: 0, variants }];
      const named = { appName: 'shop', environment: 'development', side: 'backend' } as const;
      reports.send({ kind: 'counts', atMs: 0, report: { ...named, startMs: 0, counts, unknownFlags: [] } });
    }
    assert.ok(reports.bytes <= WAITING_BYTES_MAX.backend);
    assert.ok(reports.droppedCount > 0);
    const kept = countsOf(reports).map(({ featureName }) => featureName);
    assert.equal(kept.at(-1), 'flag-9999');
    assert.equal(kept.length + reports.droppedCount, 10_000);
  });
});
