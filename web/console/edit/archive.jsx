/** Archives flags and deletes archived ones, once it is clear where they are on, whether applications use them, and what depends on them. */
import { flagPath, wordFor } from '../changes.jsx';
import { changing, path } from '../client.js';
import { ago, counted } from '../format.js';
import { ask } from '../forms/ask.jsx';
import { notice, noticeRefusal } from '../notices.jsx';
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

/** Resolves to whether they are archived. @param {Session} session @param {string} project @param {readonly string[]} features */
export async function archiveFlags(session, project, features) {
  if (features.length > FLAGS_MAX) {
    notice('refused', `At most ${FLAGS_MAX} flags can be archived at once; select fewer.`);
    return false;
  }
  // The list was read when the page was opened, and no event tells of use.
  /** @type {readonly Flag[]} */
  const flags = await Promise.all(features.map((name) => session.client.get(flagPath(project, name))));
  const [only, ...others] = flags;
  const isOne = only !== undefined && others.length === 0;
  const what = isOne ? 'Archive' : `Archive ${counted(flags.length, 'flag')}`;
  const facts = isOne ? await factsOf(session, only) : factsOfMany(session, flags);
  const change = changing('POST', path`/projects/${project}/archive`, { features });
  const agreed = await ask({
    title: isOne ? 'Archive this flag?' : `${what}?`,
    agree: await wordFor(session, change, what),
    danger: true,
    body: (
      <>
        <p>
          {isOne ? <code>{only.name}</code> : namesOf(flags)}
          {' will be listed in the archive only, and off for applications until revived and switched on. '}
          {'History, strategies and names are kept.'}
        </p>
        <ul>
          {facts.map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
      </>
    ),
  });
  if (!agreed) return false;
  return changeMany(session, {
    change,
    undo: revived(project, flags, changing('POST', path`/projects/${project}/revive`, { features })),
    done: isOne ? `${only.name} is archived.` : `${counted(flags.length, 'flag')} are archived.`,
  });
}

/** @param {Session} session @param {Flag} flag @returns {Promise<readonly string[]>} */
async function factsOf({ client }, { name, environments, children, lastSeenAt }) {
  /** @type {FlagUsage | null} */
  const usage = await client.get(path`/client-metrics/features/${name}`).catch(() => null);
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
const namesOf = (flags) => listText(flags.map(({ name }) => name));

/** @param {readonly string[]} names */
function listText(names) {
  const rest = names.length - NAMED_MAX;
  return names.slice(0, NAMED_MAX).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** Flags that a change names; with more of them, it is several changes. */
const NAMED_AT_ONCE = 100;

/** Deletes flags of the archive for good. @param {Session} session @param {string} project @param {readonly string[]} names */
export async function deleteFlags(session, project, names) {
  const agreed = await ask({
    title: `Delete ${names.length === 1 ? 'this flag' : counted(names.length, 'archived flag')} for good?`,
    agree: 'Delete for good',
    danger: true,
    body: `${listText(names)} cannot be restored. Names become available again; events stay in the log.`,
  });
  if (!agreed) return;
  try {
    for (let at = 0; at < names.length; at += NAMED_AT_ONCE) {
      const features = names.slice(at, at + NAMED_AT_ONCE);
      await session.client.post(path`/projects/${project}/delete`, { features });
    }
    notice('done', `${counted(names.length, 'flag is', 'flags are')} deleted.`);
  } catch (error) {
    noticeRefusal(error);
  }
  void session.feed.look();
}
