/** The responses that are kept for retries: which ones, how many bytes of them, and by which rules of replay. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  IdempotencyCache,
  RESPONSE_BODY_BYTES_MAX,
  RESPONSE_LIFETIME_MS,
  RESPONSES_BYTES_MAX,
  type RememberedResponse,
  withinLimit,
} from '../../../src/domain/state/idempotency-cache.ts';
import { RESPONSES_BOUNDED_IN_BYTES, RULES_VERSION } from '../../../src/domain/state/replay-rules.ts';

const responseOf = (key: string, body: string | null): RememberedResponse => ({
  key,
  fingerprint: 'f',
  status: 200,
  body,
});

const keysOf = (cache: IdempotencyCache): string[] => [...cache.values()].map(({ key }) => key);

const LARGEST = 'x'.repeat(RESPONSE_BODY_BYTES_MAX);

/** Responses as they are at each moment, with methods to remember some for a user and for a token. */
function cacheOf() {
  const edit = {};
  let now = new IdempotencyCache();
  let at = 0;
  const rememberFor =
    (by: string, userId: number) =>
    (key: string, body: string | null = null, rules = RULES_VERSION): void => {
      at += 1;
      now = now.remembered(responseOf(key, body), { at, by, userId }, rules, edit);
    };
  return { cache: () => now, ofUser: rememberFor('ada', 7), ofToken: rememberFor('ci', -1) };
}

describe('the idempotency cache', () => {
  it('keeps the responses of a caller whole, whatever another one sends', () => {
    const { cache, ofUser, ofToken } = cacheOf();
    for (let index = 0; index < 50; index += 1) ofToken(`token ${index}`, LARGEST);
    for (let index = 0; index < 2000; index += 1) {
      ofUser(`user ${index}`, LARGEST);
      assert(cache().bytes <= RESPONSES_BYTES_MAX);
    }
    for (let index = 0; index < 50; index += 1) assert.equal(cache().get(`token ${index}`)?.body, LARGEST);
    assert(cache().bytes > RESPONSES_BYTES_MAX / 2, 'and uses its bytes');
  });

  it('loses bodies, oldest first, before it forgets that a change was made', () => {
    const { cache, ofUser } = cacheOf();
    for (let index = 0; index < 2000; index += 1) ofUser(String(index), LARGEST);
    assert.equal(cache().size, 2000);
    assert.deepEqual([cache().get('0')?.status, cache().get('0')?.body], [204, null]);
    assert.deepEqual([cache().get('1999')?.status, cache().get('1999')?.body], [200, LARGEST]);
    for (let index = 2000; index < 70_000; index += 1) ofUser(String(index));
    assert(cache().bytes <= RESPONSES_BYTES_MAX);
    assert.equal(cache().get('0'), undefined, 'it is bounded all the same');
    assert.notEqual(cache().get('20000'), undefined);
  });

  it('shares its bytes alike among callers who all send too much', () => {
    const { cache, ofUser, ofToken } = cacheOf();
    for (let index = 0; index < 36_000; index += 1) {
      ofUser(`user ${index}`);
      ofToken(`token ${index}`);
    }
    const ofUsers = keysOf(cache()).filter((key) => key.startsWith('user')).length;
    assert(Math.abs(ofUsers - cache().size / 2) < 1);
    assert(ofUsers > 20_000);
  });

  it('keeps at replay what an older build kept when it wrote the journal', () => {
    const { cache, ofUser } = cacheOf();
    const body = 'x'.repeat(RESPONSES_BYTES_MAX / 8);
    for (let index = 0; index < 5; index += 1) ofUser(String(index), body, 1);
    assert.deepEqual(keysOf(cache()), ['0', '1', '2', '3', '4']);
    ofUser('bounded', null, RESPONSES_BOUNDED_IN_BYTES);
    assert.deepEqual(keysOf(cache()), ['2', '3', '4', 'bounded']);
    for (let index = 5; index < 9; index += 1) ofUser(String(index), body);
    const bodiless = [...cache().values()].filter(({ body }) => body === null).map(({ key }) => key);
    assert.deepEqual(bodiless, ['2', '3', 'bounded', '5', '6'], 'what it kept has a share, like a caller');
  });

  it('has the same content whether entries were remembered or restored', () => {
    const { cache, ofUser, ofToken } = cacheOf();
    ofToken('token', 'first');
    for (let index = 0; index < 400; index += 1) ofUser(String(index % 399), LARGEST);
    const edit = {};
    let restored = new IdempotencyCache();
    for (const response of cache().values()) restored = restored.restored(response, edit);
    const content = (one: IdempotencyCache) => [one.bytes, [...one.values()]];
    assert.deepEqual(content(restored), content(cache()));
  });

  it('is what it was before others were remembered', () => {
    const before = new IdempotencyCache().remembered(
      responseOf('first', LARGEST),
      { at: 1, by: 'ci', userId: -1 },
      RULES_VERSION,
    );
    let after = before;
    for (let index = 0; index < 600; index += 1)
      after = after.remembered(
        responseOf(String(index), LARGEST),
        { at: 2, by: 'ada', userId: 7 },
        RULES_VERSION,
      );
    assert.deepEqual([before.size, before.get('first')?.body, after.size], [1, LARGEST, 601]);
  });

  it('forgets what is too old within an hour', () => {
    let cache = new IdempotencyCache();
    const remember = (key: string, at: number) => {
      cache = cache.remembered(responseOf(key, null), { at, by: 'ada', userId: 7 }, RULES_VERSION);
    };
    remember('old', 0);
    remember('as old', 60 * 60 * 1000);
    remember('new', RESPONSE_LIFETIME_MS + 60 * 60 * 1000 - 1);
    assert.equal(cache.size, 3);
    remember('newest', RESPONSE_LIFETIME_MS + 60 * 60 * 1000);
    assert.deepEqual(keysOf(cache), ['new', 'newest']);
  });

  it('keeps of a response above the limit only that the change was made', () => {
    const largest = responseOf('k', 'é'.repeat(RESPONSE_BODY_BYTES_MAX / 2));
    assert.deepEqual(withinLimit(largest), largest);
    const larger = responseOf('k', `${largest.body}x`);
    assert.deepEqual(withinLimit(larger), { key: 'k', fingerprint: 'f', status: 204, body: null });
    assert.deepEqual(withinLimit(responseOf('k', null)), responseOf('k', null));
  });
});
