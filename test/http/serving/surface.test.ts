/** The surface to which a path belongs. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { surfaceAt } from '../../../src/http/serving/surface.ts';

it('a path belongs to the surface of the longest prefix that ends at a segment', () => {
  const surfaces = ['/api/admin', '/api', '', '/api/admin/special'].map((prefix) => ({ prefix }));
  for (const [path, prefix] of [
    ['/api/admin/projects', '/api/admin'],
    ['/api/admin', '/api/admin'],
    ['/api/administration', '/api'],
    ['/api/admin/special/one', '/api/admin/special'],
    ['/health', ''],
    ['', ''],
  ] as const) {
    assert.equal(surfaceAt(surfaces, path)?.prefix, prefix, path);
  }
  assert.equal(surfaceAt([{ prefix: '/api' }], '/health'), undefined);
});
