/** What the main thread's end of a worker tells of it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { ResponseHeaders } from '../../../src/http/transport/response-headers.ts';
import type { Responder } from '../../../src/http/transport/transport.ts';
import type { FlagBlock, RequestParcel, ResponseParcel } from '../../../src/http/workers/parcel.ts';
import { UNDER_WAY_BYTES_MAX, WorkerLink } from '../../../src/http/workers/worker-link.ts';

/** A block of flags whose bytes nobody reads. */
const blockOf = (bytes: number): FlagBlock => ({
  path: '/',
  flagsMark: 0,
  flags: [],
  bytes: new SharedArrayBuffer(bytes),
});

it('blocks that wait for a worker are bounded in bytes, also within one turn of the event loop', async () => {
  const posted: ResponseParcel[] = [];
  const link = new WorkerLink({
    handle: () => assert.fail('nothing is asked'),
    log: { warn: assert.fail, error: assert.fail },
    refuse: () => assert.fail('nothing is refused'),
    post: (parcel) => posted.push(parcel),
    monotonicMs: () => 0,
    mayStream: () => true,
    askedBeside: () => undefined,
  });
  const sentBlocks = (): number => posted.reduce((sum, { blocks }) => sum + blocks.length, 0);
  const [blockBytes, count] = [UNDER_WAY_BYTES_MAX / 8, 4];
  for (let round = 0; round < 2; round += 1) {
    for (let published = 0; published < 60; published += 1) link.publish(blockOf(blockBytes));
    await nextRound();
    assert.equal(sentBlocks(), count, 'what is under way counts too');
  }
});

it('a worker shares its time from when it is given pieces of streams until it has them, where several requests come meanwhile', () => {
  let nowMs = 0;
  let responder: Responder | null = null;
  const link = new WorkerLink({
    handle: (_, given) => {
      responder = given;
    },
    log: { warn: assert.fail, error: assert.fail },
    refuse: () => assert.fail('nothing is refused'),
    post: () => undefined,
    monotonicMs: () => nowMs,
    mayStream: () => true,
    askedBeside: () => undefined,
  });
  let number = 0;
  const receive = (parts: { readonly pieces?: number; readonly isAsked?: boolean }): void => {
    number += 1;
    const { pieces = 0, isAsked = false } = parts;
    const nothing = { over: [], taken: [], refused: [], receivedBytes: 0, bytes: new ArrayBuffer(0) };
    const requests = isAsked ? [number, 0, 'GET', '/', '', '', '', -1, -1] : [];
    link.receive({ ...nothing, requests, receivedPieces: pieces } satisfies RequestParcel);
  };
  receive({ isAsked: true });
  const stream = (responder as Responder | null)?.stream({ status: 200, headers: ResponseHeaders.of() });
  assert.ok(stream, 'a stream is open');
  const write = (): unknown => stream.write(Buffer.from('news'));
  write();
  nowMs += 10;
  receive({ pieces: 1, isAsked: true });
  assert.equal(link.sharedMs(), 0, 'one client that sends one request after another');
  write();
  nowMs += 10;
  write();
  receive({ isAsked: true });
  receive({ isAsked: true });
  nowMs += 5;
  assert.equal(link.sharedMs(), 15);
  receive({ pieces: 1 });
  nowMs += 5;
  receive({ pieces: 1, isAsked: true });
  nowMs += 100;
  assert.equal(link.sharedMs(), 20, 'it has all of them');
  write();
  nowMs += 10;
  receive({ pieces: 1 });
  assert.equal(link.sharedMs(), 20, 'nobody asks');
});
