/** Repairing: what hangs together is kept, everything else is moved aside, and a server starts. */
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { repair } from '../../../src/addons/repair/repair.ts';
import { waysToRepair } from '../../../src/addons/repair/ways.ts';
import { verifyFolder } from '../../../src/operations/verify-folder.ts';
import { realFileSystem } from '../../../src/persistence/disk/file-system.ts';
import { lockFolder } from '../../../src/persistence/disk/folder-lock.ts';
import { SEGMENT_HEADER_BYTES } from '../../../src/persistence/journal/segment.ts';
import { assertMended, cutSingleDamages, wholeFolder } from '../../faults/single-damages.ts';
import { withBadSectors } from '../../persistence/recovery/bad-sectors.ts';
import {
  contentOf,
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
} from '../../support/operator.ts';

const firstIdOf = (path: string): number => Number(/(\d{20})\.\w+$/.exec(path)?.[1]);

/** The files of a folder by their names in it. */
function filesOf(folder: string): Map<string, string> {
  return new Map([...contentOf(folder)].map(([path, bytes]) => [path.slice(folder.length), bytes]));
}

/** Puts each of two files in the place of the other. */
function exchange(a: string, b: string): void {
  const bytes = readFileSync(a);
  copyFileSync(b, a);
  writeFileSync(b, bytes);
}

