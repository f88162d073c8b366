/** The routes of managed kinds: their records are listed, created, read, changed and deleted as the rows say. */

import type { Command } from '../../domain/decide/decide.ts';
import { titled } from '../../domain/json/schema.ts';
import type { Operation } from '../../domain/kinds/kind.ts';
import { type ManagedKindName, managedKindOf, type RecordOf } from '../../domain/kinds/kinds.ts';
import { recordsOf } from '../../domain/state/directory-records.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import { present, type RefusalName } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import { JSON_HEADERS } from '../serving/json-response.ts';
import {
  type RequestContext,
  type Route,
  readRoute,
  type Schema,
  underTag,
  writeRoute,
} from '../serving/route.ts';
import { recordIdOf, recordOf } from './locators.ts';
import { foundSchema, recordsSchema, titleOf } from './record-schemas.ts';
import { recordsResponse, recordText } from './records.ts';
import { listResponse, PAGED, pinnedResponse, recorded } from './responses.ts';
import {
  GroupSchema,
  groupView,
  RoleSchema,
  RoleWithPermissionsSchema,
  roleView,
  roleWithPermissionsView,
} from './views.ts';

/** Responses with records that show more of the state than its records. */
interface Shape<T> {
  readonly schema: Schema;
  view(world: World, record: T): object;
  /** Records in lists, where those are shown otherwise. */
  readonly listed?: Pick<Shape<T>, 'schema' | 'view'>;
  /** Whether lists may be so long that they are read in pages. */
  readonly isPaged?: true;
}

const SHAPES: { readonly [Name in ManagedKindName]?: Shape<RecordOf<Name>> } = {
  roles: {
    schema: RoleWithPermissionsSchema,
    view: (_, role) => roleWithPermissionsView(role),
    listed: { schema: RoleSchema, view: (_, role) => roleView(role) },
  },
  groups: { schema: GroupSchema, view: groupView, isPaged: true },
};

const shapeOf = <Name extends ManagedKindName>(kind: Name): Shape<RecordOf<Name>> | undefined => SHAPES[kind];

/** All routes of the kind, in the order in which the description lists them. */
export function kindRoutes<Name extends ManagedKindName>(kind: Name): readonly Route[] {
  const { list, create, read, update, remove } = { ...readsOf(kind), ...writesOf(kind) };
  return underTag(managedKindOf(kind).routes.tag, [list, create, read, update, remove]);
}

const named = ({ id: operationId, summary }: Operation) => ({ operationId, summary });

/** Fields that clients send of a record: at its creation, and later. A name that is its key stays. */
function bodiesOf(kind: ManagedKindName) {
  const { sent, changes, lastId, routes } = managedKindOf(kind);
  const { name, ...others } = sent;
  const title = titleOf(kind);
  const create = titled(routes.body ?? `Create${title}`, sent);
  if (routes.body !== undefined) return { create, update: create };
  const changed = changes ?? (lastId === undefined ? others : { ...others, name });
  return { create, update: titled(`Update${title}`, changed) };
}

function listOf<Name extends ManagedKindName>(kind: Name) {
  const { path, list } = managedKindOf(kind).routes;
  const shape = shapeOf(kind);
  const listed = shape?.listed ?? shape;
  const isPaged = shape?.isPaged === true;
  return readRoute(`GET ${path}`, {
    ...{ ...named(list), ...(isPaged ? PAGED : {}) },
    success: { status: 200, schema: recordsSchema(kind, listed?.schema) },
    read: (context) => {
      const { world } = context;
      const items = recordsOf(world, kind);
      const view = (record: RecordOf<Name>) => listed?.view(world, record);
      if (isPaged) return listResponse(context, { name: list.field ?? '', items, view });
      const textOf = (one: RecordOf<Name>) =>
        listed === undefined ? recordText(world, kind, one) : JSON.stringify(view(one));
      return recordsResponse(context, kind, { items, textOf });
    },
  });
}

function textOf<Name extends ManagedKindName>(world: World, kind: Name, record: RecordOf<Name>): string {
  const shape = shapeOf(kind);
  return shape === undefined ? recordText(world, kind, record) : JSON.stringify(shape.view(world, record));
}

/** The record alone, or in a field. */
const inField = (field: string | undefined, text: string): string =>
  field === undefined ? text : `{"version":1,"${field}":${text}}`;

function readsOf<Name extends ManagedKindName>(kind: Name) {
  const { routes } = managedKindOf(kind);
  const { path, param } = routes;
  const locate = recordOf(kind);
  return {
    list: listOf(kind),
    read: readRoute(`GET ${path}/:${param}`, {
      ...named(routes.read),
      locate,
      success: { status: 200, schema: foundSchema(kind, { ...routes.read, record: shapeOf(kind)?.schema }) },
      read: (context, record) => {
        const body = inField(routes.read.field, textOf(context.world, kind, record));
        if (routes.isPinned === true) return pinnedResponse(context, record, body);
        const response = { status: 200, headers: JSON_HEADERS, body };
        return { revision: context.engine.lastId, response };
      },
    }),
  };
}

function writesOf<Name extends ManagedKindName>(kind: Name) {
  const { routes, events, bytesMax, lastId } = managedKindOf(kind);
  const { path, param, permission, needs, createdStatus = 201, doneStatus } = routes;
  const bodies = bodiesOf(kind);
  const locate = recordOf(kind);
  const { changedField } = routes;
  const schema = foundSchema(kind, { field: changedField, record: shapeOf(kind)?.schema, prefix: 'Changed' });
  const tooLarge: readonly RefusalName[] = bytesMax === null ? [] : ['PayloadTooLargeError'];
  const one = {
    ...{ permission, locate },
    ...(routes.isPinned === true ? { pinned: locate } : {}),
    success: { status: doneStatus, schema: null },
  };
  const updated = {
    success: { status: doneStatus, schema },
    respond: ({ world, params }: RequestContext<unknown>) => {
      const body = inField(changedField, textOf(world, kind, present(locate(world, params))));
      return { status: doneStatus, headers: JSON_HEADERS, body };
    },
  };
  return {
    create: writeRoute(`POST ${path}`, {
      ...{ permission, ...named(routes.create), ...needsOf(needs?.create) },
      body: bodies.create,
      success: { status: createdStatus, schema },
      refusals: ['NameExistsError', ...tooLarge],
      command: ({ body: fields }) => ({ type: 'create-record', kind, fields }) as Command<'create-record'>,
      respond: ({ world }, happened) => {
        const { data } = recorded(happened, events.created as DomainEvent['type']);
        const body = inField(changedField, textOf(world, kind, data as never));
        return { status: createdStatus, headers: JSON_HEADERS, body };
      },
    }),
    update: writeRoute(`PUT ${path}/:${param}`, {
      ...{ ...one, ...named(routes.update), ...needsOf(needs?.update) },
      ...(routes.updateShows === true ? updated : {}),
      body: bodies.update,
      refusals: [...(lastId === undefined ? [] : (['NameExistsError'] as const)), ...tooLarge],
      command: ({ params, body: fields }) =>
        ({ type: 'update-record', kind, id: recordIdOf(kind, params), fields }) as Command<'update-record'>,
    }),
    remove: writeRoute(`DELETE ${path}/:${param}`, {
      ...{ ...one, ...named(routes.remove), ...needsOf(needs?.remove) },
      command: ({ params }) =>
        ({ type: 'delete-record', kind, id: recordIdOf(kind, params) }) as Command<'delete-record'>,
    }),
  };
}

const needsOf = (needs: Route['needs']) => (needs === undefined ? {} : { needs });
