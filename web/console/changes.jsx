/** Changes of flags: each says what it did and offers to take it back; those in production are asked about first. */
import { signal } from '@preact/signals';
import { changing, path, Refused } from './client.js';
import { ask } from './forms/ask.jsx';
import { revisionOf } from './forms/conflict.jsx';
import { later } from './later.jsx';
import { notice, noticeRefusal } from './notices.jsx';
import { besideText, explained, maySkip, placesText, proposalsOf, propose } from './proposals.jsx';
import { Sentence, said } from './said.jsx';
import { callerName, isProduction } from './session.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Change } from './client.js' */
/** @import { Proposal } from './proposals.jsx' */
/** @import { Flag, Session, Undo } from './types.d.ts' */

const { rollBack } = later;

/**
 * @typedef {object} FlagChange
 * @property {string} project
 * @property {string} flag
 * @property {Change | readonly Change[]} change several are sent one after another
 * @property {string} done what is said once it is done
 * @property {string} [ifMatch] the ETag of the flag that the change was made from
 * @property {boolean} [isAnyway] whether it is made where change requests are taken, too
 * @property {Undo | null | undefined} [undo] what takes it back; a rollback when it is left out, nothing when it is null
 */

/** The flag that was read last after a change that was made here, for a view that shows it: the next change is then made from this one. @type {import('@preact/signals').Signal<{ at: string, flag: Flag, etag: string } | null>} */
export const changedFlag = signal(null);

/**
 * Makes changes one after another; where an environment takes change requests, proposes them in place of that. Resolves to the response of the
 * first, or to null where none was made. Every change of the console that could be proposed is sent here.
 * @param {Session} session
 * @param {Change | readonly Change[]} change
 * @param {{ ifMatch?: string, isAnyway?: boolean, onMade?: () => void }} [options] `isAnyway`: whether to propose nothing; whoever may choose is asked unless it is given
 * @returns {Promise<{ response: any } | null>}
 */
export async function make(session, change, { ifMatch = '', isAnyway, onMade } = {}) {
  const proposals = isAnyway === true ? [] : await proposalsOf(session, change);
  if (proposals.length > 0) {
    const way =
      isAnyway === undefined && maySkip(session, proposals)
        ? await askWay(session, proposals, skipText(session, proposals))
        : 'propose';
    if (way === 'propose') await propose(session, proposals, (undo) => takeBack(session, undo));
    if (way !== 'anyway') return null;
  }
  const [first, ...others] = [change].flat();
  if (first === undefined) throw new Error('there is no change to send');
  const response = await session.client.change(first, ifMatch).catch((error) => {
    throw explained(session, first, error);
  });
  onMade?.();
  for (const one of others) {
    await session.client.change(one);
    onMade?.();
  }
  return { response };
}

/** Whether changes are proposed in place of being made. @param {Session} session @param {Change | readonly Change[]} change */
const isProposed = async (session, change) => (await proposalsOf(session, change)).length > 0;

/** The word of the button that makes changes, or proposes them; where that is not known, sending them says so. @param {Session} session @param {Change | readonly Change[]} change @param {string} word */
export const wordFor = async (session, change, word) =>
  (await isProposed(session, change).catch(() => false)) ? 'Propose' : word;

/** Asks whether to propose, or to change it anyway where the caller may. @param {Session} session @param {readonly Proposal[]} proposals @param {ComponentChildren} body @returns {Promise<'propose' | 'anyway' | null>} */
export async function askWay(session, proposals, body) {
  /** @type {'propose' | 'anyway' | null} */
  let way = null;
  const other = {
    text: `Change ${placesText(proposals)} anyway`,
    act: () => {
      way = 'anyway';
    },
  };
  const agreed = await ask({
    title: `Propose it for ${placesText(proposals)}?`,
    agree: 'Propose',
    ...(maySkip(session, proposals) ? { other } : {}),
    body,
  });
  return agreed ? 'propose' : way;
}

/** @param {Session} session @param {readonly Proposal[]} proposals */
export const skipText = (session, proposals) =>
  maySkip(session, proposals)
    ? `Changes of ${placesText(proposals)} need a change request. One without it is recorded as such, by ${said(callerName(session))}, and counted.${besideText(proposals)}`
    : `Changes of ${placesText(proposals)} need a change request: this is added to yours, and takes effect once it is approved and applied.${besideText(proposals)}`;

/**
 * Sends a change of a flag, and offers to take it back. Rejects with the refusal. Resolves to the response; to null where it was not made.
 * @param {Session} session
 * @param {FlagChange} of
 * @returns {Promise<{ response: any } | null>}
 */
