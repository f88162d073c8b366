import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ResponseHeaders } from '../../../src/http/transport/response.ts';

describe('response headers', () => {
  for (const pairs of [
    ['x a', 'b'],
    ['x-a'],
    ['content-length', '3'],
    ['Connection', 'close'],
    ['x\r\ny', 'b'],
    ['x', 'a\r\nb'],
    ['x', 'ü'],
  ]) {
    test(`${JSON.stringify(pairs)} cannot be made, nor added to good ones`, () => {
      assert.throws(() => ResponseHeaders.of(...pairs), assert.AssertionError);
      assert.throws(() => ResponseHeaders.of('a', 'b').with(...pairs), assert.AssertionError);
    });
  }

  test('they begin a response of any status, and further ones follow', () => {
    const etag = ResponseHeaders.of('etag', '"1"');
    assert.equal(etag.startOf(200), '200 OK\r\netag: "1"');
    assert.equal(etag.startOf(404), '404 Not Found\r\netag: "1"');
    for (let time = 0; time < 4; time += 1) assert.equal(String(etag.startOf(200)), '200 OK\r\netag: "1"');
    assert.equal(etag.with('allow', 'GET').startOf(405), '405 Method Not Allowed\r\netag: "1"\r\nallow: GET');
    assert.equal(ResponseHeaders.of().startOf(202), '202 Accepted');
  });
});
