/** This build opens the data folders of every release and finds in them what that release recorded. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { stateHash } from '../../src/actors/state/world-snapshot.ts';
import type { StateDocument } from '../../src/domain/desired/state-document.ts';
import { CONTENT_VERSION } from '../../src/domain/state/upgrade.ts';
import { WholeFlagSchema } from '../../src/http/admin/schemas.ts';
import { readJournal } from '../../src/operations/journal-reading.ts';
import { realFileSystem } from '../../src/persistence/disk/file-system.ts';
import { listSnapshots, readSnapshotHeader } from '../../src/persistence/snapshots/snapshot-files.ts';
import { createLog, type Log } from '../../src/process/log.ts';
import { planImport } from '../support/documents/state-document.ts';
import { contentOf, copyOf, flagstaff, outputOf } from '../support/operator.ts';
import {
  closedAfter,
  serverFor,
  startTestServer,
  type TestServer,
  temporaryFolder,
} from '../support/server.ts';
import { EVENT_HASH_DIGITS, type Expected } from './expected.ts';
import { documentIn, type EventShown, hashOf, type RunCommand, reduceTo, shownEvents } from './picture.ts';

const GOLDEN = fileURLToPath(new URL('.', import.meta.url));

interface GoldenFolder {
  /** Such as `0.1.0/killed`. */
  readonly name: string;
  readonly folder: string;
  readonly expected: Expected;
}

const releases = readdirSync(GOLDEN, { withFileTypes: true }).filter((entry) => entry.isDirectory());

const GOLDEN_FOLDERS: readonly GoldenFolder[] = releases.flatMap(({ name: release }) =>
  readdirSync(join(GOLDEN, release))
    .filter((file) => file.endsWith('.json'))
    .map((file): GoldenFolder => {
      const name = `${release}/${file.slice(0, -'.json'.length)}`;
      const expected = JSON.parse(readFileSync(join(GOLDEN, `${name}.json`), 'utf8')) as Expected;
      return { name, folder: join(GOLDEN, name), expected };
    }),
);

const run: RunCommand = async (args) => {
  const { code, out, err } = await flagstaff(args);
  assert.equal(code, 0, `flagstaff ${args.join(' ')}: ${err}`);
  return out;
};

/** Returns the id of the first event that differs from what the release showed; null when none does. */
function firstChanged(events: readonly EventShown[], { eventHashes, shapes }: Expected): number | null {
  for (const [index, hash] of eventHashes.entries()) {
    const event = events[index];
    if (event?.id !== index + 1) return index + 1;
    const shape = shapes.events[event.type] ?? null;
    if (hashOf(shape, event).slice(0, EVENT_HASH_DIGITS) !== hash) return event.id;
  }
  return null;
}

for (const { name, folder } of GOLDEN_FOLDERS.filter((one) => one.name.startsWith('0.1.0/')))
  it(`the first start on ${name} says that the older version will refuse the folder, and later starts do not`, async (t) => {
    const copy = copyOf(folder);
    const warned: boolean[] = [];
    for (const start of ['first', 'second']) {
      const warnings: string[] = [];
      const log = Object.assign(Object.create(createLog('silent')) as Log, {
        warn: (_: object, message: string) => warnings.push(message),
      });
      const server = await serverFor(t, { folder: copy, log });
      await server.call('POST', '/projects/default/features', { name: `after-the-${start}` });
      await server.stop();
      warned.push(
        warnings.some((message) => message.startsWith('An older version of the server wrote this folder')),
      );
    }
    assert.deepEqual(warned, [true, false]);
  });

/** The files that an older version has to read, without the room that a running server keeps ahead; it makes the other ones anew. */
const stored = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    [...contentOf(folder)]
      .filter(([path]) => /\.(?:journal|snapshot)$/.test(path))
      .map(([path, content]) => [
        path,
        Buffer.from(content, 'base64')
          .toString('hex')
          .replace(/(?:00)+$/, ''),
      ]),
  );

for (const { name, folder } of GOLDEN_FOLDERS)
  it(`an upgrade of ${name} that records no change leaves the way back open`, async (t) => {
    const copy = copyOf(folder);
    const before = stored(copy);
    const { writtenByOlder } = await outputOf(['upgrade', '--check', '-d', copy]);
    const server = await serverFor(t, { folder: copy });
    const { recovery } = server.server.store;
    assert.equal(writtenByOlder, recovery.isOlder, 'the command says what the start finds');
    await server.stop();
    if (writtenByOlder) assert.deepEqual(stored(copy), before, 'journal and snapshots are as they were');
    assert((await flagstaff(['upgrade', '-d', copy])).code === 64);
  });