export async function changeFlag(session, { project, flag, change, done, ifMatch = '', isAnyway, undo }) {
  const at = flagPath(project, flag);
  const { client, feed } = session;
  const before = revisionOf(ifMatch === '' ? (await client.read(at)).etag : ifMatch);
  const made = await make(session, change, { ifMatch, ...(isAnyway === undefined ? {} : { isAnyway }) });
  if (made === null) return null;
  // A flag that was deleted or renamed has nothing to be brought back to.
  const after = await readAgain(session, at);
  const takesBack = () =>
    undo
      ? takeBack(session, undo, at)
      : rollFlagBack(session, { project, flag, before, etag: after?.etag ?? '' });
  notice('done', done, after === null || undo === null ? null : takesBack);
  void feed.look();
  return made;
}

/** @param {string} project @param {string} flag */
export const flagPath = (project, flag) => path`/projects/${project}/features/${flag}`;

/**
 * Reads a flag for the views that show it, so that the next change is made from what this one made of it; null where there is none.
 * @param {Session} session
 * @param {string} at
 */
export async function readAgain({ client }, at) {
  const now = await client.read(at).catch(() => null);
  if (now !== null) changedFlag.value = { at, flag: now.body, etag: now.etag };
  return now;
}

/** @param {Session} session @param {Undo} undo one after another, where they are several @param {string | null} at the path of the flag that was changed, if it was one */
export async function takeBack(session, undo, at = null) {
  try {
    for (const one of [undo].flat()) await session.client.change(one);
    if (at !== null) await readAgain(session, at);
    notice('done', 'Undone.');
  } catch (error) {
    noticeRefusal(error);
  }
  void session.feed.look();
}

/**
 * Asks first, where somebody has changed the flag since, whether that may be taken back too.
 * @param {Session} session
 * @param {{ project: string, flag: string, before: number, etag: string }} of
 */
async function rollFlagBack(session, { project, flag, before, etag }) {
  const at = flagPath(project, flag);
  try {
    /** @type {{ events: readonly unknown[] }} */
    const { events } = await session.client.change(
      changing('POST', `${at}/rollback`, { eventId: before }),
      etag,
    );
    await readAgain(session, at);
    notice('done', events.length === 0 ? 'Nothing to undo.' : 'Undone.');
  } catch (error) {
    // Somebody was faster, or the environment takes changes by change request.
    if (!(error instanceof Refused) || (error.status !== 412 && error.status !== 403)) throw error;
    await rollBack(session, { project, name: flag }, { eventId: before });
    await readAgain(session, at);
  } finally {
    void session.feed.look();
  }
}

/** The same; a refusal becomes a message. Resolves to whether it was done. @param {Session} session @param {FlagChange} of */
export async function tryChangeFlag(session, of) {
  try {
    return (await changeFlag(session, of)) !== null;
  } catch (error) {
    noticeRefusal(error);
    return false;
  }
}

/** Tells who notices a change in an environment: null where it is not production or nobody does, undefined where that is not known. @param {Session} session @param {string | undefined} environment @param {(() => Promise<string | null>) | undefined} affected */
export const noticedIn = async (session, environment, affected) =>
  environment !== undefined && isProduction(session, environment) ? affected?.() : null;

/**
 * Whether a change may be sent: at once, unless somebody gets something else in production from now on, which is asked about. A proposal changes
 * nothing for anybody.
 * @param {Session} session
 * @param {{ change: Change | readonly Change[], environment?: string | undefined, affected?: () => Promise<string | null>, of?: { name: string }, agree: string, isAnyway?: boolean | undefined }} question
 * @param {ComponentChildren} sentence what will be true
 */
export async function mayChangeProduction(
  session,
  { change, environment, affected, of, agree, isAnyway = false },
  sentence,
) {
  if (environment === undefined) return true;
  if (!isAnyway && (await isProposed(session, change))) return true;
  const who = await noticedIn(session, environment, affected);
  if (who === null) return true;
  return ask({
    title: 'Change production?',
    agree: `${agree} in ${environment}`,
    danger: true,
    body: (
      <>
        {of === undefined ? null : (
          <p>
            <code>{of.name}</code>
            {environment === 'production' ? ' in production.' : ` in ${environment}, which is production.`}
          </p>
        )}
        <div>
          <Sentence>{sentence}</Sentence>
        </div>
        {who === undefined ? null : (
          <p>
            <Sentence>{who}</Sentence>
          </p>
        )}
      </>
    ),
  });
}
