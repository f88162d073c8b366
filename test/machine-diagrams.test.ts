/** The diagrams of the state machines in ARCHITECTURE.md, held against the machines. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setup } from 'xstate';
import { drawMachine, MACHINES, machineDiagrams } from './machine-diagrams.ts';
import { ROOT_FOLDER } from './support/server.ts';

const { createMachine } = setup({
  guards: { allowed: () => true },
  actions: { tell: () => undefined },
});

describe('the diagrams of the state machines', () => {
  it('stand in ARCHITECTURE.md as the machines are', () => {
    const page = readFileSync(join(ROOT_FOLDER, 'ARCHITECTURE.md'), 'utf8');
    assert(
      page.includes(machineDiagrams()),
      'paste what `node --import tsx test/machine-diagrams.ts` prints',
    );
  });

  it('leave out no machine', () => {
    const defining = readdirSync(join(ROOT_FOLDER, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join('src', name))
      .filter((path) => readFileSync(join(ROOT_FOLDER, path), 'utf8').includes('createMachine('));
    assert.deepEqual(defining.sort(), Object.keys(MACHINES).sort());
  });

  it('show the start, the events, the guards and the end, and in a state the events that do not leave it', () => {
    const machine = createMachine({
      id: 'job',
      initial: 'waiting',
      states: {
        waiting: {
          on: { RUN: [{ guard: 'allowed', target: 'done' }, { target: 'waiting' }], SKIP: 'done', ASK: {} },
        },
        done: { type: 'final' },
      },
    });
    const lines = drawMachine(machine).split('\n');
    assert.deepEqual(lines, [
      '```mermaid',
      'stateDiagram-v2',
      '  [*] --> waiting',
      '  waiting: waiting',
      '  waiting: RUN changes nothing',
      '  waiting: ASK changes nothing',
      '  waiting --> done: RUN [allowed], SKIP',
      '  done --> [*]',
      '```',
    ]);
  });

  it('are refused for a machine with parts that they would not show', () => {
    const nested = createMachine({ initial: 'a', states: { a: { initial: 'b', states: { b: {} } } } });
    const acting = createMachine({ initial: 'a', states: { a: { on: { E: { actions: 'tell' } } } } });
    const unnamed = createMachine({ initial: 'a', states: { a: { on: { E: { guard: () => true } } } } });
    const global = createMachine({ initial: 'a', on: { E: '.a' }, states: { a: {} } });
    assert.throws(() => drawMachine(nested), /would not show initial, states/);
    assert.throws(() => drawMachine(acting), /would not show its actions/);
    assert.throws(() => drawMachine(unnamed), /guard of E needs a name/);
    assert.throws(() => drawMachine(global), /would not show on/);
  });
});
