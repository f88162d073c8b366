/** One change request: what it changes, who approved it and who must still look, and its timeline. */
import { Fragment } from 'preact';
import { path } from '../client.js';
import {
  applyNow,
  approve,
  askReviewers,
  cancel,
  changesIn,
  comment,
  confirmChange,
  discard,
  discardChange,
  EDITED,
  editChange,
  reject,
  rename,
  schedule,
  sendToReview,
} from '../edit/change-request-edits.jsx';
import { capitalized, counted, userName } from '../format.js';
import { Button } from '../parts/button.jsx';
import { PlannedEvents } from '../parts/event-item.jsx';
import { FlagLink, ProjectCrumb } from '../parts/links.jsx';
import { ListingHead, RowAction } from '../parts/listing.jsx';
import { MoreMenu } from '../parts/more-menu.jsx';
import { isAboutRequests, RequestLink, RequestState } from '../parts/request-state.jsx';
import { TimeAgo } from '../parts/time-ago.jsx';
import { requestPath } from '../proposals.jsx';
import { useResource, whenLoaded } from '../resource.jsx';
import { Name, Said } from '../said.jsx';
import { useSession } from '../session.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Reviewers } from '../edit/change-request-edits.jsx' */
/** @import { ChangeRequest, ChangeRequestChange, LoggedEvent, Session } from '../types.d.ts' */

/** States in which nothing of a request changes any more. */
const CLOSED = ['Applied', 'Rejected', 'Cancelled'];

/** @typedef {{ request: ChangeRequest, asked: Reviewers, available: Reviewers }} Loaded */

/** @param {{ project: string, id: string }} props */
export function ChangeRequestView({ project, id }) {
  const session = useSession();
  const shown = useResource(
    () => load(session, project, id),
    [session, project, id],
    // Whatever changes in its project may be in conflict with it.
    (event) => isAboutRequests(event) || event.project === project || event.project === null,
  );
  return whenLoaded(
    shown,
    (loaded) => (
      <>
        <Head {...loaded} />
        <div class="columns">
          <div>
            <Review {...loaded} />
            {loaded.request.features.map(({ name, conflict: _, changes, defaultChange }) => (
              <section key={name} class="card" aria-label={name}>
                <h2>
                  <FlagLink project={project} name={name} />
                </h2>
                <ChangeList request={loaded.request} feature={name} changes={changes} />
                {defaultChange === undefined ? null : (
                  <>
                    <p class="muted">Switching it on adds its first strategy:</p>
                    <PlannedEvents events={[eventOf(defaultChange, null)]} />
                  </>
                )}
              </section>
            ))}
            {loaded.request.segments.map((change) => (
              <section key={change.id} class="card" aria-label={change.name}>
                <h2>
                  <Name text={`Segment ${change.name}`} />
                </h2>
                <ChangeList request={loaded.request} feature={null} changes={[change]} />
              </section>
            ))}
          </div>
          <Timeline of={loaded.request} />
        </div>
      </>
    ),
    'cards',
  );
}

/** @param {Session} session @param {string} project @param {string} id @returns {Promise<Loaded>} */
async function load({ client }, project, id) {
  /** @type {ChangeRequest} */
  const request = await client.get(requestPath({ project, id: Number(id) }));
  if (CLOSED.includes(request.state)) return { request, asked: [], available: [] };
  const at = path`/projects/${project}/change-requests/available-reviewers/${request.environment}`;
  const [asked, available] = await Promise.all([
    client.get(`${requestPath(request)}/approvers`),
    client.get(at),
  ]);
  return { request, asked: asked.reviewers, available: available.reviewers };
}

/** @param {Loaded} props */
function Head({ request, asked, available }) {
  const session = useSession();
  const { project, title, environment, createdBy, createdAt, events, schedule: planned } = request;
  const reason = planned?.failureReason ?? planned?.reason;
  return (
    <ListingHead
      crumb={<ProjectCrumb project={project} />}
      title={title}
      action={<Actions request={request} asked={asked} available={available} />}
    >
      <p class="row facts">
        <RequestState of={request} />
        <span>{`${counted(changesIn(request), 'change')} of ${environment}`}</span>
        <span>
          {'by '}
          <Name text={createdBy.username} />
          {createdBy.id === session.me.user.id ? ' (you)' : ''}
        </span>
        <TimeAgo iso={createdAt} prefix="created " />
        {events.length === 0 ? null : (
          <span>{`recorded as the events #${events[0]} to #${events.at(-1)}`}</span>
        )}
      </p>
      {reason === undefined ? null : (
        <p class="problem">
          {`${capitalized(planned?.status ?? '')}: `}
          <Name text={reason} max={500} />
        </p>
      )}
    </ListingHead>
  );
}

