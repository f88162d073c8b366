import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LoopAccounts, OWED_MS_MAX, WAITING_BYTES_MAX } from '../../src/actors/loop-accounts.ts';
import { isRefusal } from '../../src/domain/state/refusal.ts';
import { settle } from '../support/engine.ts';
import { LoopRounds } from './loop-rounds.ts';

const awaited = (): AbortSignal => new AbortController().signal;

function overdrawn(...callers: readonly string[]): LoopAccounts {
  const accounts = new LoopAccounts(() => 0);
  for (const caller of callers) accounts.chargeCaller(caller, OWED_MS_MAX + 2);
  return accounts;
}

describe('requests of callers who held the loop for long', () => {
  it('run one in a round of the event loop, callers in turn', async () => {
    const requests = overdrawn('a', 'b');
    const passed = new LoopRounds();
    const ran: string[] = [];
    const rounds = new Set<number>();
    const ask = (name: string): Promise<unknown> =>
      requests.inTurn({
        ...{ name, signal: awaited(), bodyBytes: 0 },
        run: () => {
          ran.push(name);
          rounds.add(passed.count);
        },
      });
    const all = ['a', 'a', 'a', 'b'].map(ask);
    assert.equal(requests.waitingCount, 3);
    await Promise.all(all);
    passed.stop();
    assert.deepEqual(ran, ['a', 'a', 'b', 'a']);
    assert.equal(rounds.size, 4);
    assert.deepEqual([requests.waitingCount, requests.waitedCount], [0, 4]);
  });

  it('are refused when too many bytes wait, and then those of whoever has most', async () => {
    const requests = overdrawn('a', 'b');
    const third = WAITING_BYTES_MAX / 3;
    const ran: string[] = [];
    const ask = async (name: string): Promise<string> => {
      const outcome = await requests.inTurn({
        ...{ name, signal: awaited(), bodyBytes: third },
        run: () => ran.push(name),
      });
      return isRefusal(outcome) ? `${name}: ${outcome.name}` : name;
    };
    const all = ['a', 'a', 'a', 'b'].map(ask);
    assert.deepEqual(await Promise.all(all), ['a', 'a', 'a: ServiceUnavailableError', 'b']);
    assert.deepEqual(ran, ['a', 'a', 'b']);
  });

  it('tell what they throw, and the next one runs', async () => {
    const requests = overdrawn('a');
    const fault = new Error('a dependency is broken');
    const failing = requests.inTurn({
      ...{ name: 'a', signal: awaited(), bodyBytes: 0 },
      run: () => {
        throw fault;
      },
    });
    let hasRun = false;
    const next = requests.inTurn({
      ...{ name: 'a', signal: awaited(), bodyBytes: 0 },
      run: () => {
        hasRun = true;
      },
    });
    await assert.rejects(failing, (error) => error === fault);
    await next;
    assert(hasRun);
  });

  it('are not begun when their clients have left, and what has begun goes on', async () => {
    const requests = overdrawn('a');
    const first = new AbortController();
    const second = new AbortController();
    const ran: number[] = [];
    const begun = requests.inTurn({
      ...{ name: 'a', signal: first.signal, bodyBytes: 0 },
      run: () => ran.push(1),
    });
    const waiting = requests.inTurn({
      ...{ name: 'a', signal: second.signal, bodyBytes: 0 },
      run: () => ran.push(2),
    });
    const left = assert.rejects(waiting, (error) => error === second.signal.reason);
    first.abort();
    second.abort();
    assert.equal(await begun, undefined);
    await left;
    await settle();
    assert.deepEqual(ran, [1]);
  });
});