it('a folder of 0.2.0 whose journal is gone has a way back too, as the command says', async () => {
  const copy = copyOf(GOLDEN_FOLDERS.find(({ name }) => name === '0.2.0/stopped')!.folder);
  for (const name of ['journal', 'log.beginning']) rmSync(join(copy, name), { recursive: true, force: true });
  assert.equal((await outputOf(['upgrade', '--check', '-d', copy])).writtenByOlder, true);
});

it('what follows a change has a content version that 0.2.0 refuses, in the journal and in snapshots', async (t) => {
  const copy = copyOf(GOLDEN_FOLDERS.find(({ name }) => name === '0.2.0/stopped')!.folder);
  const server = await serverFor(t, { folder: copy });
  const mode = { name: 'Default', mode: 'private' };
  assert.equal((await server.call('PUT', '/projects/default', mode)).status, 200);
  await server.stop();
  assert.equal((await outputOf(['upgrade', '--check', '-d', copy])).writtenByOlder, false);
  const versions: number[] = [];
  const source = { fs: realFileSystem, folder: join(copy, 'journal') };
  await readJournal(source, {
    afterId: 0,
    visit: ({ raw }) => {
      versions.push(raw.contentVersion);
      return true;
    },
  });
  const { path } = (await listSnapshots(realFileSystem, join(copy, 'snapshots'))).at(-1)!;
  versions.push((await readSnapshotHeader(realFileSystem, path))!.contentVersion);
  assert.deepEqual(versions.slice(-2), [CONTENT_VERSION, CONTENT_VERSION]);
  assert.equal(Math.max(...versions.slice(0, -2)), 2, 'content of 0.2.0');
  assert(CONTENT_VERSION > 2);
});

/** Starts a server whose clock stands at the newest event, since idempotency keys are remembered for 24 hours only. */
function serverOn(folder: string, events: readonly EventShown[]): Promise<TestServer> {
  const leftAt = Date.parse(String(events.at(-1)?.['createdAt']));
  const clock = { now: () => leftAt, defer: setImmediate, monotonic: () => performance.now() };
  return startTestServer({ folder, store: { clock } });
}

it('there are golden folders to open', () => {
  assert.deepEqual(
    GOLDEN_FOLDERS.filter(({ name }) => name.startsWith('0.1.0/')).map(({ name }) => name),
    ['0.1.0/killed', '0.1.0/stopped'],
  );
});