describe('flagstaff repair', () => {
  let past: PastFolder;
  let newest: PastFolder['moments'][number];
  before(async () => {
    past = await pastFolder();
    newest = past.moments.at(-1) ?? { id: 0, stateHash: '' };
  });

  function damaged(harm: (folder: string) => void): string {
    const folder = copyOf(past.folder);
    harm(folder);
    return folder;
  }

  /** Repairs, and checks what has to hold after every repair. */
  async function repaired(folder: string, args: readonly string[] = []) {
    const old = filesOf(folder);
    const output = await outputOf(['repair', '--yes', ...args, '-d', folder]);
    assert.equal(output.repaired, true);
    const aside = filesOf(output.aside);
    for (const [name, bytes] of old) {
      if (name.startsWith('/journal') || name.startsWith('/snapshots')) {
        assert.equal(aside.get(name), bytes, `${name} is aside as it was`);
      }
    }
    const { sound, deep } = await outputOf(['verify', '--deep', '-d', folder]);
    assert(sound);
    assert.equal(deep.stateHash, output.stateHash);
    await startsOn(folder, async (call) => {
      assert.equal((await call('POST', '/projects/default/features', { name: 'after' })).status, 201);
    });
    assert.equal((await outputOf(['verify', '-d', folder])).lastGoodEventId, output.lastId + 1);
    return output;
  }

  it('keeps one side of a single damage, whatever it is, and the other can be restored from what was set aside', async () => {
    const whole = await wholeFolder(past.folder);
    const range = { first: 1, count: 16 };
    const { harmless, eventsCut, ...kinds } = await cutSingleDamages(whole, past.moments, range);
    assert(
      Object.values(kinds).every((count) => count > 0),
      'damage of every kind occurred',
    );
    assert(eventsCut > harmless, 'events were set aside');
  });

  it('loses nothing of the state when a snapshot contains what is damaged', async () => {
    const folder = damaged((copy) => flipByte(fileAt(segmentsIn(copy), 1), 200));
    const { plan, stateHash } = await repaired(folder, ['--prefer', 'state']);
    assert.deepEqual([plan.stateOfEvent, plan.lost, stateHash], [newest.id, null, newest.stateHash]);
    assert.equal(plan.unlisted.from, 1);
    assert.equal(plan.events.from, plan.unlisted.to + 1);
  });

  it('keeps the longer history instead of the newer state when that is preferred, and says what each would keep', async () => {
    const folder = damaged((copy) => flipByte(fileAt(segmentsIn(copy), 1), 200));
    const { out } = await flagstaff(['repair', '--dry-run', '-d', folder]);
    assert.match(out, /--from <copy>: everything, if the copy has event \d+\n/);
    const state = new RegExp(
      `--prefer state: the state of event ${newest.id}; the event log no longer shows the `,
    );
    assert.match(out, state);
    assert.match(out, /--prefer history: the state of event \d+, without the changes of the \d+ events from/);
    const { plan, stateHash } = await repaired(folder, ['--prefer', 'history']);
    assert.deepEqual([plan.events.from, plan.unlisted, plan.lost.to], [1, null, newest.id]);
    assert.equal(stateHash, past.moments.find(({ id }) => id === plan.stateOfEvent)?.stateHash);
    assert.equal((await flagstaff(['repair', '--prefer', 'both', '-d', folder])).code, 64);
  });

  it('cuts the journal before the damage when no snapshot reaches beyond it', async () => {
    const folder = damaged((copy) => {
      for (const path of snapshotsIn(copy)) rmSync(path);
      flipByte(fileAt(segmentsIn(copy), 1), 200);
    });
    const { json } = await flagstaff(['verify', '--json', '-d', folder]);
    const good = json.journal.intact[0].to;
    const { plan, stateHash } = await repaired(folder, ['--prefer', 'state']);
    assert.equal(plan.stateOfEvent, good);
    assert.deepEqual(plan.lost, { from: good + 1, to: newest.id });
    assert.equal(plan.unlisted, null);
    const moment = past.moments.find(({ id }) => id === good);
    assert.equal(stateHash, moment?.stateHash);
  });

  it('writes a damaged header anew, and loses nothing at all', async () => {
    const folder = damaged((copy) => {
      for (const path of snapshotsIn(copy)) rmSync(path);
      flipByte(fileAt(segmentsIn(copy), 1), 20);
      flipByte(fileAt(segmentsIn(copy), 0), 20);
    });
    const original = readFileSync(fileAt(segmentsIn(past.folder), 1));
    const output = await outputOf(['repair', '--yes', '-d', folder]);
    assert.deepEqual([output.plan.lost, output.plan.unlisted], [null, null]);
    assert.deepEqual(readFileSync(fileAt(segmentsIn(folder), 1)), original);
  });

  const harms: readonly (readonly [string, (folder: string) => void])[] = [
    ['a missing file in the middle', (folder) => rmSync(fileAt(segmentsIn(folder), 1))],
    [
      'a missing journal',
      (folder) => {
        for (const path of segmentsIn(folder)) rmSync(path);
      },
    ],
    ['a missing newest file', (folder) => rmSync(fileAt(segmentsIn(folder)))],
    ['a journal cut short', (folder) => truncateSync(fileAt(segmentsIn(folder)), SEGMENT_HEADER_BYTES)],
    ['a damaged newest snapshot', (folder) => flipByte(fileAt(snapshotsIn(folder)), 100)],
  ];
  for (const [what, harm] of harms) {
    it(`comes to the newest state with ${what}`, async () => {
      const { plan, stateHash } = await repaired(damaged(harm));
      assert.deepEqual([plan.stateOfEvent, plan.lost, stateHash], [newest.id, null, newest.stateHash]);
    });
  }

  it('starts without the first file where a snapshot has its state, and says which events are no longer listed', async () => {
    const folder = damaged((copy) => rmSync(fileAt(segmentsIn(copy), 0)));
    const { plan } = await repaired(folder, ['--prefer', 'state']);
    const second = firstIdOf(fileAt(segmentsIn(folder), 0));
    assert.deepEqual([plan.lost, plan.unlisted], [null, { from: 1, to: second - 1 }]);
    assert.equal((await outputOf(['status', '-d', folder])).journal.beginsWith, second);
  });

  it('says what it lost where the newest events are gone and no snapshot has them', async () => {
    const folder = damaged((copy) => {
      rmSync(fileAt(segmentsIn(copy)));
      rmSync(fileAt(snapshotsIn(copy)));
    });
    const { plan } = await repaired(folder, ['--prefer', 'state']);
    const last = firstIdOf(fileAt(segmentsIn(past.folder))) - 1;
    assert.deepEqual([plan.stateOfEvent, plan.lost], [last, { from: last + 1, to: newest.id }]);
  });

  it('comes to a state that was, and with a copy to the newest, whatever bytes are wrong and whatever files are exchanged', async () => {
    const known = new Map(past.moments.map(({ id, stateHash }) => [id, stateHash]));
    const files = [...segmentsIn(past.folder), ...snapshotsIn(past.folder)];
    const harm = fc.record({
      file: fc.nat(files.length - 1),
      place: fc.double({ min: 0, max: 0.999, noNaN: true }),
      exchangedWith: fc.option(fc.nat(files.length - 1)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(harm, { minLength: 1, maxLength: 4 }), async (list) => {
        const folder = damaged((copy) => {
          for (const { file, place, exchangedWith } of list) {
            const path = fileAt(files, file).replace(past.folder, copy);
            if (exchangedWith !== null)
              exchange(path, fileAt(files, exchangedWith).replace(past.folder, copy));
            flipByte(path, Math.floor(readFileSync(path).length * place));
          }
        });
        const mended = copyOf(folder);
        await outputOf(['repair', '--from', past.folder, '-d', mended]);
        assert.equal((await outputOf(['verify', '--deep', '-d', mended])).deep.stateHash, newest.stateHash);
        const run = await flagstaff(['repair', '--json', '--prefer', 'state', '-d', folder]);
        if (run.code === 65) assert.match(run.err, /nothing to start from/);
        else {
          assert.deepEqual([run.code, run.err], [0, '']);
          // Two flips of one byte leave no damage.
          if (run.json.repaired) assert.equal(known.get(run.json.lastId), run.json.stateHash);
          assert.equal((await flagstaff(['verify', '--deep', '-d', folder])).code, 0);
        }
        for (const done of [mended, folder]) rmSync(done, { recursive: true });
      }),
      { numRuns: 10 },
    );
  });

  it('changes nothing where nothing is damaged, and with --dry-run', async () => {
    const content = contentOf(past.folder);
    assert.deepEqual(await outputOf(['repair', '--yes', '-d', past.folder]), {
      repaired: false,
      damages: [],
    });
    const folder = damaged((copy) => flipByte(fileAt(segmentsIn(copy), 1), 200));
    const harmed = filesOf(folder);
    const { ways, repaired: done } = await outputOf(['repair', '--dry-run', '-d', folder]);
    assert.deepEqual([ways.state.stateOfEvent, done], [newest.id, false]);
    assert.deepEqual(filesOf(folder), harmed);
    assert.deepEqual(contentOf(past.folder), content);
  });

  it('shows what each way keeps, and asks for one; where nobody can answer, a flag names it', async () => {
    const folder = damaged((copy) => flipByte(fileAt(segmentsIn(copy), 1), 200));
    const harmed = filesOf(folder);
    const unasked = await flagstaff(['repair', '-d', folder]);
    assert.equal(unasked.code, 64);
    assert.match(
      unasked.err,
      /What each way keeps:\n.* --from <copy>.*\n.* --prefer state.*\n.* --prefer history/,
    );
    assert.match(unasked.err, /Name one: --from <copy>, --prefer state, or --prefer history/);
    for (const [typed, code] of [
      ['', 64],
      ['no', 66],
    ] as const) {
      const declined = await flagstaff(['repair', '-d', folder], { typed });
      assert.equal(declined.code, code);
      assert.match(declined.err, /What each way keeps:.*Which way\?.*Nothing was changed/s);
    }
    assert.equal((await flagstaff(['repair', '--from', 'x', '--prefer', 'state', '-d', folder])).code, 64);
    assert.deepEqual(filesOf(folder), harmed);
    for (const typed of ['state', 'history', past.folder]) {
      const copy = copyOf(folder);
      const { code, err, out } = await flagstaff(['repair', '-d', copy], { typed });
      assert.equal(code, 0, err);
      assert.match(out, /Done\. What was there before is in /);
      assert.equal((await flagstaff(['verify', '-d', copy])).code, 0);
    }
  });

  it('gives up where nothing whole is left, and changes nothing', async () => {
    const folder = damaged((copy) => {
      for (const path of snapshotsIn(copy)) rmSync(path);
      rmSync(fileAt(segmentsIn(copy), 0));
    });
    const harmed = filesOf(folder);
    const { code, err } = await flagstaff(['repair', '--yes', '-d', folder]);
    assert.deepEqual([code, err.includes('nothing to start from')], [65, true]);
    assert.deepEqual(filesOf(folder), harmed);
  });

  it('leaves a folder alone that a server has open', async () => {
    const folder = damaged((copy) => flipByte(fileAt(segmentsIn(copy), 1), 200));
    const lock = lockFolder(folder);
    const { code } = await flagstaff(['repair', '--yes', '-d', folder]);
    lock.release();
    assert.equal(code, 75);
  });

  it('loses nothing where journal files stand in the place of others, or a tail was written twice, with a copy and without', async () => {
    const files = segmentsIn(past.folder).length;
    const harms: ((copy: string) => void)[] = [
      (copy) => {
        const last = fileAt(segmentsIn(copy));
        const bytes = readFileSync(last);
        writeFileSync(last, Buffer.concat([bytes, bytes.subarray(SEGMENT_HEADER_BYTES)]));
      },
    ];
    for (let one = 0; one < files; one += 1)
      harms.push((copy) => {
        const paths = segmentsIn(copy);
        exchange(fileAt(paths, one), fileAt(paths, (one + 1) % files));
      });
    const whole = await wholeFolder(past.folder);
    for (const [at, harm] of harms.entries()) {
      const folder = damaged(harm);
      assert.equal((await flagstaff(['verify', '-d', folder])).code, 65);
      for (const way of [['--from', past.folder], ['--yes']]) {
        const copy = copyOf(folder);
        const { plan } = await outputOf(['repair', ...way, '-d', copy]);
        assert.deepEqual([plan.lost, plan.unlisted, plan.taken ?? []], [null, null, []]);
        await assertMended(copy, whole, `${way[0]}, harm ${at}`);
      }
    }
  });

  it('goes on where it was cut short, and no server starts in between', async () => {
    const whole = damaged((copy) => flipByte(fileAt(segmentsIn(copy), 1), 200));
    const { aside } = await outputOf(['repair', '--yes', '-d', whole]);
    // As it lies on disk after each step of the exchange, made from its outcome.
    const steps = [
      'nothing',
      'snapshots aside',
      'snapshots in place',
      'journal aside',
      'journal in place',
    ] as const;
    for (const step of steps) {
      const folder = damaged((copy) => flipByte(fileAt(segmentsIn(copy), 1), 200));
      const [repairedTo, oldTo] = [join(folder, 'repaired.tmp'), join(folder, 'damaged-then')];
      mkdirSync(repairedTo);
      const made = copyOf(whole);
      for (const name of ['journal', 'snapshots', 'log.beginning']) {
        renameSync(join(made, name), join(repairedTo, name));
      }
      writeFileSync(join(repairedTo, 'ready'), 'damaged-then');
      if (step !== 'nothing') {
        mkdirSync(oldTo);
        renameSync(join(folder, 'snapshots'), join(oldTo, 'snapshots'));
      }
      if (steps.indexOf(step) >= steps.indexOf('snapshots in place')) {
        renameSync(join(repairedTo, 'snapshots'), join(folder, 'snapshots'));
      }
      if (steps.indexOf(step) >= steps.indexOf('journal aside')) {
        for (const name of ['log.beginning', 'history.heads'])
          renameSync(join(folder, name), join(oldTo, name));
        renameSync(join(folder, 'journal'), join(oldTo, 'journal'));
      }
      if (step === 'journal in place') renameSync(join(repairedTo, 'journal'), join(folder, 'journal'));
      await assert.rejects(
        startsOn(folder, async () => undefined),
        /A repair of the data folder was interrupted/,
      );
      assert.deepEqual(await outputOf(['repair', '--yes', '-d', folder]), { repaired: true, resumed: true });
      assert.deepEqual(readdirSync(oldTo).sort(), readdirSync(aside).sort(), step);
      assert(!existsSync(repairedTo));
      const { deep } = await outputOf(['verify', '--deep', '-d', folder]);
      assert.equal(deep.stateHash, newest.stateHash);
    }
  });

  it('does not mind what an earlier repair left that had not become ready', async () => {
    const folder = damaged((copy) => flipByte(fileAt(segmentsIn(copy), 1), 200));
    mkdirSync(join(folder, 'repaired.tmp', 'journal'), { recursive: true });
    writeFileSync(join(folder, 'repaired.tmp', 'journal', 'half'), 'x');
    await repaired(folder);
  });

  for (const where of ['the first journal file', 'a later journal file', 'the newest snapshot'] as const) {
    it(`keeps the newest state where the disk cannot read a sector of ${where}`, async () => {
      const folder = copyOf(past.folder);
      const files = {
        'the first journal file': fileAt(segmentsIn(folder), 0),
        'a later journal file': fileAt(segmentsIn(folder), 2),
        'the newest snapshot': fileAt(snapshotsIn(folder)),
      };
      const path = files[where];
      const sector = { path, offset: Math.floor(statSync(path).size / 2), bytes: 8 };
      const fs = withBadSectors(realFileSystem, [sector]);
      const verified = await verifyFolder({ fs, folder });
      assert(verified.damages.some(({ file }) => file === path));
      const way = waysToRepair(verified).state;
      assert(way !== null);
      const cut = {
        folder,
        verified,
        way,
        copy: null,
        historyFiles: [],
        provers: [],
        asideName: 'damaged-then',
      };
      const repaired = await repair({ fs, ...cut });
      assert.deepEqual([repaired.lastId, repaired.stateHash], [newest.id, newest.stateHash]);
      const { sound, deep } = await outputOf(['verify', '--deep', '-d', folder]);
      assert.deepEqual([sound, deep.stateHash], [true, newest.stateHash]);
    });
  }
});
