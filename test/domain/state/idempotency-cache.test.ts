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
import { RULES_VERSION } from '../../../src/domain/state/replay-rules.ts';

const responseOf = (key: string, body: string | null): RememberedResponse => ({
  key,
  fingerprint: 'f',
  status: 200,
  body,
});

const keysOf = (cache: IdempotencyCache): string[] => [...cache.values()].map(({ key }) => key);

describe('the idempotency cache', () => {
  it('keeps the newest responses within its bytes, whatever their number', () => {
    const cache = new IdempotencyCache();
    const body = 'x'.repeat(RESPONSE_BODY_BYTES_MAX);
    for (let index = 0; index < 2000; index += 1) {
      cache.remember(responseOf(String(index), body), index, RULES_VERSION);
      assert(cache.bytes <= RESPONSES_BYTES_MAX);
    }
    assert(
      cache.size > 200 && cache.bytes > RESPONSES_BYTES_MAX - 3 * RESPONSE_BODY_BYTES_MAX,
      'and uses them',
    );
    assert.equal(keysOf(cache).at(-1), '1999');
    assert.equal(keysOf(cache)[0], String(2000 - cache.size), 'the oldest went first');
  });

  it('keeps at replay what an older build kept when it wrote the journal', () => {
    const cache = new IdempotencyCache();
    const body = 'x'.repeat(RESPONSES_BYTES_MAX / 8);
    for (let index = 0; index < 5; index += 1) cache.remember(responseOf(String(index), body), index, 1);
    assert.deepEqual(keysOf(cache), ['0', '1', '2', '3', '4']);
    cache.remember(responseOf('new', null), 5, RULES_VERSION);
    assert.deepEqual(keysOf(cache), ['2', '3', '4', 'new']);
  });

  it('has the same bytes whether entries were remembered or restored, replaced or forgotten', () => {
    const live = new IdempotencyCache();
    live.remember(responseOf('a', 'first'), 0, RULES_VERSION);
    live.remember(responseOf('b', null), 1, RULES_VERSION);
    live.remember(responseOf('a', 'a longer one'), 2, RULES_VERSION);
    live.remember(responseOf('c', 'x'), RESPONSE_LIFETIME_MS + 1, RULES_VERSION);
    assert.deepEqual(keysOf(live), ['a', 'c'], 'too old ones go');
    const restored = new IdempotencyCache();
    for (const response of live.values()) restored.restore(response);
    assert.deepEqual([restored.bytes, keysOf(restored)], [live.bytes, keysOf(live)]);
    live.clear();
    assert.deepEqual([live.bytes, live.size], [0, 0]);
  });

  it('keeps of a response above the limit only that the change was made', () => {
    const largest = responseOf('k', 'é'.repeat(RESPONSE_BODY_BYTES_MAX / 2));
    assert.deepEqual(withinLimit(largest), largest);
    const larger = responseOf('k', `${largest.body}x`);
    assert.deepEqual(withinLimit(larger), { key: 'k', fingerprint: 'f', status: 204, body: null });
    assert.deepEqual(withinLimit(responseOf('k', null)), responseOf('k', null));
  });
});
