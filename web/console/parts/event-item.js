/** One event in a list: what was done to what, by whom and when, with everything that is recorded behind a click. */
import { h } from 'preact';
import { hrefOf } from '../place.js';
import { changesOf, deedOf, toneOf } from '../words.js';
import { TimeAgo } from './time-ago.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { LoggedEvent } from '../types.d.ts' */

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
function Subject({ of: { project, featureName, type } }) {
  if (featureName === null) return project === null ? null : h('span', { class: 'event-subject' }, project);
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
        h(Changes, { of: planned }),
      ),
    ),
  );
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
