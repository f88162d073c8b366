/** Each operation of the description once over each HTTP engine, on servers that are told the same: both give the same responses. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import '../../support/check-responses.ts';
import { DESCRIBED } from '../../support/described-routes.ts';
import { exampleBody } from '../../support/example-body.ts';
import { NO_UWS } from '../../support/installed-engines.ts';
import { addStrategy, makeFlag } from '../../support/interface.ts';
import { type ReceivedResponse, startTestServer, type TestServer } from '../../support/server.ts';

/** Values of path parameters that exist on the servers; all others are `1`. */
const NAMED: Readonly<Record<string, string>> = {
  environment: 'development',
  featureName: 'made',
  name: 'development',
  project: 'default',
  projectId: 'default',
};

/** Streams do not end by themselves. */
const STREAMS = /streaming|event-stream|ndjson/;

/** Headers that an engine adds by itself; uWebSockets.js gives a 204 a length, too. */
const OF_ENGINES = ['connection', 'date', 'keep-alive', 'transfer-encoding', 'uwebsockets'];

/** A response without ids, times, secrets and digests, which no two servers have in common. */
function comparable({ status, headers, body }: ReceivedResponse): object {
  const text = JSON.stringify(body ?? null)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
    .replaceAll(/[\w-]{32,}/g, 'secret')
    .replaceAll(/"(httpEngine|instanceId)":"\w+"/g, '"$1":"its own"')
    .replaceAll(/:\d{4,}\b|(?<="uptimeSeconds"):\d+/g, ':0');
  const names = [...headers.keys()]
    .filter((name) => !OF_ENGINES.includes(name) && !(status === 204 && name === 'content-length'))
    .sort();
  return { status, names, body: JSON.parse(text) };
}

describe('each operation', { skip: NO_UWS }, () => {
  const servers: TestServer[] = [];
  before(async () => {
    for (const engine of ['uws', 'node']) {
      const server = await startTestServer({ env: { HTTP_ENGINE: engine } });
      servers.push(server);
      await makeFlag(server.call, 'made');
      await addStrategy(server.call, 'made');
    }
  });
  after(() => Promise.all(servers.map((server) => server.stop())));

  for (const described of DESCRIBED) {
    const { route, pattern } = described;
    if (STREAMS.test(pattern)) continue;
    it(`${route.method} ${pattern} responds alike on both engines`, async () => {
      const path = pattern.replaceAll(/:([A-Za-z]+)/g, (_, name: string) => NAMED[name] ?? '1');
      const [one, other] = await Promise.all(
        servers.map((server) => server.callBelow('')(route.method, path, exampleBody(described))),
      );
      assert.deepEqual(comparable(other!), comparable(one!));
    });
  }
});
