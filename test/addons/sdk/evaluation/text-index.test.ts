/** Many values are searched in one text in a time that grows with both, and not with their product. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { occursAny, TextIndex } from '../../../../src/addons/sdk/evaluation/text-index.ts';

/** Texts in which parts come again, and some of characters of all kinds. */
const anyText = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 60 }),
  fc.string({ unit: fc.constantFrom('a', 'b', 'c', '€', '\u{1f600}'), maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
);

test('a text has the parts that V8 finds in it, and no others', () => {
  fc.assert(
    fc.property(
      anyText,
      fc.array(anyText, { maxLength: 20 }),
      fc.nat(),
      fc.nat(),
      (text, parts, from, length) => {
        const index = TextIndex.of(text)!;
        const start = from % (text.length + 1);
        for (const part of [...parts, text.slice(start, start + (length % 20))])
          assert.equal(index.has(part), text.includes(part), JSON.stringify([text, part]));
      },
    ),
    { numRuns: 2_000 },
  );
});

/** A value whose characters count when they are looked at. */
class CountedText {
  looks = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get length(): number {
    return this.#text.length;
  }

  charCodeAt(at: number): number {
    this.looks += 1;
    return this.#text.charCodeAt(at);
  }

  toString(): string {
    throw new Error('V8 searches a text for this one, which takes their product at worst');
  }
}

test('values that nearly occur in a long text are looked at once, character by character', () => {
  const text = 'a'.repeat(16_000);
  const counted = Array.from({ length: 200 }, () => new CountedText(`ab${'a'.repeat(480)}`));
  const occurring = new CountedText('a'.repeat(480));
  const parts = [...counted, occurring];
  const partsLength = parts.reduce((sum, { length }) => sum + length, 0);
  assert.equal(occursAny(text, parts as unknown as string[], partsLength), true);
  assert.ok(counted.every(({ looks, length }) => looks <= length));
  assert.equal(occurring.looks, occurring.length);
});

test('texts beyond the longest index are searched all the same', () => {
  const text = `${'a'.repeat(40_000)}b`;
  assert.equal(TextIndex.of(text), null);
  assert.equal(occursAny(text, ['ab'], 2), true);
  assert.equal(occursAny(text, ['ba'], 2), false);
});
