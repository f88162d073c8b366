import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { frameEnd } from '../../../src/persistence/journal/frame-format.ts';
import { frameOf, JOURNAL, openJournal } from '../../support/journal-fixture.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { framesIn } from '../../support/segment-bytes.ts';

/** Bytes of a frame's header that are about its place in this node's files. */
const PLACE_BYTES = 8;

interface Node {
  readonly segmentBytes: number;
  /** Frames in each batch, over and over. */
  readonly batches: readonly number[];
}

interface Written {
  readonly appendedChain: number;
  readonly chain: readonly number[];
  /** The frames without what is about their place. */
  readonly frames: readonly string[];
  readonly segments: number;
}

/** Writes frames with these counts of events as this node would. */
async function write(counts: readonly number[], { segmentBytes, batches }: Node): Promise<Written> {
  const fs = new MemoryFileSystem();
  await fs.makeFolder(JOURNAL);
  const { journal } = await openJournal(fs, { segmentBytes });
  let left = batches[0] ?? 1;
  let batch = 0;
  for (const events of counts) {
    journal.append(frameOf(journal.appendedId + 1, events));
    left -= 1;
    if (left > 0) continue;
    await journal.flush();
    batch += 1;
    left = batches[batch % batches.length] ?? 1;
  }
  await journal.close();
  const names = fs.namesIn(JOURNAL).filter((name) => name.endsWith('.journal'));
  const all = names.flatMap((name) => {
    const bytes = fs.bytesOf(`${JOURNAL}/${name}`);
    return framesIn(bytes).map((raw) => ({ raw, bytes: bytes.subarray(raw.offset, frameEnd(raw)) }));
  });
  return {
    appendedChain: journal.appendedChain,
    chain: all.map(({ raw }) => raw.checksum),
    frames: all.map(({ bytes }) => bytes.toString('hex', PLACE_BYTES)),
    segments: names.length,
  };
}

const node = fc.record({
  segmentBytes: fc.integer({ min: 64, max: 3_000 }),
  batches: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 5 }),
});

test('two nodes with the same frames have the same chain, whatever their batches and segments are', async () => {
  let apart = 0;
  const counts = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(counts, node, node, async (events, one, other) => {
      const [here, there] = [await write(events, one), await write(events, other)];
      if (here.segments !== there.segments) apart += 1;
      assert.equal(here.frames.length, events.length);
      assert.deepEqual(here.chain, there.chain);
      assert.deepEqual(here.frames, there.frames);
      assert.equal(here.appendedChain, there.appendedChain);
    }),
  );
  assert(apart > 20, `only ${apart} pairs had other segments`);
});
