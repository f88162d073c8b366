/** Events as a day's news: who did what to which flags, in sentences. */
import { Fragment } from 'preact';
import { date } from '../format.js';
import { Name } from '../said.jsx';
import { useSession } from '../session.js';
import { doneOfType } from '../words.js';
import { FlagLink, ProjectLink } from './links.jsx';
import { TimeAgo } from './time-ago.jsx';

/** @import { ComponentChildren } from 'preact' */
/** @import { LoggedEvent } from '../types.d.ts' */

/** Flags that a sentence names, and sentences about one person on one day. */
const [NAMED_MAX, SENTENCES_MAX] = [4, 6];

/** Events that are no news to others, or are told of by another that comes with them. */
const NO_NEWS =
  /favorited$|^features-applied$|^change-(?:added|edited|discarded)$|^change-request-(?:updated|created)$/;

/** @typedef {{ project: string, flag: string | null, isGone: boolean }} Subject */
/** @typedef {{ verbs: Map<string, string[]>, subjects: Subject[], iso: string }} Told `verbs`: with the environments of each */

/**
 * Tells what somebody did on a day, by what it was done to; where the same was done to several, as one.
 * @param {readonly LoggedEvent[]} events newest first
 * @returns {readonly Told[]}
 */
function toldOf(events) {
  /** @type {Map<string, Told>} */
  const bySubject = new Map();
  for (const { project, featureName: flag, type, environment, createdAt } of [...events].reverse()) {
    if (project === null) continue;
    const key = JSON.stringify([project, flag]);
    const told = bySubject.get(key) ?? {
      verbs: new Map(),
      subjects: [{ project, flag, isGone: false }],
      iso: '',
    };
    bySubject.set(key, told);
    const verb = doneOfType(type);
    const places = told.verbs.get(verb) ?? [];
    told.verbs.set(
      verb,
      environment === null || places.includes(environment) ? places : [...places, environment],
    );
    told.subjects = [{ project, flag, isGone: type === 'feature-deleted' }];
    told.iso = createdAt;
  }
  /** @type {Map<string, Told>} */
  const byDeed = new Map();
  for (const told of bySubject.values()) {
    const key = JSON.stringify([...told.verbs, told.subjects[0]?.flag === null]);
    const same = byDeed.get(key);
    if (same === undefined) byDeed.set(key, told);
    else {
      same.subjects.push(...told.subjects);
      same.iso = told.iso;
    }
  }
  return [...byDeed.values()].reverse();
}

/** @param {{ of: readonly LoggedEvent[] }} props newest first */
export function News({ of }) {
  const news = of.filter(({ project, type }) => project !== null && !NO_NEWS.test(type));
  return [...Map.groupBy(news, ({ createdAt }) => date(createdAt))].map(([day, ofDay]) => (
    <section key={day} class="day-of-news" aria-label={dayName(day)}>
      <h3>{dayName(day)}</h3>
      <ul class="plain">
        {[...Map.groupBy(ofDay, ({ createdBy }) => createdBy)].map(([person, events]) => (
          <Person key={person} name={person} of={events} />
        ))}
      </ul>
    </section>
  ));
}

/** @param {string} day */
function dayName(day) {
  const [today, yesterday] = [0, 1].map((days) =>
    date(new Date(Date.now() - days * 86_400_000).toISOString()),
  );
  return day === today ? 'Today' : day === yesterday ? 'Yesterday' : day;
}

/** @param {{ name: string, of: readonly LoggedEvent[] }} props */
function Person({ name, of }) {
  const { me } = useSession();
  const told = toldOf(of);
  const rest = told.length - SENTENCES_MAX;
  return (
    <li class="news-of-person">
      <span class="strong">{of[0]?.createdByUserId === me.user.id ? 'You' : <Name text={name} />}</span>
      <ul class="plain">
        {told.slice(0, SENTENCES_MAX).map((one, index) => (
          <li key={index}>
            <Told of={one} /> <TimeAgo iso={one.iso} />
          </li>
        ))}
        {rest > 0 ? <li class="muted">{`did ${rest} more things`}</li> : null}
      </ul>
    </li>
  );
}

/** Such as: created new-checkout, added a strategy to it and switched it on in development. @param {{ of: Told }} props */
function Told({ of: { verbs, subjects } }) {
  const pronoun = subjects.length === 1 ? 'it' : 'them';
  const clauses = [...verbs].map(([verb, environments], index, all) => {
    const [before = '', after = ''] = verb.split('{}');
    const places = listText(environments);
    // Said once of clauses that follow each other.
    const isSaid = places !== '' && places !== listText(all[index + 1]?.[1] ?? []);
    return (
      <>
        {before}
        {index === 0 ? <Subjects of={subjects} /> : pronoun}
        {after}
        {isSaid ? ` in ${places}` : ''}
      </>
    );
  });
  return <Listed of={clauses} />;
}

/** @param {{ of: readonly Subject[] }} props */
function Subjects({ of }) {
  const named = of
    .slice(0, of.length > NAMED_MAX ? NAMED_MAX - 1 : NAMED_MAX)
    .map(({ project, flag, isGone }) =>
      flag === null ? (
        <ProjectLink id={project} />
      ) : isGone ? (
        <code>{flag}</code>
      ) : (
        <FlagLink project={project} name={flag} />
      ),
    );
  return <Listed of={of.length > named.length ? [...named, `${of.length - named.length} others`] : named} />;
}

/** @param {{ of: readonly ComponentChildren[] }} props */
export const Listed = ({ of }) =>
  of.map((one, index) => (
    <Fragment key={index}>
      {index === 0 ? '' : index === of.length - 1 ? ' and ' : ', '}
      {one}
    </Fragment>
  ));

/** @param {readonly string[]} texts */
const listText = (texts) => texts.join(', ').replace(/, ([^,]*)$/, ' and $1');
