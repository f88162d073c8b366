/**
 * Text search is exact: whatever is skipped on the way, the answer is that of the definition. The definition stands
 * here a second time, as plainly as it can be said, and random data and queries are put to both.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RecordedEvent } from '../../../src/domain/state/events.ts';
import type { EventPage } from '../../../src/persistence/event-log/event-page.ts';
import { type CommandSketch, EventJournal } from '../../support/event-journal.ts';
import { eventsOf } from '../../support/event-page.ts';

interface Sought {
  readonly type: string;
  readonly by: string;
  readonly data: unknown;
}

const isFound = ({ type, by, data }: Sought, query: string): boolean =>
  [type, by, JSON.stringify(data)].some((text) => text.toLowerCase().includes(query.toLowerCase()));

async function idsFound(commands: readonly CommandSketch[], query: string): Promise<number[]> {
  const journal = await EventJournal.create({ segmentBytes: 2000 });
  await journal.write(...commands);
  const log = await journal.openLog();
  const ids: number[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const page: EventPage = await log.search({ query, limit: 1000, offset }, log.lastId);
    ids.push(...eventsOf(page).map(({ id }) => id));
    offset = page.nextOffset;
    if (offset === null) assert.equal(page.totalEvents, ids.length);
  }
  return ids;
}

function idsByDefinition(commands: readonly CommandSketch[], query: string): number[] {
  const ids: number[] = [];
  let id = 0;
  for (const { by = 'alice', events } of commands) {
    for (const { type = 'feature-created', data = null } of events) {
      id++;
      if (query === '' || isFound({ type, by, data }, query)) ids.unshift(id);
    }
  }
  return ids;
}

/** Texts that fold, escape, or look like syntax, numbers and literals. */
const trickyPart = fc.constantFrom(
  ...[
    'i',
    'I',
    '\u0130',
    'k',
    'K',
    '\u212a',
    '\u017f',
    '\u03a3',
    '\u03c3',
    '\u03c2',
    '\u00df',
    '\u00e9',
    '\u{1f600}',
  ],
  ...[
    '\n',
    '\t',
    '\b',
    '\f',
    '\r',
    '\u0000',
    '\u000b',
    '\u001f',
    '\u007f',
    '\u2028',
    '"',
    '\\',
    '/',
    'n',
    'u001f',
  ],
  ...[
    'true',
    'TRUE',
    'null',
    'false',
    'abc',
    'wiki',
    'Fabc',
    '1e',
    '+21',
    '-',
    '.',
    '12',
    '{',
    '}',
    '[',
    ',',
    ':',
  ],
);

const tricky = fc.array(trickyPart, { maxLength: 6 }).map((parts) => parts.join(''));
const text = fc.oneof(tricky, fc.string({ unit: 'binary', maxLength: 12 }), fc.string({ maxLength: 12 }));
const key = text.filter((name) => name !== '__proto__');

const { value: data } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(1e21, -1e-7, 2 ** 60),
    ),
    fc.constantFrom(null, true, false),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
}));

const events = fc.array(fc.record({ data, preData: data, hidden: text }), { minLength: 1, maxLength: 3 });
const commands = fc.array(fc.record({ by: text, events: events as fc.Arbitrary<Partial<RecordedEvent>[]> }), {
  minLength: 1,
  maxLength: 8,
});

/** A piece of some event's JSON text, its case scrambled; so that most queries find something. */
const query = (sketches: readonly CommandSketch[]): fc.Arbitrary<string> => {
  const texts = sketches.flatMap((sketch) => sketch.events.map((event) => JSON.stringify(event.data)));
  const piece = fc.tuple(
    fc.constantFrom(...texts),
    fc.nat(),
    fc.integer({ min: 1, max: 12 }),
    fc.constantFrom(0, 1, 2),
  );
  return fc.oneof(
    {
      weight: 4,
      arbitrary: piece.map(([whole, start, length, how]) => scramble(pieceOf(whole, start, length), how)),
    },
    { weight: 1, arbitrary: text },
  );
};

const pieceOf = (whole: string, start: number, length: number): string => {
  const at = start % whole.length;
  return whole.slice(at, at + length);
};

const scramble = (piece: string, how: number): string =>
  how === 0 ? piece : how === 1 ? piece.toUpperCase() : piece.toLowerCase();

test('the search finds what the definition says, for any data and any query', async () => {
  const cases = commands.chain((sketches) =>
    fc.record({ sketches: fc.constant(sketches), sought: query(sketches) }),
  );
  await fc.assert(
    fc.asyncProperty(cases, async ({ sketches, sought }) => {
      assert.deepEqual(await idsFound(sketches, sought), idsByDefinition(sketches, sought));
    }),
    { numRuns: 400 },
  );
});

test('the property can fail: a definition that minds the case disagrees', async () => {
  const property = fc.asyncProperty(
    commands.chain((s) => fc.tuple(fc.constant(s), query(s))),
    async ([sketches, sought]) => {
      const minding = sketches.flatMap(({ events }) =>
        events.map((event) => JSON.stringify(event.data).includes(sought)),
      );
      assert.equal((await idsFound(sketches, sought)).length, minding.filter(Boolean).length);
    },
  );
  assert.equal((await fc.check(property, { numRuns: 200 })).failed, true);
});

test('frames larger than a piece, and pieces that end between frames, are searched whole', async () => {
  const filler = 'x'.repeat(300_000);
  const sketches: CommandSketch[] = [
    { events: [{ data: `${filler} NEEDLE` }] },
    { events: [{ data: 'y'.repeat(3_000_000) }, { data: `${'z'.repeat(2_000_000)}needle` }] },
    ...Array.from({ length: 10 }, (_, n) => ({
      events: [{ data: n % 2 === 0 ? `Needle${filler}` : filler }],
    })),
  ];
  assert.deepEqual(await idsFound(sketches, 'needle'), idsByDefinition(sketches, 'needle'));
  assert.deepEqual(await idsFound(sketches, '"'), idsByDefinition(sketches, '"'));
});

test('a length, numbers and a control character that look like the query in MessagePack are not found', async () => {
  const data = [`ee${'x'.repeat(108)}`, [110, 101, 101], '\tee', { Nee: 1 }, `${'x'.repeat(110)} nee`];
  const sketches = data.map((one) => ({ events: [{ data: one }] }));
  assert.deepEqual(await idsFound(sketches, 'nee'), [5, 4]);
});

test('filters narrow a text search before anything is read', async () => {
  const journal = await EventJournal.create();
  await journal.write(
    {
      events: [
        { project: 'shop', data: 'needle' },
        { project: 'blog', data: 'needle' },
      ],
    },
    { events: [{ project: 'shop', data: 'other' }] },
    { by: 'Needle', events: [{ project: 'wiki' }] },
  );
  let log = await journal.openLog();
  const search = async (project: string) => {
    const page = await log.search({ project, query: 'needle', limit: 10, offset: 0 }, log.lastId);
    return eventsOf(page).map(({ id }) => id);
  };
  assert.deepEqual([await search('shop'), await search('blog'), await search('wiki')], [[1], [2], [4]]);
  // One that has not kept the text of what was found.
  log = await journal.openLog();
  let segmentReads = 0;
  journal.disk.beforeCall = ({ kind, path }) => {
    if (kind === 'read' && path.endsWith('.journal')) segmentReads++;
  };
  await search('wiki');
  assert.equal(segmentReads, 2, 'found by its author: only the header and the page itself are read');
});
