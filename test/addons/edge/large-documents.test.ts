/** Documents of many megabytes: an edge reads, takes and copies them in turns, and shows each at one moment. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import * as v from 'valibot';
import { recordsIn } from '../../../src/addons/edge/copy.ts';
import { Mirror } from '../../../src/addons/edge/mirror.ts';
import { readDocument, readEvents } from '../../../src/addons/edge/upstream-document.ts';
import { RowFiles } from '../../../src/addons/usage/row-files.ts';
import { realFileSystem } from '../../../src/persistence/disk/file-system.ts';
import { temporaryFolder } from '../../support/server.ts';
import { flag } from './edges.ts';

/** Flags of the documents here. */
const FLAGS = 4_000;

/** Nothing of a document holds the event loop for longer than so many bytes of it take. */
const ROUND_BYTES = 128 * 1024;

const flagsCalled = (name: (at: number) => string, more: object = {}): readonly object[] =>
  Array.from({ length: FLAGS }, (_, at) => flag(name(at), { description: 'x'.repeat(1_000), ...more }));

const flags = flagsCalled((at) => `flag-${at}`);
const segments = [{ id: 1, name: 'people', constraints: [] }];

const mirrorOf = () =>
  new Mirror({
    ...{ environment: 'development', memoryBudgetBytes: 2 ** 30, monotonicMs: () => 0 },
    onFault: (error) => assert.fail(String(error)),
  });

/** The outcome of the work, and in how many rounds of the event loop. */
async function roundsOf<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly rounds: number }> {
  let rounds = 0;
  let isDone = false;
  const count = (): void => {
    rounds += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const value = await work();
  isDone = true;
  return { value, rounds };
}

describe('a large document of an upstream', () => {
  it('is read in turns', async () => {
    const body = Buffer.from(JSON.stringify({ features: flags, segments, meta: { revisionId: 7 } }));
    const { value, rounds } = await roundsOf(() => readDocument(body, 'development'));
    assert.ok(rounds >= body.byteLength / ROUND_BYTES, `${rounds} rounds for ${body.byteLength} bytes`);
    assert.deepEqual([value.flags.length, value.segments.length, value.revisionId], [FLAGS, 1, 7]);
    assert.equal(value.flags.at(-1)?.name, `flag-${FLAGS - 1}`);
  });

  it('is read in turns as events, a whole state and changes alike', async () => {
    const whole = { type: 'hydration', eventId: 1, features: flags, segments };
    const changes = flags.map((feature, at) => ({ type: 'feature-updated', eventId: at + 2, feature }));
    const body = Buffer.from(JSON.stringify({ events: [whole, ...changes] }));
    const { value, rounds } = await roundsOf(() => readEvents(body, 'development'));
    assert.ok(rounds >= body.byteLength / ROUND_BYTES, `${rounds} rounds for ${body.byteLength} bytes`);
    assert.equal(value.length, FLAGS + 1);
    const [hydration, update] = value;
    assert.ok(hydration?.type === 'hydration' && update?.type === 'feature-updated');
    assert.deepEqual([hydration.flags.length, hydration.segments.length], [FLAGS, 1]);
    assert.equal(update.flag.name, 'flag-0');
  });

  it('says what is wrong, and where, however deep it stands', async () => {
    for (const [sent, problem] of [
      [
        { events: [{ type: 'hydration', eventId: 1, features: [{ name: 1 }] }] },
        /events\.0\.features\.0\.name/,
      ],
      [{ events: [{ type: 'hydration', eventId: 1 }] }, /events\.0\.features/],
      [{ events: [{ type: 'feature-updated', eventId: 1, feature: {} }] }, /events\.0\.feature\.name/],
      [{ events: [{ type: 'feature-removed', eventId: -1, featureName: 'a' }] }, /events\.0\.eventId/],
      [{ events: ['no event'] }, /events\.0/],
      [{ events: {} }, /at events/],
      [{}, /at events/],
      [[], /at events/],
    ] as const)
      await assert.rejects(readEvents(Buffer.from(JSON.stringify(sent)), 'x'), problem);
  });

  it('is taken in steps, of which readers see nothing before the last one', async () => {
    const mirror = mirrorOf();
    const names = () => [...mirror.world.flagProjects.keys()];
    const documentOf = (list: readonly object[]) =>
      readDocument(Buffer.from(JSON.stringify({ features: list, segments })), 'development');
    const first = mirror.replacing(await documentOf(flags), 1);
    let steps = 0;
    for (; first.next().done !== true; steps += 1) assert.equal(mirror.isFilled, false);
    assert.ok(steps >= FLAGS);
    assert.deepEqual([mirror.isFilled, mirror.lastId, names().length], [true, 1, FLAGS]);
    const others = flagsCalled((at) => `flag-${at + FLAGS / 2}`, { stale: true });
    const second = mirror.replacing(await documentOf(others), 2);
    for (steps = 0; second.next().done !== true; steps += 1) {
      assert.equal(mirror.lastId, 1);
      assert.equal(names()[0], 'flag-0');
    }
    assert.ok(steps >= FLAGS);
    assert.deepEqual([mirror.lastId, names()[0], names().length], [2, `flag-${FLAGS / 2}`, FLAGS]);
    const fresh = mirrorOf();
    for (const _ of fresh.replacing(await documentOf(others), 2));
    assert.equal(mirror.bytes, fresh.bytes, 'each flag is counted once');
  });
});

describe('a large copy on disk', () => {
  let folder: string;
  before(() => {
    folder = temporaryFolder();
  });

  const filesIn = (onDamaged: (problem: string) => void) =>
    new RowFiles({
      ...{ fs: realFileSystem, folder, suffix: '.edge' },
      onDamaged: ({ problem }) => onDamaged(problem),
    });

  it('is written and read in turns, a record a row', async () => {
    const records = [{ kind: 'head', text: '"\\\u2028\n' }, ...flags];
    const files = filesIn(assert.fail);
    const written = await roundsOf(() =>
      files.write(
        'copy',
        records.map((one) => [JSON.stringify(one)]),
      ),
    );
    const bytes = files.writtenBytes;
    assert.ok(written.rounds >= bytes / ROUND_BYTES, `${written.rounds} rounds of ${bytes} bytes`);
    const read = await roundsOf(() => recordsIn(files, 'copy', v.looseObject({})));
    assert.ok(read.rounds >= bytes / ROUND_BYTES, `${read.rounds} rounds of ${bytes} bytes`);
    assert.deepEqual(read.value, records);
  });

  it('is set aside where a record is something else, though each checksum is right', async () => {
    for (const [at, text] of ['{"ki', '{"kind":1}'].entries()) {
      const problems: string[] = [];
      const files = filesIn((problem) => void problems.push(problem));
      await files.write(`other-${at}`, [['{}'], [text]]);
      assert.equal(await recordsIn(files, `other-${at}`, v.object({ kind: v.optional(v.string()) })), null);
      assert.match(problems.join(), /^record 2 |JSON/);
      assert.deepEqual(await files.names(), ['copy']);
    }
  });
});
