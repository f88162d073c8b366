/** The page of a kind (kinds.jsx): a list of what there is, with a form for one more, for changing one, and the way out. */
import { editKind, removeKind } from '../edit/kind-edits.js';
import { capitalized } from '../format.js';
import { openPanel } from '../forms/panel.jsx';
import { nameOf, pathOf } from '../kinds/kind.js';
import { AddButton, Listing, ListingHead, Noted, Part, RowActions } from '../parts/listing.jsx';
import { ForAdmins } from '../parts/states.jsx';
import { anyEvent, useResource, whenLoaded } from '../resource.jsx';
import { Name } from '../said.jsx';
import { useSession } from '../session.js';

/** @import { Kind } from '../kinds/kind.js' */

/** @param {{ kind: Kind<any, any> }} props */
export function KindView({ kind }) {
  const session = useSession();
  const { title, lead, besides } = kind;
  const list = useKind(kind);
  return (
    <>
      <ListingHead
        title={title}
        lead={lead}
        action={list.create === null ? null : <AddButton isMain text={`New ${kind.one}`} act={list.create} />}
      />
      {list.rows}
      {besides === undefined || !session.may('admin') ? null : <KindPart kind={besides} />}
    </>
  );
}

/** The same as a part of a page. @param {{ kind: Kind<any, any> }} props */
export function KindPart({ kind }) {
  const list = useKind(kind);
  return (
    <Part
      title={kind.title}
      lead={kind.lead}
      action={list.create === null ? null : <AddButton text={`New ${kind.one}`} act={list.create} />}
    >
      {list.rows}
    </Part>
  );
}

/** The same above a page. @param {Kind<any, any>} kind @param {string} title */
export const openKind = (kind, title) => openPanel(title, <KindPart kind={kind} />);

/** @param {Kind<any, any>} kind */
function useKind(kind) {
  const session = useSession();
  const { title, one, none, at, right, project, isForAdmins, isReported, isWrittenOnce } = kind;
  const may = right === undefined || session.may(right, project);
  const isHidden = isForAdmins === true && !session.may('admin');
  const loaded = useResource(
    () => (isHidden ? Promise.resolve(null) : session.client.get(at)),
    [session, at, isHidden],
    anyEvent,
  );
  const refresh = () => void loaded.refresh();
  /** @param {any} item @param {any} body */
  const actionsOf = (item, body) => {
    const isKept = kind.loses === undefined || kind.isPermanent?.(item) === true;
    return (
      <RowActions
        of={nameOf(kind, item)}
        items={[
          isWrittenOnce === true ? null : ['Edit', 'edit', () => editKind(session, kind, item, refresh)],
          ...(kind.actions?.(session, item, body) ?? []),
          isKept ? null : ['Delete', 'remove', () => removeKind(session, kind, item).then(refresh), true],
        ]}
      />
    );
  };
  return {
    create: may && isReported !== true ? () => editKind(session, kind, null, refresh) : null,
    rows: isHidden ? (
      <ForAdmins />
    ) : (
      whenLoaded(loaded, (body) => (
        <Listing
          label={title}
          columns={[capitalized(one), ...kind.columns.map(([column]) => column)]}
          rows={kind.listIn(body).map((item) => ({
            key: pathOf(kind, item),
            cells: [mainCell(kind, item), ...kind.columns.map(([, cell]) => cell(item, body))],
            actions: may && kind.isFixed?.(item) !== true ? actionsOf(item, body) : null,
          }))}
          none={`There are no ${title.replace(/^Your /, '').replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())} yet`}
          next={none}
        />
      ))
    ),
  };
}

/** @param {Kind<any, any>} kind @param {any} item */
const mainCell = (kind, item) => (
  <Noted note={kind.noteOf?.(item)}>{kind.link?.(item) ?? <Name text={nameOf(kind, item)} />}</Noted>
);
