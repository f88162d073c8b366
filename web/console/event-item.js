/** One event in a list: what was done to what, by whom and when, with everything that is recorded behind a click. */
import { h } from './dom.js';
import { hrefOf } from './place.js';
import { timeAgo } from './time-ago.js';
import { changedFields, deedOf, toneOf } from './words.js';

/** @import { LoggedEvent } from './types.d.ts' */

/** How many changed fields are told without a click. */
const FIELDS_SHOWN = 3;
const TEXT_SHOWN = 60;

/**
 * @param {LoggedEvent} event
 * @param {{ fresh?: boolean, aboutFlag?: boolean, action?: HTMLElement | null }} options `aboutFlag`: the
 *   list is that of one flag, whose name need not be repeated
 */
export function eventItem(event, { fresh = false, aboutFlag = false, action = null } = {}) {
  return h(
    'li',
    { class: `event${fresh ? ' event-fresh' : ''}`, 'data-id': event.id },
    h('span', { class: `event-dot event-${toneOf(event)}`, 'aria-hidden': 'true' }),
    h(
      'div',
      { class: 'event-text' },
      h('div', null, aboutFlag ? null : subjectOf(event), h('span', null, deedOf(event))),
      ...fieldLines(event),
      h(
        'div',
        { class: 'event-meta' },
        h('span', null, event.createdBy),
        timeAgo(event.createdAt),
        h('span', { class: 'number' }, `#${event.id}`),
        action,
      ),
      recordOf(event),
    ),
  );
}

/** @param {LoggedEvent} event */
function subjectOf({ project, featureName, type }) {
  if (featureName === null) return project === null ? null : h('span', { class: 'event-subject' }, project);
  // A deleted flag can be read nowhere any more.
  if (project === null || type === 'feature-deleted')
    return h('code', { class: 'event-subject' }, featureName);
  const href = hrefOf({ view: 'flag', project, flag: featureName });
  return h('a', { href, class: 'event-subject' }, h('code', null, featureName));
}

/** What a change of metadata changed. @param {LoggedEvent} event */
export function fieldLines(event) {
  if (event.type !== 'feature-metadata-updated') return [];
  return changedFields(event)
    .slice(0, FIELDS_SHOWN)
    .map(({ name, before, after }) =>
      h(
        'div',
        { class: 'event-field' },
        `${name}: `,
        h('del', null, shortened(before)),
        ' → ',
        h('ins', null, shortened(after)),
      ),
    );
}

/** @param {string} text */
function shortened(text) {
  return text.length <= TEXT_SHOWN ? text : `${text.slice(0, TEXT_SHOWN)}…`;
}

/** @param {LoggedEvent} event */
function recordOf({ type, data, preData }) {
  if (data === null && preData === null) return null;
  const recorded = { type, ...(preData === null ? {} : { preData }), ...(data === null ? {} : { data }) };
  const text = JSON.stringify(recorded, null, 2);
  return h(
    'details',
    { class: 'record' },
    h('summary', null, 'Record'),
    h('pre', { tabindex: '0', 'aria-label': 'What was recorded' }, text),
  );
}
