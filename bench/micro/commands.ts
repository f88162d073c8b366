/** Decide and apply, one command of each kind that clients send often, each changing what the one before left. */
import type { Command } from '../../src/domain/decide/decide.ts';
import { FLAG_ENVIRONMENT, flagName } from '../lib/servers/data-set.ts';
import { strategyInput } from '../lib/servers/data-set-commands.ts';
import type { MicroTask } from './micro-task.ts';
import { MicroWorld } from './micro-world.ts';

const FLAGS = 1_000;

const EVEN_STRATEGY = strategyInput('even', '30');
const ODD_STRATEGY = strategyInput('odd', '60');

/** Makes the `turn`th command; whole rounds over all flags undo or vary what the round before did. */
type Make = (flag: string, round: number, turn: number) => Command;

export function commandTasks(): MicroTask[] {
  const micro = new MicroWorld(FLAGS);
  const strategyIds = new Map(
    [...micro.project.flags].map(([name, { flag }]) => [name, flag.environments[0]?.strategies[0]?.id ?? '']),
  );
  return Object.entries(kinds((flag) => strategyIds.get(flag) ?? '')).map(([kind, make]) => {
    let turn = 0;
    const carryOut = (): void => {
      micro.carryOut(make(flagName(turn % FLAGS), Math.floor(turn / FLAGS), turn));
      turn += 1;
    };
    return { name: `decide and apply ${kind}`, run: carryOut, times: 10 };
  });
}

const inProject = (flag: string) => ({ project: 'default', flag }) as const;
const inEnvironment = (flag: string) => ({ ...inProject(flag), environment: FLAG_ENVIRONMENT }) as const;

function kinds(strategyOf: (flag: string) => string): Readonly<Record<string, Make>> {
  const strategy = (flag: string) => ({ ...inEnvironment(flag), strategyId: strategyOf(flag) });
  return {
    'create-flag': (_, __, turn) => ({
      type: 'create-flag',
      project: 'default',
      name: `new-${turn}`,
      metadata: { description: 'New' },
    }),
    'clone-flag': (flag, _, turn) => ({
      type: 'clone-flag',
      ...inProject(flag),
      name: `clone-${turn}`,
      replaceGroupId: true,
    }),
    'update-flag': (flag, round) => ({
      type: 'update-flag',
      ...inProject(flag),
      metadata: { description: `Round ${round}` },
    }),
    'patch-flag': (flag, round) => ({
      type: 'patch-flag',
      ...inProject(flag),
      operations: [{ op: 'replace', path: '/description', value: `Patched in round ${round}` }],
    }),
    'switch-environment': (flag, round) => ({
      type: 'switch-environment',
      ...inEnvironment(flag),
      enabled: round % 2 === 0,
    }),
    'replace-strategy': (flag, round) => ({
      type: 'replace-strategy',
      ...strategy(flag),
      strategy: round % 2 === 0 ? EVEN_STRATEGY : ODD_STRATEGY,
    }),
    'patch-strategy': (flag, round) => ({
      type: 'patch-strategy',
      ...strategy(flag),
      operations: [{ op: 'replace', path: '/parameters/rollout', value: round % 101 }],
    }),
    'set-variants': (flag, round) => ({
      type: 'set-variants',
      ...inProject(flag),
      environment: null,
      variants: [
        {
          name: `variant-${round}`,
          weight: 1000,
          weightType: 'variable',
          stickiness: 'default',
          overrides: [],
        },
      ],
    }),
    'tag-flag': (flag, round) => ({
      type: round % 2 === 0 ? 'tag-flag' : 'untag-flag',
      ...inProject(flag),
      tag: { type: 'simple', value: 'bench' },
    }),
    'archive-flag': (flag, round) =>
      round % 2 === 0
        ? { type: 'archive-flag', ...inProject(flag) }
        : { type: 'revive-flags', project: 'default', flags: [flag] },
  };
}
