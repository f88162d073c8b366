/** A flag in one environment: a summary, what differs there from production, and the strategies with what can be done to them. */
import { h } from 'preact';
import { audienceOfAll } from '../audience.js';
import { isProduction } from '../changes.js';
import { copyStrategies } from '../edit/copy-strategies.js';
import { addStrategy, editStrategy, moveUp, removeStrategy, turnStrategy } from '../edit/strategy-edits.js';
import { counted, number } from '../format.js';
import { useSession } from '../session.js';
import { kindOf } from '../words.js';
import { StrategyItem } from './strategy.js';
import { FlagSwitch } from './switch.js';
import { TimeAgo } from './time-ago.js';

/** @import { At } from '../edit/strategy-edits.js' */
/** @import { FlagEnvironment, FlagUsage, Strategy, Variant } from '../types.d.ts' */
/** @import { FlagProps } from './flag-cards.js' */

/** With more strategies than these in all, only production shows its own from the start. */
const STRATEGIES_OPEN_MAX = 6;

/** @param {FlagProps & { usage: FlagUsage | null, variants: ReadonlyMap<string, readonly Variant[]> }} props */
export function EnvironmentCards({ usage, variants, ...props }) {
  const session = useSession();
  const { environments } = props.flag;
  /** @param {FlagEnvironment} of */
  const isProd = ({ name }) => isProduction(session, name);
  // The sort is stable: among themselves they stand in the order of the project.
  const ordered = [...environments].sort((one, other) => Number(isProd(other)) - Number(isProd(one)));
  const measure = environments.find(isProd);
  const count = environments.reduce((sum, { strategies }) => sum + strategies.length, 0);
  return ordered.map((of) =>
    h(EnvironmentCard, {
      key: of.name,
      ...props,
      of,
      isProd: isProd(of),
      differences: measure === undefined || measure === of ? null : differencesOf(of, measure, variants),
      measure: measure?.name ?? '',
      usage: usage?.lastHourUsage.find(({ environment }) => environment === of.name) ?? null,
      isOpen: isProd(of) || count <= STRATEGIES_OPEN_MAX,
    }),
  );
}

/**
 * In what an environment differs from another.
 * @param {FlagEnvironment} of
 * @param {FlagEnvironment} measure
 * @param {ReadonlyMap<string, readonly Variant[]>} variants by environment; of the past only their number is known
 */
function differencesOf(of, measure, variants) {
  /** @param {FlagEnvironment} environment */
  const variantsIn = ({ name, variantCount }) => JSON.stringify(variants.get(name) ?? variantCount);
  const differences = [];
  if (of.enabled !== measure.enabled) differences.push('the switch');
  if (contentOf(of.strategies) !== contentOf(measure.strategies)) differences.push('the strategies');
  if (variantsIn(of) !== variantsIn(measure)) differences.push('the variants');
  return differences;
}

/** The same text for strategies that decide the same. @param {readonly Strategy[]} strategies */
const contentOf = (strategies) =>
  JSON.stringify(strategies.map(({ id: _, sortOrder: __, ...content }) => content));

/**
 * @param {FlagProps & {
 *   of: FlagEnvironment,
 *   isProd: boolean,
 *   differences: readonly string[] | null,
 *   measure: string,
 *   usage: FlagUsage['lastHourUsage'][number] | null,
 *   isOpen: boolean,
 * }} props
 */
