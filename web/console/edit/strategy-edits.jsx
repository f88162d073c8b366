/** The edits of the strategies of a flag in an environment. */
import { affectedBy, audienceOf, audienceOfAll } from '../audience.js';
import { mayChangeProduction, tryChangeFlag } from '../changes.jsx';
import { changing, path } from '../client.js';
import { openEdit } from '../forms/edit-dialog.jsx';
import { inputOf } from '../operators.js';
import { code, said } from '../said.jsx';
import { kindOf, percentOf } from '../words.js';
import { pinnedFlag } from './pinned.js';
import { STRATEGY_TABS, strategyFields } from './strategy-fields.jsx';

/** @import { Change } from '../client.js' */
/** @import { ConstraintInput, ContextField, DefaultStrategy, Edit, Flag, FlagEnvironment, ProjectEnvironment, Segment, Session, Strategy, StrategyInput, StrategyType, Variant } from '../types.d.ts' */

/**
 * @typedef {object} StrategyValues
 * @property {string} name
 * @property {string} title
 * @property {'off' | 'everyone' | 'share' | 'targets'} who
 * @property {number} rollout
 * @property {string} stickiness
 * @property {string} groupId
 * @property {Record<string, unknown>} parameters of other kinds than the rollout
 * @property {readonly ConstraintInput[]} constraints
 * @property {readonly number[]} segments
 * @property {readonly Variant[]} variants
 */

/**
 * @typedef {object} Choices what a strategy can refer to
 * @property {readonly StrategyType[]} types
 * @property {readonly Segment[]} segments
 * @property {readonly ContextField[]} fields
 */

/** @typedef {{ flag: Flag, etag: string, environment: FlagEnvironment }} At */

/** @param {At} at */
const strategiesPath = ({ flag, environment }) =>
  path`/projects/${flag.project}/features/${flag.name}/environments/${environment.name}/strategies`;

/** @type {StrategyValues} */
const NEW_STRATEGY = {
  ...{ name: 'flexibleRollout', title: '', who: 'everyone' },
  ...{ rollout: 100, stickiness: 'default', groupId: '', parameters: {} },
  ...{ constraints: [], segments: [], variants: [] },
};

/** Edits the values that forms offer first for a new strategy in an environment of a project. @param {Session} session @param {string} project @param {ProjectEnvironment} environment */
export async function editDefaultStrategy(session, project, { name, defaultStrategy }) {
  const values = defaultStrategy === undefined ? NEW_STRATEGY : valuesOf(defaultStrategy);
  /** @param {StrategyValues} now */
  const change = (now) =>
    changing('POST', path`/projects/${project}/environments/${name}/default-strategy`, inputFor(now));
  await openEdit(session, {
    title: `Default strategy in ${name}`,
    agree: 'Save',
    ...(await formOf(session, project)),
    values,
    sentence: (now) =>
      `New strategies of ${project} in ${name} begin as: on for ${audienceOf(inputFor(now))}. Existing ones do not change.`,
    change,
    done: () => `The default strategy in ${name} is changed.`,
    undo: defaultStrategy === undefined ? null : change(values),
  });
}

/** The values that a new strategy begins with. @param {Session} session @param {At} at @returns {Promise<StrategyValues>} */
async function newValues({ client }, { flag, environment }) {
  /** @type {{ environments: readonly ProjectEnvironment[] }} */
  const { environments } = await client.get(path`/environments/project/${flag.project}`);
  const offered = environments.find(({ name }) => name === environment.name)?.defaultStrategy;
  const first = offered === undefined ? NEW_STRATEGY : valuesOf(offered);
  return { ...first, groupId: first.groupId || flag.name };
}

/** @param {At} at @param {StrategyInput} body @returns {Change} */
const adding = (at, body) => changing('POST', strategiesPath(at), body);

/** @param {Session} session @param {At} at @param {Change} [next] switches the flag on there, once it has the strategy */
export async function addStrategy(session, at, next) {
  const values = await newValues(session, at);
  await edit(session, at, {
    title: `New strategy in ${at.environment.name}`,
    agree: next === undefined ? 'Add' : 'Add and switch on',
    values,
    change: (input) => adding(at, input),
    next,
    valuesIn: () => values,
  });
}

