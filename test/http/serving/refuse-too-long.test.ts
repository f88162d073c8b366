/** A response that could not arrive is refused before its first byte. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Engine } from '../../../src/actors/engine.ts';
import type { Refusal } from '../../../src/domain/state/refusal.ts';
import type { Call } from '../../../src/http/serving/call.ts';
import { JSON_HEADERS } from '../../../src/http/serving/json-response.ts';
import { RESPONSE_BYTES_MAX, ReadPath, refuseTooLong } from '../../../src/http/serving/read-path.ts';
import type { ResponseSender } from '../../../src/http/serving/response-sender.ts';
import type { ReadRoute } from '../../../src/http/serving/route.ts';
import { BodyPieces, type ResponseBody } from '../../../src/http/transport/response.ts';
import type { HttpResponse } from '../../../src/http/transport/transport.ts';

const pieces = (bytes: number): BodyPieces => new BodyPieces([Buffer.alloc(1)], bytes);

/** The outcome of a read with that body: the refusal, or the response. */
function readOf(body: ResponseBody): HttpResponse | Refusal {
  const told: (HttpResponse | Refusal)[] = [];
  const sender = {
    send: (_: Call, response: HttpResponse) => told.push(response),
    refuse: (_: Call, refusal: Refusal) => told.push(refusal),
  };
  const path = new ReadPath(
    { durableId: 1, world: { identity: {} } } as Engine,
    sender as unknown as ResponseSender,
  );
  const response: HttpResponse = { status: 200, headers: JSON_HEADERS, body };
  const route = { read: () => ({ revision: 1, response }) } as unknown as ReadRoute;
  path.read({ responder: {}, request: { header: () => '' } } as unknown as Call, route, null);
  assert.equal(told.length, 1);
  return told[0]!;
}

describe('a response that is read', () => {
  it('is sent up to what all clients together may leave unread', () => {
    for (const body of [null, 'short', Buffer.alloc(1_000), pieces(RESPONSE_BYTES_MAX)])
      assert.equal((readOf(body) as HttpResponse).body, body);
  });

  it('is refused beyond that, and told how to ask for less', () => {
    const refusal = readOf(pieces(RESPONSE_BYTES_MAX + 1)) as Refusal;
    assert.equal(refusal.name, 'PayloadTooLargeError');
    assert.match(refusal.message, /has 65 MiB; at most 64 MiB .*gzip.*search\/features.*offset and limit/);
  });

  it('counts as the bytes that it takes, and not as its characters', () => {
    const characters = Math.floor(RESPONSE_BYTES_MAX / 2) + 1;
    assert.equal(refuseTooLong({ body: 'e'.repeat(characters) }), null);
    assert.notEqual(refuseTooLong({ body: 'é'.repeat(characters) }), null);
  });
});
