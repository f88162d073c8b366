/** Actions on a change request, and on the environments that take them. */
import { changing, path } from '../client.js';
import { counted, userName } from '../format.js';
import { openEdit } from '../forms/edit-dialog.jsx';
import { field } from '../forms/field.js';
import { SEGMENTS } from '../kinds/targeting.jsx';
import { hrefOf } from '../place.js';
import { forgetProtected, requestPath } from '../proposals.jsx';
import { said } from '../said.jsx';
import { editKind } from './kind-edits.js';
import { changeAtOnce, removeAfterAsking } from './remove.jsx';
import { editProposedStrategy } from './strategy-edits.jsx';
import { variantsForm } from './variant-edits.jsx';

/** @import { Change } from '../client.js' */
/** @import { ChangeRequest, ChangeRequestChange, ChangeRequestConfig, ChangeRequestReviewers, Field, Session } from '../types.d.ts' */

/** @typedef {ChangeRequestReviewers['reviewers']} Reviewers */

/** @param {ChangeRequest} request @param {string} part below its path @param {object} body @returns {Change} */
const putting = (request, part, body) => changing('PUT', requestPath(request) + part, body);

/** @param {ChangeRequest} request @param {string} state @param {{ comment?: string, scheduledAt?: string }} [more] */
const setting = (request, state, { comment = '', ...more } = {}) =>
  putting(request, '/state', {
    ...{ state, version: request.version, ...more },
    ...(comment === '' ? {} : { comment }),
  });

/** @param {Session} session @param {ChangeRequest} request */
export const approve = (session, request) =>
  changeAtOnce(session, {
    change: setting(request, 'Approved'),
    done: `You approved ${said(request.title)}.`,
  });

/** @param {Session} session @param {ChangeRequest} request */
export const applyNow = (session, request) =>
  changeAtOnce(session, {
    change: setting(request, 'Applied'),
    done: `${said(request.title)} is applied in ${request.environment}.`,
  });

/** @param {Session} session @param {ChangeRequest} request */
export const schedule = (session, request) =>
  openEdit(session, {
    title: `Apply ${said(request.title)} at a time`,
    agree: 'Schedule',
    fields: [field('at', 'Time (UTC)', 'time', { required: true, paths: ['scheduledAt'] })],
    values: { at: '' },
    sentence: ({ at }) =>
      `It will be applied in ${request.environment} at ${at.replace('T', ' ') || '…'} UTC.`,
    change: ({ at }) => setting(request, 'Scheduled', { scheduledAt: `${at}:00.000Z` }),
    done: () => `${said(request.title)} is scheduled.`,
  });

/** @param {ChangeRequest} request */
export const changesIn = ({ features, segments }) =>
  features.reduce((sum, { changes }) => sum + changes.length, segments.length);

const TITLE = field('title', 'Title', 'text', { required: true });
const COMMENT = field('comment', 'Comment', 'long-text');

/** @param {Reviewers} available @param {ChangeRequest} request @returns {Field<any>} */
const reviewersField = (available, { createdBy }) =>
  field('reviewers', 'Ask for a review', 'many', {
    hint: 'None selected: anyone who may approve it.',
    options: available
      .filter(({ id }) => id !== createdBy.id)
      .map((one) => [String(one.id), userName({ ...one, email: one.email ?? undefined })]),
  });

/** @param {ChangeRequest} request @param {readonly string[]} reviewers */
const asking = (request, reviewers) => putting(request, '/approvers', { reviewers: reviewers.map(Number) });