/** @param {Loaded} props */
function Actions({ request, asked, available }) {
  const session = useSession();
  const { state, createdBy, approvals, minApprovals } = request;
  const { id } = session.me.user;
  const isMine = createdBy.id === id;
  const isOpen = !CLOSED.includes(state);
  const isSent = isOpen && state !== 'Draft';
  const mayReview = isSent && !isMine && session.holds('APPROVE_CHANGE_REQUEST', request);
  const hasApproved = approvals.some((one) => one.createdBy.id === id);
  const mayApply =
    ['Approved', 'Scheduled'].includes(state) &&
    approvals.length >= minApprovals &&
    session.holds('APPLY_CHANGE_REQUEST', request);
  /** @param {string} text @param {() => unknown} act @param {boolean} [isMain] */
  const button = (text, act, isMain = false) => (
    <Button looks={`button${isMain ? ' button-main' : ''}`} act={act}>
      {text}
    </Button>
  );
  return (
    <div class="row">
      {mayReview ? button('Reject…', () => reject(session, request)) : null}
      {mayReview && !hasApproved && state !== 'Scheduled'
        ? button('Approve', () => approve(session, request), !mayApply)
        : null}
      {mayApply ? button('Apply now', () => applyNow(session, request), true) : null}
      {state === 'Draft' && isMine
        ? button('Send to review…', () => sendToReview(session, request, available), true)
        : null}
      {isOpen ? button('Comment…', () => comment(session, request)) : null}
      <MoreMenu
        label="More for this change request"
        items={[
          mayApply ? ['Apply at a time…', 'history', () => schedule(session, request)] : null,
          isOpen && isMine ? ['Rename…', 'edit', () => rename(session, request)] : null,
          isSent && isMine
            ? ['Reviewers…', 'people', () => askReviewers(session, request, { asked, available })]
            : null,
          isSent && (isMine || session.holds('APPROVE_CHANGE_REQUEST', request))
            ? ['Cancel the request…', 'close', () => cancel(session, request), true]
            : null,
          state === 'Draft' && isMine ? ['Discard…', 'remove', () => discard(session, request), true] : null,
        ]}
      />
    </div>
  );
}

/** The people who approved it, and those who must still look. @param {Loaded} props */
function Review({ request, asked, available }) {
  const { state, minApprovals, createdBy } = request;
  if ([...CLOSED, 'Draft', 'Scheduled'].includes(state)) return null;
  const missing = minApprovals - request.approvals.length;
  const hasLooked = new Set(request.approvals.map((one) => one.createdBy.id));
  /** @param {Reviewers} people */
  const waiting = (people) =>
    people
      .filter(({ id }) => id !== createdBy.id && !hasLooked.has(id))
      .map((one) => userName({ ...one, email: one.email ?? undefined }));
  const named = waiting(asked);
  const others = waiting(available);
  return (
    <section class="card" aria-label="Review">
      <h2>Review</h2>
      <p>
        {missing <= 0
          ? 'It has the approvals that it needs.'
          : `It needs ${counted(missing, 'more approval')}. `}
        {missing <= 0 ? null : (
          <Name
            max={300}
            text={
              named.length > 0
                ? `Asked: ${named.join(', ')}.`
                : others.length > 0
                  ? `Any of these can give it: ${others.join(', ')}.`
                  : 'Nobody else may approve it: an Admin can give somebody the role.'
            }
          />
        )}
      </p>
    </section>
  );
}

/** @param {{ request: ChangeRequest, feature: string | null, changes: readonly ChangeRequestChange[] }} props */
function ChangeList({ request, feature, changes }) {
  const session = useSession();
  const { state, createdBy, environment } = request;
  const mayEdit = createdBy.id === session.me.user.id && ['Draft', 'In review', 'Approved'].includes(state);
  return (
    <PlannedEvents
      events={changes.map((change) => eventOf(change, environment))}
      below={(index) => {
        const change = /** @type {ChangeRequestChange} */ (changes[index]);
        const action = (/** @type {string} */ text, /** @type {() => unknown} */ act) => (
          <RowAction text={text} of={`change ${change.id}`} act={act} />
        );
        return (
          <>
            {change.conflict === undefined ? null : (
              <p class="problem">
                {'Conflict: '}
                <Name text={change.conflict} max={500} />
              </p>
            )}
            {change.scheduleConflicts === undefined ? null : (
              <p class="problem">
                {'Scheduled requests change the same, and whichever is applied later may be suspended:'}
                {change.scheduleConflicts.changeRequests.map((one) => (
                  <Fragment key={one.id}>
                    {' '}
                    <RequestLink of={{ ...one, project: request.project }} />
                  </Fragment>
                ))}
              </p>
            )}
            {mayEdit ? (
              <div class="row">
                {change.conflict === undefined
                  ? null
                  : action('Confirm for what is there now', () =>
                      confirmChange(session, request, feature, change),
                    )}
                {EDITED.includes(change.action)
                  ? action('Edit', () => editChange(session, request, feature, change))
                  : null}
                {action('Discard', () => discardChange(session, request, change))}
              </div>
            ) : null}
          </>
        );
      }}
    />
  );
}

