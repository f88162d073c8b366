/** One stream and a client that takes what it is sent, or does not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Message, Subscriber } from '../../../src/http/serving/subscribers.ts';
import type { ResponseStream } from '../../../src/http/transport/transport.ts';

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

/** Messages that all streams share, of which some may be durable and some gone. */
class SharedLog {
  ids = [10];
  durableId = 10;

  readonly after = (id: number): readonly Message[] | null => {
    if (!this.ids.includes(id)) return null;
    const later = this.ids.filter((other) => other > id && other <= this.durableId);
    return later.map((other) => ({ id: other, bytes: Buffer.from(`${other}`) }));
  };

  add(...ids: readonly number[]): void {
    this.ids.push(...ids);
    this.durableId = this.ids.at(-1)!;
  }
}

function streamTo(client: SlowClient, { after }: SharedLog, first: readonly string[] = []): Subscriber {
  const pieces = first.map((text) => Buffer.from(text));
  const subscription = { source: null, sentId: 10, isEntitled: () => true, after };
  return new Subscriber(client as unknown as ResponseStream, pieces, subscription);
}

describe('a stream', () => {
  it('begins piece by piece, as its client takes them, and goes on with what has changed since', () => {
    const [client, log] = [new SlowClient(), new SharedLog()];
    client.takesAll = false;
    const stream = streamTo(client, log, ['one', 'two']);
    assert(stream.begin(), 'its client has no room');
    log.add(11);
    stream.advance();
    stream.keepAlive();
    assert.deepEqual(client.pieces, ['one']);
    client.bufferedBytes = 0;
    assert(stream.begin());
    assert.deepEqual(client.pieces, ['one', 'two']);
    client.bufferedBytes = 0;
    assert(stream.begin() && stream.hasBegun);
    stream.advance();
    assert.deepEqual(client.pieces.slice(2), ['11']);
  });

  it('tells of durable changes only, each once and in order', () => {
    const [client, log] = [new SlowClient(), new SharedLog()];
    const stream = streamTo(client, log);
    assert(stream.begin() && stream.hasBegun, 'it begins with nothing');
    log.add(11, 12, 13);
    for (const durableId of [10, 12, 12, 13, 13]) {
      log.durableId = durableId;
      stream.advance();
    }
    assert.deepEqual(client.pieces, ['11', '12', '13']);
  });

  it('gives up a client that has fallen behind what is kept', () => {
    const [client, log] = [new SlowClient(), new SharedLog()];
    const stream = streamTo(client, log);
    assert(stream.begin() && stream.hasBegun, 'it begins with nothing');
    client.takesAll = false;
    log.add(11);
    stream.advance();
    log.ids = [12, 13];
    stream.advance();
    assert.equal(client.hasLeft, false, 'what waits for it may still be taken');
    client.bufferedBytes = 0;
    stream.advance();
    assert.equal(client.hasLeft, true);
    assert.deepEqual(client.pieces, ['11']);
  });
});
