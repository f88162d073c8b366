/** Change requests in backups, in restored folders, and in what was exported and imported. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { addUser } from '../../support/interface.ts';
import { flagstaff, outputOf } from '../../support/operator.ts';
import { serverFor, startTestServer, type Test, temporaryFolder } from '../../support/server.ts';
import {
  approvedRequest,
  as,
  authorAndReviewer,
  PROPOSALS,
  propose,
  protect,
  REQUESTS,
  ROLLOUT,
  setState,
  succeeded,
  switchOn,
} from './scene.ts';

const ADMIN = 1;
const TOMORROW = new Date(Date.now() + 24 * 60 * 60 * 1_000).toISOString();
const PROPOSED = { feature: 'shop', action: 'addStrategy', payload: ROLLOUT } as const;

interface Shown {
  readonly events: readonly number[];
}

describe('change requests of a folder', () => {
  const folder = temporaryFolder();
  /** Each request as the server showed it, and the event after which it did. */
  let shown: readonly Shown[];
  let eventId = 0;

  before(async () => {
    const server = await startTestServer({ folder });
    const { author, reviewer } = await authorAndReviewer(server);
    const admin = as(server, await addUser(server, ADMIN));
    await protect(server);
    await succeeded(server.call('POST', '/projects/default/features', { name: 'shop' }));
    const applied = await approvedRequest(author, reviewer, switchOn('shop'));
    await succeeded(setState(author, applied.id, 'Applied'));
    const scheduled = await approvedRequest(author, reviewer, PROPOSED);
    const state = { state: 'Scheduled', scheduledAt: TOMORROW };
    await succeeded(author('PUT', `${REQUESTS}/${scheduled.id}/state`, state));
    await approvedRequest(author, reviewer, PROPOSED);
    const draft = await propose(reviewer, switchOn('shop'));
    await succeeded(author('POST', `${REQUESTS}/${draft.id}/comments`, { text: 'Why?' }));
    const rejected = await propose(admin, PROPOSED);
    await succeeded(setState(admin, rejected.id, 'In review'));
    await succeeded(setState(reviewer, rejected.id, 'Rejected'));
    shown = await requestsOf(server);
    eventId = server.server.store.engine.lastId;
    await succeeded(setState(author, scheduled.id, 'Cancelled'));
    await succeeded(reviewer('POST', PROPOSALS, PROPOSED));
    await server.stop();
  });

  async function requestsOf({ call }: Pick<Awaited<ReturnType<typeof serverFor>>, 'call'>) {
    const all: readonly { readonly id: number }[] = await succeeded(call('GET', REQUESTS));
    return Promise.all(all.map(({ id }): Promise<Shown> => succeeded(call('GET', `${REQUESTS}/${id}`))));
  }

  const startedOn = async (t: Test, env: Readonly<Record<string, string>>) =>
    requestsOf(await serverFor(t, env['DATA_DIR'] === undefined ? { env } : { folder: env['DATA_DIR'] }));

  it('are in its backup', async (t) => {
    const [copy, to] = ['copy', 'restored'].map((name) => join(temporaryFolder(), name)) as [string, string];
    await outputOf(['backup', '--data-dir', folder, '--to', copy]);
    await outputOf(['restore', copy, '--to', to, '--at', String(eventId)]);
    assert.deepEqual(await startedOn(t, { DATA_DIR: to }), shown);
  });

  it('are as they were at an event in what is restored of it, with the history and without', async (t) => {
    for (const options of [[], ['--state-only']]) {
      const to = join(temporaryFolder(), 'restored');
      await outputOf(['restore', folder, '--to', to, '--at', String(eventId), ...options]);
      assert.deepEqual(await startedOn(t, { DATA_DIR: to }), shown);
    }
  });

  it('are as they were at an event in an export, and name no events of another history once it is imported', async (t) => {
    const to = join(temporaryFolder(), 'state.json');
    const run = await flagstaff(['export', '-d', folder, '--to', to, '--at', String(eventId)]);
    assert.equal(run.code, 0, run.err);
    assert.equal(shown.filter(({ events }) => events.length > 0).length, 1);
    assert.deepEqual(
      await startedOn(t, { IMPORT_FILE: to }),
      shown.map((one) => ({ ...one, events: [] })),
    );
  });
});
