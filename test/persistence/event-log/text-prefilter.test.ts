import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textPrefilterFor } from '../../../src/persistence/event-log/text-prefilter.ts';

function find(query: string, bytes: string | Buffer, from = 0): number | null {
  const prefilter = textPrefilterFor(query.toLowerCase());
  return prefilter === null ? null : prefilter.finder(Buffer.from(bytes as string))(from);
}

test('a prefilter is found whatever the case, at either end, and not where it is not', () => {
  assert.equal(find('Checkout', 'xxCHECKout'), 2);
  assert.equal(find('checkout', 'cHeCkOuTxx'), 0);
  assert.equal(find('checkout', 'checkouchecko'), -1);
  assert.equal(find('checkout', ''), -1);
  assert.equal(find('aab', 'aaaab'), 2);
});

test('a search goes on from where it is told to', () => {
  const finder = textPrefilterFor('kilo')?.finder(Buffer.from('kilo \u212ailo kilo'));
  assert.deepEqual(
    [0, 1, 6, 12].map((from) => finder?.(from)),
    [0, 5, 12, 12],
  );
});

test('what JSON syntax, numbers and literals can produce is no evidence', () => {
  for (const query of [
    '12',
    '1e+2',
    '-3.5',
    '{"',
    '":',
    'tru',
    'null',
    'FALSE',
    'ue',
    'e',
    '[],',
    'u0',
    '1f',
    'a',
    'ä',
    '',
  ]) {
    assert.equal(find(query, 'anything'), null, query);
  }
  assert.equal(find('ab', 'xAB'), 1);
  assert.equal(find('trues', 'xTRUEs'), 1);
  assert.equal(find('1e+2x', '1E+2X'), 1);
});

test('the longest usable run of a query is looked for', () => {
  assert.equal(find('"name":"checkout-page"', 'Checkout-Page'), 0);
  assert.equal(find('ächeckoutä', 'checkout'), 0);
  assert.equal(find('01j777777zq', '01J777777ZQ'), 1, 'but for what an escape may end in');
  assert.equal(find('3fa85f64-5717-4562', 'x3FA85F64-5717-4562'), 1);
});

test('a letter that may be the end of an escape also stands for the control character', () => {
  for (const control of ['\b', '\f', '\n', '\r', '\t', '\u000b', '\u001f']) {
    const escaped = JSON.stringify(`${control}launch`).slice(1, -1);
    for (let cut = 0; cut < escaped.length - 6; cut++) {
      const query = escaped.slice(cut);
      assert.notEqual(find(query, `${control}launch`), -1, query);
    }
  }
});

test('only two characters outside ASCII fold into it, and both count as found', () => {
  const folding: string[] = [];
  for (let code = 0x80; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    if (/[\0-\x7f]/.test(character.toLowerCase())) folding.push(character);
  }
  assert.deepEqual(folding, ['\u0130', '\u212a']);
  assert.notEqual(find('wiki', 'W\u0130\u212aI'), -1);
});

test('a run longer than a prefilter is looked for by its front', () => {
  const long = 'abcdefghij'.repeat(5);
  assert.equal(find(long, `..${long}`), 2);
});