function EnvironmentCard({ flag, etag, of, may, segmentNames, isProd, differences, measure, usage, isOpen }) {
  const { project, name, archived } = flag;
  const { name: environment, enabled, strategies } = of;
  const at = { flag, etag, environment: of };
  return h(
    'section',
    { class: `card${isProd ? ' card-production' : ''}`, 'aria-label': environment },
    h(
      'div',
      { class: 'card-head' },
      h(
        'h2',
        null,
        environment,
        isProd ? h('span', { class: 'badge badge-production' }, 'production') : null,
      ),
      h('span', { class: 'muted state', 'aria-hidden': 'true' }, enabled ? 'on' : 'off'),
      h(FlagSwitch, { project, flag: name, environment, state: of, isArchived: archived || !may }),
    ),
    h('p', { class: 'environment-summary' }, summaryOf(of, segmentNames)),
    h(
      'p',
      { class: 'facts environment-facts' },
      h(Usage, { usage, lastSeenAt: of.lastSeenAt }),
      differences === null ? null : h(Differences, { differences, measure }),
    ),
    strategies.length === 0
      ? null
      : h(
          'details',
          { class: 'environment-strategies', open: isOpen },
          h('summary', null, counted(strategies.length, 'strategy', 'strategies')),
          h(
            'ul',
            { class: 'plain strategies' },
            strategies.map((one, index) =>
              h(StrategyItem, {
                key: one.id,
                of: one,
                segmentNames,
                actions: may ? h(StrategyActions, { at, strategy: one, index }) : null,
              }),
            ),
          ),
        ),
    may ? h(CardActions, { at }) : null,
  );
}

/** @param {FlagEnvironment} of @param {ReadonlyMap<number, string>} segmentNames */
function summaryOf({ enabled, strategies }, segmentNames) {
  if (strategies.length === 0) return 'No strategies: it needs one before it can be switched on.';
  return `${enabled ? 'On for' : 'Off. When it is on, it is for'} ${audienceOfAll(strategies, segmentNames)}.`;
}

/** @param {{ usage: FlagUsage['lastHourUsage'][number] | null, lastSeenAt: string | null }} props */
function Usage({ usage, lastSeenAt }) {
  const count = usage === null ? 0 : usage.yes + usage.no;
  return [
    usage === null || count === 0
      ? null
      : h(
          'span',
          { key: 'usage' },
          `${counted(count, 'evaluation')} in the last hour, ${number(Math.round((100 * usage.yes) / count))} % on`,
        ),
    lastSeenAt === null
      ? h('span', { key: 'seen' }, 'never used here')
      : h(TimeAgo, { key: 'seen', iso: lastSeenAt, prefix: 'last used ' }),
  ];
}

/** @param {{ differences: readonly string[], measure: string }} props */
function Differences({ differences, measure }) {
  if (differences.length === 0) return h('span', null, `the same as ${measure}`);
  return h('span', { class: 'badge badge-warn' }, `differs from ${measure} in ${differences.join(' and ')}`);
}

/** @param {{ at: At }} props */
function CardActions({ at }) {
  const session = useSession();
  const { name } = at.environment;
  const others = at.flag.environments.filter((one) => one.name !== name && one.strategies.length > 0);
  /** @param {string} text @param {string} label @param {() => Promise<void>} act */
  const button = (text, label, act) =>
    h('button', { type: 'button', class: 'button', 'aria-label': label, onClick: () => void act() }, text);
  return h(
    'div',
    { class: 'actions strategy-add' },
    button('Add strategy…', `Add strategy in ${name}`, () => addStrategy(session, at)),
    others.length === 0
      ? null
      : button('Copy strategies…', `Copy strategies… to ${name}`, () => copyStrategies(session, at)),
  );
}

/** @param {{ at: At, strategy: Strategy, index: number }} props */
function StrategyActions({ at, strategy, index }) {
  const session = useSession();
  const name = `${strategy.title || kindOf(strategy.name)} in ${at.environment.name}`;
  /** @param {string} text @param {() => Promise<void>} act */
  const button = (text, act) =>
    h(
      'button',
      { type: 'button', class: 'quiet', 'aria-label': `${text} ${name}`, onClick: () => void act() },
      text,
    );
  return h(
    'span',
    { class: 'strategy-actions' },
    button('Edit', () => editStrategy(session, at, strategy)),
    index === 0 ? null : button('Move up', () => moveUp(session, at, index)),
    button(strategy.disabled === true ? 'Enable' : 'Disable', () => turnStrategy(session, at, strategy)),
    button('Remove', () => removeStrategy(session, at, strategy)),
  );
}
