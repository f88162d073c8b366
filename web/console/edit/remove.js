/** Removes something for good, once that is agreed to; what the server refuses becomes a message. */
import { h } from 'preact';
import { messageOf } from '../client.js';
import { ask } from '../forms/ask.js';
import { takeBack } from '../forms/edit-dialog.js';
import { notice } from '../notices.js';

/** @import { Change } from '../client.js' */
/** @import { Session } from '../types.d.ts' */

/**
 * @param {Session} session
 * @param {{ title: string, agree: string, text: string, change: Change, done: string, undo?: Change }} of
 */
export async function removeAfterAsking(session, { title, agree, text, change, done, undo }) {
  if (!(await ask({ title, agree, danger: true, body: h('p', null, text) }))) return;
  await changeAtOnce(session, { change, done, ...(undo === undefined ? {} : { undo }) });
}

/** @param {Session} session @param {{ change: Change, done: string, undo?: Change }} of */
export async function changeAtOnce(session, { change, done, undo }) {
  try {
    await session.client.change(change);
    notice('done', done, undo === undefined ? null : () => takeBack(session, undo));
  } catch (error) {
    notice('refused', messageOf(error));
  }
  void session.feed.look();
}
