/** `--shadow`: another server is asked a sample of the same evaluations, and differences are counted by flag, at no cost to callers. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import {
  CLIENT,
  documents,
  FRONTEND,
  flag,
  type StubUpstream,
  startEdge,
  startStub,
  type TestEdge,
  until,
} from './edges.ts';

interface Toggle {
  readonly name: string;
  readonly enabled: boolean;
  readonly impressionData?: boolean;
  readonly variant?: object;
}

const OFF = { name: 'disabled', enabled: false, feature_enabled: true };
const on = (name: string, variant: object = OFF): Toggle => ({
  name,
  enabled: true,
  impressionData: false,
  variant,
});

describe('an edge with a server in its shadow', () => {
  let upstream: StubUpstream;
  let other: StubUpstream;
  let edge: TestEdge;
  let toggles: readonly Toggle[];
  let status: number;
  let nowMs: number;

  beforeEach(async () => {
    [toggles, status, nowMs] = [[on('a'), on('b')], 200, 0];
    upstream = await startStub(documents(() => ({ features: [flag('a'), flag('b')] })));
    other = await startStub((_, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ toggles })),
    );
    edge = await startEdge(
      { 'upstream-url': upstream.origin, tokens: `${CLIENT},${FRONTEND}`, shadow: other.origin },
      { now: () => nowMs },
    );
  });
  afterEach(async () => {
    await edge.stop();
    await other.close();
    await upstream.close();
  });

  /** Evaluates in a second of its own, so that none is left out. */
  const evaluate = async (path: string): Promise<void> => {
    nowMs += 1_000;
    const { status: answered } = await edge.call('/api/frontend')('GET', path, undefined, {
      token: FRONTEND,
    });
    assert.equal(answered, 200);
  };

  async function metrics(): Promise<ReadonlyMap<string, number>> {
    const text = await (await fetch(`${edge.origin}/internal-backstage/prometheus`)).text();
    return new Map(
      [...text.matchAll(/^flagstaff_edge_shadow_(\S+) (\d+)$/gm)].map(([, name = '', n]) => [
        name,
        Number(n),
      ]),
    );
  }

  async function compared(count: number): Promise<ReadonlyMap<string, number>> {
    await until(async () => (await metrics()).get('compared_total') === count);
    return metrics();
  }

  it('asks it the same with the token of the caller, and counts no difference where there is none', async () => {
    await evaluate('?userId=ada&country=AT');
    assert.deepEqual([...(await compared(1))], [['compared_total', 1]]);
    const [asked] = other.received;
    assert.equal(asked?.path, '/api/frontend?userId=ada&country=AT');
    assert.equal(asked?.headers.authorization, FRONTEND);
  });

  it('counts each flag that differs: in its state, its variant, or by being there', async () => {
    toggles = [on('a', { name: 'blue', enabled: true, payload: { type: 'string', value: 'x' } }), on('c')];
    await evaluate('?userId=ada');
    await compared(1);
    toggles = [on('a')];
    await evaluate('?userId=ada');
    assert.deepEqual(
      await compared(2),
      new Map([
        ['compared_total', 2],
        ['differences_total{flag="a"}', 1],
        ['differences_total{flag="b"}', 2],
        ['differences_total{flag="c"}', 1],
      ]),
    );
  });

  it('asks a sample: up to five a second, and of what chance does not decide', async () => {
    await evaluate('?country=AT');
    await edge.call('/api/frontend')('POST', '', { context: { userId: 'ada' } }, { token: FRONTEND });
    await edge.call('/api/client')('GET', '/features', undefined, { token: CLIENT });
    const ask = () => edge.call('/api/frontend')('GET', '?userId=ada', undefined, { token: FRONTEND });
    for (let asked = 0; asked < 8; asked += 1) assert.equal((await ask()).status, 200);
    await compared(5);
    await evaluate('?sessionId=1');
    await compared(6);
    assert.equal(other.received.length, 6);
  });

  it('responds all the same where the other server fails, sends something else, or is away', async () => {
    status = 500;
    await evaluate('?userId=ada');
    await until(() => other.received.length === 1);
    await other.close();
    await evaluate('?userId=ada');
    other = await startStub((_, response) => response.end('<html>'), {
      port: Number(new URL(other.origin).port),
    });
    await evaluate('?userId=ada');
    await until(() => other.received.length === 1);
    assert.deepEqual([...(await metrics())], [['compared_total', 0]]);
  });
});

describe('the address of a server in the shadow', () => {
  it('may be that of nobody, and the edge is ready', async () => {
    const upstream = await startStub(documents(() => ({ features: [flag('a')] })));
    const shadow = `http://127.0.0.1:${await freePort()}`;
    const edge = await startEdge({ 'upstream-url': upstream.origin, tokens: CLIENT, shadow });
    assert.equal(edge.edge.unready, null);
    await edge.stop();
    await upstream.close();
  });
});
