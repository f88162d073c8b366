import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { readDocument } from '../../../src/addons/edge/upstream-document.ts';
import { wellFormed } from '../../../src/addons/edge/well-formed.ts';
import { runs } from '../../support/runs.ts';

const units = fc.constantFrom('a', '\\', 'u', '"', '\ud83d', '\ude00', '\ud800', '\u2028', 'd83d');

it('has U+FFFD for each half of a surrogate pair, and every other character as it was', () => {
  const text = fc.array(units).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (value) => {
      const mended = wellFormed(Buffer.from(JSON.stringify({ value })));
      const whole = Buffer.from(value, 'utf8').toString();
      assert.equal(JSON.parse(Buffer.from(mended).toString()).value, whole);
    }),
    { numRuns: runs(200, 20_000) },
  );
});

it('lets an edge serve a document of which one text has half of a surrogate pair', async () => {
  const features = [{ name: 'a', enabled: true, strategies: [], description: 'half \ud83d' }];
  const document = await readDocument(Buffer.from(JSON.stringify({ version: 2, features })), 'development');
  assert.equal(document.flags.length, 1);
});