/** The events that changes record, by their actions. @type {Readonly<Record<string, string>>} */
const EVENTS = {
  addStrategy: 'feature-strategy-add',
  updateStrategy: 'feature-strategy-update',
  deleteStrategy: 'feature-strategy-remove',
  patchVariant: 'feature-environment-variants-updated',
  reorderStrategy: 'strategy-order-changed',
  archiveFeature: 'feature-archived',
  addDependency: 'feature-dependency-added',
  deleteDependency: 'feature-dependency-removed',
  updateSegment: 'segment-updated',
  deleteSegment: 'segment-deleted',
};

/**
 * A change as the event that it records, in the words of the log.
 * @param {{ action: string, payload?: unknown }} change
 * @param {string | null} environment
 * @returns {LoggedEvent}
 */
function eventOf({ action, payload }, environment) {
  const { snapshot = null, ...after } = /** @type {any} */ (payload ?? {});
  const type = EVENTS[action] ?? `feature-environment-${after.enabled === false ? 'disabled' : 'enabled'}`;
  const isWhole = /^(?:feature-archived|feature-dep|segment-)/.test(type);
  const [preData, data] = sidesOf(action, snapshot, after);
  const event = { type, environment: isWhole ? null : environment, featureName: null, preData, data };
  return /** @type {LoggedEvent} */ (/** @type {unknown} */ (event));
}

/** The record before and after the change, with the fields that it sets. @param {string} action @param {any} snapshot @param {any} after */
function sidesOf(action, snapshot, after) {
  if (action === 'updateEnabled' || action === 'reorderStrategy') return [null, null];
  if (action === 'addStrategy') return [null, after];
  if (/^delete(?:Strategy|Segment)$/.test(action)) return [snapshot, null];
  if (action === 'deleteDependency') return [after, {}];
  if (action === 'patchVariant') return [{ variants: snapshot }, after];
  const names = Object.keys(after);
  return [Object.fromEntries(names.map((name) => [name, snapshot?.[name]])), after];
}

/** @param {{ of: ChangeRequest }} props */
function Timeline({ of: request }) {
  const { createdBy, stateTimestamps, approvals, rejections, comments } = request;
  /** @type {{ at: string, who: string | null, what: ComponentChildren, tone?: string }[]} */
  const steps = [
    ...Object.entries(stateTimestamps)
      .filter(([state]) => state !== 'Rejected')
      .map(([state, at]) => ({
        at,
        who: state === 'Draft' || state === 'In review' ? createdBy.username : null,
        what: STEPS[state] ?? state.toLowerCase(),
        tone: state === 'Applied' ? 'on' : 'plain',
      })),
    ...approvals.map(({ createdAt: at, createdBy: by }) => ({
      ...{ at, who: by.username, what: 'approved', tone: 'on' },
    })),
    ...rejections.map(({ createdAt: at, createdBy: by }) => ({
      ...{ at, who: by.username, what: 'rejected', tone: 'off' },
    })),
    ...comments.map(({ createdAt: at, createdBy: by, text }) => ({
      ...{ at, who: by.username },
      what: <Said text={text} max={1000} />,
    })),
  ].sort((one, other) => (one.at < other.at ? 1 : -1));
  return (
    <section class="history" aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <ol class="plain events">
        {steps.map(({ at, who, what, tone = 'plain' }, index) => (
          <li key={`${at} ${index}`} class="event">
            <span class={`event-dot event-${tone}`} aria-hidden="true" />
            <div class="grow">
              <div>{what}</div>
              <div class="row hint">
                {who === null ? null : <Name text={who} />}
                <TimeAgo iso={at} />
              </div>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** @type {Readonly<Record<string, string>>} */
const STEPS = { Draft: 'begun', 'In review': 'sent to review' };
