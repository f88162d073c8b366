/** When a worker gives what it keeps, and when it asks. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type TaggedResponse, taggedResponse } from '../../../src/http/dispatch/json-response.ts';
import type { TransportRequestHead } from '../../../src/http/transport/transport.ts';
import {
  ChangeMarks,
  SUBJECTS,
  subjectOfFlag,
  subjectOfProject,
} from '../../../src/http/workers/change-marks.ts';
import type { FlagBlock } from '../../../src/http/workers/parcel.ts';
import { KeptResponses, type Wish } from '../../../src/http/workers/thread/kept-responses.ts';

const FLAG = '/api/admin/projects/p/features/a';
const LIST = '/api/admin/projects/p/features';
const OVERVIEW = '/api/admin/projects/p';
const DOCUMENT = '/api/client/features';
const TERMS = { untilMs: Number.POSITIVE_INFINITY, expiresAt: Number.POSITIVE_INFINITY, readsAll: true };

type Headers = Readonly<Record<string, string>>;

function ask(target: string, headers: Headers = {}, method = 'GET'): TransportRequestHead {
  const [path = '', query = ''] = target.split('?');
  const all: Headers = { authorization: 'token', ...headers };
  return { method, path, query, header: (name) => all[name] ?? '', remoteAddress: () => '' };
}

const response = (text = '{}'): TaggedResponse => taggedResponse('"1-aaaaaaaa"', Buffer.from(text));

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

  const wishFor = (request: TransportRequestHead): Wish => {
    const wish = kept.wishFor(request);
    assert.ok(wish !== null, 'the response may be kept');
    return wish;
  };
  const keep = (request: TransportRequestHead, text?: string, terms = TERMS): void =>
    kept.keep(wishFor(request), response(text), terms);
  const statusOf = (request: TransportRequestHead): number | null =>
    kept.find(request)?.response.status ?? null;

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
    assert.equal(kept.find(ask(FLAG))?.response.headers.lines, response().headers.lines);
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
