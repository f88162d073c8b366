/** Bodies of pieces as gzip: any reader gets the bytes back, and a piece that is known is not compressed again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type CompressionJob, Compressor } from '../../../src/http/serving/compressor.ts';
import { gzipPieces } from '../../../src/http/serving/read-path.ts';
import { BodyPieces } from '../../../src/http/transport/response.ts';
import { seededRandom } from '../../support/seeded-random.ts';

class CountingCompressor extends Compressor {
  compressed = 0;
  override compress(job: CompressionJob): Promise<Buffer | null> {
    this.compressed += 1;
    return super.compress(job);
  }
}

const bodyOf = (pieces: readonly Uint8Array[]): BodyPieces =>
  new BodyPieces(
    pieces,
    pieces.reduce((sum, { byteLength }) => sum + byteLength, 0),
  );

test('whatever pieces a body has, its gzip is one member that gives its bytes, and little of it is compressed twice', async () => {
  const random = seededRandom(1);
  const compressor = new CountingCompressor();
  const piece = (): Buffer => {
    const text = random.chance(0.3) ? '' : '{"name":"flag","enabled":true},';
    return Buffer.from(`${text.repeat(random.below(2_000))}${random.below(1e9)}`);
  };
  for (let round = 0; round < 20; round += 1) {
    const pieces = Array.from({ length: 1 + random.below(40) }, () =>
      random.chance(0.3) ? Buffer.from(',') : piece(),
    );
    const gzip = await gzipPieces(bodyOf(pieces), compressor);
    assert.ok(gzip !== null);
    // Throws for a wrong checksum, a wrong length, and for bytes behind the member that are no other member.
    assert.ok(gunzipSync(gzip.join()).equals(Buffer.concat(pieces)), `round ${round}`);
    const before = compressor.compressed;
    pieces[0] = Buffer.from(`new ${'x'.repeat(500)}`);
    const next = await gzipPieces(bodyOf(pieces), compressor);
    assert.ok(next !== null && gunzipSync(next.join()).equals(Buffer.concat(pieces)), `round ${round}`);
    assert.equal(compressor.compressed - before, 1, 'only the new piece');
  }
});
