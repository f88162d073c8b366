/** The commands that make a data set, in the order in which they have to be carried out. */
import { parse } from 'valibot';
import type { Command } from '../../../src/domain/decide/decide.ts';
import { type StrategyInput, StrategyInputSchema } from '../../../src/domain/flags/strategy.ts';
import { type DataSet, FLAG_ENVIRONMENT, flagName, projectName } from './data-set.ts';

/** The schema fills in what a client leaves out, as it does for every request. */
export function strategyInput(flag: string, rollout: string): StrategyInput {
  return parse(StrategyInputSchema, {
    name: 'flexibleRollout',
    parameters: { rollout, stickiness: 'default', groupId: flag },
    constraints: [{ contextName: 'country', operator: 'IN', values: ['AT', 'CH', 'DE'] }],
  });
}

export function* projectCommands(set: DataSet): Generator<Command> {
  for (let number = 1; number < set.projects; number += 1) {
    const id = projectName(number);
    yield {
      type: 'create-project',
      id,
      fields: { name: id, mode: 'open' },
      environments: ['development', FLAG_ENVIRONMENT],
    };
  }
}

export function* flagCommands(set: DataSet): Generator<Command> {
  for (let number = 0; number < set.flags; number += 1) {
    const project = projectName(number % set.projects);
    const flag = flagName(number);
    yield { type: 'create-flag', project, name: flag, metadata: { description: 'One of many' } };
    for (const rollout of ['25', '75']) {
      const place = { project, flag, environment: FLAG_ENVIRONMENT };
      yield { type: 'add-strategy', ...place, strategy: strategyInput(flag, rollout) };
    }
  }
}

export function* switchCommands(set: DataSet, count: number): Generator<Command> {
  for (let number = 0; number < count; number += 1) {
    const flag = number % set.flags;
    const place = {
      project: projectName(flag % set.projects),
      flag: flagName(flag),
      environment: FLAG_ENVIRONMENT,
    };
    yield { type: 'switch-environment', ...place, enabled: Math.floor(number / set.flags) % 2 === 0 };
  }
}
