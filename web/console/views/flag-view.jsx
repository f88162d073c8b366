/** One flag: where it is on and for whom, its variants, and its history with the way back. */
import { useEffect, useState } from 'preact/hooks';
import { changedFlag, flagPath } from '../changes.jsx';
import { path } from '../client.js';
import { later } from '../later.jsx';
import { Button } from '../parts/button.jsx';
import { Environments } from '../parts/environment-card.jsx';
import { FlagFacts, Stages, VariantCard } from '../parts/flag-cards.jsx';
import { HISTORY_PAGE, History } from '../parts/flag-history.jsx';
import { Icon } from '../parts/icon.jsx';
import { ProjectCrumb } from '../parts/links.jsx';
import { ListingHead } from '../parts/listing.jsx';
import { MoreMenu } from '../parts/more-menu.jsx';
import { Star } from '../parts/star.jsx';
import { TimeMachine } from '../parts/time-machine.jsx';
import { UsageChart } from '../parts/usage-chart.jsx';
import { WhyCard } from '../parts/why.jsx';
import { protectedIn } from '../proposals.jsx';
import { useResource, whenLoaded } from '../resource.jsx';
import { useSession } from '../session.js';

/** @import { FlagProps } from '../parts/flag-cards.jsx' */
/** @import { Past } from '../parts/time-machine.jsx' */
/** @import { ChangeRequest, EventPage, Flag, FlagUsage, LoggedEvent, Session, Variant } from '../types.d.ts' */

const { archiveFlags, copyFlag, deleteFlags, describeFlag, moveFlag, reviveFlag, promote, showCode } = later;

/** @param {{ project: string, name: string }} props */
export function FlagView({ project, name }) {
  const session = useSession();
  const shown = useResource(
    () => load(session, project, name),
    [session, project, name],
    ({ featureName }) => featureName === name || featureName === null,
  );
  const changed = changedFlag.value;
  useEffect(() => {
    if (changed?.at !== flagPath(project, name)) return;
    shown.patch((loaded) => ({ ...loaded, flag: changed.flag, etag: changed.etag }));
  }, [shown, changed]);
  const [past, setPast] = useState(/** @type {Past | null} */ (null));
  return whenLoaded(
    shown,
    ({ flag: now, etag, events, creation, usage, variants, requests }) => {
      const flag = past?.flag ?? now;
      const may = session.may('flags', project) && !now.archived && past === null;
      const props = { flag, etag, may };
      const isNow = past === null;
      return (
        <>
          <Head {...props} creation={creation} applications={isNow ? usage?.seenApplications : undefined} />
          <TimeMachine flag={now} events={events} past={past} setPast={setPast} />
          <Environments
            {...props}
            usage={isNow ? usage : null}
            variants={isNow ? variants : NO_VARIANTS}
            requests={isNow ? requests : []}
          />
          <div class="columns">
            <div>
              {isNow && now.lastSeenAt !== null ? (
                <UsageChart flag={now.name} environments={now.environments} events={events} />
              ) : null}
              <VariantCard {...props} />
              {isNow ? <Stages {...props} /> : null}
              {isNow && !now.archived ? <WhyCard flag={flag} /> : null}
            </div>
            <History flag={now} events={events} />
          </div>
        </>
      );
    },
    'cards',
  );
}

/**
 * Reads a flag with variants once more last: its ETag is then no older than they are, so that a change made from what is shown is refused only
 * where somebody has changed the flag since.
 * @param {Session} session
 * @param {string} project
 * @param {string} name
 * @returns {Promise<{ flag: Flag, etag: string, events: readonly LoggedEvent[], creation: LoggedEvent | null, usage: FlagUsage | null, variants: typeof NO_VARIANTS, requests: readonly ChangeRequest[] }>}
 */
