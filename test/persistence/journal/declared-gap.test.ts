/** Placeholders for lost frames: under any checksum, in any room that is large enough, and read as what they are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declaresLost, gapFrames } from '../../../src/persistence/journal/declared-gap.ts';
import { lastEventId } from '../../../src/persistence/journal/frame.ts';
import {
  chainAfter,
  FRAME_HEADER_BYTES,
  type FrameLink,
} from '../../../src/persistence/journal/frame-format.ts';
import { decodePayload } from '../../../src/persistence/journal/frame-payload.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const AT = Date.UTC(2025, 5, 1);
const sizeOf = (frames: readonly FrameLink[]): number =>
  frames.reduce((bytes, { payload }) => bytes + FRAME_HEADER_BYTES + payload.length, 0);

/** The ids of the events that the frames declare lost, each with whether the state has its change. */
function declared(frames: readonly FrameLink[], chain: number): (readonly [id: number, inState: boolean])[] {
  let previous = chain;
  return frames.flatMap((link) => {
    assert.equal(link.previous, previous, 'each frame follows the one before');
    assert.equal(link.checksum, chainAfter(previous, link), 'a frame has the checksum of its bytes');
    previous = link.checksum;
    const decoded = decodePayload(link.payload, link);
    assert(decoded.problem === null, 'a placeholder can be decoded');
    const { frame } = decoded;
    const inState = declaresLost(frame);
    assert(inState !== null && frame.id === link.id && frame.at === AT);
    return Array.from(
      { length: lastEventId(frame) - frame.id + 1 },
      (_, at) => [frame.id + at, inState] as const,
    );
  });
}

test('a placeholder has any checksum that is asked for, in any number of bytes from its least on', () => {
  const random = seededRandom(1);
  const least = sizeOf(
    gapFrames({ fromId: 7, parts: [{ toId: 7, checksum: 1, inState: true }], at: AT, bytes: null }, 5)!,
  );
  for (let more = 0; more < 300; more += 1) {
    const [checksum, chain] = [random.below(2 ** 32), random.below(2 ** 32)];
    const gap = {
      fromId: 7,
      parts: [{ toId: 7, checksum, inState: more % 2 === 0 }],
      at: AT,
      bytes: least + more,
    };
    const frames = gapFrames(gap, chain);
    assert(frames !== null);
    assert.deepEqual([frames.at(-1)?.checksum, sizeOf(frames)], [checksum, least + more]);
    assert.deepEqual(declared(frames, chain), [[7, more % 2 === 0]]);
  }
  assert.equal(
    gapFrames({ fromId: 7, parts: [{ toId: 7, checksum: 1, inState: true }], at: AT, bytes: least - 1 }, 5),
    null,
  );
});

test('a gap of thousands has an event for each, and ends at each place that is known', () => {
  const parts = [
    { toId: 1_500, checksum: 17, inState: true },
    { toId: 4_000, checksum: 18, inState: false },
  ];
  const frames = gapFrames({ fromId: 1, parts, at: AT, bytes: 2_000_000 }, 0);
  assert(frames !== null);
  assert.equal(sizeOf(frames), 2_000_000);
  assert.deepEqual(
    declared(frames, 0),
    Array.from({ length: 4_000 }, (_, at) => [at + 1, at < 1_500]),
  );
  const chainOf = (id: number) =>
    frames.find((_, index) => (frames[index + 1]?.id ?? 4_001) === id + 1)?.checksum;
  assert.deepEqual([chainOf(1_500), chainOf(4_000)], [17, 18]);
});
