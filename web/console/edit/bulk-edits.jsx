/** The edits of many flags of a project at once, as one change. */
import { flagPath, takeBack } from '../changes.jsx';
import { messageOf, path } from '../client.js';
import { counted } from '../format.js';
import { ask } from '../forms/ask.jsx';
import { openEdit } from '../forms/edit-dialog.jsx';
import { notice } from '../notices.jsx';
import { said } from '../said.jsx';
import { isProduction } from '../session.js';
import { projectField, TAG_FIELDS } from './flag-edits.jsx';

/** @import { Change } from '../client.js' */
/** @import { FlagSummary, Session } from '../types.d.ts' */

/** @param {readonly FlagSummary[]} flags */
const namesOf = (flags) => flags.map(({ name }) => name);

/** @param {Session} session @param {string} project @param {readonly FlagSummary[]} flags @param {boolean} stale */
export function markMany(session, project, flags, stale) {
  const at = path`/projects/${project}/stale`;
  const features = namesOf(flags);
  const changed = namesOf(flags.filter((flag) => flag.stale !== stale));
  return changeMany(session, {
    change: { method: 'POST', path: at, body: { features, stale } },
    undo:
      changed.length === 0 ? [] : { method: 'POST', path: at, body: { features: changed, stale: !stale } },
    done: `${counted(features.length, 'flag is', 'flags are')} ${stale ? 'stale' : 'no longer stale'}.`,
  });
}

/** @param {Session} session @param {string} project @param {readonly FlagSummary[]} flags @param {string} environment @param {boolean} enabled */
export async function switchMany(session, project, flags, environment, enabled) {
  const features = namesOf(flags);
  const changed = namesOf(
    flags.filter(({ environments }) =>
      environments.some((one) => one.name === environment && one.enabled !== enabled),
    ),
  );
  const [word, other] = enabled ? ['on', 'off'] : ['off', 'on'];
  const at = path`/projects/${project}/bulk_features/environments/${environment}`;
  const count = counted(features.length, 'flag');
  const agreed = await ask({
    title: `Switch ${count} ${word} in ${environment}?`,
    agree: `Switch ${word} in ${environment}`,
    danger: isProduction(session, environment),
    body: `${features.join(', ')} will be ${word}. Those that are ${word} already stay as they are.`,
  });
  if (!agreed) return false;
  return changeMany(session, {
    change: { method: 'POST', path: `${at}/${word}`, body: { features } },
    undo: changed.length === 0 ? [] : { method: 'POST', path: `${at}/${other}`, body: { features: changed } },
    done: `${counted(features.length, 'flag is', 'flags are')} ${word} in ${environment}.`,
  });
}

/** @param {Session} session @param {string} project @param {readonly FlagSummary[]} flags */
export function tagMany(session, project, flags) {
  const at = path`/projects/${project}/tags`;
  const features = namesOf(flags);
  /** @param {{ type: string, value: string }} tag */
  const withoutTag = ({ type, value }) =>
    namesOf(flags.filter(({ tags }) => !tags.some((one) => one.type === type && one.value === value)));
  return openEdit(session, {
    title: `Tag ${counted(features.length, 'flag')}`,
    agree: 'Add tag',
    fields: TAG_FIELDS,
    values: { type: 'simple', value: '' },
    sentence: ({ type, value }) => `Each of them has the tag ${said(type || '…')}: ${said(value || '…')}.`,
    change: (tag) => ({
      method: 'PUT',
      path: at,
      body: { features, tags: { addedTags: [tag], removedTags: [] } },
    }),
    done: ({ value }) => `${counted(features.length, 'flag is', 'flags are')} tagged ${said(value)}.`,
    undo(tag) {
      const tagged = withoutTag(tag);
      if (tagged.length === 0) return null;
      const tags = { addedTags: [], removedTags: [tag] };
      return { method: 'PUT', path: at, body: { features: tagged, tags } };
    },
  });
}

/** Favorites are the caller's own, so that each is a change by itself. @param {Session} session @param {string} project @param {readonly FlagSummary[]} flags */
export function favoriteMany(session, project, flags) {
  const paths = namesOf(flags.filter(({ favorite }) => !favorite)).map(
    (name) => `${flagPath(project, name)}/favorites`,
  );
  return changeMany(session, {
    change: paths.map((at) => ({ method: 'POST', path: at })),
    undo: paths.map((at) => ({ method: 'DELETE', path: at })),
    done: `${counted(flags.length, 'flag is a favorite', 'flags are favorites')} of yours.`,
  });
}

/** @param {Session} session @param {string} project @param {readonly string[]} features */
export function moveMany(session, project, features) {
  const count = counted(features.length, 'flag');
  const others = session.projects.value.filter(({ id }) => id !== project);
  const waiting = [...features];
  /** @param {string} name @param {string} from @param {string} to @returns {Change} */
  const move = (name, from, to) => ({
    method: 'POST',
    path: `${flagPath(from, name)}/changeProject`,
    body: { newProjectId: to },
  });
  return openEdit(session, {
    title: `Move ${count} to another project`,
    agree: 'Move',
    fields: [projectField(others)],
    values: { newProjectId: others[0]?.id ?? '' },
    sentence: ({ newProjectId }) =>
      `${features.join(', ')} leave ${project} for ${newProjectId}, one after another, with their strategies and their history. Tokens of one project alone no longer read them.`,
    change: ({ newProjectId }) => move(features[0] ?? '', project, newProjectId),
    send: async (_, { newProjectId }) => {
      // Where one is refused, those before it have gone.
      for (; waiting[0] !== undefined; waiting.shift())
        await session.client.change(move(waiting[0], project, newProjectId));
    },
    done: ({ newProjectId }) => `${counted(features.length, 'flag is', 'flags are')} in ${newProjectId}.`,
    undo: ({ newProjectId }) => features.map((name) => move(name, newProjectId, project)),
  });
}

/** @param {Session} session @param {{ change: Change | readonly Change[], undo: Change | readonly Change[], done: string }} of several are made one after another, until one is refused; `undo`: empty where all was so before */
export async function changeMany(session, { change, undo, done }) {
  let made = 0;
  try {
    for (const one of [change].flat()) {
      await session.client.change(one);
      made += 1;
    }
    const canBeUndone = [undo].flat().length > 0;
    notice('done', done, canBeUndone ? () => takeBack(session, undo) : null);
    void session.feed.look();
    return true;
  } catch (error) {
    notice('refused', messageOf(error) + (made === 0 ? '' : ` The ${made} before it are changed.`));
    return false;
  }
}
