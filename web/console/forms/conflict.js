/** Somebody else changed the flag while a form was open: who, when, what, and how to take both. */
import { h } from 'preact';
import { path } from '../client.js';
import { Changes } from '../parts/event-item.js';
import { TimeAgo } from '../parts/time-ago.js';
import { deedOf, shown } from '../words.js';

/** @import { EditedFlag, LoggedEvent, Session } from '../types.d.ts' */

/** Events of others that are listed. */
const LISTED_MAX = 10;

/**
 * @typedef {object} ConflictState
 * @property {readonly LoggedEvent[]} events of others, newest first
 * @property {Record<string, unknown> | null} theirs null when what was edited is gone
 * @property {Record<string, unknown>} mine
 * @property {Record<string, unknown>} merged
 * @property {readonly string[]} both fields that both changed, each in another way
 * @property {string} etag of the flag as it is now
 */

/**
 * @param {Session} session
 * @param {{ of: EditedFlag<any>, base: { values: any, etag: string }, mine: any }} edited
 * @returns {Promise<ConflictState>}
 */
export async function conflictOf({ client }, { of, base, mine }) {
  const { project, name } = of;
  const search = { project, feature: name, limit: LISTED_MAX };
  const [{ body, etag }, { events }] = await Promise.all([
    client.read(path`/projects/${project}/features/${name}`),
    client.post('/events/search', search),
  ]);
  const since = revisionOf(base.etag);
  const theirs = of.valuesIn(body);
  return {
    events: events.filter((/** @type {LoggedEvent} */ { id }) => id > since),
    theirs,
    mine,
    ...mergedOf(base.values, mine, theirs ?? base.values),
    etag,
  };
}

/** The event id in an ETag, which begins with it. @param {string} etag */
export function revisionOf(etag) {
  return Number(/^"(\d+)/.exec(etag)?.[1] ?? 0);
}

/**
 * Field by field: what only one of the two changed is theirs or mine, and what both changed is mine until decided.
 * @param {Record<string, unknown>} base
 * @param {Record<string, unknown>} mine
 * @param {Record<string, unknown>} theirs
 */
export function mergedOf(base, mine, theirs) {
  /** @type {Record<string, unknown>} */
  const merged = {};
  const both = [];
  for (const name of Object.keys(mine)) {
    const isMine = !isSame(base[name], mine[name]);
    merged[name] = isMine ? mine[name] : theirs[name];
    if (isMine && !isSame(base[name], theirs[name]) && !isSame(mine[name], theirs[name])) both.push(name);
  }
  return { merged, both };
}

/** @param {unknown} one @param {unknown} other */
const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/**
 * @param {object} props
 * @param {ConflictState} props.of
 * @param {(merged: object, theirs: object, etag: string) => void} props.resolve
 * @param {() => void} props.close
 */
export function Conflict({ of: { events, theirs, mine, merged, both, etag }, resolve, close }) {
  const [last] = events;
  return h(
    'section',
    { class: 'conflict', role: 'alert' },
    h(
      'p',
      { class: 'conflict-title' },
      last === undefined
        ? 'This was changed meanwhile'
        : [`${last.createdBy} changed this `, h(TimeAgo, { iso: last.createdAt })],
    ),
    h(
      'ul',
      { class: 'rollback-list' },
      events.map((event) => h('li', { key: event.id }, deedOf(event), h(Changes, { of: event }))),
    ),
    theirs === null
      ? h('p', null, 'What you edited is gone, so your change cannot be kept.')
      : both.map((name) =>
          h(
            'p',
            { key: name, class: 'event-field' },
            `${name}: theirs is `,
            h('ins', null, shown(theirs[name])),
            ', yours is ',
            h('ins', null, shown(mine[name])),
          ),
        ),
    h(
      'div',
      { class: 'question-answers' },
      h('button', { type: 'button', class: 'button', onClick: close }, 'Keep only theirs'),
      theirs === null
        ? null
        : h(
            'button',
            { type: 'button', class: 'button button-main', onClick: () => resolve(merged, theirs, etag) },
            both.length === 0 ? 'Take both' : 'Take both, mine where they differ',
          ),
    ),
  );
}
