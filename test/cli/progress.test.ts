/** Bars: for a human who waits, on standard error, and nowhere else. */
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { progressOn, stateProgressOn } from '../../src/host/progress.ts';
import type { Terminal } from '../../src/host/terminal.ts';

function terminalWith(isInteractive: boolean) {
  let drawn = '';
  const barStream = new Writable({
    write: (chunk, _encoding, done) => {
      drawn += String(chunk);
      done();
    },
  });
  const terminal: Terminal = {
    env: {},
    out: () => assert.fail('a bar is no answer'),
    write: () => assert.fail('a bar is no answer'),
    err: () => assert.fail('a bar is no line'),
    isInteractive,
    barStream: Object.assign(barStream, { isTTY: true, columns: 80 }),
    ask: async () => '',
  };
  return { terminal, drawn: () => drawn };
}

/** A clock that has moved on by half a second each time that it is read. */
function slowClock(): () => number {
  let now = 0;
  return () => {
    now += 500;
    return now;
  };
}

describe('a bar', () => {
  it('shows the phase, how far it is, and the figures', () => {
    const { terminal, drawn } = terminalWith(true);
    const bars = stateProgressOn(terminal, slowClock());
    bars.onProgress({ phase: 'load', done: 512, total: 1024 });
    bars.onProgress({ phase: 'replay', done: 50_000, total: 100_000 });
    bars.end();
    assert.match(drawn(), /load/);
    assert.match(drawn(), /replay .*█.* 50% 50,000 events/);
  });

  it('does without a percentage while the whole is not known', () => {
    const { terminal, drawn } = terminalWith(true);
    const bar = progressOn(terminal, 'bytes', slowClock());
    bar.show('reading', 5 * 2 ** 20, null);
    bar.end();
    assert.match(drawn(), /reading +5\.0 MiB/);
    assert(!drawn().includes('%'));
  });

  it('is not drawn where nobody watches', () => {
    const { terminal, drawn } = terminalWith(false);
    const bar = progressOn(terminal, 'events', slowClock());
    bar.show('replay', 1, 2);
    bar.end();
    assert.equal(drawn(), '');
  });

  it('is not drawn for work of less than 300 ms', () => {
    const { terminal, drawn } = terminalWith(true);
    let now = 0;
    const bar = progressOn(terminal, 'events', () => now);
    now = 299;
    bar.show('replay', 1, 2);
    assert.equal(drawn(), '');
    now = 300;
    bar.show('replay', 2, 2);
    bar.end();
    assert.match(drawn(), /replay/);
  });
});
