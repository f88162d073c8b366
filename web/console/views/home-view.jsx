/** The home: what waits for somebody, what happened in the projects that they follow since they were here, and which flags may go. */
import { path } from '../client.js';
import { counted, date } from '../format.js';
import { kept } from '../kept.js';
import { Later, later } from '../later.jsx';
import { FlagLink, ProjectLink } from '../parts/links.jsx';
import { RowAction } from '../parts/listing.jsx';
import { Listed, News } from '../parts/news.jsx';
import { RequestLink, useRequests, waiting } from '../parts/request-state.jsx';
import { TimeAgo } from '../parts/time-ago.jsx';
import { hrefOf } from '../place.js';
import { anyEvent, useRead, whenLoaded } from '../resource.jsx';
import { Name, Sentence, said } from '../said.jsx';
import { isProduction, useSession } from '../session.js';
import { LastUse, outcomeOf } from './stale-flags-view.jsx';

/** @import { Resource } from '../resource.jsx' */
/** @import { FoundChangeRequest, FoundEvents, Session, StaleFlag, StaleFlags } from '../types.d.ts' */

const { archiveFlags, failingIntegrations } = later;

/** Projects whose news are read, events, and flags that may go. */
const [FOLLOWED_MAX, EVENTS_MAX, STALE_MAX] = [20, 100, 4];

/** News are not older, in milliseconds. */
const NEWS_MS = 14 * 86_400_000;

/** The favorites of the caller, else the projects to which they belong; none: all are followed. @param {Session} session */
function followedBy({ projects, profile }) {
  const favorites = projects.value.filter(({ favorite }) => favorite);
  const own = projects.value.filter(({ id }) => profile.projects.includes(id));
  return (favorites.length > 0 ? favorites : own).slice(0, FOLLOWED_MAX);
}

/** The first day of the news, in UTC: yesterday, or that of the last visit where that was before. */
function firstDay() {
  const yesterday = Date.now() - 86_400_000;
  const { before } = kept.value;
  const from = before === 0 ? yesterday : Math.max(Math.min(yesterday, before), Date.now() - NEWS_MS);
  return new Date(from).toISOString().slice(0, 10);
}

/** @param {Session} session */
export function newsPath(session) {
  const followed = followedBy(session).map(({ id }) => id);
  const query = new URLSearchParams({ from: `IS:${firstDay()}`, limit: String(EVENTS_MAX) });
  if (followed.length > 0) query.set('project', `IS_ANY_OF:${followed.join(',')}`);
  return `/search/events?${query}`;
}

export function HomeView() {
  const session = useSession();
  const [only, ...others] = session.projects.value;
  if (only === undefined || (others.length === 0 && only.featureCount === 0))
    return (
      <>
        <h1>Welcome to Flagstaff</h1>
        {only === undefined ? (
          <p class="lead">You see no project yet. Ask an Admin to add you to one.</p>
        ) : (
          <Later of="FirstSteps" project={only.id} environments={only.environments} />
        )}
      </>
    );
  const followed = followedBy(session);
  return (
    <>
      <h1>Home</h1>
      <p class="lead">
        {followed.length === 0 ? (
          'News of all projects. Mark projects as favorites to follow only those.'
        ) : (
          <>
            {'You follow '}
            <Listed of={followed.map(({ id }) => <ProjectLink key={id} id={id} />)} />
            {followed.some(({ favorite }) => favorite) ? ', your favorites.' : ', where you are a member.'}
          </>
        )}
      </p>
      <Waiting />
      <div class="columns">
        <Happened />
        <MayGo />
      </div>
    </>
  );
}

