/** One stream and a client that takes what it is sent, or does not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FlagStream } from '../../../../src/addons/sdk/flag-stream.ts';
import type { QueryWatch } from '../../../../src/addons/sdk/query-watch.ts';
import { DELTA_FORMAT } from '../../../../src/addons/sdk/stream-format.ts';
import { WatchLog } from '../../../../src/addons/sdk/watch-log.ts';
import type { ResponseStream } from '../../../../src/http/transport/transport.ts';

/** Takes each piece only when the test says so. */
class SlowClient {
  readonly pieces: string[] = [];
  hasLeft = false;
  bufferedBytes = 0;
  takesAll = true;

  get isOpen(): boolean {
    return !this.hasLeft;
  }

  write(bytes: Uint8Array): boolean {
    assert.equal(this.bufferedBytes, 0, 'nothing is written behind what waits');
    this.pieces.push(Buffer.from(bytes).toString());
    if (!this.takesAll) this.bufferedBytes = bytes.byteLength;
    return this.takesAll;
  }

  giveUp(): void {
    this.hasLeft = true;
  }

  close(): void {
    this.hasLeft = true;
  }
}

function streamTo(client: SlowClient, log: WatchLog, first: readonly string[] = []): FlagStream {
  return new FlagStream({
    response: client as unknown as ResponseStream,
    watch: { log } as QueryWatch,
    format: DELTA_FORMAT,
    token: null,
    first: first.map((text) => Buffer.from(text)),
    hydration: null,
    sentId: log.newestId,
  });
}

const frame = (id: number) => ({ id, changes: `"${id}"` });
const idsIn = (pieces: readonly string[]): readonly number[] =>
  pieces.flatMap((piece) => [...piece.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id)));

describe('a stream', () => {
  it('begins piece by piece, as its client takes them, and goes on with what has changed since', () => {
    const [client, log] = [new SlowClient(), new WatchLog(10)];
    client.takesAll = false;
    const stream = streamTo(client, log, ['one', 'two']);
    assert(stream.begin(), 'its client has no room');
    stream.advance(10);
    log.append(frame(11));
    stream.advance(11);
    stream.keepAlive();
    assert.deepEqual(client.pieces, ['one']);
    client.bufferedBytes = 0;
    assert(stream.begin());
    assert.deepEqual(client.pieces, ['one', 'two']);
    client.bufferedBytes = 0;
    assert(stream.begin() && stream.hasBegun);
    stream.advance(11);
    assert.deepEqual(idsIn(client.pieces), [11]);
  });

  it('tells of durable changes only, each once and in order', () => {
    const [client, log] = [new SlowClient(), new WatchLog(10)];
    const stream = streamTo(client, log);
    assert(stream.begin() && stream.hasBegun, 'it begins with nothing');
    for (const id of [11, 12, 13]) log.append(frame(id));
    for (const durableId of [10, 12, 12, 13, 13]) stream.advance(durableId);
    assert.deepEqual(idsIn(client.pieces), [11, 12, 13]);
  });

  it('gives up a client that has fallen behind what is kept', () => {
    const [client, log] = [new SlowClient(), new WatchLog(10, () => 5)];
    const stream = streamTo(client, log);
    assert(stream.begin() && stream.hasBegun, 'it begins with nothing');
    client.takesAll = false;
    log.append(frame(11));
    stream.advance(11);
    for (const id of [12, 13]) log.append(frame(id));
    stream.advance(13);
    assert.equal(client.hasLeft, false, 'what waits for it may still be taken');
    client.bufferedBytes = 0;
    stream.advance(13);
    assert.equal(client.hasLeft, true);
    assert.deepEqual(idsIn(client.pieces), [11]);
  });
});
