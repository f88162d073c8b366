/** When a worker gives what it keeps, and when it asks. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { JSON_HEADERS, taggedResponse } from '../../../src/http/dispatch/json-response.ts';
import type { TransportRequest } from '../../../src/http/transport/transport.ts';
import {
  ChangeMarks,
  SUBJECTS,
  subjectOfFlag,
  subjectOfProject,
} from '../../../src/http/workers/change-marks.ts';
import type { FlagBlock } from '../../../src/http/workers/parcel.ts';
import { KeptResponses, type Offered, type Wish } from '../../../src/http/workers/thread/kept-responses.ts';

const FLAG = '/api/admin/projects/p/features/a';
const LIST = '/api/admin/projects/p/features';
const OVERVIEW = '/api/admin/projects/p';
const DOCUMENT = '/api/client/features';
const TOGGLES = '/api/frontend';
const EVALUATIONS = '/ofrep/v1/evaluate/flags';
const TERMS = { untilMs: Number.POSITIVE_INFINITY, expiresAt: Number.POSITIVE_INFINITY, readsAll: true };

type Headers = Readonly<Record<string, string>>;

function ask(target: string, headers: Headers = {}, method = 'GET', text = ''): TransportRequest {
  const [path = '', query = ''] = target.split('?');
  const all: Headers = { authorization: 'token', ...headers };
  const head = { method, path, query, header: (name: string) => all[name] ?? '', remoteAddress: () => '' };
  return { ...head, body: Buffer.from(text), hasBody: text !== '', bodyDropped: false };
}

function response(text = '{}', etag = '"1-aaaaaaaa"'): Offered {
  const { headers } = etag === '' ? { headers: JSON_HEADERS } : taggedResponse(etag, null);
  return { etag, headers: headers.lines, body: Buffer.from(text) };
}

describe('what a worker keeps', () => {
  let nowMs: number;
  let marks: ChangeMarks;
  let kept: KeptResponses;
  beforeEach(() => {
    nowMs = 1_000;
    marks = new ChangeMarks();
    kept = makeKept();
  });

  function makeKept(bytesMax?: number): KeptResponses {
    return new KeptResponses({
      marks,
      basePath: '',
      now: () => nowMs,
      monotonicMs: () => nowMs,
      ...(bytesMax !== undefined && { bytesMax }),
    });
  }

  const wishFor = (request: TransportRequest): Wish => {
    const wish = kept.wishFor(request);
    assert.ok(wish !== null, 'the response may be kept');
    return wish;
  };
  const keep = (request: TransportRequest, text?: string, terms = TERMS): void =>
    kept.keep(wishFor(request), response(text), terms);
  const statusOf = (request: TransportRequest): number | null => kept.find(request)?.response.status ?? null;

  it('is given again, with 304 to who has it', () => {
    assert.equal(statusOf(ask(FLAG)), null);
    keep(ask(FLAG));
    assert.equal(statusOf(ask(FLAG)), 200);
    assert.equal(statusOf(ask(FLAG, { 'if-none-match': '"x", "1-aaaaaaaa"' })), 304);
    assert.equal(statusOf(ask(FLAG, { 'if-none-match': '"2-aaaaaaaa"' })), 200);
  });

  for (const [what, subject] of [
    ['the flag', subjectOfFlag('a')],
    ['all flags', SUBJECTS.flags],
    ['rights', SUBJECTS.access],
  ] as const) {
    it(`is not given once ${what} changed, nor where that was before it came`, () => {
      keep(ask(FLAG));
      marks.raise(subject);
      assert.equal(statusOf(ask(FLAG)), null);
      const wish = wishFor(ask(FLAG));
      marks.raise(subject);
      kept.keep(wish, response(), TERMS);
      assert.equal(statusOf(ask(FLAG)), null, 'it may be from before the change');
      keep(ask(FLAG));
      assert.equal(statusOf(ask(FLAG)), 200);
    });
  }

  for (const list of [LIST, OVERVIEW]) {
    for (const [what, subject] of [
      ['the project', subjectOfProject('p')],
      ['all lists', SUBJECTS.lists],
    ] as const) {
      it(`is the list ${list} until ${what} changed, and no other change matters`, () => {
        keep(ask(list));
        for (const other of [subjectOfProject('q'), subjectOfFlag('p'), SUBJECTS.documents])
          marks.raise(other);
        assert.equal(statusOf(ask(list)), 200);
        assert.equal(statusOf(ask(list, { 'accept-encoding': 'gzip' })), null);
        marks.raise(subject);
        assert.equal(statusOf(ask(list)), null);
      });
    }
  }

  it('is given whatever else changes', () => {
    keep(ask(FLAG));
    marks.raise(SUBJECTS.documents);
    marks.raise(subjectOfFlag('b'));
    assert.equal(statusOf(ask(FLAG)), 200);
  });

  it('is given to those alone whom the main thread has let read all flags', () => {
    keep(ask(FLAG));
    const other = { authorization: 'other' };
    assert.equal(statusOf(ask(FLAG, other)), null);
    keep(ask(DOCUMENT, other), '{}', { ...TERMS, readsAll: false });
    assert.equal(statusOf(ask(FLAG, other)), null);
    keep(ask('/api/admin/projects/p/features/b', other));
    assert.equal(statusOf(ask(FLAG, other)), 200);
  });

  it('is not given for a token that has expired, and not for long without asking', () => {
    keep(ask(FLAG), '{}', { ...TERMS, expiresAt: nowMs + 10 });
    nowMs += 9;
    assert.equal(statusOf(ask(FLAG)), 200);
    nowMs += 1;
    assert.equal(statusOf(ask(FLAG)), null);
    keep(ask(FLAG));
    nowMs += 60_000;
    assert.equal(statusOf(ask(FLAG)), null, 'the main thread has to hear that the token is in use');
  });

  it('is not given beyond its time', () => {
    keep(ask(FLAG), '{}', { ...TERMS, untilMs: nowMs + 10 });
    nowMs += 9;
    assert.equal(statusOf(ask(FLAG)), 200);
    nowMs += 1;
    assert.equal(statusOf(ask(FLAG)), null);
  });

  it('is a document of one token, one coding and one kind of SDK', () => {
    keep(ask(DOCUMENT, { 'accept-encoding': 'br' }));
    assert.equal(statusOf(ask(DOCUMENT, { 'accept-encoding': 'br' })), 200);
    const others: readonly Headers[] = [
      {},
      { 'accept-encoding': 'br', 'unleash-client-spec': '5.0.0' },
      { 'accept-encoding': 'br', authorization: 'other' },
    ];
    for (const headers of others) assert.equal(statusOf(ask(DOCUMENT, headers)), null);
    assert.equal(statusOf(ask(`${DOCUMENT}?project=p`, { 'accept-encoding': 'br' })), null);
    marks.raise(SUBJECTS.documents);
    assert.equal(statusOf(ask(DOCUMENT, { 'accept-encoding': 'br' })), null);
  });

  for (const [what, request] of [
    ['another method', ask(FLAG, {}, 'HEAD')],
    ['a moment of the past', ask(`${FLAG}?at=2024-01-01`)],
    ['an event that it must show', ask(FLAG, { 'flagstaff-at-least': '7' })],
    ['the id of the request', ask(FLAG, { 'x-request-id': 'mine' })],
    ['a path that is written oddly', ask('/api/admin/projects/p/features/%61')],
    ['something about a flag', ask(`${FLAG}/environments`)],
    ['something else', ask('/api/admin/projects')],
    ['something else of a project', ask('/api/admin/projects/p/overview')],
    ['a project without a name', ask('/api/admin/projects/')],
    ['some flags of a list', ask(`${LIST}?state=archived`)],
    ['a session in a cookie', ask(FLAG, { authorization: '', cookie: 'session' })],
  ] as const) {
    it(`is neither given nor kept where a request asks for ${what}`, () => {
      keep(ask(FLAG));
      keep(ask(FLAG, { authorization: '' }));
      assert.equal(statusOf(request), null);
      assert.equal(kept.wishFor(request), null);
    });
  }

  const evaluate = (text: string, headers: Headers = {}) => ask(EVALUATIONS, headers, 'POST', text);
  /** What comes once is not kept. */
  const keepEvaluation = (request: TransportRequest, made = response()): void => {
    kept.wishFor(request);
    kept.keep(wishFor(request), made, { ...TERMS, readsAll: false });
  };

  it('is an evaluation for a context that has come before', () => {
    for (const request of [
      ask(`${TOGGLES}?userId=7`),
      ask(TOGGLES, {}, 'POST', '{"context":{}}'),
      evaluate('{}'),
      ask(`${EVALUATIONS}/a`, {}, 'POST', '{}'),
    ]) {
      keep(ask(DOCUMENT));
      assert.equal(kept.wishFor(request), null, 'the first time of a caller who is known');
      kept.keep(wishFor(request), response(), { ...TERMS, readsAll: false });
      assert.equal(statusOf(request), 200);
      assert.equal(kept.find(request)?.isForPages, true);
      for (const subject of [SUBJECTS.documents, SUBJECTS.flags, SUBJECTS.access]) {
        keepEvaluation(request);
        marks.raise(subject);
        assert.equal(statusOf(request), null);
      }
    }
  });

  it('is an evaluation for a context that has come before, however many others unknown callers ask for', () => {
    const mine = evaluate('{"context":{"userId":"mine"}}');
    keep(ask(DOCUMENT));
    assert.equal(kept.wishFor(mine), null);
    for (let number = 0; number < 100_000; number += 1)
      kept.wishFor(evaluate(`{"context":{"userId":"${number}"}}`, { authorization: 'guessed' }));
    keep(mine);
    assert.equal(statusOf(mine), 200);
  });

  it('is an evaluation for all that was sent, and for nothing else', () => {
    keepEvaluation(evaluate('{"a":1}'));
    assert.equal(statusOf(evaluate('{"a":1}')), 200);
    for (const other of [
      evaluate('{"a":2}'),
      evaluate('{"a":1}', { 'content-type': 'text/plain' }),
      evaluate('{"a":1}', { 'content-encoding': 'gzip' }),
      evaluate('{"a":1}', { authorization: 'other' }),
      evaluate('{"a":1}', { 'x-request-id': 'mine' }),
      ask(`${EVALUATIONS}/a`, {}, 'POST', '{"a":1}'),
      ask(`${EVALUATIONS}?x`, {}, 'POST', '{"a":1}'),
      ask(EVALUATIONS, {}, 'PUT', '{"a":1}'),
      ask(EVALUATIONS, {}, 'GET', '{"a":1}'),
      ask(TOGGLES, {}, 'POST', '{"a":1}'),
    ])
      assert.equal(statusOf(other), null);
  });

  it('is an evaluation with 304 where the main thread gives it', () => {
    const headers = { 'if-none-match': '"1-aaaaaaaa"' };
    const known = [ask(TOGGLES, headers), evaluate('{}', headers)];
    const whole = [
      ask(TOGGLES, headers, 'POST', '{}'),
      ask(`${EVALUATIONS}/a`, { 'if-none-match': '*' }, 'POST', '{}'),
    ];
    for (const request of known) keepEvaluation(request);
    keepEvaluation(whole[0] as TransportRequest);
    keepEvaluation(whole[1] as TransportRequest, response('{}', ''));
    assert.deepEqual(known.map(statusOf), [304, 304]);
    assert.deepEqual(whole.map(statusOf), [200, 200]);
  });

  it('is a list once for all contexts of a token that come to it, in bounded memory', () => {
    kept = makeKept(100_000);
    const list = 'x'.repeat(10_000);
    for (let user = 0; user < 50; user += 1) keepEvaluation(evaluate(`${user}`), response(list));
    assert.ok(kept.evaluationBytes < 65_000);
    assert.equal(kept.find(evaluate('0'))?.response.body, kept.find(evaluate('49'))?.response.body);
    for (let user = 0; user < 50; user += 1) {
      const tag = `"${user}"`;
      keepEvaluation(evaluate(`${user}`), response(list, tag));
      assert.ok(kept.evaluationBytes <= 100_000);
    }
    assert.equal(statusOf(evaluate('0')), null);
    assert.equal(statusOf(evaluate('49')), 200);
    const other = { authorization: 'other' };
    keepEvaluation(evaluate('49', other), response('y', '"49"'));
    const { body } = kept.find(evaluate('49', other))?.response ?? {};
    assert.deepEqual(body, Uint8Array.from(Buffer.from('y')), 'of another token');
    assert.equal(kept.bytes, 0, 'what else is kept has room of its own');
  });

  it('is no evaluation for a long context', () => {
    const long = evaluate('x'.repeat(2_000));
    for (let time = 0; time < 3; time += 1) assert.equal(kept.wishFor(long), null);
  });

  /** Flags with bodies of so many bytes that stand together. */
  function blockOf(names: readonly string[], length = 100): FlagBlock {
    const flags = names.flatMap((name, at) => [
      ...[
        name,
        '"1-aaaaaaaa"',
        marks.read(subjectOfFlag(name)),
        TERMS.untilMs,
        at * length,
        (at + 1) * length,
      ],
    ]);
    const bytes = new SharedArrayBuffer(names.length * length);
    const path = '/api/admin/projects/p/features/';
    return { path, flagsMark: marks.read(SUBJECTS.flags), flags, bytes };
  }

  it('may have come beside a flag that somebody else asked for', () => {
    keep(ask(DOCUMENT));
    kept.keepBlock(blockOf(['a', 'b']));
    assert.equal(statusOf(ask(FLAG)), 200);
    assert.equal(statusOf(ask(FLAG, { 'if-none-match': '"1-aaaaaaaa"' })), 304);
    assert.equal(kept.find(ask(FLAG))?.response.headers.lines, response().headers);
    assert.equal(statusOf(ask(FLAG, { 'accept-encoding': 'br' })), null);
    assert.equal(statusOf(ask(FLAG, { authorization: 'other' })), null);
    marks.raise(subjectOfFlag('b'));
    assert.equal(statusOf(ask('/api/admin/projects/p/features/b')), null);
    assert.equal(statusOf(ask(FLAG)), 200);
    marks.raise(SUBJECTS.flags);
    assert.equal(statusOf(ask(FLAG)), null);
  });

  it('is not what came beside others from before a change', () => {
    keep(ask(DOCUMENT));
    const block = blockOf(['a', 'b']);
    marks.raise(subjectOfFlag('b'));
    kept.keepBlock(block);
    assert.deepEqual([statusOf(ask(FLAG)), statusOf(ask('/api/admin/projects/p/features/b'))], [200, null]);
    const late = blockOf(['c']);
    marks.raise(SUBJECTS.flags);
    kept.keepBlock(late);
    assert.equal(statusOf(ask('/api/admin/projects/p/features/c')), null);
  });

  it('counts the bytes of a block until the last of its flags is replaced', () => {
    keep(ask(DOCUMENT));
    const before = kept.bytes;
    kept.keepBlock(blockOf(['a', 'b'], 100_000));
    const both = kept.bytes;
    assert.ok(both >= before + 200_000);
    keep(ask(FLAG), 'x');
    assert.ok(kept.bytes >= before + 200_000, 'b is still in it');
    keep(ask('/api/admin/projects/p/features/b'), 'x');
    assert.ok(kept.bytes < before + 10_000);
    kept.keepBlock(blockOf(['a', 'b'], 100_000));
    const one = kept.bytes;
    for (const more of [['b'], ['a', 'b', 'c'], ['a', 'b']]) kept.keepBlock(blockOf(more, 100_000));
    kept.keepBlock(blockOf(['c'], 1));
    assert.ok(kept.bytes < one + 10_000, 'what comes anew takes the place of older blocks');
  });

  it('is bounded in bytes with blocks too', () => {
    kept = makeKept(50_000);
    for (let number = 0; number < 20; number += 1) {
      kept.keepBlock(blockOf([`f${number}`, `g${number}`], 10_000));
      assert.ok(kept.bytes <= 50_000);
    }
    keep(ask(DOCUMENT));
    assert.equal(statusOf(ask('/api/admin/projects/p/features/g19')), 200);
    assert.equal(statusOf(ask('/api/admin/projects/p/features/g0')), null);
    kept.keepBlock(blockOf(['h'], 100_000));
    assert.ok(kept.bytes <= 50_000, 'what is larger than all there may be is not kept');
  });

  it('is bounded in bytes, and what came first gives way', () => {
    kept = makeKept(10_000);
    for (let number = 0; number < 100; number += 1) {
      keep(ask(`/api/admin/projects/p/features/f${number}`), 'x'.repeat(1_000));
      assert.ok(kept.bytes <= 10_000);
    }
    assert.equal(statusOf(ask('/api/admin/projects/p/features/f99')), 200);
    assert.equal(statusOf(ask('/api/admin/projects/p/features/f0')), null);
    const before = kept.bytes;
    for (let round = 0; round < 10; round += 1)
      keep(ask('/api/admin/projects/p/features/f99'), 'x'.repeat(1_000));
    assert.equal(kept.bytes, before, 'what is kept anew takes the place of what was kept');
  });
});
