/** A body that is read in turns gives what it gives when it is read as one. */
import assert from 'node:assert/strict';
import { it, test } from 'node:test';
import fc from 'fast-check';
import { BULK_COUNTS_MAX, reportRoutes } from '../../../src/addons/usage/report-routes.ts';
import { LIST_LENGTH_MAX } from '../../../src/http/body/json-shape.ts';
import { LargeBodies, readBody } from '../../../src/http/serving/request-body.ts';
import type { ReadRoute } from '../../../src/http/serving/route.ts';
import type { TransportRequest } from '../../../src/http/transport/transport.ts';

const routeAt = (wanted: string): ReadRoute => {
  const route = reportRoutes['/api/client']?.find(({ path }) => path === wanted);
  assert(route?.kind === 'read', wanted);
  return route;
};
const USAGE = routeAt('/metrics');
const BULK = routeAt('/metrics/bulk');

const requestOf = (body: Uint8Array, type = 'application/json'): TransportRequest =>
  ({
    ...{ body, hasBody: true },
    header: (name: string) => (name === 'content-type' ? type : ''),
  }) as unknown as TransportRequest;

/** The outcome, which is the same in both ways, and whether the body was good. */
async function outcomeOf(route: ReadRoute, text: string, type?: string) {
  const request = requestOf(Buffer.from(text, 'latin1'), type);
  const large = new LargeBodies();
  assert.ok(large.takes(request), `${request.body.byteLength} bytes are read in turns`);
  const outcome = await large.read(route, request, {});
  assert.deepEqual(outcome, readBody(route, request), text.slice(0, 2_000));
  return outcome;
}

const TIME = '2026-01-01T00:00:00.000Z';
const flagCounts = (length: number): string[] =>
  Array.from({ length }, (_, at) => `"flag-${at}": {"yes":${at},"no":-0,"variants":{"bl\\u0075e":1}}`);
const usage = (toggles: string, more = ''): string =>
  `{"appName":"shop", "bucket":{"start":"${TIME}","toggles":{${toggles}},"stop":1} ${more}}`;
const bulkCount = (at: number): string =>
  `{"featureName":"f${at}","appName":"a","environment":"e","timestamp":"${TIME}","yes":${at},"no":0,"more":[]}`;
const bulk = (counts: number): string =>
  `{"metrics":[${Array.from({ length: counts }, (_, at) => bulkCount(at)).join()}],"seenTokens":null,
    "applications":[${Array.from({ length: 90 }, (_, at) => `{"appName":"application-${at}","strategies":["default"]}`)}]}`;

it('takes reports as they are, in the order of their items', async () => {
  const whole = await outcomeOf(USAGE, usage(flagCounts(350).join()));
  assert.ok('value' in whole);
  const { toggles } = (whole.value as { bucket: { toggles: Record<string, { yes: number }> } }).bucket;
  assert.deepEqual(
    Object.entries(toggles).map(([name, { yes }]) => `${name} ${yes}`),
    Array.from({ length: 350 }, (_, at) => `flag-${at} ${at}`),
  );
  const many = await outcomeOf(BULK, bulk(BULK_COUNTS_MAX));
  assert.ok('value' in many);
  const { metrics, applications } = many.value as Record<'metrics' | 'applications', object[]>;
  assert.deepEqual([metrics.length, applications.length], [BULK_COUNTS_MAX, 90]);
});

it('says of a bad report what it says of one that is read as one', async () => {
  const counts = flagCounts(200);
  const large = `"padding":"${'x'.repeat(5_000)}"`;
  const bad: readonly (readonly [ReadRoute, string])[] = [
    [BULK, bulk(BULK_COUNTS_MAX + 1)],
    [USAGE, usage([...counts, counts[0]].join())],
    [USAGE, usage([...counts, ''].join())],
    [USAGE, usage(`${' '.repeat(3_000)},${counts.join()}`)],
    [USAGE, usage(`${counts.join()},${' '.repeat(3_000)}`)],
    [USAGE, usage([...counts, '"__proto__":{"yes":1,"no":1}'].join())],
    [USAGE, usage([...counts, '"bad":{"yes":-1,"no":1}'].join())],
    [USAGE, usage(counts.join(), ',"bucket":{"start":1,"stop":1,"toggles":{}}')],
    [USAGE, usage(counts.join(), ',"b\\u0075cket":null')],
    [USAGE, usage(counts.join(), ',"impactMetrics":{}')],
    [USAGE, usage(counts.join(), '}')],
    [USAGE, usage(counts.join()).slice(0, -3)],
    [USAGE, usage(counts.join()).replaceAll('}', ']')],
    [USAGE, `{"appName":"shop","bucket":["toggles",{${counts.join()}}]}`],
    [
      USAGE,
      `{"appName":"shop","bucket":{"start":1,"stop":1,"toggles":[${counts.map(() => '{}')}]},${large}}`,
    ],
    [USAGE, `{"appName":"shop",${large}}`],
    [USAGE, `[${usage(counts.join())}]`],
    [USAGE, `${'{"bucket":{"toggles":'.repeat(500)}`],
    [USAGE, usage(Array.from({ length: LIST_LENGTH_MAX + 1 }, (_, at) => `"${at}":{"yes":1,"no":1}`).join())],
    [USAGE, usage(counts.join()).replace('shop', '\xff')],
  ];
  for (const [at, [route, text]] of bad.entries()) {
    const outcome = await outcomeOf(route, text);
    assert.ok(!('value' in outcome), `body ${at} is refused`);
  }
  const wrongType = await outcomeOf(USAGE, usage(counts.join()), 'text/plain');
  assert.ok('kind' in wrongType || !('value' in wrongType), 'a media type is refused first');
});

test('whatever is changed in a report, both ways of reading it agree', async () => {
  const reports = [
    [USAGE, usage(flagCounts(130).join(',\n'), ',"impactMetrics":[{"name":"a"},{}]')],
    [BULK, bulk(60)],
  ] as const;
  const edit = fc.record({
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    removed: fc.integer({ min: 0, max: 3 }),
    added: fc.constantFrom(
      '',
      ',',
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      ':',
      ' ',
      '1',
      '-',
      'é',
      '{}',
      '"a":1',
      '""',
    ),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...reports),
      fc.array(edit, { minLength: 1, maxLength: 3 }),
      async ([route, text], edits) => {
        const changed = edits.reduce((before, { at, removed, added }) => {
          const start = Math.floor(at * before.length);
          return before.slice(0, start) + added + before.slice(start + removed);
        }, text);
        await outcomeOf(route, changed);
      },
    ),
    { numRuns: 400 },
  );
});
