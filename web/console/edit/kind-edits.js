/** Makes, changes and deletes one of a kind, by its row. */
import { openEdit } from '../forms/edit-dialog.jsx';
import { said } from '../said.jsx';
import { readPinned } from './pinned.js';
import { removeAfterAsking } from './remove.jsx';

/** @import { Pinned, Session } from '../types.d.ts' */
/** @import { Kind } from '../kinds/kind.js' */

/** @param {Session} session @param {Kind<any, any>} kind @param {any} item null for a new one @param {() => void} [refresh] */
export async function editKind(session, kind, item, refresh = () => undefined) {
  const {
    one,
    at,
    nameOf,
    pathOf,
    fields,
    prepare,
    bodyOf,
    changeAt = pathOf,
    changeBy = 'PUT',
    madeAt,
  } = kind;
  const isNew = item === null;
  const [extra, { values, pinned }] = await Promise.all([
    prepare?.(session) ?? null,
    readOne(session, kind, item),
  ]);
  const { after, ...more } = kind.edit?.(session, item, extra) ?? {};
  await openEdit(session, {
    title: isNew ? `New ${one}` : `Edit the ${one} ${said(nameOf(item))}`,
    agree: isNew ? 'Create' : 'Save',
    fields: fields(extra, isNew),
    values,
    sentence: ({ name }) =>
      `The ${one} ${said(name || '…')} ${isNew ? 'will be created' : 'will be updated'}.`,
    change: (now) => ({
      method: isNew ? 'POST' : changeBy,
      path: isNew ? at : changeAt(item),
      body: bodyOf(now, isNew, item),
    }),
    done: ({ name }) =>
      `The ${one} ${said(isNew ? name : nameOf(item))} is ${isNew ? 'created' : 'changed'}.`,
    undo: isNew
      ? madeAt === undefined
        ? null
        : (now, response) => ({ method: 'DELETE', path: madeAt(now, response) })
      : (_, __, from) => ({ method: changeBy, path: changeAt(item), body: bodyOf(from, false, item) }),
    ...(pinned === undefined ? {} : { pinned }),
    ...more,
    after(response, now) {
      refresh();
      after?.(response, now);
    },
  });
}

/**
 * The values with which the form begins, and what they were read from, where it can be said who was faster.
 * @param {Session} session
 * @param {Kind<any, any>} kind
 * @param {any} item
 * @returns {Promise<{ values: Record<string, any>, pinned?: Pinned<any> }>}
 */
async function readOne(session, { one, readAt, valuesOf }, item) {
  if (item === null || readAt === undefined) return { values: valuesOf(item) };
  const { id, name } = item;
  return readPinned(session, {
    at: readAt(item),
    search: { type: `${one.replaceAll(' ', '-')}-updated` },
    isAbout: ({ data, environment }) =>
      id === undefined ? data?.['name'] === name || environment === name : data?.['id'] === id,
    valuesIn: valuesOf,
  });
}

/** @param {Session} session @param {Kind<any, any>} kind @param {any} item */
export function removeKind(session, { one, nameOf, pathOf, loses = '' }, item) {
  const name = said(nameOf(item));
  return removeAfterAsking(session, {
    title: `Delete the ${one} ${name}?`,
    agree: 'Delete for good',
    text: typeof loses === 'string' ? loses : loses(item),
    change: { method: 'DELETE', path: pathOf(item) },
    done: `The ${one} ${name} is deleted.`,
  });
}
