/** Traces of a real server process, as a collector of this test receives them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { ADMIN_TOKEN, processFor, spawnServer, temporaryFolder } from '../../support/server.ts';

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

interface SpanMessage {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number };
}

interface TraceMessage {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly SpanMessage[] }[];
  }[];
}

interface Received {
  readonly path: string;
  readonly type: string;
  readonly body: Buffer;
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';

const valuesOf = (attributes: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));

describe('traces', () => {
  let collector: Server;
  let endpoint: string;
  const received: Received[] = [];
  const folders: string[] = [];

  before(async () => {
    collector = createServer(async (request, response) => {
      const { url: path = '', headers } = request;
      received.push({ path, type: headers['content-type'] ?? '', body: await buffer(request) });
      response.setHeader('content-type', 'application/json');
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  });
  after(() => {
    collector.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  /** The traces of a server that ran with these settings while `use` did something; a stop sends what waits. */
  async function tracesOf(
    env: Readonly<Record<string, string>>,
    use: (origin: string) => Promise<unknown>,
  ): Promise<Received[]> {
    received.length = 0;
    const folder = temporaryFolder();
    folders.push(folder);
    const server = await spawnServer(folder, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...env });
    try {
      await use(server.origin);
    } finally {
      assert.equal(await server.terminate(), 0, server.output());
    }
    return [...received];
  }

  const createFlag = (origin: string, headers: Record<string, string> = {}) =>
    fetch(`${origin}/api/admin/projects/default/features`, {
      method: 'POST',
      headers: { authorization: ADMIN_TOKEN, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ name: 'traced' }),
    });

  it('show a change with its wait in the mailbox and for the disk, in the trace of its caller', async () => {
    const messages = await tracesOf(
      {
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_SERVICE_NAME: 'flags-of-the-shop',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      },
      async (origin) => {
        const created = await createFlag(origin, { traceparent: `00-${TRACE}-${CALLER}-01` });
        assert.equal(created.status, 201);
        await fetch(`${origin}/api/admin/nothing/${ADMIN_TOKEN}`, {
          headers: { authorization: ADMIN_TOKEN },
        });
        await fetch(`${origin}/api/admin/projects`, {
          headers: { authorization: ADMIN_TOKEN, traceparent: `00-${TRACE}-${CALLER}-00` },
        });
      },
    );
    assert.deepEqual(
      [...new Set(messages.map(({ path, type }) => `${path} ${type}`))],
      ['/v1/traces application/json'],
    );
    const traces = messages.map(({ body }) => JSON.parse(body.toString()) as TraceMessage);
    const resources = traces.flatMap(({ resourceSpans }) => resourceSpans);
    const resource = valuesOf(resources[0]?.resource.attributes ?? []);
    assert.equal(resource['service.name'], 'flags-of-the-shop');
    assert.equal(resource['deployment.environment.name'], 'test');
    const spans = resources.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));

    const change = spans.find(({ name }) => name === 'POST /api/admin/projects/:projectId/features');
    assert(change !== undefined, spans.map(({ name }) => name).join(', '));
    assert.deepEqual([change.traceId, change.parentSpanId], [TRACE, CALLER]);
    assert.deepEqual(valuesOf(change.attributes), {
      'http.request.method': 'POST',
      'url.path': '/api/admin/projects/default/features',
      'http.route': '/api/admin/projects/:projectId/features',
      'http.response.status_code': 201,
    });
    const parts = spans.filter(({ parentSpanId }) => parentSpanId === change.spanId);
    assert.deepEqual(
      parts.map(({ name, traceId }) => [name, traceId]),
      [
        ['mailbox', TRACE],
        ['commit', TRACE],
      ],
    );
    const times = [change, ...parts]
      .flatMap((span) => [span.startTimeUnixNano, span.endTimeUnixNano])
      .map(BigInt);
    const [start, end, queued, begun, appended, durable] = times;
    assert.deepEqual(
      [start, queued, begun, appended, durable, end],
      [...times].sort((a, b) => Number(a - b)),
    );

    const unknown = spans.find(({ name }) => name === 'GET');
    assert.equal(valuesOf(unknown?.attributes ?? [])['http.response.status_code'], 404);
    assert(!JSON.stringify(spans).includes(ADMIN_TOKEN.slice(4)), 'no secret stands in a trace');
    assert(
      !spans.some(({ name }) => name === 'GET /api/admin/projects'),
      'its caller does not record the trace',
    );
  });

  it('are sent as protobuf unless JSON is asked for, and only of the share that is asked for', async () => {
    const [message] = await tracesOf({}, (origin) => createFlag(origin));
    assert.deepEqual([message?.path, message?.type], ['/v1/traces', 'application/x-protobuf']);
    assert(message?.body.includes('POST /api/admin/projects/:projectId/features'));
    const none = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' };
    assert.deepEqual(await tracesOf(none, (origin) => createFlag(origin)), []);
  });

  it('that cannot be sent hold up neither a request nor a stop, and are told of once', async (t) => {
    const folder = temporaryFolder();
    folders.push(folder);
    const server = await processFor(t, folder, {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_BSP_SCHEDULE_DELAY: '10',
    });
    for (let round = 0; round < 3; round += 1) assert((await createFlag(server.origin)).status < 500);
    assert.equal(await server.terminate(), 0);
    assert((server.output().match(/traces could not be sent/g) ?? []).length <= 1, server.output());
  });
});
