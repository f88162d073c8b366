/** Removes something for good, once that is agreed to; what the server refuses becomes a message. */

import { make, takeBack, wordFor } from '../changes.jsx';
import { Refused } from '../client.js';
import { ask } from '../forms/ask.jsx';
import { ByOthers, eventsSince } from '../forms/conflict.jsx';
import { notice, noticeRefusal } from '../notices.jsx';

/** @import { Change } from '../client.js' */
/** @import { Pinned, Session } from '../types.d.ts' */

/** Resolves to whether it was made. @param {Session} session @param {{ title: string, agree: string, text: string, change: Change, done: string, undo?: Change }} of */
export async function removeAfterAsking(session, { title, agree, text, change, done, undo }) {
  const word = await wordFor(session, change, agree);
  if (!(await ask({ title, agree: word, danger: true, body: text }))) return false;
  return changeAtOnce(session, { change, done, ...(undo === undefined ? {} : { undo }) });
}

/**
 * Whether it was made. Where it says what the change was made from, and somebody else was faster, it is asked first what to do.
 * @param {Session} session
 * @param {{ change: Change, done: string, undo?: Change, pinned?: Pinned<unknown> }} of
 */
export async function changeAtOnce(session, { change, done, undo, pinned }) {
  let isMade = false;
  try {
    const made = await make(session, change, { ifMatch: pinned?.etag ?? '' }).catch((error) => {
      if (pinned !== undefined && error instanceof Refused && error.status === 412) {
        return takeBoth(session, { change, pinned });
      }
      throw error;
    });
    isMade = made !== null;
    if (isMade) notice('done', done, undo === undefined ? null : () => takeBack(session, undo));
  } catch (error) {
    if (error !== KEPT_THEIRS) noticeRefusal(error);
  }
  void session.feed.look();
  return isMade;
}

const KEPT_THEIRS = new Error('the change was given up for that of someone else');

/** @param {Session} session @param {{ change: Change, pinned: Pinned<unknown> }} of */
async function takeBoth(session, { change, pinned }) {
  const { client } = session;
  const [{ etag }, events] = await Promise.all([client.read(pinned.at), eventsSince(client, pinned)]);
  const agreed = await ask({
    title: 'Someone else changed this in the meantime',
    agree: 'Merge',
    body: <ByOthers events={events} />,
  });
  if (!agreed) throw KEPT_THEIRS;
  return make(session, change, { ifMatch: etag });
}
