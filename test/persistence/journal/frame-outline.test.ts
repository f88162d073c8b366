import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { pack, unpack } from '../../../src/persistence/codec/message-pack.ts';
import type { Frame } from '../../../src/persistence/journal/frame.ts';
import { FrameOutline } from '../../../src/persistence/journal/frame-outline.ts';
import { encodePayload } from '../../../src/persistence/journal/frame-payload.ts';
import { event } from '../../support/event-journal.ts';

const name = fc.string({ unit: 'grapheme', maxLength: 40 });
const nameOrNull = fc.option(name);
const data = fc.oneof(
  fc.constantFrom(null, 0, '', false),
  fc.dictionary(fc.stringMatching(/^[a-z]+$/), fc.oneof(name, fc.nat(), fc.constant([])), {
    maxKeys: 20,
    noNullPrototype: true,
  }),
);

const frames: fc.Arbitrary<Frame> = fc.record(
  {
    id: fc.integer({ min: 1, max: 2 ** 50 }),
    at: fc.nat(),
    by: name,
    userId: fc.integer(),
    events: fc.array(
      fc.record(
        {
          type: name,
          project: nameOrNull,
          featureName: nameOrNull,
          environment: nameOrNull,
          data,
          preData: data,
          hidden: data,
          tags: fc.constant([{ type: 't', value: 'v' }]),
        },
        { requiredKeys: ['type', 'project', 'featureName', 'environment', 'data', 'preData'] },
      ),
      { minLength: 1, maxLength: 20 },
    ),
    answer: data,
  },
  { requiredKeys: ['id', 'at', 'by', 'userId', 'events'] },
);

test('an outline holds the names and the data of any frame, as decoding would', () => {
  const outline = new FrameOutline();
  fc.assert(
    fc.property(frames, (frame) => {
      assert(outline.read(Buffer.from(encodePayload(frame))));
      assert.deepEqual([outline.at, outline.by], [frame.at, frame.by]);
      assert.equal(outline.eventCount, frame.events.length);
      for (const [index, { type, project, featureName, environment, data }] of frame.events.entries()) {
        assert.deepEqual(outline.names(index), { type, project, featureName, environment });
        assert.deepEqual(unpack(outline.data(index)), data);
      }
    }),
    { numRuns: 300 },
  );
});

test('the order of the fields does not matter', () => {
  const outline = new FrameOutline();
  const { type, ...rest } = event({ type: 'late', data: 'D' });
  assert(outline.read(Buffer.from(pack({ events: [{ ...rest, type }], userId: 1, by: 'me', at: 0, id: 1 }))));
  assert.deepEqual([outline.by, outline.names(0).type, unpack(outline.data(0))], ['me', 'late', 'D']);
});

test('what is not a frame, or not a whole one, has no outline', () => {
  const outline = new FrameOutline();
  const whole = Buffer.from(
    encodePayload({
      id: 1,
      at: 1,
      by: 'b',
      userId: 1,
      events: [event({}), event({ data: [1, { a: 'x' }] })],
    }),
  );
  for (let length = 0; length < whole.length; length++)
    assert.equal(outline.read(whole.subarray(0, length)), false);
  assert.equal(outline.read(Buffer.concat([whole, Buffer.of(0)])), false);
  for (const value of [
    1,
    'x',
    [],
    {},
    { by: 'b', events: [] },
    { events: [event({})] },
    { by: 1, events: [event({})] },
    { by: 'b', events: [{ type: 't' }] },
    { by: 'b', events: [{ data: 1 }] },
  ]) {
    assert.equal(outline.read(Buffer.from(pack(value))), false, JSON.stringify(value));
  }
  assert(outline.read(whole), 'and the next good one has');
});

test('made-up bytes are read to their end at most', () => {
  const outline = new FrameOutline();
  const huge = Buffer.from([
    0x82,
    0xa2,
    0x62,
    0x79,
    0xa1,
    0x62,
    0xa6,
    ...Buffer.from('events'),
    0xdd,
    0xff,
    0xff,
    0xff,
    0xff,
  ]);
  assert.equal(outline.read(huge), false);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      assert.equal(typeof outline.read(Buffer.from(bytes)), 'boolean');
    }),
  );
});