/** The strategy that turns a flag on for everyone. @param {string} groupId */
export const everyone = (groupId) => inputFor({ ...NEW_STRATEGY, groupId });

/** Adds a strategy as new ones begin. @param {Session} session @param {At} at */
export async function newStrategy(session, at) {
  const input = inputFor(await newValues(session, at));
  return { change: adding(at, input), audience: audienceOfAll([input]) };
}

/** @param {Session} session @param {At} at @param {Strategy} strategy */
export async function editStrategy(session, at, strategy) {
  await edit(session, at, {
    title: `Edit a strategy in ${at.environment.name}`,
    agree: 'Save',
    values: valuesOf(strategy),
    change: (input) => changing('PUT', `${strategiesPath(at)}/${strategy.id}`, input),
    valuesIn: (flag) => {
      const now = flag.environments
        .find(({ name }) => name === at.environment.name)
        ?.strategies.find(({ id }) => id === strategy.id);
      return now === undefined ? null : valuesOf(now);
    },
  });
}

/**
 * @param {Session} session
 * @param {At} at
 * @param {{ title: string, agree: string, values: StrategyValues, change: (input: StrategyInput) => Change, next?: Change | undefined, valuesIn: (flag: Flag) => StrategyValues | null }} of
 */
async function edit(session, at, { title, agree, values, change, next, valuesIn }) {
  const { flag, etag, environment } = at;
  const isOn = environment.enabled || next !== undefined;
  await openEdit(session, {
    ...(await formOf(session, flag.project)),
    ...{ title, agree },
    values,
    sentence: (now) =>
      sentenceOf(flag, { ...environment, enabled: isOn }, audienceOf(inputFor(now)), now.who === 'off'),
    change: (now) => change(inputFor(now)),
    ...(next === undefined ? {} : { next }),
    done: () => `${flag.name}: the strategies in ${environment.name} are changed.`,
    ...pinnedFlag(flag, etag, valuesIn),
    environment: () => environment.name,
    affected: () => affectedBy(session, flag, environment.name, ({ enabled }) => enabled || isOn),
  });
}

/** @param {Pick<Flag, 'name'>} flag @param {Pick<FlagEnvironment, 'name' | 'enabled'>} environment @param {string} audience @param {boolean} disabled */
function sentenceOf({ name }, { name: environment, enabled }, audience, disabled) {
  if (disabled) return 'A disabled strategy selects no users.';
  return `${code(name)} is on in ${environment} for ${audience}${enabled ? '' : ' once it is switched on there'}.`;
}

/** Edits a strategy that a change request holds. @param {Session} session @param {{ project: string, environment: string, name: string }} of `name`: that of the flag @param {Strategy | DefaultStrategy} strategy @param {(input: StrategyInput) => Change} change @param {Pick<Edit<any>, 'title' | 'agree' | 'done' | 'undo'>} more */
export async function editProposedStrategy(session, { project, environment, name }, strategy, change, more) {
  await openEdit(session, {
    ...(await formOf(session, project)),
    ...more,
    values: valuesOf(strategy),
    sentence: (now) =>
      `Once the change request is applied: ${sentenceOf({ name }, { name: environment, enabled: false }, audienceOf(inputFor(now)), now.who === 'off')}`,
    change: (now) => change(inputFor(now)),
  });
}

/** The looks of the form of a strategy. @param {Session} session @param {string} project @returns {Promise<Pick<Edit<StrategyValues>, 'wide' | 'tabs' | 'fields'>>} */
async function formOf({ client }, project) {
  const [{ strategies }, { segments }, fields] = await Promise.all([
    client.get('/strategies'),
    client.get('/segments'),
    client.get('/context'),
  ]);
  const usable = segments.filter(
    (/** @type {Segment} */ one) => one.project === undefined || one.project === project,
  );
  return {
    wide: true,
    tabs: STRATEGY_TABS,
    fields: strategyFields({ types: strategies, segments: usable, fields }),
  };
}

