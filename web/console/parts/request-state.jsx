/** A change request by its title, and its state with how many approvals it has where that decides. */

import { hrefOf } from '../place.js';
import { Name } from '../said.jsx';

/** @import { ChangeRequest } from '../types.d.ts' */

/** @param {{ of: Pick<ChangeRequest, 'state' | 'approvals' | 'minApprovals'> }} props */
export function RequestState({ of: { state, approvals, minApprovals } }) {
  const count = countingOf({ approvals }).length;
  return state === 'In review' ? (
    <span class="badge badge-warn">{`In review, ${count} of ${minApprovals}`}</span>
  ) : (
    <span class="badge">{state}</span>
  );
}

/** The approvals of the present version by people who may approve it now. @param {Pick<ChangeRequest, 'approvals'>} request */
export const countingOf = ({ approvals }) => approvals.filter(({ counts }) => counts);

/** @param {{ of: Pick<ChangeRequest, 'id' | 'project' | 'title'> }} props */
export const RequestLink = ({ of: { id, project, title } }) => (
  <a href={hrefOf({ view: 'change-request', project, request: String(id) })}>
    <Name text={title} />
  </a>
);
