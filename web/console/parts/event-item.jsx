/** One event in a list: what was done to what, by whom and when, with everything that is recorded behind a click. */
import { audienceOf } from '../audience.js';
import { changesOf } from '../differences.js';
import { Name, Said, Sentence, said, visibleLines } from '../said.jsx';
import { deedOf, recordNameOf, toneOf } from '../words.js';
import { DifferenceLine } from './difference-line.jsx';
import { FlagLink } from './links.jsx';
import { TimeAgo } from './time-ago.jsx';

/** @import { ComponentChildren } from 'preact' */
/** @import { LoggedEvent, StrategyInput } from '../types.d.ts' */

/** How many changed fields are told without a click. */
const FIELDS_SHOWN = 4;

/**
 * @param {{ event: LoggedEvent, isFresh?: boolean, isAboutFlag?: boolean, action?: ComponentChildren }} props `isAboutFlag`: the list is that of one flag, whose name need not be repeated
 */
export function EventItem({ event, isFresh = false, isAboutFlag = false, action = null }) {
  return (
    <li class={`event${isFresh ? ' event-fresh' : ''}`} data-id={event.id}>
      <span class={`event-dot event-${toneOf(event)}`} aria-hidden="true" />
      <div class="grow">
        <div>
          {isAboutFlag ? null : <Subject of={event} />}
          <span>{deedOf(event)}</span>
        </div>
        <WhichStrategy of={event} />
        {event.type === 'feature-commented' ? (
          <blockquote class="comment">
            <bdi>{visibleLines(String(event.data?.['text']))}</bdi>
          </blockquote>
        ) : (
          <Changes of={event} />
        )}
        <div class="row hint">
          <span>
            <Name text={event.createdBy} />
          </span>
          <TimeAgo iso={event.createdAt} />
          <span class="number">{`#${event.id}`}</span>
          {action}
          <EventRecord of={event} />
        </div>
      </div>
    </li>
  );
}

/** @param {{ of: LoggedEvent }} props */
function Subject({ of }) {
  const { project, featureName, type } = of;
  if (featureName === null) {
    const name = project ?? recordNameOf(of);
    return name === null ? null : (
      <span class="event-subject">
        <Said text={name} />
      </span>
    );
  }
  // A deleted flag can be read nowhere any more.
  if (project === null || type === 'feature-deleted') return <code class="event-subject">{featureName}</code>;
  return <FlagLink project={project} name={featureName} class="event-subject" />;
}

/** Events that a change would record. @param {{ events: readonly LoggedEvent[], below?: (index: number) => ComponentChildren }} props */
export function PlannedEvents({ events, below }) {
  return (
    <ul class="rollback-list">
      {events.map((planned, index) => (
        <li key={index}>
          {planned.featureName ? <code class="event-subject">{planned.featureName}</code> : null}
          {deedOf(planned)}
          <WhichStrategy of={planned} />
          <Changes of={planned} />
          {below?.(index)}
        </li>
      ))}
    </ul>
  );
}

/** The strategy that an event is about: by its title, and for whom it is where it came or went. @param {{ of: Pick<LoggedEvent, 'type' | 'data' | 'preData'> }} props */
function WhichStrategy({ of: { type, data, preData } }) {
  if (!/^feature-strategy-(?:add|update|remove)$/.test(type)) return null;
  const strategy = /** @type {StrategyInput | null} */ (data ?? preData);
  if (strategy === null) return null;
  const { title } = strategy;
  const audience = data === null || preData === null ? audienceOf(strategy) : null;
  const words = [title ? said(title) : null, audience].filter((part) => part !== null).join(': ');
  return words === '' ? null : (
    <div class="event-field">
      <Sentence>{words}</Sentence>
    </div>
  );
}

/** Shows the changes of an event, field by field. @param {{ of: Pick<LoggedEvent, 'type' | 'data' | 'preData'> }} props */
export function Changes({ of }) {
  const changes = changesOf(of);
  const rest = changes.length - FIELDS_SHOWN;
  return (
    <>
      {changes.slice(0, FIELDS_SHOWN).map((one) => (
        <DifferenceLine key={one.name} of={one} />
      ))}
      {rest > 0 ? <div class="event-field">{`and ${rest} more`}</div> : null}
    </>
  );
}

/** @param {{ of: LoggedEvent }} props */
function EventRecord({ of: { id, type, data, preData } }) {
  if (data === null && preData === null) return null;
  const recorded = { type, ...(preData === null ? {} : { preData }), ...(data === null ? {} : { data }) };
  return (
    <details class="record">
      <summary>Details</summary>
      <pre tabIndex={0} role="group" aria-label={`Details of event ${id}`}>
        {visibleLines(JSON.stringify(recorded, null, 2))}
      </pre>
    </details>
  );
}
