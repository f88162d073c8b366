/** When flags are sent to workers that have not asked for them, and what is in them. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { ChangeMarks, SUBJECTS, subjectOfFlag } from '../../../src/http/workers/change-marks.ts';
import { FlagPublisher } from '../../../src/http/workers/flag-publisher.ts';
import { FLAG_FIELDS, type FlagBlock } from '../../../src/http/workers/parcel.ts';

const PATH = '/api/admin/projects/p/features/';

describe('what is sent beside a flag that was asked for', () => {
  let nowMs: number;
  let marks: ChangeMarks;
  let blocks: FlagBlock[];
  let publisher: FlagPublisher;
  beforeEach(() => {
    nowMs = 0;
    marks = new ChangeMarks();
    blocks = [];
    publisher = new FlagPublisher({
      marks,
      publish: (block) => blocks.push(block),
      monotonicMs: () => nowMs,
    });
  });

  /** So many flags are at hand; to look at them takes `tookMs`. */
  function ask(group: object, count: number, tookMs = 0): void {
    const now = () => {
      nowMs += tookMs;
      return Array.from({ length: count }, (_, at) => ({
        name: `f${at}`,
        etag: `"${at}-a"`,
        body: Buffer.from(`{"name":"f${at}"}`),
        untilMs: Number.POSITIVE_INFINITY,
      }));
    };
    publisher.asked(PATH, { group, now });
  }

  function settled(): void {
    ask({}, 0);
    nowMs += 1_000;
  }

  it('are all flags of its group that are at hand, each with its bytes and its mark', () => {
    marks.raise(subjectOfFlag('f2'));
    settled();
    ask({}, 10);
    const [block] = blocks;
    assert.ok(block !== undefined && blocks.length === 1);
    assert.equal(block.flags.length, 10 * FLAG_FIELDS);
    for (let at = 0; at < 10; at += 1) {
      const [name, etag, mark, untilMs, begin, end] = block.flags.slice(at * FLAG_FIELDS) as [
        ...[string, string, number, number, number, number],
      ];
      assert.deepEqual(
        [name, etag, mark, untilMs],
        [`f${at}`, `"${at}-a"`, at === 2 ? 1 : 0, Number.POSITIVE_INFINITY],
      );
      assert.equal(Buffer.from(block.bytes, begin, end - begin).toString(), `{"name":"f${at}"}`);
    }
  });

  it('are sent again after as many were asked for one by one, or after a change of all flags', () => {
    settled();
    const group = {};
    ask(group, 10);
    for (let asked = 1; asked <= 9; asked += 1) ask(group, 10);
    assert.equal(blocks.length, 1);
    ask(group, 10);
    assert.equal(blocks.length, 2);
    marks.raise(SUBJECTS.flags);
    settled();
    ask(group, 10);
    assert.equal(blocks.length, 3);
    assert.equal(blocks[2]?.flagsMark, 1);
    ask({}, 10);
    assert.equal(blocks.length, 4, 'another group');
  });

  it('are not sent where they are few', () => {
    settled();
    const group = {};
    ask(group, 3);
    for (let asked = 1; asked <= 3; asked += 1) ask(group, 10);
    assert.equal(blocks.length, 0);
    ask(group, 10);
    assert.equal(blocks.length, 1);
  });

  it('wait while all flags change time and again, and rest after each as long as that took', () => {
    for (let round = 0; round < 100; round += 1) {
      marks.raise(SUBJECTS.flags);
      ask({}, 10);
      nowMs += 10;
    }
    assert.equal(blocks.length, 0);
    nowMs += 100;
    ask({}, 10, 5);
    ask({}, 10, 5);
    nowMs += 4;
    ask({}, 10, 5);
    assert.equal(blocks.length, 1);
    nowMs += 1;
    ask({}, 10, 5);
    assert.equal(blocks.length, 2);
  });

  it('are bounded in bytes', () => {
    settled();
    const body = Buffer.alloc(3 * 1024 * 1024);
    const now = () =>
      Array.from({ length: 8 }, (_, at) => ({
        ...{ name: `f${at}`, etag: '"1-a"', untilMs: 0, body: at === 0 ? body : body.subarray(0, 200_000) },
      }));
    publisher.asked(PATH, { group: {}, now });
    const [block] = blocks;
    assert.ok(block !== undefined && block.bytes.byteLength <= 4 * 1024 * 1024);
    assert.equal(block.flags.length / FLAG_FIELDS, 6);
  });
});
