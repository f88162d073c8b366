/** Patterns that would take long to compile are refused before that, and none is that could be used. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { patternIssue, patternSize } from '../../../src/domain/flags/pattern.ts';

const TOO_LARGE = 'too large, with its repetitions written out';

const PARTS = [
  ...[
    'a',
    '.',
    '\\d',
    '\\.',
    '[a-z]',
    '[^\\]x]',
    '[]a]',
    '[[:alpha:]-]',
    '\\pL',
    '\\p{Greek}',
    '\\x{41}',
    '\\Qa{9}(\\E',
  ],
  ...['|', '^', '$', '\\b', '*', '+', '?', '{2}', '{0,3}', '{4,}', '{3}?', '{', '{,2}'],
  ...['(', '(?:', '(?i)', '(?i:', '(?P<name>', ')', ')', ')'],
];
const pattern = fc.array(fc.constantFrom(...PARTS), { maxLength: 12 }).map((parts) => parts.join(''));

describe('the size of a pattern', () => {
  it('is about that of the compiled pattern, for every kind of part', () => {
    fc.assert(
      fc.property(pattern, (text) => {
        const size = patternSize(text);
        let instructions: number;
        try {
          instructions = RE2JS.compile(text).programSize();
        } catch {
          return;
        }
        // A few belong to every program, and a choice or a repetition takes one or two of its own.
        assert.ok(instructions <= 4 * size + 10, `${text}: ${instructions} instructions, size ${size}`);
      }),
      { numRuns: 3_000, seed: Number(process.env.SEED ?? 1) },
    );
  });

  it('refuses repetitions that would take long to write out', () => {
    const large = [
      'x{0,1000}'.repeat(100),
      '\\pN{1000}'.repeat(90),
      '((x{9}){9}){9}'.repeat(50),
      '((ab){999}){2}',
    ];
    for (const text of large) {
      assert.ok(patternSize(text) > 1_000, text);
      assert.equal(patternIssue(text, false), TOO_LARGE);
    }
  });

  it('lets through every pattern without repetitions, and those of 250 instructions with them', () => {
    const good = [
      '^[a-z0-9._%+-]{1,32}@[a-z0-9.-]{1,32}\\.[a-z]{2,}$',
      '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}$',
      '[{1000}]',
      '\\{1000\\}',
      '\\Qa{1000}\\E',
      '(?:eu|us){20}',
      'x{240}',
    ];
    for (const text of good) assert.equal(patternIssue(text, false), null, text);
    assert.ok(patternSize('x'.repeat(1_000)) <= 1_000);
    assert.ok(patternSize('(x)'.repeat(333)) <= 1_000);
  });
});
