/** One flag: where it is on and for whom, its variants, and its history with the way back. */
import { h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { segmentNamesOf } from '../audience.js';
import { changedFlag, flagPath } from '../changes.js';
import { path } from '../client.js';
import { archiveFlag, copyFlag, deleteFlag, describeFlag, reviveFlag } from '../edit/flag-edits.js';
import { useEvents } from '../feed.js';
import { ProjectCrumb } from '../parts/crumb.js';
import { EnvironmentCards } from '../parts/environment-card.js';
import { EventItem } from '../parts/event-item.js';
import { DependencyCards, FlagFacts, VariantCard } from '../parts/flag-cards.js';
import { RollBackButton } from '../parts/rollback-button.js';
import { Star } from '../parts/star.js';
import { TimeMachine } from '../parts/time-machine.js';
import { WhyCard } from '../parts/why.js';
import { useResource, whenLoaded } from '../resource.js';
import { useSession } from '../session.js';

/** @import { FlagProps } from '../parts/flag-cards.js' */
/** @import { Past } from '../parts/time-machine.js' */
/** @import { EventPage, Flag, FlagUsage, LoggedEvent, Session, Variant } from '../types.d.ts' */

/** Events of the history that are listed; the whole of it is in the events view. */
const HISTORY_MAX = 30;

/** @param {{ project: string, name: string }} props */
export function FlagView({ project, name }) {
  const session = useSession();
  const shown = useResource(() => load(session, project, name), [session, project, name]);
  useEvents(session, (events) => {
    const concerns = events.some(({ featureName }) => featureName === name || featureName === null);
    if (concerns) void shown.refresh();
  });
  const changed = changedFlag.value;
  useEffect(() => {
    if (changed?.at !== flagPath(project, name)) return;
    shown.patch((loaded) => ({ ...loaded, flag: changed.flag, etag: changed.etag }));
  }, [shown, changed]);
  const [past, setPast] = useState(/** @type {Past | null} */ (null));
  return whenLoaded(shown, ({ flag: now, etag, segmentNames, events, usage, variants }) => {
    const flag = past?.flag ?? now;
    const may = session.may('flags', project) && !now.archived && past === null;
    const props = { flag, etag, may, segmentNames };
    return [
      h(Head, { key: 'head', ...props }),
      h(TimeMachine, { key: 'time', flag: now, events, segmentNames, past, setPast }),
      h(
        'div',
        { key: 'columns', class: 'columns' },
        h(
          'div',
          null,
          h(EnvironmentCards, {
            ...props,
            usage: past === null ? usage : null,
            variants: past === null ? variants : NO_VARIANTS,
          }),
          h(VariantCard, props),
          h(DependencyCards, props),
          past === null && !now.archived ? h(WhyCard, { flag }) : null,
        ),
        h(History, { flag: now, events }),
      ),
    ];
  });
}

/**
 * Reads the flag last: its ETag is then no older than anything else that is shown, so that a change made from what is shown is refused only
 * where somebody has changed the flag since.
 * @param {Session} session
 * @param {string} project
 * @param {string} name
 * @returns {Promise<{ flag: Flag, etag: string, segmentNames: ReadonlyMap<number, string>, events: readonly LoggedEvent[], usage: FlagUsage | null, variants: typeof NO_VARIANTS }>}
 */
async function load(session, project, name) {
  const { client } = session;
  const at = flagPath(project, name);
  const search = { feature: name, project, limit: HISTORY_MAX };
  /** @type {[EventPage, ReadonlyMap<number, string>, FlagUsage | null, typeof NO_VARIANTS]} */
  const [{ events }, segmentNames, usage, variants] = await Promise.all([
    client.post('/events/search', search),
    segmentNamesOf(session),
    // Without what applications report the flag can be shown all the same.
    client.get(path`/client-metrics/features/${name}`).catch(() => null),
    client.get(at).then((/** @type {Flag} */ flag) => variantsOf(session, flag)),
  ]);
  const { body, etag } = await client.read(at);
  return { flag: body, etag, segmentNames, events, usage, variants };
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

/** @param {FlagProps} props */
function Head(props) {
  const { flag } = props;
  return h(
    'div',
    { class: 'view-head' },
    h(ProjectCrumb, { project: flag.project }),
    h(
      'div',
      { class: 'title-row' },
      h(
        'div',
        { class: 'title-name' },
        h('h1', { class: 'flag-name' }, h('code', null, flag.name)),
        flag.archived
          ? null
          : h(Star, { at: flagPath(flag.project, flag.name), name: flag.name, isFavorite: flag.favorite }),
      ),
      h(Actions, props),
    ),
    flag.description ? h('p', { class: 'lead' }, flag.description) : null,
    h(FlagFacts, props),
  );
}

/** @param {FlagProps} props */
function Actions({ flag, etag, may }) {
  const session = useSession();
  // What it was can be looked at, and not changed.
  const disabled = !(may || (flag.archived && session.may('flags', flag.project)));
  /** @param {string} text @param {() => unknown} act */
  const button = (text, act) =>
    h('button', { type: 'button', class: 'button', disabled, onClick: () => void act() }, text);
  return h(
    'div',
    { class: 'actions' },
    flag.archived
      ? [
          button('Revive', () => reviveFlag(session, flag)),
          button('Delete…', () => deleteFlag(session, flag.name)),
        ]
      : [
          button('Edit…', () => describeFlag(session, flag, etag)),
          button('Copy…', () => copyFlag(session, flag)),
          button('Archive…', () => archiveFlag(session, flag)),
        ],
  );
}

/** @param {{ flag: Flag, events: readonly LoggedEvent[] }} props */
function History({ flag, events }) {
  const session = useSession();
  const may = session.may('flags', flag.project) && !flag.archived;
  return h(
    'section',
    { class: 'history', 'aria-labelledby': 'history' },
    h('h2', { id: 'history' }, 'History'),
    h(
      'ol',
      { class: 'plain events' },
      events.map((event, index) =>
        h(EventItem, {
          key: event.id,
          event,
          isAboutFlag: true,
          // What the newest event led to is what the flag is already.
          action:
            may && index > 0
              ? h(RollBackButton, {
                  at: flagPath(flag.project, flag.name),
                  what: 'flag',
                  event,
                  text: 'Roll back to here',
                  label: `Roll back to here, event ${event.id}`,
                })
              : null,
        }),
      ),
    ),
  );
}
