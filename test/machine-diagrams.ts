/**
 * The diagrams of ARCHITECTURE.md, drawn from the state machines themselves. `node --import tsx test/machine-diagrams.ts`
 * prints them.
 */
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { roleMachine } from '../src/addons/replication/role.ts';
import { archiveSwitchMachine } from '../src/domain/decide/archive-switch.ts';
import { environmentSwitchMachine } from '../src/domain/flags/environment-switch.ts';

/** Every machine of the product, by the file that defines it. */
export const MACHINES: Readonly<Record<string, AnyStateMachine>> = {
  'src/domain/flags/environment-switch.ts': environmentSwitchMachine,
  'src/domain/decide/archive-switch.ts': archiveSwitchMachine,
  'src/addons/replication/role.ts': roleMachine,
};

/** The parts of a machine and of a state that a diagram shows. Anything else would be missing from it without notice. */
const MACHINE_KEYS = ['id', 'context', 'initial', 'states', 'schemas'];
const STATE_KEYS = ['type', 'on'];

/**
 * The machine as a Mermaid state diagram: one arrow for each pair of states, labelled `EVENT [guard]`. Events that lead
 * to the same state stand in its box, because the labels of such arrows cover those of others.
 */
export function drawMachine(machine: AnyStateMachine): string {
  assertDrawn(machine.id, machine.config, MACHINE_KEYS);
  const states = Object.values<AnyStateNode>(machine.states);
  const lines = [`[*] --> ${machine.config.initial}`, ...states.flatMap(linesOf)];
  return ['```mermaid', 'stateDiagram-v2', ...lines.map((line) => `  ${line}`), '```'].join('\n');
}

export function machineDiagrams(): string {
  return Object.entries(MACHINES)
    .map(([path, machine]) => `\`${path}\`:\n\n${drawMachine(machine)}`)
    .join('\n\n');
}

function linesOf(state: AnyStateNode): string[] {
  assertDrawn(state.id, state.config, STATE_KEYS);
  const { key } = state;
  if (state.type === 'final') return [`${key} --> [*]`];
  const labels = new Map<string, string[]>();
  for (const transition of [...state.transitions.values()].flat()) {
    for (const target of transition.target ?? [state]) {
      labels.set(target.key, [...(labels.get(target.key) ?? []), labelOf(transition)]);
    }
  }
  const within = (labels.get(key) ?? []).map((label) => `${key}: ${label} changes nothing`);
  labels.delete(key);
  const arrows = [...labels].map(([target, events]) => `${key} --> ${target}: ${events.join(', ')}`);
  // The first line of a box is its title.
  return [...(within.length === 0 ? [] : [`${key}: ${key}`]), ...within, ...arrows];
}

function labelOf({ eventType, guard, actions }: AnyTransitionDefinition): string {
  assert.equal(actions.length, 0, `The diagram of ${eventType} would not show its actions.`);
  if (guard === undefined) return eventType;
  assert(typeof guard === 'string', `The guard of ${eventType} needs a name, so that a diagram can show it.`);
  return `${eventType} [${guard}]`;
}

function assertDrawn(id: string, config: object, keys: readonly string[]): void {
  const missing = Object.keys(config).filter((key) => !keys.includes(key));
  assert.deepEqual(missing, [], `The diagram of ${id} would not show ${missing.join(', ')}.`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(machineDiagrams());
