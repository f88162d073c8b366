import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jsonText } from '../../src/host/command.ts';
import { bytesText, count, fields, printable, rateText } from '../../src/host/format.ts';

describe('figures on the terminal', () => {
  it('have units that people read', () => {
    assert.deepEqual([0, 1023, 1024, 1536, 5 * 2 ** 30].map(bytesText), [
      '0 bytes',
      '1023 bytes',
      '1.0 KiB',
      '1.5 KiB',
      '5.0 GiB',
    ]);
    assert.deepEqual([count(1, 'event'), count(2_000, 'event')], ['1 event', '2,000 events']);
    assert.equal(rateText(100_000, 1_300), '100,000 events in 1.30 s (76,923 events/s)');
    assert.equal(rateText(0, 0), '0 events in 0.00 s');
  });

  it('are aligned in tables', () => {
    assert.equal(
      fields([
        ['a', '1'],
        ['long', ''],
      ]),
      'a     1\nlong',
    );
  });

  it('leave nothing in JSON that a terminal obeys or draws in another order', () => {
    const value = { name: 'a\u009b\u202eb', more: ['\u2066'] };
    const text = jsonText(value);
    assert.doesNotMatch(text, /[\u007f-\u009f\u202e\u2066]/);
    assert.deepEqual(JSON.parse(text), value);
  });

  it("never let a user's string move the cursor, hide text or turn it round", () => {
    const hostile = 'a\u001b[2J\r\n\u0007\u009b\u202eb\u2066\u2028';
    assert.equal(printable(hostile), 'a\\u001b[2J\\u000d\\u000a\\u0007\\u009b\\u202eb\\u2066\\u2028');
    assert.equal(printable('größe 日本語 🚩'), 'größe 日本語 🚩');
  });
});
