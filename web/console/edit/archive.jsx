/** Archives flags, once it is clear where they are on, whether applications use them, and what depends on them. */
import { flagPath, tryChangeFlag, wordFor } from '../changes.jsx';
import { changing, path } from '../client.js';
import { ago, counted } from '../format.js';
import { ask } from '../forms/ask.jsx';
import { notice } from '../notices.jsx';
import { isProduction } from '../session.js';
import { changeMany } from './bulk-edits.jsx';

/** @import { Change } from '../client.js' */
/** @import { Flag, FlagUsage, Session } from '../types.d.ts' */

/** Names that a question lists. */
const NAMED_MAX = 8;

/** Flags that one change names at most; each of them is read before the question. */
const FLAGS_MAX = 500;

/** A flag that an application evaluated within this time counts as used, in milliseconds. */
const USED_MS = 24 * 3_600_000;

/** @param {Session} session @param {{ project: string, name: string }} flag */
export async function archiveFlag(session, { project, name }) {
  const facts = await factsOf(session, project, name);
  const at = flagPath(project, name);
  const change = changing('DELETE', at);
  const agreed = await ask({
    title: 'Archive this flag?',
    agree: await wordFor(session, change, 'Archive'),
    danger: true,
    body: (
      <>
        <p>
          <code>{name}</code> disappears from lists, and is off for applications until you revive it and
          switch it on. Its history, strategies and name are kept.
        </p>
        <Facts of={facts} />
      </>
    ),
  });
  if (!agreed) return false;
  const before = await session.client.get(at).catch(() => null);
  return tryChangeFlag(session, {
    project,
    flag: name,
    change,
    undo: revived(project, before === null ? [] : [before], changing('POST', path`/archive/revive/${name}`)),
    done: `${name} is archived.`,
  });
}

/**
 * Takes the archiving of flags back: revives them, switches them on where they were, and makes them depend on what they depended on,
 * since archiving ends all of that.
 * @param {string} project
 * @param {readonly Flag[]} flags as they were
 * @param {Change} revive
 * @returns {readonly Change[]}
 */
function revived(project, flags, revive) {
  /** @type {Map<string, string[]>} */
  const on = new Map();
  for (const { name, environments } of flags)
    for (const { name: environment, enabled } of environments)
      if (enabled) on.set(environment, [...(on.get(environment) ?? []), name]);
  return [
    revive,
    ...flags.flatMap(({ name, dependencies }) =>
      dependencies.map((one) => changing('POST', `${flagPath(project, name)}/dependencies`, one)),
    ),
    ...[...on].map(([environment, features]) =>
      changing('POST', path`/projects/${project}/bulk_features/environments/${environment}/on`, { features }),
    ),
  ];
}

/** @param {Session} session @param {string} project @param {readonly string[]} features */
export async function archiveMany(session, project, features) {
  const [name = '', ...others] = features;
  if (others.length === 0) return archiveFlag(session, { project, name });
  if (features.length > FLAGS_MAX) {
    notice('refused', `At most ${FLAGS_MAX} flags can be archived at once; select fewer.`);
    return false;
  }
  // The list was read when the page was opened, and no event tells of use.
  /** @type {readonly Flag[]} */
  const flags = await Promise.all(features.map((name) => session.client.get(flagPath(project, name))));
  const change = changing('POST', path`/projects/${project}/archive`, { features });
  const agreed = await ask({
    title: `Archive ${counted(flags.length, 'flag')}?`,
    agree: await wordFor(session, change, `Archive ${counted(flags.length, 'flag')}`),
    danger: true,
    body: (
      <>
        <p>{`${namesOf(flags)} disappear from lists, and are off for applications until you revive them and switch them on.`}</p>
        <Facts of={factsOfMany(session, flags)} />
      </>
    ),
  });
  if (!agreed) return false;
  return changeMany(session, {
    change,
    undo: revived(project, flags, changing('POST', path`/projects/${project}/revive`, { features })),
    done: `${counted(flags.length, 'flag is', 'flags are')} archived.`,
  });
}

/** @param {{ of: readonly string[] }} props */
const Facts = ({ of }) => (
  <ul>
    {of.map((fact) => (
      <li key={fact}>{fact}</li>
    ))}
  </ul>
);

/** @param {Session} session @param {string} project @param {string} name @returns {Promise<readonly string[]>} */
async function factsOf({ client }, project, name) {
  /** @type {[Flag, FlagUsage | null]} */
  const [{ environments, children, lastSeenAt }, usage] = await Promise.all([
    client.get(flagPath(project, name)),
    client.get(path`/client-metrics/features/${name}`).catch(() => null),
  ]);
  const on = environments.filter(({ enabled }) => enabled).map((one) => one.name);
  const count = (usage?.lastHourUsage ?? []).reduce((sum, { yes, no }) => sum + yes + no, 0);
  return [
    on.length === 0 ? 'It is off in every environment.' : `It is on in ${on.join(', ')}.`,
    count > 0
      ? `Applications evaluated it ${counted(count, 'time')} in the last hour.`
      : lastSeenAt === null
        ? 'No application has used it yet.'
        : `Last used by applications ${ago(lastSeenAt, Date.now())}.`,
    children.length === 0
      ? 'No other flag depends on it.'
      : `${children.join(', ')} ${children.length === 1 ? 'depends' : 'depend'} on it, and must be archived first.`,
  ];
}

/** @param {Session} session @param {readonly Flag[]} flags */
function factsOfMany(session, flags) {
  const on = flags.filter(({ environments }) =>
    environments.some(({ name, enabled }) => enabled && isProduction(session, name)),
  );
  const since = new Date(Date.now() - USED_MS).toISOString();
  const used = flags.filter(({ lastSeenAt }) => lastSeenAt !== null && lastSeenAt > since);
  return [
    on.length === 0 ? 'None of them is on in production.' : `On in production: ${namesOf(on)}.`,
    used.length === 0
      ? 'No application has used them in the last 24 hours.'
      : `Used by applications in the last 24 hours: ${namesOf(used)}.`,
  ];
}

/** @param {readonly Flag[]} flags */
function namesOf(flags) {
  const rest = flags.length - NAMED_MAX;
  const named = flags.slice(0, NAMED_MAX).map(({ name }) => name);
  return named.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
