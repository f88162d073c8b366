/** How a project stands: how healthy it is, what was done in it lately, and which applications ask for its flags. */
import { path } from '../client.js';
import { useEvents } from '../feed.js';
import { capitalized, counted, number } from '../format.js';
import { ApplicationLink, Missing } from '../parts/application.jsx';
import { ProjectCrumb } from '../parts/links.jsx';
import { Listing, ListingHead, Part } from '../parts/listing.jsx';
import { Plot, ShareBar, STEPS, sumOf } from '../parts/plot.jsx';
import { FlagsUsage } from '../parts/usage-chart.jsx';
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
            <Health health={insights.health} />
            <Stages of={status.lifecycleSummary} />
            <FlagsUsage project={project} />
            <Weeks of={status.flagsByWeek} />
            <Activity of={status.activityCountByDate} />
            <Contents of={insights} resources={status.resources} />
            <LeadTimes of={insights.leadTime} />
            <Applications of={applications} outdated={sdks} />
          </>
        ),
        'tiles',
      )}
    </>
  );
}

/** @param {{ health: ProjectInsights['health'] }} props */
const Health = ({ health: { rating, activeCount, potentiallyStaleCount, staleCount } }) => (
  <Part title={`Health: ${rating} %`}>
    <ShareBar
      parts={[
        { name: 'Neither stale nor overdue', value: activeCount, color: 0 },
        { name: 'Overdue', value: potentiallyStaleCount, color: 2, note: 'past the lifetime of their type' },
        { name: 'Stale', value: staleCount, color: 5, note: 'to be removed from the code' },
      ]}
    />
  </Part>
);

/** Flags in production have the color of what is on. */
const STAGE_COLORS = [1, 2, 0, 3, 4];

/** @param {{ of: ProjectStatus['lifecycleSummary'] }} props */
const Stages = ({ of: { initial, preLive, live, completed, archived } }) => (
  <Part title="Stages of flags">
    <ShareBar
      parts={Object.values(STAGES).map((word, index) => {
        const stage = [initial, preLive, live, completed, archived][index] ?? archived;
        const days = 'averageDays' in stage ? stage.averageDays : null;
        const note = days === null ? '' : `${counted(Math.round(days), 'day')} on average`;
        return { name: capitalized(word), value: stage.currentFlags, note, color: STAGE_COLORS[index] };
      })}
    />
  </Part>
);

/** @param {{ of: ProjectInsights, resources: ProjectStatus['resources'] }} props */
const Contents = ({ of: { featureTypeCounts, members }, resources: { apiTokens, segments } }) => (
  <Part
    title="Contents"
    lead={`${counted(members.currentMembers, 'member')}, ${counted(apiTokens, 'API token')}, ${counted(segments, 'project segment')}`}
  >
    <ShareBar
      parts={featureTypeCounts.map(({ type, count }) => ({
        name: `${FLAG_TYPES.find(([key]) => key === type)?.[1] ?? type} flags`,
        value: count,
      }))}
    />
  </Part>
);

/** Columns of what was done, with nothing drawn where nothing was. @param {{ title: string, label: string } & Omit<Parameters<typeof Plot>[0], 'label' | 'columns'>} props */
const Done = ({ title, label, ...picture }) =>
  picture.series.every(({ values }) => sumOf(values) === 0) ? null : (
    <Part title={title}>
      <Plot {...picture} label={label} columns />
    </Part>
  );

const WEEKS_MIN = 4;

/** @param {{ of: ProjectStatus['flagsByWeek'] }} props */
const Weeks = ({ of: all }) => {
  // A young project is not a picture of the weeks before it.
  const first = all.findIndex((week) => week.created + week.archived > 0);
  const of = all.slice(Math.min(first === -1 ? 0 : first, all.length - WEEKS_MIN));
  const [created, archived] = [of.map((week) => week.created), of.map((week) => week.archived)];
  return (
    <Done
      title="Flags created and archived"
      label={`${counted(sumOf(created), 'flag')} created and ${number(sumOf(archived))} archived in ${counted(of.length, 'week')}`}
      step="week"
      times={of.map(({ date }) => Date.parse(date))}
      series={[
        { name: 'created', values: created },
        { name: 'archived', values: archived },
      ]}
    />
  );
};

/** @param {{ of: ProjectStatus['activityCountByDate'] }} props */
function Activity({ of }) {
  const counts = new Map(of.map(({ date, count }) => [Date.parse(date), count]));
  const today = Math.floor(Date.now() / STEPS.day.ms) * STEPS.day.ms;
  const times = Array.from({ length: DAYS }, (_, index) => today - (DAYS - 1 - index) * STEPS.day.ms);
  const total = sumOf([...counts.values()]);
  return (
    <Done
      title="Changes"
      label={`${counted(total, 'change')} in ${DAYS} days`}
      step="day"
      times={times}
      series={[{ name: 'changes', values: times.map((time) => counts.get(time) ?? 0) }]}
    />
  );
}

/** Days of which the server tells the changes. */
const DAYS = 30;

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
  return (
    <Part title="Applications">
      <Missing title="Outdated SDKs" names={outdated.map(({ sdkVersion }) => sdkVersion)} />
      <Listing
        label="Applications"
        columns={['Application', 'Environments', 'Instances', 'SDKs']}
        rows={applications.map(({ name, environments, instances, sdks }) => ({
          key: name,
          cells: [
            <ApplicationLink name={name} />,
            environments.join(', '),
            number(instances.length),
            sdks.map((sdk) => `${sdk.name} ${sdk.versions.join(', ')}`).join('; '),
          ],
        }))}
        none="No application has read flags of this project yet"
      />
    </Part>
  );
}
