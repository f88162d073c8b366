/** A hydration: its body is made and compressed once, for however many clients, and shares its memory with the parts for streams. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type CompressionJob, Compressor } from '../../../src/http/coding/compressor.ts';
import { Hydration } from '../../../src/http/watch/hydration.ts';

class CountingCompressor extends Compressor {
  count = 0;

  override compress(job: CompressionJob): Promise<Buffer | null> {
    this.count += 1;
    return super.compress(job);
  }
}

/** `flagCount` flags of 100 characters. */
const hydrationOf = (flagCount: number): Hydration =>
  new Hydration(7, {
    flags: Array.from({ length: flagCount }, (_, at) => JSON.stringify({ name: String(at).padEnd(89) })),
    segments: ['{"id":1}'],
  });

const later = (): void => undefined;

describe('the body of a hydration', () => {
  it('is compressed once for all clients', async () => {
    const compressor = new CountingCompressor();
    const hydration = hydrationOf(300);
    let resizedCount = 0;
    const onResized = (): void => {
      resizedCount += 1;
    };
    for (let client = 0; client < 5; client += 1) {
      const body = await hydration.body({ compressor, later, onResized });
      const { etag, body: sent } = await body.response('gzip');
      assert.equal(etag, '"7"');
      const { events } = JSON.parse(gunzipSync(sent as Buffer).toString());
      assert.deepEqual([events.length, events[0].features.length, events[0].segments], [1, 300, [{ id: 1 }]]);
    }
    assert.equal(compressor.count, 1);
    assert.equal(resizedCount, 2, 'with the body, and with its compressed form');
    assert(hydration.bytes > 30_000);
  });

  it('leaves the parts for streams as they were, in the same memory', async () => {
    for (const flagCount of [0, 1, 300, 5_000]) {
      const hydration = hydrationOf(flagCount);
      const before = Buffer.concat(await hydration.parts());
      const options = { compressor: new Compressor(), later, onResized: later };
      const body = (await (await hydration.body(options)).response('')).body as Buffer;
      const parts = await hydration.parts();
      assert.deepEqual(Buffer.concat(parts), before);
      assert.equal(`{"events":[${before}]}`, body.toString());
      for (const { buffer } of parts) assert.equal(buffer, body.buffer);
    }
  });
});
