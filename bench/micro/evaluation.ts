/** Evaluation of as many flags as Unleash publishes figures of Edge for, for one context after another. */
import { Evaluator } from '../../src/addons/sdk/evaluation/evaluator.ts';
import type { Outcome } from '../../src/addons/sdk/evaluation/outcome.ts';
import { type EvaluationInput, finished } from '../../src/addons/sdk/evaluation/run.ts';
import type { Flag } from '../../src/domain/flags/flag.ts';
import type { Strategy } from '../../src/domain/flags/strategy.ts';
import type { Variant } from '../../src/domain/flags/variant.ts';
import type { MicroTask } from './micro-task.ts';

const FLAGS = 350;
const ENVIRONMENT = 'production';
const USERS = 1_000;

export function evaluationTasks(): MicroTask[] {
  const flags = Array.from({ length: FLAGS }, (_, index) => sampleFlag(index));
  const evaluator = new Evaluator({
    environment: ENVIRONMENT,
    environmentEnabled: true,
    flags,
    segments: SEGMENTS,
  });
  const inputs = Array.from({ length: USERS }, (_, index) => sampleInput(index));
  const outcomes: Outcome[] = [];
  let turn = 0;
  const next = (): EvaluationInput => inputs[turn++ % USERS]!;
  return [
    {
      name: `evaluate ${FLAGS} flags for a context`,
      run: () => {
        const walk = evaluator.walk(next(), true);
        while (!walk.advance(outcomes));
        outcomes.length = 0;
      },
      times: 10,
    },
    {
      name: `explain one of ${FLAGS} flags`,
      run: () => finished(evaluator.explanation('flag-6', next())!),
      times: 100,
    },
    {
      name: `change one of ${FLAGS} flags in an evaluator`,
      run: () => evaluator.set(sampleFlag(turn++ % FLAGS)),
      times: 10,
    },
  ];
}

const SEGMENTS = new Map([
  [
    1,
    {
      id: 1,
      name: 'beta',
      constraints: [{ contextName: 'plan', operator: 'IN', values: ['beta', 'staff'] }],
    },
  ],
]);

/** Strategies of ten flags: five roll out to a share, two have constraints, one a segment, one variants, and one is off. */
const KINDS: readonly Partial<Strategy>[] = [
  {},
  {},
  {},
  {},
  {},
  {
    constraints: [
      {
        contextName: 'country',
        operator: 'IN',
        caseInsensitive: false,
        inverted: false,
        values: ['fi', 'no', 'se'],
      },
    ],
  },
  {
    constraints: [
      {
        contextName: 'version',
        operator: 'SEMVER_GT',
        caseInsensitive: false,
        inverted: false,
        values: [],
        value: '2.4.0',
      },
    ],
  },
  { segments: [1] },
  { variants: [sampleVariant('red'), sampleVariant('blue')] },
  { disabled: true },
];

function sampleVariant(name: string): Variant {
  return { name, weight: 500, weightType: 'variable', stickiness: 'default', overrides: [] };
}

function sampleFlag(index: number): Flag {
  const name = `flag-${index}`;
  const strategy: Strategy = {
    id: `strategy-${index}`,
    name: 'flexibleRollout',
    title: null,
    disabled: false,
    constraints: [],
    parameters: { groupId: name, rollout: '50', stickiness: 'default' },
    variants: [],
    segments: [],
    sortOrder: 0,
    ...KINDS[index % KINDS.length],
  };
  return {
    name,
    project: 'default',
    description: null,
    type: 'release',
    stale: false,
    impressionData: false,
    links: [],
    createdAt: '2024-05-01T12:00:00.000Z',
    archivedAt: null,
    environments: [{ name: ENVIRONMENT, enabled: true, strategies: [strategy], variants: [] }],
    tags: [],
    dependencies: [],
    children: [],
  };
}

function sampleInput(index: number): EvaluationInput {
  const properties = new Map([
    ['country', index % 3 === 0 ? 'fi' : 'de'],
    ['plan', index % 5 === 0 ? 'beta' : 'free'],
    ['version', `2.${index % 9}.0`],
  ]);
  return {
    context: { userId: `user-${index}-7f3c09`, sessionId: `session-${index}`, properties },
    nowMs: Date.UTC(2024, 4, 1),
    random: () => 0.5,
    contextLength: 100,
    hostName: null,
  };
}