/** Change requests for the caller, and integrations that fail. */
function Waiting() {
  const session = useSession();
  const failing = useRequests(failingIntegrations, []);
  const forMe = waiting.value;
  const more = (forMe?.total ?? 0) - (forMe?.changeRequests.length ?? 0);
  const isNothing = forMe?.total === 0 && (failing ?? []).length === 0;
  return (
    <section class="part" aria-labelledby="waiting">
      <h2 id="waiting">Waiting for you</h2>
      {isNothing ? (
        <p class="muted">
          {`Nothing: no change request needs you${session.may('admin') ? ', and no integration fails' : ''}.`}
        </p>
      ) : (
        <ul class="plain lines home-list" aria-busy={forMe === null}>
          {forMe?.changeRequests.map((one) => (
            <li key={one.id}>
              <ForMe of={one} />
            </li>
          ))}
          {more > 0 ? (
            <li>
              <a href={hrefOf({ view: 'change-requests' })}>{counted(more, 'more change request')}</a>
            </li>
          ) : null}
          {failing?.map(({ id, name, since, isParked }) => (
            <li key={id}>
              {'The integration '}
              <a href={hrefOf({ view: 'integrations' })}>
                <Name text={name} />
              </a>
              {isParked ? ' has stopped, because its deliveries failed' : ' fails and is tried again'}
              {since === null ? '.' : <TimeAgo iso={since} prefix=": it has failed since " />}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** @param {{ of: FoundChangeRequest }} props */
function ForMe({ of }) {
  const { state, features, segments, environment, createdBy, createdAt, schedule } = of;
  if (schedule !== undefined && state === 'Scheduled')
    return (
      <>
        <RequestLink of={of} />
        {schedule.status === 'failed' ? ' could not be applied: ' : ' will not be applied at its time: '}
        <Sentence>
          {said(schedule.failureReason ?? schedule.reason ?? 'its schedule is suspended', 200)}
        </Sentence>
      </>
    );
  return (
    <>
      <RequestLink of={of} />
      {state === 'Approved' ? ' is approved: apply it to ' : ' waits for your review: it changes '}
      <Name text={[...features, ...segments].slice(0, 3).join(', ') || 'nothing'} />
      {` in ${environment}, by `}
      <Name text={createdBy.username} /> <TimeAgo iso={createdAt} />
    </>
  );
}

function Happened() {
  const session = useSession();
  /** @type {Resource<FoundEvents>} */
  const news = useRead(newsPath(session), anyEvent);
  const day = firstDay();
  const { before } = kept.value;
  const isOfVisit = before !== 0 && new Date(before).toISOString().slice(0, 10) === day;
  return (
    <section class="part" aria-labelledby="happened">
      <h2 id="happened">{isOfVisit ? 'Since your last visit' : 'Since yesterday'}</h2>
      {whenLoaded(
        news,
        ({ events, total }) => (
          <>
            {events.length === 0 ? (
              <p class="muted">Nobody has changed anything in these projects.</p>
            ) : (
              <News of={events} />
            )}
            <p>
              <a href={hrefOf({ view: 'events', query: `from=${day}` })}>
                {total > events.length ? `All ${total} events` : 'All events'}
              </a>
            </p>
          </>
        ),
        'events',
      )}
    </section>
  );
}

/** Flags that are to be removed, with why they can be. */
function MayGo() {
  const session = useSession();
  const followed = followedBy(session);
  const [one] = followed;
  const at =
    followed.length === 1 && one !== undefined ? path`/projects/${one.id}/stale-flags` : '/stale-flags';
  /** @type {Resource<StaleFlags>} */
  const found = useRead(at);
  return (
    <section class="part" aria-labelledby="may-go">
      <h2 id="may-go">Flags that may go</h2>
      {whenLoaded(found, ({ features, reports }) => {
        const ids = followed.map(({ id }) => id);
        const here = features.filter(({ project }) => ids.length === 0 || ids.includes(project));
        return (
          <>
            {here.length === 0 ? (
              <p class="muted">None: no flag here is stale, overdue or completed.</p>
            ) : (
              <ul class="plain lines home-list">
                {here.slice(0, STALE_MAX).map((flag) => (
                  <li key={flag.name}>
                    <Reason of={flag} since={reports.since} />
                    {session.may('flags', flag.project) && flag.dependents.length === 0 ? (
                      <RowAction
                        text="Archive…"
                        of={flag.name}
                        act={() => archiveFlags(session, flag.project, [flag.name])}
                      />
                    ) : null}
                  </li>
                ))}
              </ul>
            )}
            <p>
              <a
                href={hrefOf(
                  ids.length === 1 && one
                    ? { view: 'stale-flags', project: one.id }
                    : { view: 'stale-flags' },
                )}
              >
                All stale flags
              </a>
            </p>
          </>
        );
      })}
    </section>
  );
}

const STATES = {
  stale: 'is marked as stale',
  'potentially-stale': 'has outlived its type',
  completed: 'is completed',
};

/** @param {{ of: StaleFlag, since: string | null }} props */
function Reason({ of, since }) {
  const session = useSession();
  const { name, project, state, stateSince, environments, dependents } = of;
  const decided = environments.filter(({ outcome }) => outcome !== null);
  const told = decided
    .filter((one) => isProduction(session, one.name))
    .concat(decided)
    .slice(0, 1);
  return (
    <div>
      <FlagLink project={project} name={name} />
      {` ${STATES[state]}${stateSince === null ? '' : ` since ${date(stateSince)}`}.`}
      {told.map((one) => ` In ${one.name} it is ${outcomeOf(one)}.`)}
      {' Last use: '}
      <LastUse of={of} since={since} />
      {dependents.length === 0
        ? ''
        : `. ${dependents.join(', ')} ${dependents.length === 1 ? 'depends' : 'depend'} on it.`}
    </div>
  );
}
