/** The change requests of all projects: those that wait for the caller, the caller's own, and all. */
import { counted } from '../format.js';
import { Lists } from '../parts/links.jsx';
import { FoundListing, ListingHead, useFound } from '../parts/listing.jsx';
import { isAboutRequests, RequestLink, RequestState, useRequests } from '../parts/request-state.jsx';
import { TimeAgo } from '../parts/time-ago.jsx';
import { hrefOf, useQuery } from '../place.js';
import { whenLoaded } from '../resource.jsx';
import { Name } from '../said.jsx';
import { useSession } from '../session.js';

/** @import { FoundChangeRequest, Session } from '../types.d.ts' */

/** The lists by the query of the address, each with its condition. @type {readonly (readonly [name: string, query: string, condition: (session: Session) => string])[]} */
const LISTS = [
  ['To review or apply', '', () => 'actionable=IS:true'],
  ['Mine', 'show=mine', ({ me }) => `createdBy=IS:${me.user.id}`],
  ['Open', 'show=open', () => 'state=IS:open'],
  ['All', 'show=all', () => ''],
];

export function ChangeRequestsView() {
  const session = useSession();
  const { query } = useQuery();
  const condition = LISTS.find(([, shown]) => shown === query)?.[2](session) ?? '';
  /** @type {ReturnType<typeof useFound<FoundChangeRequest>>} */
  const found = useFound(`/search/change-requests?${condition}`, 'changeRequests', isAboutRequests);
  return (
    <>
      <ListingHead
        title="Change requests"
        lead="Changes of protected environments, proposed by one person and approved by another."
      />
      <Skipped />
      <Lists
        label="Lists"
        view="change-requests"
        current={query}
        lists={LISTS.map(([name, shown]) => [name, shown])}
      />
      {whenLoaded(found, ({ rows, total }) => (
        <FoundListing
          label="Change requests"
          one="change request"
          total={total}
          more={found.more}
          columns={['Change request', 'State', 'Environment', 'Changes', 'By', 'Created']}
          rows={rows.map(rowOf)}
          none={query === '' ? 'Nothing waits for you' : 'No change requests here'}
          next="A project’s settings say which environments take changes by change request."
        />
      ))}
    </>
  );
}

/** Counts the changes that were made without a request, and leads to them. */
function Skipped() {
  const found = useRequests(
    ({ client }) => client.get('/search/events?type=IS:change-request-skipped&limit=1'),
    [],
  );
  const newest = found?.events[0];
  return newest === undefined ? null : (
    <p class="problem">
      <a href={hrefOf({ view: 'events', query: 'type=change-request-skipped' })}>
        {`${counted(found.total, 'change of a protected environment was', 'changes of protected environments were')} made without a change request`}
      </a>
      {', the last by '}
      <Name text={newest.createdBy} /> <TimeAgo iso={newest.createdAt} />
    </p>
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
