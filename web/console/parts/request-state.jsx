/** A change request by its title, and its state with how many approvals it has where that decides. */

import { hrefOf } from '../place.js';
import { Name } from '../said.jsx';

/** @import { ChangeRequest } from '../types.d.ts' */

/** @param {{ of: Pick<ChangeRequest, 'state' | 'approvals' | 'minApprovals'> }} props */
export function RequestState({ of: { state, approvals, minApprovals } }) {
  return state === 'In review' ? (
    <span class="badge badge-warn">{`In review, ${approvals.length} of ${minApprovals}`}</span>
  ) : (
    <span class="badge">{state}</span>
  );
}

/** @param {{ of: Pick<ChangeRequest, 'id' | 'project' | 'title'> }} props */
export const RequestLink = ({ of: { id, project, title } }) => (
  <a href={hrefOf({ view: 'change-request', project, request: String(id) })}>
    <Name text={title} />
  </a>
);
