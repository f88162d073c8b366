/** What a flag consists of, part by part. */
import { h } from './dom.js';
import { date, dateTime } from './format.js';
import { hrefOf } from './place.js';
import { strategyItem } from './strategy.js';
import { flagSwitch } from './switch.js';
import { timeAgo } from './time-ago.js';
import { variantBar } from './variants.js';

/** @import { Flag, FlagEnvironment, Session } from './types.d.ts' */

/** @param {Flag} flag */
export function flagFacts({ type, createdAt, stale, archivedAt, tags }) {
  return h(
    'p',
    { class: 'facts' },
    h('span', null, type),
    h('span', { title: dateTime(createdAt) }, `created ${date(createdAt)}`),
    stale ? h('span', { class: 'badge badge-warn' }, 'stale') : null,
    archivedAt === null ? null : h('span', { class: 'badge' }, timeAgo(archivedAt, 'archived ')),
    ...tags.map((tag) => h('span', { class: 'badge' }, `${tag.type}: ${tag.value}`)),
  );
}

/**
 * @param {Session} session
 * @param {Flag} flag
 * @param {FlagEnvironment} of
 * @param {(change: Promise<void>) => void} report
 */
export function environmentCard(session, { project, name, archived }, of, report) {
  const { name: environment, enabled, strategies } = of;
  const toggle = flagSwitch(session, { project, flag: name, environment, enabled, archived }, report);
  const state = h('span', { class: 'muted state', 'aria-hidden': 'true' }, enabled ? 'on' : 'off');
  return h(
    'section',
    { class: 'card', 'aria-label': environment },
    h('div', { class: 'card-head' }, h('h2', null, environment), state, toggle),
    strategies.length === 0
      ? h('p', { class: 'muted' }, 'No strategies: it needs one before it can be switched on.')
      : h('ul', { class: 'plain strategies' }, ...strategies.map(strategyItem)),
  );
}

/** @param {Flag} flag */
export function variantCard({ variants }) {
  if (variants === null || variants.length === 0) return null;
  return h('section', { class: 'card' }, h('h2', null, 'Variants'), variantBar(variants));
}

/** The flags that it depends on, and those that depend on it. @param {Flag} flag */
export function dependencyCards({ project, dependencies, children }) {
  /** @param {string} flag */
  const link = (flag) => h('a', { href: hrefOf({ view: 'flag', project, flag }) }, h('code', null, flag));
  const parents = dependencies.map(({ feature, enabled, variants }) => {
    const having = variants.length === 0 ? '' : ` with ${variants.join(' or ')}`;
    return h('p', null, link(feature), enabled ? ` being on${having}` : ' being off');
  });
  const dependants = children.map((child) => h('p', null, link(child)));
  return [
    parents.length === 0 ? null : h('section', { class: 'card' }, h('h2', null, 'Depends on'), ...parents),
    dependants.length === 0
      ? null
      : h('section', { class: 'card' }, h('h2', null, 'On it depend'), ...dependants),
  ];
}
