/** A document read part by part is the document, however its bytes arrive, and its faults are named with their place. */
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '../../../src/domain/json/json.ts';
import {
  type JsonPart,
  JsonPartsError,
  type JsonPartsOptions,
  readJsonParts,
} from '../../../src/http/body/json-parts.ts';
import { BODY_LIMITS } from '../../../src/http/body/json-shape.ts';

const OPTIONS: JsonPartsOptions = {
  whole: 'The document',
  isOpened: (path) => path.length <= 2,
  partBytesMax: 1_000,
  limits: BODY_LIMITS,
};

async function* inChunks(bytes: Uint8Array, chunkBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

async function partsOf(
  text: string | Uint8Array,
  options: Partial<JsonPartsOptions> & { readonly chunkBytes?: number } = {},
): Promise<JsonPart[]> {
  const { chunkBytes = 7, ...rest } = options;
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const parts: JsonPart[] = [];
  for await (const part of readJsonParts(inChunks(bytes, chunkBytes), { ...OPTIONS, ...rest }))
    parts.push(part);
  return parts;
}

/** The document again, of its parts. */
function assembled(parts: readonly JsonPart[]): JsonValue {
  const root = { whole: null as JsonValue };
  for (const { path, value } of parts) {
    let holder = root as unknown as Record<string | number, JsonValue>;
    for (const key of ['whole', ...path.slice(0, -1)].slice(0, path.length)) {
      holder = holder[key] as Record<string | number, JsonValue>;
    }
    holder[path.at(-1) ?? 'whole'] = value;
  }
  return root.whole;
}

test('any document is the sum of its parts, in any pieces, with and without spaces', async () => {
  const anyDocument = fc
    .jsonValue({ maxDepth: 5 })
    .filter((value) => !JSON.stringify(value).includes('__proto__'));
  await fc.assert(
    fc.asyncProperty(
      anyDocument,
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom(undefined, 2),
      async (value, chunkBytes, indent) => {
        const text = JSON.stringify(value, null, indent);
        const options = { chunkBytes, partBytesMax: 1_000_000 };
        assert.deepEqual(assembled(await partsOf(text, options)), JSON.parse(text));
      },
    ),
  );
});

test('the parts come in order, an opened list or object empty and before what is in it', async () => {
  assert.deepEqual(await partsOf('{"a":[1,{"b":[]}],"c":[],"d":"x"}'), [
    { path: [], value: {} },
    { path: ['a'], value: [] },
    { path: ['a', 0], value: 1 },
    { path: ['a', 1], value: {} },
    { path: ['a', 1, 'b'], value: [] },
    { path: ['c'], value: [] },
    { path: ['d'], value: 'x' },
  ]);
});

describe('a document with a fault', () => {
  const FAULTS: readonly (readonly [text: string, path: string, message: RegExp])[] = [
    ['', '', /The document is empty/],
    ['{', '', /line 1, column 2 there should be a field name/],
    ['{"a":1,\n "b" 2}', '', /line 2, column 6 there should be a colon/],
    ['{"a":[1\n2]}', '', /line 2, column 1 there should be a comma or \]/],
    ['{"a":1;}', '/a', /line 1, column 7 there should be the end/],
    ['{"a":1}{', '', /line 1, column 8 there should be the end/],
    ['{"a":[1,2', '', /there should be a comma or \]/],
    ['{"a":[[[1,]]]}', '/a/0/0', /line 1, column 11 there should be a value/],
    ['{\n"a":[[\n\n[nul]]]}', '/a/0/0', /line 4, column 2 there should be a value/],
    ['{"a":1,"\\u0061":2}', '/a', /"a" is given more than once/],
    ['{"a":[[{"b":1,"b":2}]]}', '/a/0/0/b', /"b" is given more than once/],
    ['{"__proto__":1}', '/__proto__', /must not be named __proto__/],
    ['{"a":"\\ud800"}', '/a', /half of a surrogate pair/],
    [`{"a":"${'x'.repeat(1_100)}"}`, '/a', /must not take more than 1000 bytes/],
    [`{"a":[[${'['.repeat(70)}`, '/a/0/0', /nest arrays and objects more than 64 levels/],
  ];
  for (const [text, path, message] of FAULTS) {
    it(`is refused with place and reason: ${JSON.stringify(text.slice(0, 30))}`, async () => {
      for (const chunkBytes of [1, 5, 10_000]) {
        await assert.rejects(partsOf(text, { chunkBytes }), (error) => {
          assert(error instanceof JsonPartsError);
          assert.match(error.message, message);
          assert.equal(error.path, path);
          return true;
        });
      }
    });
  }

  it('is refused when its bytes are not UTF-8', async () => {
    await assert.rejects(partsOf(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), /not valid UTF-8/);
  });
});
