/** What can be done with many flags of a project at once, as one change. */
import { flagPath, isProduction, takeBack } from '../changes.jsx';
import { messageOf, path } from '../client.js';
import { counted } from '../format.js';
import { ask } from '../forms/ask.jsx';
import { openEdit } from '../forms/edit-dialog.jsx';
import { notice } from '../notices.jsx';
import { said } from '../said.jsx';
import { projectField, TAG_FIELDS } from './flag-edits.jsx';

/** @import { Change } from '../client.js' */
/** @import { Session } from '../types.d.ts' */

/** @param {Session} session @param {string} project @param {readonly string[]} features @param {boolean} stale */
export function markMany(session, project, features, stale) {
  const at = path`/projects/${project}/stale`;
  return changeMany(session, {
    change: { method: 'POST', path: at, body: { features, stale } },
    undo: { method: 'POST', path: at, body: { features, stale: !stale } },
    done: `${counted(features.length, 'flag is', 'flags are')} ${stale ? 'stale' : 'no longer stale'}.`,
  });
}

/** @param {Session} session @param {string} project @param {readonly string[]} features @param {string} environment @param {boolean} enabled */
export async function switchMany(session, project, features, environment, enabled) {
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
    undo: { method: 'POST', path: `${at}/${other}`, body: { features } },
    done: `${counted(features.length, 'flag is', 'flags are')} ${word} in ${environment}.`,
  });
}

/** @param {Session} session @param {string} project @param {readonly string[]} features */
export function tagMany(session, project, features) {
  const at = path`/projects/${project}/tags`;
  /** @param {{ type: string, value: string }} tag @param {'addedTags' | 'removedTags'} part */
  const body = (tag, part) => ({ features, tags: { addedTags: [], removedTags: [], [part]: [tag] } });
  return openEdit(session, {
    title: `Tag ${counted(features.length, 'flag')}`,
    agree: 'Add tag',
    fields: TAG_FIELDS,
    values: { type: 'simple', value: '' },
    sentence: ({ type, value }) => `Each of them has the tag ${said(type || '…')}: ${said(value || '…')}.`,
    change: (tag) => ({ method: 'PUT', path: at, body: body(tag, 'addedTags') }),
    done: ({ value }) => `${counted(features.length, 'flag is', 'flags are')} tagged ${said(value)}.`,
    undo: (tag) => ({ method: 'PUT', path: at, body: body(tag, 'removedTags') }),
  });
}

/** Favorites are the caller's own, so that each is a change by itself. @param {Session} session @param {string} project @param {readonly string[]} features */
export function favoriteMany(session, project, features) {
  const paths = features.map((name) => `${flagPath(project, name)}/favorites`);
  return changeMany(session, {
    change: paths.map((at) => ({ method: 'POST', path: at })),
    undo: paths.map((at) => ({ method: 'DELETE', path: at })),
    done: `${counted(features.length, 'flag is a favorite', 'flags are favorites')} of yours.`,
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

/** @param {Session} session @param {{ change: Change | readonly Change[], undo: Change | readonly Change[], done: string }} of several are made one after another, until one is refused */
export async function changeMany(session, { change, undo, done }) {
  let made = 0;
  try {
    for (const one of [change].flat()) {
      await session.client.change(one);
      made += 1;
    }
    notice('done', done, () => takeBack(session, undo));
    void session.feed.look();
    return true;
  } catch (error) {
    notice('refused', messageOf(error) + (made === 0 ? '' : ` The ${made} before it are changed.`));
    return false;
  }
}
