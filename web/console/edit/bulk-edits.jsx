/** What can be done with many flags of a project at once, as one change. */
import { messageOf, path } from '../client.js';
import { counted } from '../format.js';
import { ask } from '../forms/ask.jsx';
import { takeBack } from '../forms/edit-dialog.jsx';
import { notice } from '../notices.jsx';

/** @import { Change } from '../client.js' */
/** @import { Session } from '../types.d.ts' */

/** Names that a question lists. */
const NAMED_MAX = 8;

/** @param {Session} session @param {string} project @param {readonly string[]} features */
export async function archiveMany(session, project, features) {
  const agreed = await ask({
    title: `Archive ${counted(features.length, 'flag')}?`,
    agree: `Archive ${counted(features.length, 'flag')}`,
    danger: true,
    body: (
      <>
        <p>{namesOf(features)}</p>
        <p>They leave the lists, and are off for applications until they are revived.</p>
      </>
    ),
  });
  if (!agreed) return false;
  return send(session, {
    change: { method: 'POST', path: path`/projects/${project}/archive`, body: { features } },
    undo: { method: 'POST', path: path`/projects/${project}/revive`, body: { features } },
    done: `${counted(features.length, 'flag is', 'flags are')} archived.`,
  });
}

/** @param {Session} session @param {string} project @param {readonly string[]} features @param {boolean} stale */
export function markMany(session, project, features, stale) {
  const at = path`/projects/${project}/stale`;
  return send(session, {
    change: { method: 'POST', path: at, body: { features, stale } },
    undo: { method: 'POST', path: at, body: { features, stale: !stale } },
    done: `${counted(features.length, 'flag is', 'flags are')} ${stale ? 'stale' : 'not stale any more'}.`,
  });
}

/** @param {readonly string[]} features */
function namesOf(features) {
  const rest = features.length - NAMED_MAX;
  return features.slice(0, NAMED_MAX).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** @param {Session} session @param {{ change: Change, undo: Change, done: string }} of */
async function send(session, { change, undo, done }) {
  try {
    await session.client.change(change);
    notice('done', done, () => takeBack(session, undo));
    void session.feed.look();
    return true;
  } catch (error) {
    notice('refused', messageOf(error));
    return false;
  }
}
