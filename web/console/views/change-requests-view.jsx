/** The change requests of all projects: those that wait for the caller, the caller's own, and all. */
import { useState } from 'preact/hooks';
import { useEvents } from '../feed.js';
import { counted } from '../format.js';
import { Button } from '../parts/button.jsx';
import { Listing, ListingHead } from '../parts/listing.jsx';
import { RequestLink, RequestState } from '../parts/request-state.jsx';
import { TimeAgo } from '../parts/time-ago.jsx';
import { hrefOf, useQuery } from '../place.js';
import { isAboutRequests } from '../proposals.jsx';
import { useResource, whenLoaded } from '../resource.jsx';
import { useSession } from '../session.js';

/** @import { FoundChangeRequest, FoundChangeRequests, Session } from '../types.d.ts' */

const PAGE = 50;

/** The lists by the part of the address, each with its condition. @type {readonly (readonly [key: string, name: string, condition: (session: Session) => string])[]} */
const LISTS = [
  ['', 'To review or apply', () => 'actionable=IS:true'],
  ['mine', 'Mine', ({ me }) => `createdBy=IS:${me.user.id}`],
  ['open', 'Open', () => 'state=IS:open'],
  ['all', 'All', () => ''],
];

export function ChangeRequestsView() {
  const session = useSession();
  const shown = useQuery().get('show');
  const [pages, setPages] = useState(1);
  const condition = LISTS.find(([key]) => key === shown)?.[2](session) ?? '';
  const found = useResource(
    () => session.client.get(`/search/change-requests?${condition}&limit=${pages * PAGE}`),
    [session, condition, pages],
  );
  useEvents(session, (events) => {
    if (events.some(isAboutRequests)) void found.refresh();
  });
  return (
    <>
      <ListingHead
        title="Change requests"
        lead="Changes of protected environments, proposed by one person and approved by another."
      />
      <nav class="facts saved" aria-label="Lists">
        {LISTS.map(([key, name]) => (
          <a
            key={key}
            href={hrefOf({ view: 'change-requests', query: key === '' ? '' : `show=${key}` })}
            aria-current={shown === key ? 'true' : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      {whenLoaded(found, (/** @type {FoundChangeRequests} */ { changeRequests, total }) => (
        <>
          <p class="muted" role="status">
            {counted(total, 'change request')}
          </p>
          <Listing
            label="Change requests"
            columns={['Change request', 'State', 'Environment', 'Changes', 'By', 'Created']}
            rows={changeRequests.map(rowOf)}
            none={shown === '' ? 'Nothing waits for you' : 'No change requests here'}
            next="A project’s settings say which environments take changes by change request."
          />
          {changeRequests.length < total ? (
            <p class="more">
              <Button act={() => setPages(pages + 1)}>More change requests</Button>
            </p>
          ) : null}
        </>
      ))}
    </>
  );
}

/** @param {FoundChangeRequest} request */
function rowOf(request) {
  const { id, project, environment, features, segments, createdBy, createdAt } = request;
  return {
    key: String(id),
    cells: [
      <RequestLink key="title" of={request} />,
      <RequestState key="state" of={request} />,
      `${environment} of ${project}`,
      [...features, ...segments].join(', '),
      createdBy.username,
      <TimeAgo key="created" iso={createdAt} />,
    ],
  };
}
