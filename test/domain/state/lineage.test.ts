/** Names of histories: the same on every copy as far as the copies agree, and others from where they part. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Lineage, type LineageMark } from '../../../src/domain/state/lineage.ts';

/** A history as its frames tell it: at each event its content, and the mark where the frame has one. */
type History = readonly { readonly content: number; readonly mark: LineageMark | undefined }[];

const NAMES_MAX = 3;

/** Begins a name as the engine does. */
const begun = (lineage: Lineage, from: number, name: string, namesMax?: number): Lineage =>
  lineage.adopted(from, lineage.mark(name), namesMax);

function lineageOf(history: History): Lineage {
  let lineage = new Lineage();
  for (const [at, { mark }] of history.entries())
    if (mark !== undefined) lineage = lineage.adopted(at + 1, mark, NAMES_MAX);
  return lineage;
}

const steps = fc.array(
  fc.record({
    /** The number of the folder, of those so far, that is started, or copied and started. */
    folder: fc.nat(),
    /** How many of its events are kept. */
    keep: fc.nat(),
    writes: fc.integer({ min: 0, max: 3 }),
  }),
  { maxLength: 40 },
);

describe('lineage', () => {
  it('gives an event and all before it one name only, however folders are copied, cut and started', () => {
    fc.assert(
      fc.property(steps, fc.nat({ max: 3 }), (plan, unnamed) => {
        let contents = 0;
        let names = 0;
        const event = (mark?: LineageMark) => {
          contents += 1;
          return { content: contents, mark };
        };
        const folders: History[] = [Array.from({ length: unnamed }, () => event())];
        const told = new Map<string, string>();
        for (const { folder, keep, writes } of plan) {
          const source = folders[folder % folders.length]!;
          let history: History = source.slice(0, keep % (source.length + 1));
          let lineage = lineageOf(history);
          if (history.length > 0) lineage = lineage.derived(`derived-${history.at(-1)?.content}`);
          names += 1;
          for (let count = 0; count < writes; count += 1) {
            const mark = count === 0 ? lineage.mark(`name-${names}`) : undefined;
            if (mark !== undefined) lineage = lineage.adopted(history.length + 1, mark, NAMES_MAX);
            history = [...history, event(mark)];
          }
          folders.push(history);
          for (let revision = 1; revision <= history.length; revision += 1) {
            const tag = `${revision}-${lineage.nameAt(revision)}`;
            const prefix = history
              .slice(0, revision)
              .map(({ content }) => content)
              .join();
            assert.equal(told.get(tag) ?? prefix, prefix, `${tag} stands for one history`);
            told.set(tag, prefix);
          }
        }
      }),
    );
  });

  it('is on a reader of the frames, and on one of its records, what it was where they were written', () => {
    let written = new Lineage().derived('aaaaaaaa');
    let replayed = new Lineage();
    for (const [from, name] of [
      [5, 'bbbbbbbb'],
      [9, 'cccccccc'],
      [12, 'dddddddd'],
    ] as const) {
      replayed = replayed.adopted(from, written.mark(name), NAMES_MAX);
      written = begun(written, from, name, NAMES_MAX);
      const loaded = written.recorded.reduce((all, entry) => all.restored(entry), new Lineage());
      for (let revision = 0; revision < 15; revision += 1) {
        assert.equal(replayed.nameAt(revision), written.nameAt(revision));
        assert.equal(loaded.nameAt(revision), written.nameAt(revision));
      }
    }
    assert.equal(written.recorded.length, NAMES_MAX);
  });

  it('keeps the names of old events when the first start with names writes, and records no derived one by itself', () => {
    let lineage = new Lineage().derived('aaaaaaaa');
    assert.deepEqual([lineage.nameAt(7), lineage.recorded], ['aaaaaaaa', []]);
    assert.deepEqual(lineage.mark('bbbbbbbb'), { name: 'bbbbbbbb', before: 'aaaaaaaa' });
    lineage = begun(lineage, 8, 'bbbbbbbb');
    assert.deepEqual(
      [7, 8, 9].map((id) => lineage.nameAt(id)),
      ['aaaaaaaa', 'bbbbbbbb', 'bbbbbbbb'],
    );
    assert.deepEqual(lineage.mark('cccccccc'), { name: 'cccccccc' });
    assert.equal(begun(lineage, 20, 'cccccccc').renames, 0);
  });

  it('tells when events get another name: what was rendered with the old one is then made anew', () => {
    let lineage = begun(new Lineage(), 1, 'aaaaaaaa', 2);
    lineage = begun(lineage, 4, 'bbbbbbbb', 2);
    assert.deepEqual([lineage.nameAt(2), lineage.renames], ['aaaaaaaa', 0]);
    lineage = begun(lineage, 6, 'cccccccc', 2);
    assert.deepEqual([lineage.nameAt(2), lineage.renames], ['bbbbbbbb', 1]);
  });
});