/** @param {Strategy | DefaultStrategy} strategy @returns {StrategyValues} */
function valuesOf({ name, title, disabled, parameters, constraints, segments, variants }) {
  const { rollout, stickiness, groupId, ...others } = parameters ?? {};
  /** @returns {StrategyValues['who']} */
  const whoOf = () => {
    if (disabled === true) return 'off';
    if (constraints.length + segments.length > 0) return 'targets';
    if (name === 'default' || (name === 'flexibleRollout' && percentOf(rollout) === 100)) return 'everyone';
    return name === 'flexibleRollout' ? 'share' : 'targets';
  };
  return {
    name,
    title: title ?? '',
    who: whoOf(),
    rollout: percentOf(rollout),
    stickiness: typeof stickiness === 'string' ? stickiness : 'default',
    groupId: typeof groupId === 'string' ? groupId : '',
    parameters: name === 'flexibleRollout' ? others : (parameters ?? {}),
    constraints: constraints.map(inputOf),
    segments,
    variants,
  };
}

/** @param {StrategyValues} values @returns {StrategyInput} */
function inputFor({ who, rollout, stickiness, groupId, parameters, title, name, ...values }) {
  const own = { rollout: String(rollout), stickiness, groupId };
  const isTargeted = who === 'off' || who === 'targets';
  return {
    name,
    disabled: who === 'off',
    title: title === '' ? null : title,
    constraints: isTargeted ? [...values.constraints] : [],
    segments: isTargeted ? [...values.segments] : [],
    variants: [...values.variants],
    parameters: name === 'flexibleRollout' ? { ...parameters, ...own } : parameters,
  };
}

/** @param {Session} session @param {At} at @param {{ change: Change, done: string, sentence: string, agree: string }} of */
async function changeInEnvironment(session, at, { change, done, sentence, agree }) {
  const { flag, etag, environment } = at;
  const question = {
    change,
    environment: environment.name,
    agree,
    of: flag,
    affected: () => affectedBy(session, flag, environment.name),
  };
  if (!(await mayChangeProduction(session, question, sentence))) return;
  await tryChangeFlag(session, { project: flag.project, flag: flag.name, change, done, ifMatch: etag });
}

/** @param {Session} session @param {At} at @param {Strategy} strategy */
export function removeStrategy(session, at, strategy) {
  const title = said(strategy.title || kindOf(strategy.name));
  return changeInEnvironment(session, at, {
    change: changing('DELETE', `${strategiesPath(at)}/${strategy.id}`),
    done: `The strategy ${title} is removed from ${at.environment.name}.`,
    sentence: `The strategy ${title} will be removed.`,
    agree: 'Remove',
  });
}

/** @param {Session} session @param {At} at @param {Strategy} strategy */
export function turnStrategy(session, at, strategy) {
  const { id, title, name, disabled } = strategy;
  const word = disabled === true ? 'enabled' : 'disabled';
  const shown = said(title || kindOf(name));
  return changeInEnvironment(session, at, {
    change: changing('PUT', `${strategiesPath(at)}/${id}`, {
      ...inputFor(valuesOf(strategy)),
      disabled: disabled !== true,
    }),
    done: `The strategy ${shown} is ${word} in ${at.environment.name}.`,
    sentence: `The strategy ${shown} will be ${word}.`,
    agree: disabled === true ? 'Enable' : 'Disable',
  });
}

/** One place up. Strategies are tried in their order, and the first that fits decides the variant. @param {Session} session @param {At} at @param {number} index */
export function moveUp(session, at, index) {
  const ids = at.environment.strategies.map(({ id }) => id);
  const [moved] = ids.splice(index, 1);
  if (moved === undefined) throw new Error(`there is no strategy at ${index}`);
  ids.splice(index - 1, 0, moved);
  return changeInEnvironment(session, at, {
    change: changing(
      'POST',
      `${strategiesPath(at)}/set-sort-order`,
      ids.map((id, sortOrder) => ({ id, sortOrder })),
    ),
    done: `The strategies in ${at.environment.name} were reordered.`,
    sentence: 'The strategies will be tried in another order.',
    agree: 'Reorder',
  });
}
