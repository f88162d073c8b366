/** An upstream that is away: an edge serves what it has, also when it starts meanwhile, says how old that is, and comes back by itself. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { type Test, temporaryFolder } from '../../support/server.ts';
import { CLIENT, documentStub, edgeFor, FRONTEND, flag, type TestEdge, until } from './edges.ts';

const DAY_MS = 86_400_000;

describe('an edge whose upstream is away', () => {
  let folder: string;
  let port: number;
  let nowMs: number;
  const now = (): number => nowMs;

  beforeEach(async () => {
    folder = temporaryFolder();
    port = await freePort();
    nowMs = Date.UTC(2026, 10, 24);
  });

  const open = (
    t: Test,
    more: Readonly<Record<string, string>> = {},
    isWaitedFor = true,
  ): Promise<TestEdge> =>
    edgeFor(
      t,
      {
        ...{ 'upstream-url': `http://127.0.0.1:${port}`, tokens: `${CLIENT},${FRONTEND}` },
        ...{ 'backup-folder': folder, 'edge-request-timeout': '0.05', ...more },
      },
      { now, isWaitedFor },
    );

  const upstream = (t: Test, names: readonly string[]) => {
    const document = { version: 2, features: names.map((name) => flag(name)), meta: { revisionId: 7 } };
    return documentStub(t, () => document, { port });
  };

  const names = async (edge: TestEdge): Promise<readonly string[]> => {
    const { status, body } = await edge.call('/api/frontend')('GET', '?userId=1', undefined, {
      token: FRONTEND,
    });
    assert.equal(status, 200, JSON.stringify(body));
    return body.toggles.map((one: { name: string }) => one.name);
  };

  /** An edge was here with this folder, and is gone as its upstream is. */
  const leaveCopy = async (t: Test): Promise<void> => {
    const stub = await upstream(t, ['a']);
    const first = await open(t);
    await first.stop();
    await stub.close();
  };

  it('it is ready from its copy after each of 20 restarts within a day, with no read that fails, and takes what is new once the upstream is back', async (t) => {
    const stub = await upstream(t, ['a', 'b']);
    const first = await open(t);
    assert.deepEqual(await names(first), ['a', 'b']);
    const document = await first.call('/api/client')('GET', '/features', undefined, { token: CLIENT });
    await first.stop();
    await stub.close();
    for (let restart = 1; restart <= 20; restart += 1) {
      nowMs += DAY_MS / 20;
      const edge = await open(t);
      assert.deepEqual(await names(edge), ['a', 'b']);
      const read = await edge.call('/api/client')('GET', '/features', undefined, { token: CLIENT });
      assert.equal(read.headers.get('etag'), document.headers.get('etag'), 'clients need not read it again');
      assert.equal(Number(read.headers.get('flagstaff-age-ms')), (DAY_MS / 20) * restart);
      await edge.stop();
    }
    const edge = await open(t);
    await upstream(t, ['a', 'c']);
    await until(async () => (await names(edge)).includes('c'));
    assert.deepEqual(await names(edge), ['a', 'c']);
  });

  it('a kill leaves the copy that was written before, whole', async (t) => {
    const stub = await upstream(t, ['a']);
    const killed = await open(t);
    await killed.edge.saveCopy();
    const before = readFileSync(join(folder, 'copy.edge'));
    writeFileSync(join(folder, 'copy.edge.tmp'), before.subarray(0, 100));
    await stub.close();
    const edge = await open(t);
    assert.deepEqual(await names(edge), ['a']);
  });

  it('a damaged copy is set aside, and the edge is not ready without its upstream', async (t) => {
    await leaveCopy(t);
    const file = join(folder, 'copy.edge');
    const bytes = readFileSync(file);
    bytes[bytes.length - 9]! ^= 1;
    writeFileSync(file, bytes);
    const edge = await open(t, {}, false);
    assert.notEqual(edge.edge.unready, null);
    assert.deepEqual(readFileSync(`${file}.damaged`), bytes);
    const { status } = await edge.call('/api/client')('GET', '/features', undefined, { token: CLIENT });
    assert.equal(status, 503, 'never 401 or 403, at which SDKs stop for good');
  });

  it('ready fails beyond --max-age, and the flags are served all the same', async (t) => {
    await leaveCopy(t);
    nowMs += 61_000;
    const edge = await open(t, { 'max-age': '60' }, false);
    const ready = await edge.call('/internal-backstage')('GET', '/ready', undefined, { token: null });
    assert.equal(ready.status, 503);
    assert.match(ready.body.reason, /61 seconds old/);
    assert.deepEqual(await names(edge), ['a']);
  });

  it('a copy of another upstream is not used', async (t) => {
    await leaveCopy(t);
    const edge = await open(t, { 'upstream-url': `http://localhost:${port}` }, false);
    assert.equal(edge.edge.mirrors.size, 0);
  });
});