/** @param {Session} session @param {ChangeRequest} request @param {Reviewers} available */
export function sendToReview(session, request, available) {
  const { title, environment, minApprovals } = request;
  return openEdit(session, {
    title: `Send ${said(title)} to review`,
    agree: 'Send',
    fields: [TITLE, COMMENT, reviewersField(available, request)],
    values: { title, comment: '', reviewers: /** @type {readonly string[]} */ ([]) },
    sentence: () =>
      `${counted(changesIn(request), 'change')} of ${environment} ${minApprovals === 0 ? 'can be applied without an approval' : `can be applied after ${counted(minApprovals, 'approval')}`}.`,
    change: ({ comment }) => setting(request, 'In review', { comment }),
    async send(change, now, client) {
      if (now.title !== title) await client.change(naming(request, now.title));
      if (now.reviewers.length > 0) await client.change(asking(request, now.reviewers));
      return client.change(change);
    },
    done: (now) => `${said(now.title)} is in review.`,
  });
}

/** @param {ChangeRequest} request @param {string} title */
const naming = (request, title) => putting(request, '/title', { title });

/** @param {Session} session @param {ChangeRequest} request */
export const rename = (session, request) =>
  openEdit(session, {
    title: `Rename ${said(request.title)}`,
    fields: [TITLE],
    values: { title: request.title },
    sentence: ({ title }) => `The change request is called ${said(title || '…')}.`,
    change: ({ title }) => naming(request, title),
    done: ({ title }) => `The change request is called ${said(title)}.`,
    undo: 'before',
  });

/** @param {Session} session @param {ChangeRequest} request @param {{ available: Reviewers, asked: Reviewers }} people */
export const askReviewers = (session, request, { available, asked }) =>
  openEdit(session, {
    title: `Reviewers of ${said(request.title)}`,
    fields: [reviewersField(available, request)],
    values: { reviewers: asked.map(({ id }) => String(id)) },
    sentence: ({ reviewers }) =>
      reviewers.length === 0
        ? 'Nobody is asked by name.'
        : `${counted(reviewers.length, 'person is', 'people are')} asked.`,
    change: ({ reviewers }) => asking(request, reviewers),
    done: () => 'The reviewers are changed.',
    undo: 'before',
  });

/** @param {Session} session @param {ChangeRequest} request */
export const comment = (session, request) =>
  openEdit(session, {
    title: `Comment on ${said(request.title)}`,
    agree: 'Comment',
    fields: [/** @type {Field<any>} */ ({ ...COMMENT, required: true, paths: ['text'] })],
    values: { comment: '' },
    sentence: () => 'Everyone who sees the change request sees the comment.',
    change: (now) => changing('POST', `${requestPath(request)}/comments`, { text: now.comment }),
    done: () => 'The comment is added.',
  });

/** @param {Session} session @param {ChangeRequest} request */
export const reject = (session, request) =>
  openEdit(session, {
    title: `Reject ${said(request.title)}`,
    agree: 'Reject',
    danger: true,
    fields: [COMMENT],
    values: { comment: '' },
    sentence: () => 'Nothing of it is applied. This is final: its author proposes again.',
    change: (now) => setting(request, 'Rejected', now),
    done: () => `You rejected ${said(request.title)}.`,
  });

/** @param {Session} session @param {ChangeRequest} request */
export const cancel = (session, request) =>
  removeAfterAsking(session, {
    title: `Cancel ${said(request.title)}?`,
    agree: 'Cancel the request',
    text: 'Nothing of it is applied. It stays readable.',
    change: setting(request, 'Cancelled'),
    done: `${said(request.title)} is cancelled.`,
  });

/** @param {Session} session @param {ChangeRequest} request */
export async function discard(session, request) {
  const isDone = await removeAfterAsking(session, {
    title: `Discard ${said(request.title)}?`,
    agree: 'Discard',
    text: `Its ${counted(changesIn(request), 'change')} will be lost.`,
    change: changing('DELETE', requestPath(request)),
    done: `${said(request.title)} is discarded.`,
  });
  if (isDone) location.hash = hrefOf({ view: 'change-requests' });
}

/** @param {Session} session @param {ChangeRequest} request @param {ChangeRequestChange} change */
export const discardChange = (session, request, { id }) =>
  changeAtOnce(session, {
    change: changing('DELETE', `${requestPath(request)}/changes/${id}`),
    done: 'The change is discarded.',
  });

