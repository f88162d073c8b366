/** Searches by filter and walks, against a look at every event. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ColumnSearch, filterKey, ROWS_PER_SLICE } from '../../../src/persistence/event-log/column-search.ts';
import { compileFilter, type EventFilter, IdPage } from '../../../src/persistence/event-log/event-filter.ts';
import { EventIndex } from '../../../src/persistence/event-log/event-index.ts';
import { EventLog } from '../../../src/persistence/event-log/event-log.ts';
import { walkIds } from '../../../src/persistence/event-log/event-walk.ts';
import { SEGMENT_HEADER_BYTES } from '../../../src/persistence/journal/segment.ts';
import { event, FOLDER } from '../../support/event-journal.ts';
import { inlineLogReader } from '../../support/inline-log-reader.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';

interface Row {
  readonly id: number;
  readonly type: string;
  readonly project: string | null;
  readonly featureName: string | null;
  readonly by: string;
}

const TYPES = ['feature-created', 'feature-archived', 'feature-revived'];
const PROJECTS = ['shop', 'blog', null];
const FEATURES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', null];
const AUTHORS = ['ann', 'bob'];

const rowArbitrary = fc.record({
  type: fc.constantFrom(...TYPES),
  project: fc.constantFrom(...PROJECTS),
  featureName: fc.constantFrom(...FEATURES),
  by: fc.constantFrom(...AUTHORS),
  /** Whether the event is the first of a segment. */
  rolls: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
});

const names = (of: readonly string[]): fc.Arbitrary<readonly string[]> =>
  fc.subarray([...of], { minLength: 1, maxLength: of.length });

const filterArbitrary = fc.record(
  {
    type: names(TYPES),
    project: names(['shop', 'blog']),
    feature: fc.oneof(names(['a', 'b', 'unknown']), names(FEATURES.filter((name) => name !== null))),
    authors: names(AUTHORS),
  },
  { requiredKeys: [] },
);

const searchArbitrary = fc.record({
  filter: filterArbitrary,
  limit: fc.integer({ min: 1, max: 12 }),
  skip: fc.integer({ min: 0, max: 6 }),
  offset: fc.nat(90),
  durable: fc.nat(90),
  oldestId: fc.nat(40),
  dropped: fc.nat(50),
  countedBefore: fc.array(fc.nat(90), { maxLength: 3 }),
});

const SHOWN_TO_NOBODY = {
  ...{ type: 'feature-created', project: 'shop', featureName: 'a' },
  ...{ by: 'ann', rolls: true },
};
/** The first of two events is dropped, and the other one is not durable. */
const NOTHING_DURABLE = {
  filter: { project: ['shop', 'blog'] },
  ...{ limit: 1, skip: 0, offset: 0, durable: 0, oldestId: 0, dropped: 2, countedBefore: [] },
};

function indexOf(rows: readonly (Omit<Row, 'id'> & { readonly rolls: boolean })[]): EventIndex {
  const index = new EventIndex();
  let segment = 1;
  let offset = SEGMENT_HEADER_BYTES;
  for (const [place, { rolls, by, ...names }] of rows.entries()) {
    const id = place + 1;
    if (rolls && id > 1) {
      segment = id;
      offset = SEGMENT_HEADER_BYTES;
    }
    index.add({ id, at: id, by, userId: 1, events: [event(names)] }, { segment, offset, length: 10 });
    offset += 10;
  }
  return index;
}

function matches(row: Row, { type, project, feature, authors }: EventFilter): boolean {
  const isWanted = (wanted: string | readonly string[] | undefined, name: string | null): boolean =>
    wanted === undefined || (name !== null && wanted.includes(name));
  return (
    isWanted(type, row.type) &&
    isWanted(project, row.project) &&
    isWanted(feature, row.featureName) &&
    isWanted(authors, row.by)
  );
}

const noPause = async (): Promise<void> => undefined;

test('a search finds what a look at every event finds, whatever is asked, hidden or dropped', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(rowArbitrary, { minLength: 1, maxLength: 80 }),
      searchArbitrary,
      async (rows, asked) => {
        const index = indexOf(rows);
        const { filter, limit, skip } = asked;
        const compiled = compileFilter(filter, index.names, asked.oldestId);
        const search = new ColumnSearch(noPause);
        const searchTo = async (newestId: number, page: IdPage) =>
          search.run(filterKey(filter, asked.oldestId), {
            ...{ filter: compiled, views: index.views(newestId), page, reader: {} },
          });
        // It counts on from what it has counted, also after segments were dropped, and never twice.
        for (const counted of asked.countedBefore)
          await searchTo(Math.min(counted, index.lastId), new IdPage(counted, limit));
        index.dropSegmentsBefore(asked.dropped);
        index.audit();
        const newestId = Math.min(asked.durable, index.lastId);
        const searched = rows
          .map((row, place): Row => ({ ...row, id: place + 1 }))
          .filter(({ id }) => id >= Math.max(index.firstId, asked.oldestId) && id <= newestId);
        const expected = searched.filter((row) => matches(row, filter)).map(({ id }) => id);
        const start = asked.offset > 0 ? Math.min(asked.offset, newestId) : newestId;
        const listed = expected.filter((id) => id <= start).reverse();

        const { ids, total } = await searchTo(newestId, new IdPage(start, limit, skip));
        assert.deepEqual(
          { ids, total },
          {
            ids: listed.slice(skip, skip + limit),
            total: expected.length,
          },
        );
      },
    ),
    { numRuns: 400, examples: [[[SHOWN_TO_NOBODY, SHOWN_TO_NOBODY], NOTHING_DURABLE]] },
  );
});

test('a walk gives what a look at every event gives, in either direction', async () => {
  const walkArbitrary = fc.record({
    anyOf: fc.array(filterArbitrary, { minLength: 1, maxLength: 3 }),
    from: fc.nat(40),
    to: fc.nat(80),
    newestFirst: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(rowArbitrary, { minLength: 1, maxLength: 80 }),
      walkArbitrary,
      async (rows, asked) => {
        const index = indexOf(rows);
        const walk = { ...asked, to: Math.min(asked.to, index.lastId) };
        const walked: number[] = [];
        for await (const ids of walkIds(index, walk, noPause)) walked.push(...ids);
        const expected = rows
          .map((row, place): Row => ({ ...row, id: place + 1 }))
          .filter((row) => row.id >= walk.from && row.id <= walk.to)
          .filter((row) => walk.anyOf.some((filter) => matches(row, filter)))
          .map(({ id }) => id);
        assert.deepEqual(walked, walk.newestFirst ? expected.reverse() : expected);
      },
    ),
    { numRuns: 300 },
  );
});

test('a search of more rows than a slice has gives way between segments', async () => {
  const [segments, rows] = [3, ROWS_PER_SLICE / 2];
  let turns = 0;
  const yieldToEventLoop = async (): Promise<void> => {
    turns += 1;
  };
  const disk = new MemoryFileSystem();
  const log = new EventLog({ fs: disk, folder: FOLDER, logReader: inlineLogReader(disk), yieldToEventLoop });
  for (let id = 1; id <= segments * rows; id += 1) {
    const segment = id - ((id - 1) % rows);
    const offset = SEGMENT_HEADER_BYTES + (id - segment) * 10;
    const events = [event({ project: 'blog' })];
    log.add({ id, at: id, by: 'ann', userId: 1, events }, { segment, offset, length: 10 });
  }
  const { totalEvents } = await log.search({ project: 'shop', limit: 2, offset: 0 }, log.lastId);
  assert.deepEqual([turns, totalEvents], [1, 0]);
});
