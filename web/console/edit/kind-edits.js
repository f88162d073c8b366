/** Makes, changes and deletes one of a kind, by its row. */
import { changing } from '../client.js';
import { openEdit } from '../forms/edit-dialog.jsx';
import { nameOf, pathOf } from '../kinds/kind.js';
import { said } from '../said.jsx';
import { readPinned } from './pinned.js';
import { removeAfterAsking } from './remove.jsx';

/** @import { Change } from '../client.js' */
/** @import { Pinned, Session } from '../types.d.ts' */
/** @import { Kind } from '../kinds/kind.js' */

/** @param {Session} session @param {Kind<any, any>} kind @param {any} item null for a new one @param {() => void} [refresh] */
export async function editKind(session, kind, item, refresh = () => undefined) {
  const { one, at, fields, prepare, bodyOf, changeBy = 'PUT', isWrittenOnce = false } = kind;
  const isNew = item === null;
  /** @param {object} now @returns {Change} */
  const change = (now) =>
    changing(
      isNew ? 'POST' : changeBy,
      isNew ? at : (kind.changeAt?.(item) ?? pathOf(kind, item)),
      bodyOf(now, isNew, item),
    );
  const [extra, { values, pinned }] = await Promise.all([
    prepare?.(session) ?? null,
    readOne(session, kind, item),
  ]);
  const { after, ...more } = kind.edit?.(session, item, extra) ?? {};
  await openEdit(session, {
    title: isNew ? `New ${one}` : `Edit the ${one} ${said(nameOf(kind, item))}`,
    agree: isNew ? 'Create' : 'Save',
    fields: fields(extra, isNew),
    values,
    sentence: ({ name }) =>
      `The ${one} ${said(name || '…')} ${isNew ? 'will be created' : 'will be updated'}.`,
    change,
    done: ({ name }) =>
      `The ${one} ${said(isNew ? name : nameOf(kind, item))} is ${isNew ? 'created' : 'changed'}.`,
    undo(now, response, from) {
      if (!isNew) return change(from);
      return isWrittenOnce ? null : changing('DELETE', pathOf(kind, { ...now, ...response }));
    },
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
async function readOne(session, kind, item) {
  const { one, isRead, valuesOf } = kind;
  if (item === null || isRead !== true) return { values: valuesOf(item) };
  const { id, name } = item;
  return readPinned(session, {
    at: pathOf(kind, item),
    search: { type: `${one.replaceAll(' ', '-')}-updated` },
    isAbout: ({ data, environment }) =>
      id === undefined ? data?.['name'] === name || environment === name : data?.['id'] === id,
    valuesIn: valuesOf,
  });
}

/** @param {Session} session @param {Kind<any, any>} kind @param {any} item */
export function removeKind(session, kind, item) {
  const { one, loses = '' } = kind;
  const name = said(nameOf(kind, item));
  return removeAfterAsking(session, {
    title: `Delete the ${one} ${name}?`,
    agree: 'Delete for good',
    text: typeof loses === 'string' ? loses : loses(item),
    change: changing('DELETE', pathOf(kind, item)),
    done: `The ${one} ${name} is deleted.`,
  });
}