/** @param {ChangeRequest} request @param {string | null} feature @param {ChangeRequestChange} change @param {unknown} payload */
const replacing = (request, feature, { id, action }, payload) =>
  putting(request, `/changes/${id}`, { feature, action, payload });

/** The change as it was sent. @param {ChangeRequestChange} change @returns {any} */
function sentIn({ payload }) {
  const { snapshot: _, ...sent } = /** @type {any} */ (payload ?? {});
  return Array.isArray(payload) ? payload : sent;
}

/** Proposes a change again for what its target is now. @param {Session} session @param {ChangeRequest} request @param {string | null} feature @param {ChangeRequestChange} change */
export const confirmChange = (session, request, feature, change) =>
  changeAtOnce(session, {
    change: replacing(request, feature, change, sentIn(change)),
    done: 'The change is confirmed for what is there now.',
  });

/** Actions whose changes have a form. The others are discarded, and proposed again. */
export const EDITED = ['addStrategy', 'updateStrategy', 'patchVariant', 'updateSegment'];

/** Edits a change of the request, in the form in which it was proposed. @param {Session} session @param {ChangeRequest} request @param {string | null} feature @param {ChangeRequestChange} change */
export function editChange(session, request, feature, change) {
  const { id, action, payload } = change;
  const { project, environment, title } = request;
  const name = feature ?? '';
  const sent = sentIn(change);
  /** @param {object} now */
  const replace = (now) => replacing(request, feature, change, now);
  const dialog = {
    title: `Edit change ${id} of ${said(title)}`,
    done: () => 'The change is edited.',
    undo: replace(sent),
  };
  if (action === 'patchVariant')
    return openEdit(session, { ...variantsForm(name, sent), ...dialog, change: replace });
  if (action === 'updateSegment') {
    const { isRead: _, bodyOf, ...kind } = SEGMENTS;
    const segment = { .../** @type {any} */ (payload).snapshot, ...sent };
    return editKind(
      session,
      {
        ...kind,
        changeAt: () => replace({}).path,
        bodyOf: (now) =>
          /** @type {object} */ (replace({ ...bodyOf(now, false, segment), id: sent.id }).body),
      },
      segment,
    );
  }
  const own = action === 'updateStrategy' ? { id: sent.id } : {};
  return editProposedStrategy(
    session,
    { project, environment, name },
    sent,
    (input) => replace({ ...input, ...own }),
    dialog,
  );
}

/** @param {Session} session @param {string} project @param {ChangeRequestConfig} config */
export function configure(
  session,
  project,
  { environment, changeRequestEnabled, requiredApprovals, allowSwitchOff },
) {
  const values = { isOn: changeRequestEnabled, requiredApprovals: requiredApprovals ?? 1, allowSwitchOff };
  /** @param {typeof values} now */
  const isOn = (now) => now.isOn;
  return openEdit(session, {
    title: `Change requests in ${environment}`,
    fields: [
      field('isOn', 'Take changes by change request only', 'check', { paths: ['changeRequestsEnabled'] }),
      field('requiredApprovals', 'Required approvals', 'number', {
        hint: '0 to 10, by people who wrote none of the changes.',
        when: isOn,
      }),
      field('allowSwitchOff', 'Flags can be switched off without a request', 'check', {
        hint: 'A kill switch must not wait for an approval.',
        when: isOn,
      }),
    ],
    values,
    sentence: (now) =>
      now.isOn
        ? `Changes in ${environment} need a change request with ${counted(now.requiredApprovals || 0, 'approval')}${now.allowSwitchOff ? '; switching off does not' : ''}.`
        : `Changes in ${environment} take effect at once.`,
    change: ({ isOn, ...others }) =>
      changing('PUT', path`/projects/${project}/environments/${environment}/change-requests/config`, {
        changeRequestsEnabled: isOn,
        ...others,
      }),
    done: () => `Change requests in ${environment} are ${changeRequestEnabled ? 'changed' : 'set up'}.`,
    undo: 'before',
    after: forgetProtected,
  });
}
