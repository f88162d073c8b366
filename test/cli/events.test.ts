/** The event log on the terminal, without a server. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { LoggedEvent } from '../../src/persistence/event-log/logged-event.ts';
import {
  contentOf,
  copyOf,
  fileAt,
  flagstaff,
  flipByte,
  type PastFolder,
  pastFolder,
  segmentsIn,
} from '../support/operator.ts';
import { startTestServer } from '../support/server.ts';

describe('flagstaff events', () => {
  let past: PastFolder;
  let all: readonly LoggedEvent[];
  before(async () => {
    past = await pastFolder();
    all = await events();
  });

  async function events(...args: string[]): Promise<LoggedEvent[]> {
    const { code, out, err } = await flagstaff([
      'events',
      '--json',
      '-n',
      '10000',
      '-d',
      past.folder,
      ...args,
    ]);
    assert.deepEqual([code, err], [0, '']);
    return out === '' ? [] : out.split('\n').map((line) => JSON.parse(line));
  }

  it('shows every event, oldest first, as the server does, with no secret in it', async () => {
    const folder = copyOf(past.folder);
    const server = await startTestServer({ folder });
    const { body } = await server.call('POST', '/events/search', { limit: 100 });
    await server.stop();
    assert.deepEqual(all, body.events.toReversed());
    const digests = [...server.server.store.engine.world.directory.apiTokens.keys()];
    assert.equal(digests.length, 1);
    assert(!JSON.stringify(all).includes(digests[0] ?? ''));
  });

  it('filters as the server does', async () => {
    const cases: readonly (readonly [readonly string[], (event: LoggedEvent) => boolean])[] = [
      [['--type', 'feature-created'], (event) => event.type === 'feature-created'],
      [['--project', 'other'], (event) => event.project === 'other'],
      [['--feature', 'two'], (event) => event.featureName === 'two'],
      [['--environment', 'staging'], (event) => event.environment === 'staging'],
      [['--by', 'system'], (event) => event.createdBy === 'system'],
      [['--query', 'AGAIN'], (event) => JSON.stringify(event.data).includes('again')],
      [['--from', '10'], (event) => event.id >= 10],
      [['--to', '10'], (event) => event.id <= 10],
      [['--from', '7', '--to', '7'], (event) => event.id === 7],
      [['--project', 'default', '--type', 'feature-archived'], (event) => event.type === 'feature-archived'],
    ];
    for (const [args, selects] of cases) {
      const expected = all.filter(selects);
      assert(expected.length > 0 && expected.length < all.length, args.join(' '));
      assert.deepEqual(await events(...args), expected, args.join(' '));
    }
  });

  it('refuses a type that no event has, and names the nearest one', async () => {
    const { code, out, err } = await flagstaff(['events', '--type', 'feature-archive', '-d', past.folder]);
    assert.deepEqual([code, out], [64, '']);
    assert.equal(
      err,
      'flagstaff: --type: there is no event type "feature-archive". Did you mean "feature-archived"?',
    );
  });

  it('filters by time: from it on, and before it', async () => {
    const { createdAt = '' } = all[15] ?? {};
    assert.deepEqual(
      await events('--from', createdAt),
      all.filter((event) => event.createdAt >= createdAt),
    );
    assert.deepEqual(
      await events('--to', createdAt),
      all.filter((event) => event.createdAt < createdAt),
    );
  });

  it('shows the newest so many', async () => {
    assert.deepEqual(await events('-n', '3'), all.slice(-3));
    const { out } = await flagstaff(['events', '-n', '3', '-d', past.folder]);
    const [line = ''] = out.split('\n').slice(-1);
    assert.match(line, /^ +\d+ {2}\S+Z {2}feature-archived +default\/four {2}by admin$/);
  });

  it('reads what lies before a damage only as long as nobody asks for more', async () => {
    const folder = copyOf(past.folder);
    flipByte(fileAt(segmentsIn(folder), 1), 200);
    assert.equal((await flagstaff(['events', '-d', folder, '--to', '5'])).code, 0);
    const { code, err } = await flagstaff(['events', '-d', folder]);
    assert.equal(code, 65);
    assert.match(err, /^flagstaff: The journal is damaged: .* offset \d+/);
  });

  it('changes nothing, and refuses what makes no sense', async () => {
    const content = contentOf(past.folder);
    await events();
    assert.deepEqual(contentOf(past.folder), content);
    for (const args of [
      ['-n', '0'],
      ['-n', 'many'],
      ['--from', 'then'],
    ]) {
      assert.equal((await flagstaff(['events', '-d', past.folder, ...args])).code, 64);
    }
  });
});
