/**
 * Live state and recovered state are one: values that storage, MessagePack, JSON or headers are known to bend are either kept
 * exactly, also across a restart, or refused with 400 where they come in.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import '../../support/check-responses.ts';
import { stateHash } from '../../../src/actors/state/world-snapshot.ts';
import { jsonEqual } from '../../../src/domain/json/json.ts';
import { environmentPath, FEATURES, makeFlag } from '../../support/interface.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { writeHostileFields } from './hostile-fields.ts';

const SEED = Number(process.env.SEED ?? 20_240_501);
const RUNS = 150;

const nested = (depth: number): string => `${'['.repeat(depth)}1${']'.repeat(depth)}`;

/** JSON texts that come back exactly, as values. */
const KEPT = [
  '0',
  '-1.5e-300',
  '9007199254740993',
  '1e308',
  '4294967296',
  '"\\u0000"',
  '"\\ud83d\\udea9"',
  '"__proto__"',
  '{"constructor":{"prototype":1},"toString":null,"":0,"hasOwnProperty":[]}',
  '{"a/b":1,"~":2,"%2F":3,"length":4}',
  `{"deep":${nested(40)}}`,
] as const;

/** And those that something on the way would change, or die of. */
const REFUSED = [
  '{"__proto__":{"polluted":true}}',
  '{"a":{"__proto__":null}}',
  '"\\ud800"',
  '{"\\udfff":1}',
  '1e999',
  '-1e999',
  '{"a":1,"a":2}',
  nested(65),
  nested(100_000),
] as const;

describe('hostile values', () => {
  let server: TestServer;
  const path = `${environmentPath('target')}/strategies`;

  before(async () => {
    server = await startTestServer({
      env: { STRATEGIES_PER_ENVIRONMENT_MAX: '1000' },
    });
    await makeFlag(server.call, 'target');
  });
  after(() => server.stop());

  const add = (value: string) =>
    server.call('POST', path, `{"name":"default","parameters":{"value":${value}}}`);

  it('are kept exactly where they can be', async () => {
    for (const value of KEPT) {
      const { status, body } = await add(value);
      assert.equal(status, 200, value);
      const read = await server.call('GET', `${path}/${body.id}`);
      assert(jsonEqual(read.body.parameters, { value: JSON.parse(value) }), value);
    }
  });

  it('are refused with 400 where they cannot, and change nothing', async () => {
    const { engine } = server.server.store;
    for (const value of REFUSED) {
      const lastId = engine.lastId;
      const { status, body } = await add(value);
      assert.deepEqual([status, body.name], [400, 'ValidationError'], value.slice(0, 60));
      assert.equal(engine.lastId, lastId);
    }
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
  });

  it('of -0 become 0, live as after a restart', async () => {
    const { body } = await add('-0');
    assert(Object.is(body.parameters.value, 0));
  });

  it(`are kept or refused, any of them (seed ${SEED})`, async () => {
    let kept = 0;
    const value = fc.oneof(
      fc.jsonValue({ stringUnit: 'binary' }),
      fc.object({ key: fc.string({ unit: 'grapheme' }), values: [fc.double(), fc.string()], maxDepth: 3 }),
    );
    await fc.assert(
      fc.asyncProperty(value, async (any) => {
        const text = JSON.stringify(any) ?? 'null';
        const { status, body } = await server.call('PUT', `${FEATURES}/target/variants`, [
          { name: 'v', weight: 1000, payload: { type: 'json', value: text } },
        ]);
        assert.equal(status, 200, 'a text is a text');
        assert.equal(body.variants[0].payload.value, text);
        const added = await add(text);
        assert([200, 400].includes(added.status), `${added.status} for ${text}`);
        if (added.status === 200) {
          kept += 1;
          assert(jsonEqual(added.body.parameters, { value: JSON.parse(text) }), text);
        }
      }),
      { numRuns: RUNS, seed: SEED },
    );
    assert(kept > RUNS / 2, `${kept} of ${RUNS} were kept`);
  });

  it('give the same state after a restart from the journal and from a snapshot, to the last bit', async () => {
    const live = stateHash(server.server.store.engine.world);
    await server.restart();
    assert.equal(server.server.store.recovery.replayedEvents, 0, 'from the snapshot');
    assert.equal(stateHash(server.server.store.engine.world), live);
  });
});

describe('hostile values in each field that the description names', () => {
  it('are accepted or refused with the field, and what is accepted loads, is served, exported and imported', async () => {
    const { fields, accepted } = await writeHostileFields({ valuesEach: 2 });
    assert(fields > 500 && accepted > fields / 2, `${accepted} values accepted in ${fields} fields`);
  });
});
