/** The page of a kind (kinds.jsx): a list of what there is, with a form for one more, for changing one, and the way out. */
import { removeAfterAsking } from '../edit/remove.jsx';
import { useEvents } from '../feed.js';
import { openEdit } from '../forms/edit-dialog.jsx';
import { EditActions, Listing, ListingHead, MainAction, RowAction } from '../parts/listing.jsx';
import { Empty } from '../parts/states.jsx';
import { useResource, whenLoaded } from '../resource.jsx';
import { said } from '../said.jsx';
import { useSession } from '../session.js';

/** @import { Kind } from '../kinds.jsx' */
/** @import { Session } from '../types.d.ts' */

/** @param {{ kind: Kind<any, any> }} props */
export function KindView({ kind }) {
  const session = useSession();
  const { title, lead, one, none, at, right, isForAdmins } = kind;
  const may = session.may(right);
  const isHidden = isForAdmins === true && !session.may('admin');
  const loaded = useResource(
    () => (isHidden ? Promise.resolve(null) : session.client.get(at)),
    [session, at, isHidden],
  );
  const refresh = () => void loaded.refresh();
  useEvents(session, refresh);
  const create = may && kind.fields !== undefined ? () => editKind(session, kind, null, refresh) : null;
  return (
    <>
      <ListingHead
        title={title}
        lead={lead}
        action={create === null ? null : <MainAction text={`New ${one}`} act={create} />}
      />
      {whenLoaded(loaded, (body) =>
        isHidden ? (
          <Empty title="This page is for Admins">They can give you another role.</Empty>
        ) : (
          <Listing
            label={title}
            columns={[
              { title: capitalized(one), isMain: true },
              ...kind.columns.map(([column]) => ({ title: column })),
            ]}
            rows={kind.listIn(body).map((item) => ({
              key: kind.pathOf(item),
              cells: [kind.nameOf(item), ...kind.columns.map(([, cell]) => cell(item, body))],
              actions: may && kind.isFixed?.(item) !== true ? actionsOf(session, kind, item, refresh) : null,
            }))}
            none={`There are no ${title.toLowerCase()} yet`}
            next={none}
          />
        ),
      )}
    </>
  );
}

/** @param {string} text */
const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** @param {Session} session @param {Kind<any, any>} kind @param {any} item @param {() => void} refresh */
function actionsOf(session, kind, item, refresh) {
  const name = kind.nameOf(item);
  const remove = () => removeKind(session, kind, item).then(refresh);
  return (
    <>
      {kind.fields === undefined ? (
        <RowAction text="Delete" of={name} act={remove} />
      ) : (
        <EditActions of={name} edit={() => editKind(session, kind, item, refresh)} remove={remove} />
      )}
      {kind.actions?.(session, item, refresh)}
    </>
  );
}

/** @param {Session} session @param {Kind<any, any>} kind @param {any} item null for a new one @param {() => void} refresh */
export async function editKind(session, kind, item, refresh) {
  const { one, at, nameOf, pathOf, fields, prepare, valuesOf, bodyOf } = kind;
  if (fields === undefined || valuesOf === undefined || bodyOf === undefined) return;
  const isNew = item === null;
  const [extra, values] = await Promise.all([prepare?.(session) ?? null, valuesOf(session, item)]);
  await openEdit(session, {
    title: isNew ? `New ${one}` : `Edit the ${one} ${said(nameOf(item))}`,
    agree: isNew ? 'Create' : 'Save',
    fields: fields(extra, isNew),
    values,
    sentence: ({ name }) =>
      `The ${one} ${said(name || '…')} ${isNew ? 'will exist' : 'will be as this form says'}.`,
    change: (now) => ({
      method: isNew ? 'POST' : 'PUT',
      path: isNew ? at : pathOf(item),
      body: bodyOf(now, isNew),
    }),
    done: ({ name }) => `The ${one} ${said(name)} is ${isNew ? 'created' : 'changed'}.`,
    undo: isNew ? null : { method: 'PUT', path: pathOf(item), body: bodyOf(values, false) },
    after: refresh,
  });
}

/** @param {Session} session @param {Kind<any, any>} kind @param {any} item */
function removeKind(session, { one, nameOf, pathOf, loses }, item) {
  const name = said(nameOf(item));
  return removeAfterAsking(session, {
    title: `Delete the ${one} ${name}?`,
    agree: 'Delete for good',
    text: loses,
    change: { method: 'DELETE', path: pathOf(item) },
    done: `The ${one} ${name} is deleted.`,
  });
}
