import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { pack } from '../../../src/persistence/codec/message-pack.ts';
import type { Frame } from '../../../src/persistence/journal/frame.ts';
import { OWN_STAMP } from '../../../src/persistence/journal/frame-format.ts';
import {
  type Decoded,
  decodePayload,
  decodePayloadInSteps,
  encodePayload,
  peekId,
} from '../../../src/persistence/journal/frame-payload.ts';
import { frameOf } from '../../support/journal-fixture.ts';

const text = fc.string({ unit: 'grapheme' });
const name = fc.option(text);
const lineageName = fc.stringMatching(/^[0-9a-f]{8}$/);
const data = fc.oneof(
  fc.constant(null),
  fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.oneof(text, fc.integer()), { noNullPrototype: true }),
);

const frames: fc.Arbitrary<Frame> = fc.record(
  {
    id: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER - 10 }),
    at: fc.integer({ min: -(2 ** 40), max: 2 ** 45 }),
    by: text,
    userId: fc.integer({ min: -42, max: 1_000_000 }),
    events: fc.array(
      fc.record(
        {
          type: text,
          project: name,
          featureName: name,
          environment: name,
          data,
          preData: data,
          tags: fc.array(fc.record({ type: text, value: text }, { noNullPrototype: true }), { maxLength: 2 }),
          hidden: data,
        },
        {
          requiredKeys: ['type', 'project', 'featureName', 'environment', 'data', 'preData'],
          noNullPrototype: true,
        },
      ),
      { minLength: 1, maxLength: 4 },
    ),
    lineage: fc.record(
      { name: lineageName, before: lineageName },
      { requiredKeys: ['name'], noNullPrototype: true },
    ),
    answer: data,
  },
  { requiredKeys: ['id', 'at', 'by', 'userId', 'events'], noNullPrototype: true },
);

const problemOf = (value: unknown): string => decoded(Buffer.from(pack(value))).problem ?? 'none';

/** Decodes in steps and at once, which have to come to the same. */
function decoded(payload: Buffer): Decoded {
  const steps = decodePayloadInSteps(payload, OWN_STAMP);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  assert.deepEqual(step.value, decodePayload(payload, OWN_STAMP));
  return step.value;
}

test('a frame comes out as it went in', () => {
  fc.assert(
    fc.property(frames, (frame) => {
      const payload = Buffer.from(encodePayload(frame));
      assert.deepEqual(decoded(payload), { frame: { ...frame, rules: OWN_STAMP.rules }, problem: null });
    }),
  );
});

test('a frame of many events is decoded in as many steps', () => {
  const frame = frameOf(1, 1_000);
  const payload = Buffer.from(encodePayload(frame));
  const ends = [...decodePayloadInSteps(payload, OWN_STAMP)];
  assert.equal(ends.length, 1_000);
  assert.deepEqual(
    ends,
    [...ends].sort((a, b) => a - b),
  );
});

test('a frame of one long event is decoded in a step for each pass over it', () => {
  const { events, ...frame } = frameOf(1);
  const long = { ...events[0]!, data: Array.from({ length: 20_000 }, (_, at) => `${at}`) };
  const payload = Buffer.from(encodePayload({ ...frame, events: [long] }));
  const ends = [...decodePayloadInSteps(payload, OWN_STAMP)];
  assert.equal(ends.length, 3);
  assert.deepEqual(decoded(payload), decodePayload(payload, OWN_STAMP));
  assert(ends.every((end, at) => end <= payload.length && end >= (ends[at - 1] ?? 0)));
});

test('the id of a frame is read without decoding it, whatever its size', () => {
  for (const id of [1, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
    assert.equal(peekId(encodePayload({ ...frameOf(id), at: 1 })), id);
  }
  assert.equal(peekId(Buffer.from([0x81, 0xa2, 0x69])), null);
  assert.equal(peekId(Buffer.from(pack({ at: 1, id: 1 }))), null);
});

test('what recovery would refuse is not appended', () => {
  const bad: [object, RegExp][] = [
    [{ ...frameOf(1), events: [] }, /no events/],
    [{ ...frameOf(1), id: 0 }, /no event id/],
    [{ ...frameOf(1), id: 1.5 }, /no event id/],
    [{ ...frameOf(1), extra: 1 }, /an unknown field "extra"/],
    [{ ...frameOf(1), answer: new Date(0) }, /not a kind of value that is ever written/],
    [{ ...frameOf(1), answer: JSON.parse('{"__proto__":1}') }, /the key __proto__/],
  ];
  for (const [frame, reason] of bad) assert.throws(() => encodePayload(frame as Frame), reason);
});

test('hostile content with a valid checksum is refused by what is wrong with it', () => {
  const good = frameOf(7);
  const [event] = good.events;
  const cases: [unknown, RegExp][] = [
    [[1, 2], /not a MessagePack value/],
    [{ ...good, id: '7' }, /no event id/],
    [{ ...good, id: -1 }, /no event id/],
    [{ ...good, at: Number.NaN }, /no time/],
    [{ ...good, at: 1e308 }, /no time/],
    [{ ...good, by: null }, /no author/],
    [{ ...good, userId: 1.5 }, /no user id/],
    [{ ...good, events: {} }, /no events/],
    [{ ...good, events: ['x'] }, /an event that is not a map/],
    [{ ...good, events: [{ ...event, type: 1 }] }, /an event without a type/],
    [{ ...good, events: [{ ...event, project: 1 }] }, /whose project is not a name/],
    [
      { ...good, events: [{ type: 'x', project: null, featureName: null, environment: null }] },
      /without data/,
    ],
    [{ ...good, events: [{ ...event, tags: [{ type: 'x' }] }] }, /whose tags are not tags/],
    [{ ...good, events: [{ ...event, surprise: 1 }] }, /an unknown field "surprise" of an event/],
    [{ ...good, toString: 1 }, /an unknown field "toString"/],
    [{ ...good, lineage: 'aaaaaaaa' }, /a lineage without a name/],
    [{ ...good, lineage: { name: 'aaaaaaaa', before: 'x"' } }, /a lineage without a name/],
  ];
  for (const [value, reason] of cases) assert.match(problemOf(value), reason);
});

test('a map that holds a key twice is refused', () => {
  const payload = Buffer.from(encodePayload(frameOf(7)));
  const doubled = Buffer.concat([payload, Buffer.from([0xa2, 0x62, 0x79, 0xa1, 0x62])]);
  doubled[0]! += 1;
  assert.equal(decoded(doubled).problem, 'a map that holds a key twice');
});

test('a payload with any one bit flipped is decoded or refused, and never throws', () => {
  const payload = Buffer.from(encodePayload({ ...frameOf(300, 2), answer: { status: 200, body: 'é' } }));
  let refused = 0;
  for (let bit = 0; bit < payload.length * 8; bit += 1) {
    const flipped = Buffer.from(payload);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    if (decoded(flipped).problem !== null) refused += 1;
  }
  assert(refused > payload.length, 'most flips change the shape');
});