async function load(session, project, name) {
  const { client } = session;
  const at = flagPath(project, name);
  const search = { feature: name, project, limit: HISTORY_PAGE };
  const reading = client.read(at);
  /** @type {[EventPage, FlagUsage | null, typeof NO_VARIANTS, readonly ChangeRequest[]]} */
  const [{ events }, usage, variants, requests] = await Promise.all([
    client.post('/events/search', search),
    // Without what applications report the flag can be shown all the same.
    client.get(path`/client-metrics/features/${name}`).catch(() => null),
    reading.then(({ body }) => variantsOf(session, body)),
    openRequests(session, project, name),
  ]);
  const { body, etag } = await (variants.size === 0 ? reading : client.read(at));
  return {
    flag: body,
    etag,
    events,
    creation: await creationOf(session, search, events),
    usage,
    variants,
    requests,
  };
}

/** The event by which it came. @param {Session} session @param {{ feature: string, project: string }} search @param {readonly LoggedEvent[]} events @returns {Promise<LoggedEvent | null>} */
async function creationOf({ client }, search, events) {
  const type = 'feature-created';
  const known = events.find((event) => event.type === type);
  if (known !== undefined || events.length < HISTORY_PAGE) return known ?? null;
  const found = await client.post('/events/search', { ...search, type, limit: 1 }).catch(() => null);
  return found?.events[0] ?? null;
}

/** The open change requests about a flag. @param {Session} session @param {string} project @param {string} name */
async function openRequests(session, project, name) {
  // Without its requests the flag can be shown all the same.
  const found = await protectedIn(session, project).catch(() => []);
  if (found.length === 0) return [];
  return session.client.get(path`/projects/${project}/change-requests/pending/${name}`);
}

/** @type {ReadonlyMap<string, readonly Variant[]>} */
const NO_VARIANTS = new Map();

/** By environment, where it has some: they may differ between environments. @param {Session} session @param {Flag} flag */
async function variantsOf({ client }, { project, name, environments }) {
  const varied = environments.filter(({ variantCount }) => variantCount > 0);
  const found = await Promise.all(
    varied.map(async (one) => {
      const at = `${flagPath(project, name)}${path`/environments/${one.name}/variants`}`;
      const { variants } = await client.get(at);
      return /** @type {const} */ ([one.name, /** @type {readonly Variant[]} */ (variants)]);
    }),
  );
  return new Map(found);
}

/** @param {FlagProps & { creation: LoggedEvent | null, applications: readonly string[] | undefined }} props */
function Head({ creation, applications, ...props }) {
  const { flag } = props;
  return (
    <ListingHead
      crumb={<ProjectCrumb project={flag.project} />}
      title={<code>{flag.name}</code>}
      beside={
        flag.archived ? null : (
          <Star at={flagPath(flag.project, flag.name)} name={flag.name} isFavorite={flag.favorite} />
        )
      }
      lead={flag.description}
      action={<Actions {...props} />}
    >
      <FlagFacts {...props} creation={creation} applications={applications} />
    </ListingHead>
  );
}

/** @param {FlagProps} props */
function Actions({ flag, etag, may }) {
  const session = useSession();
  // What it was can be looked at, and not changed.
  const disabled = !(may || (flag.archived && session.may('flags', flag.project)));
  if (!session.may('flags', flag.project)) return null;
  const environments = flag.environments.map(({ name }) => name);
  return (
    <div class="row">
      {flag.archived ? (
        <>
          <Button act={() => reviveFlag(session, flag)}>Revive</Button>
          <Button
            looks="button button-danger-quiet"
            act={() => deleteFlags(session, flag.project, [flag.name])}
          >
            Delete…
          </Button>
        </>
      ) : (
        <>
          <Button disabled={disabled} act={() => describeFlag(session, flag, etag)}>
            <Icon name="edit" />
            Edit…
          </Button>
          <MoreMenu
            label="More for this flag"
            items={
              disabled
                ? []
                : [
                    ['Copy…', 'copy', () => copyFlag(session, flag)],
                    environments.length < 2
                      ? null
                      : ['Promote…', 'up', () => promote(session, flag.project, [flag.name], environments)],
                    ['Use in code…', 'application', () => showCode(flag)],
                    session.projects.value.length < 2
                      ? null
                      : ['Move…', 'project', () => moveFlag(session, flag)],
                    ['Archive…', 'archive', () => archiveFlags(session, flag.project, [flag.name]), true],
                  ]
            }
          />
        </>
      )}
    </div>
  );
}
