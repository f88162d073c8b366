/** Repair without a copy: what cannot be read is declared lost, event by event, and all else is kept. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { METRICS_PATH } from '../../src/http/serving/metrics-page.ts';
import {
  assertDeclared,
  assertMended,
  declareSingleDamages,
  type Whole,
  wholeFolder,
} from '../faults/single-damages.ts';
import {
  copyOf,
  fileAt,
  flagstaff,
  flipByte,
  outputOf,
  type PastFolder,
  pastFolder,
  segmentsIn,
  snapshotsIn,
  startsOn,
} from '../support/operator.ts';
import { type Call, startTestServer } from '../support/server.ts';

/** Each page that reaches over the lost event says so, also where it lists nothing, and no other page does. */
async function saysOfGap(call: Call, origin: string, lostId: number): Promise<void> {
  const lostEvents = async (method: string, path: string, body?: object): Promise<unknown> =>
    ((await call(method, path, body)).body as { lostEvents?: number }).lostEvents;
  const search = (query: object): Promise<unknown> => lostEvents('POST', '/events/search', query);
  assert.equal(await search({ feature: 'never-there' }), 1);
  assert.equal(await search({ project: 'default', query: 'nobody wrote this' }), 1);
  assert.equal(await search({ feature: 'never-there', offset: lostId - 1 }), undefined);
  assert.equal(await search({ limit: 1 }), undefined);
  assert.equal(await search({ limit: 1, offset: lostId }), 1);
  assert.equal(await lostEvents('GET', '/search/events?createdBy=IS:-42'), 1);
  assert.equal(await lostEvents('GET', '/search/events?from=IS:1999-01-01&to=IS:1999-01-02'), undefined);
  const health = (await (await fetch(`${origin}/health`)).json()) as { lostEvents?: number; warning: string };
  assert.equal(health.lostEvents, 1);
  assert.match(health.warning, new RegExp(`^Event ${lostId} is lost, as a repair has declared\\.`));
  assert.match(await (await fetch(origin + METRICS_PATH)).text(), /^flagstaff_lost_events 1$/m);
}

