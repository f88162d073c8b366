/** How a project stands: how healthy it is, what was done in it lately, and which applications ask for its flags. */
import { path } from '../client.js';
import { useEvents } from '../feed.js';
import { capitalized, counted, number } from '../format.js';
import { Missing, showApplication } from '../parts/application.jsx';
import { Bars } from '../parts/bars.jsx';
import { ProjectCrumb } from '../parts/links.jsx';
import { Listing, ListingHead, Part, RowAction } from '../parts/listing.jsx';
import { TileGroup } from '../parts/tiles.jsx';
import { useResource, whenLoaded } from '../resource.jsx';
import { useSession } from '../session.js';
import { FLAG_TYPES, STAGES } from '../words.js';

/** @import { OutdatedSdks, ProjectApplications, ProjectInsights, ProjectStatus } from '../types.d.ts' */

/** Flags whose way to production is told. */
const LISTED_MAX = 10;

/** @param {{ project: string }} props */
export function InsightsView({ project }) {
  const session = useSession();
  const { client } = session;
  const at = path`/projects/${project}`;
  const loaded = useResource(
    /** @returns {Promise<[ProjectInsights, ProjectStatus, ProjectApplications, OutdatedSdks]>} */
    () =>
      Promise.all([
        client.get(`${at}/insights`),
        client.get(`${at}/status`),
        client.get(`${at}/applications`),
        client.get(`${at}/sdks/outdated`),
      ]),
    [client, at],
  );
  useEvents(session, (events) => {
    if (events.some((event) => event.project === project)) void loaded.refresh();
  });
  return (
    <>
      <ListingHead crumb={<ProjectCrumb project={project} />} title="Insights" />
      {whenLoaded(
        loaded,
        ([insights, status, applications, { sdks }]) => (
          <>
            <Figures insights={insights} status={status} />
            <Activity of={status.activityCountByDate} />
            <LeadTimes of={insights.leadTime} />
            <Applications of={applications} outdated={sdks} />
          </>
        ),
        'tiles',
      )}
    </>
  );
}

/** @param {{ insights: ProjectInsights, status: ProjectStatus }} props */
function Figures({ insights: { health, stats, featureTypeCounts, members }, status }) {
  const { lifecycleSummary, resources } = status;
  const stages = Object.entries(STAGES).map(([stage, word]) => {
    const key = /** @type {keyof ProjectStatus['lifecycleSummary']} */ (
      stage === 'pre-live' ? 'preLive' : stage
    );
    const one = lifecycleSummary[key];
    const days = 'averageDays' in one ? one.averageDays : null;
    return /** @type {const} */ ([
      capitalized(word),
      number(one.currentFlags),
      days === null ? '' : `${counted(Math.round(days), 'day')} on average`,
    ]);
  });
  return (
    <>
      <TileGroup
        title="Health"
        tiles={[
          [
            'Healthy',
            `${health.rating} %`,
            `${counted(health.activeCount, 'flag')} neither stale nor overdue`,
          ],
          ['Stale', number(health.staleCount), 'to be removed from the code'],
          ['Overdue', number(health.potentiallyStaleCount), 'past the lifetime of their type'],
        ]}
      />
      <TileGroup title="Stages of flags" tiles={stages} />
      <TileGroup
        title="In the last 30 days"
        tiles={[
          [
            'Flags created',
            number(stats.createdCurrentWindow),
            `${number(stats.createdPastWindow)} in the 30 days before`,
          ],
          [
            'Flags archived',
            number(stats.archivedCurrentWindow),
            `${number(stats.archivedPastWindow)} in the 30 days before`,
          ],
          [
            'Changes',
            number(stats.projectActivityCurrentWindow),
            `${number(stats.projectActivityPastWindow)} in the 30 days before`,
          ],
          [
            'Members',
            number(members.currentMembers),
            `${number(stats.projectMembersAddedCurrentWindow)} added`,
          ],
        ]}
      />
      <TileGroup
        title="Contents"
        tiles={[
          ...featureTypeCounts.map(
            ({ type, count }) =>
              /** @type {const} */ ([
                `${FLAG_TYPES.find(([key]) => key === type)?.[1] ?? type} flags`,
                number(count),
              ]),
          ),
          ['API tokens', number(resources.apiTokens)],
          ['Project segments', number(resources.segments)],
        ]}
      />
    </>
  );
}

/** @param {{ of: ProjectStatus['activityCountByDate'] }} props */
function Activity({ of }) {
  if (of.length === 0) return null;
  const total = of.reduce((sum, { count }) => sum + count, 0);
  const days = everyDay(of);
  return (
    <section class="figures">
      <h2>Changes by day</h2>
      <Bars
        text={`${counted(total, 'change')} on ${counted(of.length, 'day')}`}
        ends={[days[0]?.date ?? '', 'today']}
        bars={days.map(({ date, count }) => ({
          title: `${date}: ${counted(count, 'change')}`,
          parts: [count],
        }))}
      />
    </section>
  );
}

const DAY_MS = 86_400_000;

/** Days that the chart has at least, so that one busy day is not all of it. */
const CHARTED_DAYS_MIN = 30;

/** With the days on which nothing changed, up to today. @param {ProjectStatus['activityCountByDate']} of */
function everyDay(of) {
  const counts = new Map(of.map(({ date, count }) => [date, count]));
  const today = Math.floor(Date.now() / DAY_MS);
  const first = Math.min(today - CHARTED_DAYS_MIN + 1, ...of.map(({ date }) => Date.parse(date) / DAY_MS));
  return Array.from({ length: today - first + 1 }, (_, at) => {
    const date = new Date((first + at) * DAY_MS).toISOString().slice(0, 10);
    return { date, count: counts.get(date) ?? 0 };
  });
}

/** @param {{ of: ProjectInsights['leadTime'] }} props */
function LeadTimes({ of: { projectAverage, features } }) {
  return (
    <Part title="Days from a flag to production">
      <Listing
        label="Days from a flag to production"
        columns={['Flag', 'Days']}
        rows={features
          .slice(0, LISTED_MAX)
          .map(({ name, timeToProduction }) => ({ key: name, cells: [name, number(timeToProduction)] }))}
        none="No release flag has reached production yet"
      />
      {features.length === 0 ? null : <p class="muted">{`${number(projectAverage)} on average`}</p>}
    </Part>
  );
}

/** @param {{ of: ProjectApplications, outdated: OutdatedSdks['sdks'] }} props */
function Applications({ of: { applications }, outdated }) {
  const session = useSession();
  return (
    <Part title="Applications">
      <Missing title="Outdated SDKs" names={outdated.map(({ sdkVersion }) => sdkVersion)} />
      <Listing
        label="Applications"
        columns={['Application', 'Environments', 'Instances', 'SDKs']}
        rows={applications.map(({ name, environments, instances, sdks }) => ({
          key: name,
          cells: [
            name,
            environments.join(', '),
            number(instances.length),
            sdks.map((sdk) => `${sdk.name} ${sdk.versions.join(', ')}`).join('; '),
          ],
          actions: <RowAction text="Details" of={name} act={() => showApplication(session, name)} />,
        }))}
        none="No application has read flags of this project yet"
      />
    </Part>
  );
}
