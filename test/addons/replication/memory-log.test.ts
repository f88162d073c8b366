/** The log in memory keeps the contract, and its faults are those that it claims to have. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Fate, MemoryLog, type Timer } from './memory-log.ts';
import { describeReplicatedLog } from './replicated-log-contract.ts';

const soon: Timer = (delayMs, run) => {
  const timeout = setTimeout(run, delayMs);
  return () => clearTimeout(timeout);
};

/** Time passes at once. */
const atOnce: Timer = (_delayMs, run) => {
  const immediate = setImmediate(run);
  return () => clearImmediate(immediate);
};

describeReplicatedLog('in memory', {
  open: async () => {
    const log = new MemoryLog(soon);
    return [log.connect(), log.connect()];
  },
  close: async () => undefined,
});

it('an append whose request or reply is lost has an unknown outcome, and only the second one happened', async () => {
  for (const [lost, happened] of [
    ['request', 0],
    ['reply', 1],
  ] as const) {
    const log = new MemoryLog(atOnce);
    const fate: Fate = (kind) => (kind === lost ? 'lost' : 0);
    assert.equal((await log.connect(fate).append(0, Buffer.from('a'))).kind, 'unknown');
    assert.equal(log.last, happened, lost);
  }
});

it('a link that is cut loses everything, and a log that is paused does everything later', async () => {
  const log = new MemoryLog(atOnce);
  const link = log.connect();
  link.isCut = true;
  await assert.rejects(link.extent(), /no answer/);
  link.isCut = false;
  log.pause();
  assert.equal((await link.append(0, Buffer.from('late'))).kind, 'unknown');
  assert.equal(log.last, 0);
  log.resume();
  assert.equal(log.last, 1);
});