for (const { name, folder: original, expected } of GOLDEN_FOLDERS) {
  describe(`the folder ${name}`, () => {
    const { lastEventId, moments, shapes } = expected;
    let folder: string;
    before(() => {
      folder = copyOf(original);
    });

    async function holdsWhatItHeld(one: string): Promise<void> {
      assert.deepEqual(reduceTo(shapes.document, await documentIn(run, one)), expected.document);
      const events = await shownEvents(one);
      assert.equal(events.length, lastEventId);
      assert.equal(firstChanged(events, expected), null);
    }

    async function holdsItsMoments(one: string): Promise<void> {
      for (const { eventId, documentHash } of moments) {
        const document = await documentIn(run, one, eventId);
        assert.equal(hashOf(shapes.document, document), documentHash, `the state of event ${eventId}`);
      }
    }

    it('is undamaged, and replay from the first event and from each snapshot gives the same state', async () => {
      const { damages, deep } = await outputOf(['verify', '--deep', '--data-dir', folder]);
      assert.deepEqual([damages, deep.eventId], [[], lastEventId]);
    });

    it('shows its state, its earlier states and its events as they were', async () => {
      await holdsWhatItHeld(folder);
      await holdsItsMoments(folder);
    });

    it('has flags as the description of today says, in a document that can be imported', async (t) => {
      const { code, out, err } = await flagstaff(['export', '--data-dir', folder]);
      assert.equal(code, 0, err);
      const document = JSON.parse(out) as StateDocument;
      const plan = planImport(document);
      assert(plan.ok, JSON.stringify(plan));
      const server = await serverFor(t, { folder: copyOf(folder) });
      for (const { id } of document.projects) {
        const { body: list } = await server.call('GET', `/projects/${id}/features`);
        for (const { name: flag } of list.features) {
          const { body } = await server.call('GET', `/projects/${id}/features/${flag}`);
          assert.deepEqual(v.parse(WholeFlagSchema, body), body);
        }
      }
    });

    it('is restored to each earlier moment', async () => {
      for (const { eventId, documentHash } of moments) {
        const to = join(temporaryFolder(), 'restored');
        const restored = await outputOf(['restore', folder, '--to', to, '--at', String(eventId)]);
        const { damages, deep } = await outputOf(['verify', '--deep', '--data-dir', to]);
        assert.deepEqual([damages, deep.eventId, deep.stateHash], [[], eventId, restored.stateHash]);
        assert.equal(hashOf(shapes.document, await documentIn(run, to)), documentHash);
        assert.equal((await shownEvents(to)).length, eventId);
      }
    });

    it('is backed up with everything in it', async () => {
      const to = join(temporaryFolder(), 'backup');
      await outputOf(['backup', '--data-dir', folder, '--to', to]);
      await holdsWhatItHeld(to);
    });

    it('is not changed by commands that read', async () => {
      const left = contentOf(folder);
      const { deep } = await outputOf(['verify', '--deep', '--data-dir', folder]);
      const restored = await outputOf(['restore', folder, '--to', join(temporaryFolder(), 'restored')]);
      assert.equal(restored.stateHash, deep.stateHash);
      await outputOf(['status', '--data-dir', folder]);
      await holdsWhatItHeld(folder);
      await holdsItsMoments(folder);
      assert.deepEqual(contentOf(folder), left);
    });

    it('starts a server that knows the history of flags, the tokens, and the idempotency keys', async (t) => {
      const used = copyOf(folder);
      const events = await shownEvents(used);
      const server = closedAfter(t, await serverOn(used, events));

      assert.equal(server.server.store.engine.lastId, lastEventId);
      await holdsWhatItHeld(used);
      await showsPastFlags(server, events);
      await acceptsTheToken(server);
      await repeatsTheResponse(server);
      assert.equal(server.server.store.engine.lastId, lastEventId, 'none of it was a change');
    });

    async function showsPastFlags({ call }: TestServer, events: readonly EventShown[]): Promise<void> {
      for (const { project, flag, eventId, shown } of expected.pastFlags) {
        const { status, body } = await call('GET', `/projects/${project}/features/${flag}?at=${eventId}`);
        assert.equal(status, 200, `${flag} at event ${eventId}`);
        assert.deepEqual(reduceTo(shapes.flag, body), shown, `${flag} at event ${eventId}`);
        const found = (await call('POST', '/events/search', { feature: flag, limit: 100 })).body.events;
        const wanted = events.filter(({ featureName }) => featureName === flag).map(({ id }) => id);
        assert.deepEqual(found.map((event: EventShown) => event.id).reverse(), wanted);
      }
    }

    async function acceptsTheToken({ call }: TestServer): Promise<void> {
      const { secret, username } = expected.personalToken;
      const { status, body } = await call('GET', '/user', undefined, { token: secret });
      assert.deepEqual([status, body?.user.username], [200, username]);
    }

    async function repeatsTheResponse({ call }: TestServer): Promise<void> {
      const { path, body, key, status, response } = expected.retried;
      const again = await call('POST', path, body, { headers: { 'idempotency-key': key } });
      assert.deepEqual([again.status, again.body], [status, response]);
    }

    it('accepts writes, gives no id twice, and is the same after two restarts', async (t) => {
      const used = copyOf(folder);
      const server = closedAfter(t, await serverOn(used, await shownEvents(used)));
      const { call } = server;
      const hash = (): string => stateHash(server.server.store.engine.world);
      try {
        const user = await call('POST', '/user-admin', { username: 'newcomer', rootRole: 3 });
        assert.deepEqual([user.status, user.body.id], [201, expected.nextUserId]);
        const pat = { description: 'new', expiresAt: '2999-01-01T00:00:00Z' };
        const token = await call('POST', `/user-admin/${user.body.id}/tokens`, pat);
        assert.deepEqual([token.status, token.body.id], [201, expected.nextPersonalTokenId]);
        const tagged = await call('POST', '/features/checkout/tags', { value: 'later' });
        assert.equal(tagged.status, 201);
        const left = { lastId: server.server.store.engine.lastId, hash: hash() };
        assert.equal(left.lastId, lastEventId + 3);
        for (let restarts = 0; restarts < 2; restarts += 1) {
          await server.restart();
          assert.deepEqual({ lastId: server.server.store.engine.lastId, hash: hash() }, left);
        }
      } finally {
        await server.stop();
      }
      const { damages, deep } = await outputOf(['verify', '--deep', '--data-dir', used]);
      assert.deepEqual([damages, deep.eventId], [[], lastEventId + 3]);
      assert.equal(firstChanged(await shownEvents(used), expected), null);
      await holdsItsMoments(used);
    });
  });
}