describe('flagstaff repair, without a copy', () => {
  let past: PastFolder;
  let whole: Whole;
  before(async () => {
    past = await pastFolder();
    whole = await wholeFolder(past.folder);
  });

  it('declares exactly the events that a single damage takes, whatever it is', async () => {
    const { harmless, eventsDeclared, ...kinds } = await declareSingleDamages(whole, { first: 1, count: 16 });
    assert(
      Object.values(kinds).every((count) => count > 0),
      'damage of every kind occurred',
    );
    assert(eventsDeclared > harmless, 'events were declared lost');
  });

  it('shows one event as lost where one frame is damaged, and lists all others', async () => {
    const folder = copyOf(past.folder);
    flipByte(fileAt(segmentsIn(folder), 1), 200);
    const { json } = await flagstaff(['verify', '--json', '-d', folder]);
    const [lost, ...more] = json.mending.lost;
    assert.deepEqual([more, lost.from], [[], lost.to]);
    assert.deepEqual(json.mending.ways[1], {
      ...{ command: 'flagstaff repair', stateOfEvent: whole.lastId, lost: null, unlisted: null },
      gaps: [{ ...lost, inState: true }],
    });
    assert.match(
      (await flagstaff(['verify', '-d', folder])).out,
      /flagstaff repair: the state of event \d+; the event log would show that event \d+ is lost/,
    );
    await outputOf(['repair', '--yes', '-d', folder]);
    await assertDeclared(folder, whole, [lost]);
    await startsOn(folder, async (call, origin) => {
      const { events, totalEvents } = (await call('POST', '/events/search', { limit: 100 })).body as {
        events: { id: number; type: string }[];
        totalEvents: number;
      };
      assert(totalEvents >= whole.lastId);
      assert.deepEqual(
        events.filter(({ type }) => type === 'event-lost').map(({ id }) => id),
        [lost.from],
      );
      await saysOfGap(call, origin, lost.from);
    });
  });

  it('fills a gap from a copy that is found later, and the history is what was signed again', async () => {
    const folder = copyOf(past.folder);
    rmSync(fileAt(segmentsIn(folder), 1));
    const { lost } = (await flagstaff(['verify', '--json', '-d', folder])).json.mending;
    await outputOf(['repair', '--yes', '-d', folder]);
    assert.match(
      (await flagstaff(['verify', '-d', folder])).out,
      /note: The events from \d+ to \d+ are lost, as a repair has declared; the state has their changes/,
    );
    const audited = await flagstaff(['audit', 'verify', '--json', '-d', folder]);
    assert.equal(audited.code, 65, 'what is lost is not proved');
    const { differences, signed } = audited.json;
    assert.deepEqual([differences.length, signed.lastId], [1, whole.lastId]);
    assert(differences[0].from <= lost[0].from && differences[0].to >= lost[0].to);
    await outputOf(['repair', '--yes', '--from', past.folder, '-d', folder]);
    const { sound, deep } = await outputOf(['verify', '--deep', '-d', folder]);
    assert.deepEqual([sound, deep.stateHash], [true, whole.stateHash]);
    assert.equal((await outputOf(['audit', 'verify', '-d', folder])).proved, true);
  });

  it('takes the state from behind a gap when something else is repaired, and never replays across it', async () => {
    const folder = copyOf(past.folder);
    flipByte(fileAt(segmentsIn(folder), 1), 200);
    await outputOf(['repair', '--yes', '-d', folder]);
    flipByte(fileAt(snapshotsIn(folder), 0), 100);
    const { plan } = await outputOf(['repair', '--yes', '-d', folder]);
    assert.deepEqual([plan.lost, plan.unlisted], [null, null]);
    const { sound, deep } = await outputOf(['verify', '--deep', '-d', folder]);
    assert.deepEqual([sound, deep.stateHash], [true, whole.stateHash]);
  });

  it('calls a folder damaged where no snapshot has the changes of a gap any longer, and a start refuses it', async () => {
    const repaired = copyOf(past.folder);
    flipByte(fileAt(segmentsIn(repaired), 3), 200);
    const [lost] = (await flagstaff(['verify', '--json', '-d', repaired])).json.mending.lost;
    await outputOf(['repair', '--yes', '-d', repaired]);
    const harms: readonly ((path: string) => void)[] = [
      (path) => rmSync(path),
      (path) => flipByte(path, 100),
    ];
    for (const harm of harms) {
      const folder = copyOf(repaired);
      for (const path of snapshotsIn(folder)) harm(path);
      await assert.rejects(startTestServer({ folder }), /no good snapshot from behind it has its change/);
      const { code, json } = await flagstaff(['verify', '--json', '-d', folder]);
      assert.deepEqual([code, json.mending.lost], [65, [lost]]);
      assert.equal(json.mending.ways[0].command, 'flagstaff repair --from <copy>');
      const mended = copyOf(folder);
      await outputOf(['repair', '--yes', '--from', past.folder, '-d', mended]);
      await assertMended(mended, whole, 'from a copy');
      const { plan } = await outputOf(['repair', '--yes', '-d', folder]);
      assert.deepEqual(plan.gaps, [{ ...lost, inState: false }], 'the state lacks it now');
      assert((await outputOf(['verify', '--deep', '-d', folder])).sound);
      await startsOn(folder, async (call) => {
        assert.equal((await call('POST', '/projects/default/features', { name: 'after' })).status, 201);
      });
    }
  });

  it('keeps what comes behind a change that no snapshot has, and says what is lost', async () => {
    const folder = copyOf(past.folder);
    for (const path of snapshotsIn(folder)) rmSync(path);
    flipByte(fileAt(segmentsIn(folder), 3), 200);
    const { json } = await flagstaff(['verify', '--json', '-d', folder]);
    const { plan, lastId } = await outputOf(['repair', '--yes', '-d', folder]);
    assert.deepEqual(plan.gaps, [{ ...json.mending.lost[0], inState: false }]);
    assert.equal(lastId, whole.lastId);
    assert((await outputOf(['verify', '--deep', '-d', folder])).sound);
    await startsOn(folder, async (call) => {
      assert.equal((await call('POST', '/projects/default/features', { name: 'after' })).status, 201);
    });
  });
});
