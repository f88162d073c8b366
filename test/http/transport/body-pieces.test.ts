/** Bodies in pieces: joined when they are sent, in memory that the next one uses again. */

import type { HttpResponse as UwsResponse } from 'uWebSockets.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyPieces, bytesOf } from '../../../src/http/transport/response.ts';
import type { HttpResponse, RequestHandler } from '../../../src/http/transport/transport.ts';
import { BodySender } from '../../../src/http/transport/uws-body.ts';
import { overEachEngine, start, text, until } from './engines.ts';
import { RawConnection, request } from './raw-connection.ts';

const piecesOf = (...texts: string[]): HttpResponse => {
  const pieces = texts.map((one) => Buffer.from(one));
  const byteLength = pieces.reduce((sum, one) => sum + one.byteLength, 0);
  return { ...text(''), body: new BodyPieces(pieces, byteLength) };
};

/** A body of the letter in the path, `kilobytes` pieces long. */
const letters =
  (kilobytes: number): RequestHandler =>
  ({ path }, responder) =>
    responder.send(piecesOf(...Array<string>(kilobytes).fill(path.charAt(1).repeat(1024))));

test('pieces are joined in their order', () => {
  assert.equal(Buffer.from(bytesOf(piecesOf('{', '"ü":1', '}').body)).toString(), '{"ü":1}');
  assert.equal(bytesOf(piecesOf().body).byteLength, 0);
});

overEachEngine('bodies in pieces', (engine) => {
  for (const kilobytes of [0, 1, 100, 255, 256, 257, 1_000]) {
    test(`of ${kilobytes} KiB arrive whole, for HEAD by their length`, async (t) => {
      const { port } = await start(t, engine, { handle: letters(kilobytes) });
      const connection = await RawConnection.open(t, port);
      connection.write(request('/a'));
      assert.equal((await connection.nextResponse()).body, 'a'.repeat(kilobytes * 1024));
      connection.write(request('/b', { method: 'HEAD' }));
      const { headers } = await connection.nextResponse({ toHead: true });
      assert.equal(Number(headers.get('content-length')), kilobytes * 1024);
      connection.write(request('/c', { headers: ['Connection: close'] }));
      assert.equal((await connection.nextResponse()).body, 'c'.repeat(kilobytes * 1024));
    });
  }

  test('larger than what is sent in one turn arrive whole, read at once or late', async (t) => {
    const pieces = Array.from({ length: 60 }, (_, at) =>
      String.fromCharCode(97 + (at % 26)).repeat(70_001 + at),
    );
    const whole = pieces.join('');
    const { port, transport } = await start(t, engine, {
      handle: ({ path }, responder) =>
        responder.send(path === '/joined' ? { ...text(''), body: Buffer.from(whole) } : piecesOf(...pieces)),
    });
    const connection = await RawConnection.open(t, port);
    for (const [at, isLate] of [false, true, false, true].entries()) {
      if (isLate) connection.stopReading();
      connection.write(request(at < 2 ? '/' : '/joined'));
      if (isLate) {
        await until(() => transport.unreadBytes > 0);
        connection.goOnReading();
      }
      assert.equal((await connection.nextResponse()).body === whole, true, 'every byte, in order');
    }
    connection.write(request('/', { headers: ['Connection: close'] }));
    assert.equal((await connection.nextResponse()).body === whole, true);
    const last = await RawConnection.open(t, port);
    last.stopReading();
    last.write(request('/joined', { headers: ['Connection: close'] }));
    await until(() => transport.unreadBytes > 0);
    last.goOnReading();
    assert.equal((await last.nextResponse()).body === whole, true);
    await until(() => transport.unreadBytes === 0 && transport.openRequests === 0);
  });

  test('stay as they were for a client that reads late, whatever was sent to others meanwhile', async (t) => {
    const { port, transport, handled } = await start(t, engine, { handle: letters(200) });
    const late = await RawConnection.open(t, port);
    late.stopReading();
    let asked = 0;
    while (transport.unreadBytes === 0) {
      late.write(request('/a'));
      asked += 1;
      const isTaken = () => transport.unreadBytes > 0 || transport.openRequests === 0;
      await until(() => handled.length === asked && isTaken());
    }
    const other = await RawConnection.open(t, port);
    for (const path of ['/b', '/c', '/d']) {
      other.write(request(path));
      await other.nextResponse();
    }
    late.goOnReading();
    for (let at = 0; at < asked; at += 1) {
      assert.equal((await late.nextResponse()).body, 'a'.repeat(200 * 1024));
    }
  });
});

test('of a large body a megabyte is offered in each turn, to a reader that takes everything', async () => {
  const bytes = Buffer.alloc(5_000_000, 'b');
  for (const closes of [false, true]) {
    const turns: number[] = [];
    let [sent, isOpen] = [0, true];
    const cork = (offer: () => void): void => {
      turns.push(0);
      offer();
    };
    const tryEnd = (part: Uint8Array, length: number): [boolean, boolean] => {
      turns[turns.length - 1]! += part.byteLength;
      sent += part.byteLength;
      return [true, sent === length];
    };
    const close = (): void => {
      isOpen = false;
    };
    const nothing = (): void => undefined;
    const res = { cork, tryEnd, close, onWritable: nothing, writeHeader: nothing } as unknown as UwsResponse;
    const sender = new BodySender(res, bytes, { closes, isOpen: () => isOpen, onSent: close });
    cork(() => sender.send());
    while (isOpen) await new Promise(setImmediate);
    assert.equal(sent, bytes.byteLength);
    assert(Math.max(...turns) <= 1024 * 1024, `${turns}`);
  }
});

test('of a hundred large bodies a few megabytes are offered in each turn, and all arrive', async () => {
  const bytes = Buffer.alloc(3_000_000, 'b');
  const rounds: number[] = [0];
  let open = 0;
  const begin = (closes: boolean): void => {
    let [sent, isOpen] = [0, true];
    open += 1;
    const tryEnd = (part: Uint8Array, length: number): [boolean, boolean] => {
      rounds[rounds.length - 1]! += part.byteLength;
      sent += part.byteLength;
      return [true, sent === length];
    };
    const close = (): void => {
      assert.equal(sent, bytes.byteLength);
      isOpen = false;
      open -= 1;
    };
    const nothing = (): void => undefined;
    const cork = (offer: () => void): void => offer();
    const res = { cork, tryEnd, close, onWritable: nothing, writeHeader: nothing } as unknown as UwsResponse;
    new BodySender(res, bytes, { closes, isOpen: () => isOpen, onSent: close }).send();
  };
  for (let at = 0; at < 100; at += 1) begin(at % 2 === 0);
  const first = rounds[0]!;
  assert(
    first <= (4 + 100 / 4 + 1) * 2 ** 20,
    `${first} bytes: each response begins, with a quarter of a megabyte`,
  );
  while (open > 0) {
    rounds.push(0);
    await new Promise(setImmediate);
  }
  assert(Math.max(...rounds.slice(1)) <= 5 * 2 ** 20, `${rounds}`);
});
