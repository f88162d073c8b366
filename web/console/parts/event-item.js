/** One event in a list: what was done to what, by whom and when, with everything that is recorded behind a click. */
import { h } from 'preact';
import { audienceOf } from '../audience.js';
import { hrefOf } from '../place.js';
import { changesOf, deedOf, recordNameOf, toneOf } from '../words.js';
import { TimeAgo } from './time-ago.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { LoggedEvent, StrategyInput } from '../types.d.ts' */

/** How many changed fields are told without a click. */
const FIELDS_SHOWN = 4;

/**
 * @param {object} props
 * @param {LoggedEvent} props.event
 * @param {boolean} [props.isFresh]
 * @param {boolean} [props.isAboutFlag] the list is that of one flag, whose name need not be repeated
 * @param {ComponentChildren} [props.action]
 */
export function EventItem({ event, isFresh = false, isAboutFlag = false, action = null }) {
  return h(
    'li',
    { class: `event${isFresh ? ' event-fresh' : ''}`, 'data-id': event.id },
    h('span', { class: `event-dot event-${toneOf(event)}`, 'aria-hidden': 'true' }),
    h(
      'div',
      { class: 'event-text' },
      h('div', null, isAboutFlag ? null : h(Subject, { of: event }), h('span', null, deedOf(event))),
      h(WhichStrategy, { of: event }),
      h(Changes, { of: event }),
      h(
        'div',
        { class: 'event-meta' },
        h('span', null, event.createdBy),
        h(TimeAgo, { iso: event.createdAt }),
        h('span', { class: 'number' }, `#${event.id}`),
        action,
      ),
      h(EventRecord, { of: event }),
    ),
  );
}

/** @param {{ of: LoggedEvent }} props */
function Subject({ of }) {
  const { project, featureName, type } = of;
  if (featureName === null) {
    const name = project ?? recordNameOf(of);
    return name === null ? null : h('span', { class: 'event-subject' }, name);
  }
  // A deleted flag can be read nowhere any more.
  if (project === null || type === 'feature-deleted')
    return h('code', { class: 'event-subject' }, featureName);
  const href = hrefOf({ view: 'flag', project, flag: featureName });
  return h('a', { href, class: 'event-subject' }, h('code', null, featureName));
}

/** Events that a change would record. @param {{ events: readonly LoggedEvent[] }} props */
export function PlannedEvents({ events }) {
  return h(
    'ul',
    { class: 'rollback-list' },
    events.map((planned, index) =>
      h(
        'li',
        { key: index },
        planned.featureName ? h('code', { class: 'event-subject' }, planned.featureName) : null,
        deedOf(planned),
        h(WhichStrategy, { of: planned }),
        h(Changes, { of: planned }),
      ),
    ),
  );
}

/** No segment is named: the record has their ids only, and they may be others by now. */
const NO_NAMES = new Map();

/** The strategy that an event is about: by its title, and for whom it is where it came or went. @param {{ of: Pick<LoggedEvent, 'type' | 'data' | 'preData'> }} props */
function WhichStrategy({ of: { type, data, preData } }) {
  if (!/^feature-strategy-(?:add|update|remove)$/.test(type)) return null;
  const strategy = /** @type {StrategyInput | null} */ (data ?? preData);
  if (strategy === null) return null;
  const { title } = strategy;
  const audience = data === null || preData === null ? audienceOf(strategy, NO_NAMES) : null;
  const words = [title || null, audience].filter((part) => part !== null).join(': ');
  return words === '' ? null : h('div', { class: 'event-field' }, words);
}

/** What an event changed, field by field. @param {{ of: Pick<LoggedEvent, 'type' | 'data' | 'preData'> }} props */
export function Changes({ of }) {
  const changes = changesOf(of);
  const rest = changes.length - FIELDS_SHOWN;
  return [
    ...changes
      .slice(0, FIELDS_SHOWN)
      .map(({ name, before, after }) =>
        h(
          'div',
          { key: name, class: 'event-field' },
          `${name}: `,
          h('del', null, before),
          ' → ',
          h('ins', null, after),
        ),
      ),
    rest > 0 ? h('div', { key: '', class: 'event-field' }, `and ${rest} more`) : null,
  ];
}

/** @param {{ of: LoggedEvent }} props */
function EventRecord({ of: { id, type, data, preData } }) {
  if (data === null && preData === null) return null;
  const recorded = { type, ...(preData === null ? {} : { preData }), ...(data === null ? {} : { data }) };
  return h(
    'details',
    { class: 'record' },
    h('summary', null, 'Record'),
    h(
      'pre',
      { tabIndex: 0, role: 'group', 'aria-label': `What event ${id} recorded` },
      JSON.stringify(recorded, null, 2),
    ),
  );
}
