/** A change request by its title, its state with what decides about it, and what pages show of open ones. */
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { useEvents } from '../feed.js';
import { minute } from '../format.js';
import { hrefOf } from '../place.js';
import { useDelayed } from '../resource.jsx';
import { Name } from '../said.jsx';
import { useSession } from '../session.js';

/** @import { ChangeRequest, EventHead, FoundChangeRequests, Session } from '../types.d.ts' */

/** @param {{ of: Pick<ChangeRequest, 'state' | 'approvals' | 'minApprovals' | 'schedule'> }} props */
export function RequestState({ of: { state, approvals, minApprovals, schedule } }) {
  const isWaiting =
    state === 'In review' || schedule?.status === 'suspended' || schedule?.status === 'failed';
  const text =
    state === 'In review'
      ? `In review, ${approvals.length} of ${minApprovals}`
      : state === 'Scheduled' && schedule !== undefined
        ? `${schedule.status === 'pending' ? 'Scheduled' : `Schedule ${schedule.status}`}, ${minute(schedule.scheduledAt)}`
        : state;
  return <span class={`badge${isWaiting ? ' badge-warn' : ''}`}>{text}</span>;
}

/** @param {{ of: Pick<ChangeRequest, 'id' | 'project' | 'title'> }} props */
export const RequestLink = ({ of: { id, project, title } }) => (
  <a href={hrefOf({ view: 'change-request', project, request: String(id) })}>
    <Name text={title} />
  </a>
);

/** Marks a flag that an open request changes. @param {{ is: boolean }} props */
export const Requested = ({ is }) => (is ? <span class="badge badge-warn">change requested</span> : null);

/** @param {Pick<EventHead, 'type'>} event */
export const isAboutRequests = ({ type }) => /^change-/.test(type);

/** Before it is asked, in milliseconds: what the page shows comes first, and events come together. */
const PAUSE_MS = 1_000;

/** Requests that wait for the caller: how many, and the newest; null until the menu has found them. @type {import('@preact/signals').Signal<FoundChangeRequests | null>} */
export const waiting = signal(null);

/** @param {Session} session @returns {Promise<FoundChangeRequests>} */
export const findWaiting = ({ client }) => client.get('/search/change-requests?actionable=IS:true&limit=5');

/**
 * Finds something about requests once the page stands, and again after each change of one; null until then, and where it cannot be read.
 * @template T
 * @param {(session: Session) => Promise<T>} find
 * @param {readonly unknown[]} of
 * @param {number} [pauseMs]
 */
export function useRequests(find, of, pauseMs = PAUSE_MS) {
  const session = useSession();
  const [found, setFound] = useState(/** @type {T | null} */ (null));
  const [news, setNews] = useState(0);
  useEvents(session, (events) => {
    if (events.some(isAboutRequests)) setNews(news + 1);
  });
  useDelayed(pauseMs, () => find(session).catch(() => null), setFound, [session, news, ...of]);
  return found;
}
