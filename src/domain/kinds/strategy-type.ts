/**
 * Strategy types: the kinds that a strategy can name (docs/specification/targeting.md#strategy-types). The predefined ones are those that SDKs
 * evaluate by themselves; an application can bring an implementation of others, which are defined here first, so that
 * a misspelled kind is refused and not served as "off".
 */
import * as v from 'valibot';
import { STRATEGY_NAME_LENGTH_MAX } from '../flags/strategy.ts';
import { differentBy, filledText, listUpTo, textUpTo } from '../json/schema.ts';
import { managedKind, type RecordWith } from './kind.ts';

export const STRATEGY_TYPES_MAX = 200;
/** The largest strategy type as JSON. Protects the list of strategy types. */
export const STRATEGY_TYPE_BYTES_MAX = 16 * 1024;
const PARAMETERS_MAX = 50;
const TEXT_LENGTH_MAX = 1_000;

export const PARAMETER_TYPES = ['string', 'percentage', 'list', 'number', 'boolean'] as const;

const TextSchema = textUpTo(TEXT_LENGTH_MAX);

export const ParameterDefinitionSchema = v.pipe(
  v.object({
    name: filledText('a name', 100),
    type: v.picklist(PARAMETER_TYPES, `one of ${PARAMETER_TYPES.join(', ')}`),
    description: v.optional(TextSchema, ''),
    required: v.optional(v.boolean(), false),
  }),
  v.title('StrategyTypeParameter'),
);

const SENT = {
  name: filledText('a name', STRATEGY_NAME_LENGTH_MAX),
  title: v.optional(v.nullable(TextSchema)),
  description: v.optional(TextSchema),
  parameters: v.optional(
    v.pipe(
      listUpTo(PARAMETERS_MAX, 'parameters', ParameterDefinitionSchema),
      differentBy<v.InferOutput<typeof ParameterDefinitionSchema>, 'name'>('name', 'Parameters'),
    ),
  ),
} as const;

const ADDED = { deprecated: v.boolean() } as const;

export type StrategyType = RecordWith<typeof SENT, typeof ADDED>;
export type ParameterDefinition = StrategyType['parameters'][number];

interface PredefinedText {
  readonly title: string;
  readonly description: string;
  readonly deprecated?: boolean;
}

function predefined(
  name: string,
  { title, description, deprecated = false }: PredefinedText,
  parameters: readonly ParameterDefinition[] = [],
): StrategyType {
  return { name, title, description, parameters, deprecated };
}

const parameter = (
  name: string,
  type: ParameterDefinition['type'],
  description: string,
): ParameterDefinition => ({ name, type, description, required: false });

const PERCENTAGE = parameter('percentage', 'percentage', 'The share that gets the flag, in percent.');
const GROUP_ID = parameter('groupId', 'string', 'Flags with the same group serve the same users.');

/** The types that SDKs evaluate by themselves. They can be deprecated, and neither changed nor deleted. */
export const PREDEFINED_STRATEGY_TYPES: readonly StrategyType[] = [
  predefined('default', { title: 'Standard', description: 'Everybody.' }),
  predefined(
    'flexibleRollout',
    { title: 'Gradual rollout', description: 'A share of users, sessions or requests.' },
    [
      parameter('rollout', 'percentage', 'The share that gets the flag, in percent.'),
      parameter('stickiness', 'string', 'The context field by which a caller keeps its outcome.'),
      GROUP_ID,
    ],
  ),
  predefined('userWithId', { title: 'User ids', description: 'Users with the ids listed.' }, [
    parameter('userIds', 'list', 'The ids, separated by commas.'),
  ]),
  predefined('remoteAddress', { title: 'Addresses', description: 'Requests from the addresses listed.' }, [
    parameter('IPs', 'list', 'Addresses and networks, separated by commas.'),
  ]),
  predefined('applicationHostname', { title: 'Hosts', description: 'Applications on the hosts listed.' }, [
    parameter('hostNames', 'list', 'The host names, separated by commas.'),
  ]),
  predefined(
    'gradualRolloutRandom',
    { title: 'Gradual rollout at random', description: 'A share of all evaluations.', deprecated: true },
    [PERCENTAGE],
  ),
  predefined(
    'gradualRolloutSessionId',
    { title: 'Gradual rollout by session', description: 'A share of sessions.', deprecated: true },
    [PERCENTAGE, GROUP_ID],
  ),
  predefined(
    'gradualRolloutUserId',
    { title: 'Gradual rollout by user', description: 'A share of users.', deprecated: true },
    [PERCENTAGE, GROUP_ID],
  ),
];

const PREDEFINED = new Set(PREDEFINED_STRATEGY_TYPES.map(({ name }) => name));

export const isPredefinedStrategyType = (name: string): boolean => PREDEFINED.has(name);

/** They can be deprecated and reactivated (decide/kind-commands.ts), which no request of other fields does. */
export const STRATEGY_TYPE = managedKind({
  noun: 'strategy type',
  since: { release: '0.1.0', contentVersion: 1, documentVersion: 2 },
  events: {
    created: 'strategy-created',
    changed: ['strategy-updated', 'strategy-deprecated', 'strategy-reactivated'],
    deleted: 'strategy-deleted',
  },
  sent: SENT,
  added: ADDED,
  defaults: { title: null, description: '', parameters: [], deprecated: false },
  countMax: STRATEGY_TYPES_MAX,
  bytesMax: STRATEGY_TYPE_BYTES_MAX,
  predefined: PREDEFINED_STRATEGY_TYPES,
  canChangePredefined: false,
  use: { by: 'strategy-type', isShown: false, advice: 'Remove their strategies of this type' },
  example: {
    name: 'onWeekdays',
    title: 'On weekdays',
    description: 'Evaluated by the shop itself.',
    parameters: [{ name: 'weekdays', type: 'list', description: 'Such as mon,tue', required: true }],
    deprecated: false,
  },
  routes: {
    path: '/strategies',
    param: 'strategyName',
    tag: 'Strategies',
    permission: 'targeting:write',
    needs: { create: ['CREATE_STRATEGY'], update: ['UPDATE_STRATEGY'], remove: ['DELETE_STRATEGY'] },
    list: { id: 'getAllStrategies', summary: 'List the strategy types.', field: 'strategies' },
    create: { id: 'createStrategy', summary: 'Define a strategy type that your applications implement.' },
    read: { id: 'getStrategy', summary: 'Read a strategy type.' },
    update: {
      id: 'updateStrategy',
      summary: 'Change a strategy type that is not predefined; what is absent keeps its value.',
    },
    remove: {
      id: 'removeStrategy',
      summary: 'Delete a strategy type that is not predefined and that no strategy uses.',
    },
    doneStatus: 200,
    listVersion: 1,
    shown: {
      displayName: v.string(),
      editable: v.pipe(v.boolean(), v.description('False for the predefined ones.')),
    },
    view: ({ name, title }) => ({ displayName: title ?? name, editable: !isPredefinedStrategyType(name) }),
  },
});
