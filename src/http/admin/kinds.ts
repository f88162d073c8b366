/** The routes of managed kinds: their records are listed, created, read, changed and deleted as the rows say. */
import * as v from 'valibot';
import {
  type CreateRecord,
  type DeleteRecord,
  refuseTaken,
  type UpdateRecord,
} from '../../domain/decide/kind-commands.ts';
import { type Operation, recordWith, shownRecord } from '../../domain/kinds/kind.ts';
import { type ManagedKindName, managedKindOf } from '../../domain/kinds/kinds.ts';
import { recordsOf } from '../../domain/state/directory-records.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import type { RefusalName } from '../../domain/state/refusal.ts';
import { emptyResponse, JSON_HEADERS } from '../serving/json-response.ts';
import { type Route, readRoute, writeRoute } from '../serving/route.ts';
import { recordIdOf, recordOf } from './requests/locators.ts';
import { checkSchema, foundSchema, recordSchema, recordsSchema, titleOf } from './schemas/record-schemas.ts';
import { recordsResponse, recordText } from './views/records.ts';
import { pinnedResponse, recorded, settledResponse } from './views/responses.ts';

/** All routes of the kind, in the order in which the description lists them. */
export function kindRoutes(kind: ManagedKindName): readonly Route[] {
  const { list, create, check, read, update, remove } = { ...readsOf(kind), ...writesOf(kind) };
  return [list, create, ...check, read, update, remove];
}

const named = ({ id: operationId, summary }: Operation) => ({ operationId, summary });

/** Fields that clients send of a record: at its creation, and later. A name that is its key stays. */
function bodiesOf(kind: ManagedKindName) {
  const { sent, lastId, routes } = managedKindOf(kind);
  const { name, ...others } = sent;
  const title = titleOf(kind);
  const create = v.pipe(v.object(sent), v.title(routes.body ?? `Create${title}`));
  if (routes.body !== undefined) return { create, update: create };
  const changed = lastId === undefined ? others : { ...others, name };
  return { create, update: v.pipe(v.object(changed), v.title(`Update${title}`)) };
}

function readsOf(kind: ManagedKindName) {
  const { routes } = managedKindOf(kind);
  const { path, param, tag } = routes;
  const base = { tag, permission: 'read' } as const;
  const locate = recordOf(kind);
  return {
    list: readRoute({
      ...{ method: 'GET', path, ...base, ...named(routes.list) },
      success: { status: 200, schema: recordsSchema(kind) },
      read: (context) => recordsResponse(context, kind, recordsOf(context.world, kind)),
    }),
    check: checkOf(kind),
    read: readRoute({
      ...{ method: 'GET', path: `${path}/:${param}`, ...base, ...named(routes.read), locate },
      success: { status: 200, schema: foundSchema(kind) },
      read: (context, record) => {
        const text = recordText(context.world, kind, record);
        const { field } = routes.read;
        const body = field === undefined ? text : `{"version":1,"${field}":${text}}`;
        if (routes.isPinned === true) return pinnedResponse(context, record, body);
        const response = { status: 200, headers: JSON_HEADERS, body };
        return { revision: context.engine.lastId, response };
      },
    }),
  };
}

/** The check of a name, where the kind has one. */
function checkOf(kind: ManagedKindName): readonly Route[] {
  const row = managedKindOf(kind);
  const { validate, path, tag, doneStatus } = row.routes;
  if (validate === undefined) return [];
  const { field } = validate;
  const base = {
    method: 'POST',
    path: `${path}/validate`,
    tag,
    permission: 'read',
    ...named(validate),
    refusals: ['NameExistsError'],
  } as const;
  if (field === undefined) {
    return [
      readRoute({
        ...base,
        body: v.pipe(v.object({ name: row.sent.name }), v.title(`Validate${titleOf(kind)}`)),
        success: { status: doneStatus, schema: null },
        read: ({ world, engine, body }) =>
          refuseTaken(world, kind, body.name) ?? {
            revision: engine.lastId,
            response: emptyResponse(doneStatus),
          },
      }),
    ];
  }
  return [
    readRoute({
      ...base,
      body: bodiesOf(kind).create,
      success: { status: 200, schema: checkSchema(kind, field) },
      read: (context) => {
        const record = shownRecord(row, recordWith(row, context.body));
        const taken = refuseTaken(context.world, kind, context.body.name as string);
        return taken ?? settledResponse(context, { valid: true, [field]: record });
      },
    }),
  ];
}

function writesOf(kind: ManagedKindName) {
  const { routes, events, bytesMax, canChangePredefined, lastId, faultOf } = managedKindOf(kind);
  const { path, param, tag, permission, needs, doneStatus } = routes;
  const bodies = bodiesOf(kind);
  const locate = recordOf(kind);
  const tooLarge: readonly RefusalName[] = bytesMax === null ? [] : ['PayloadTooLargeError'];
  const base = { tag, permission } as const;
  const one = {
    ...{ path: `${path}/:${param}`, ...base, locate },
    ...(routes.isPinned === true ? { pinned: locate } : {}),
    success: { status: doneStatus, schema: null },
    respond: () => emptyResponse(doneStatus),
  };
  return {
    create: writeRoute({
      ...{ method: 'POST', path, ...base, ...named(routes.create), ...needsOf(needs?.create) },
      body: bodies.create,
      success: { status: 201, schema: recordSchema(kind) },
      refusals: ['NameExistsError', 'InvalidOperationError', ...tooLarge],
      command: ({ body: fields }) => ({ type: 'create-record', kind, fields }) as CreateRecord,
      respond: ({ world }, happened) => {
        const { data } = recorded(happened, events.created as DomainEvent['type']);
        return { status: 201, headers: JSON_HEADERS, body: recordText(world, kind, data as never) };
      },
    }),
    update: writeRoute({
      ...{ method: 'PUT', ...one, ...named(routes.update), ...needsOf(needs?.update) },
      body: bodies.update,
      refusals: [
        ...(lastId === undefined ? [] : (['NameExistsError'] as const)),
        ...(faultOf === undefined && canChangePredefined ? [] : (['InvalidOperationError'] as const)),
        ...tooLarge,
      ],
      command: ({ params, body: fields }) =>
        ({ type: 'update-record', kind, id: recordIdOf(kind, params), fields }) as UpdateRecord,
    }),
    remove: writeRoute({
      ...{ method: 'DELETE', ...one, ...named(routes.remove), ...needsOf(needs?.remove) },
      refusals: ['InvalidOperationError'],
      command: ({ params }) =>
        ({ type: 'delete-record', kind, id: recordIdOf(kind, params) }) as DeleteRecord,
    }),
  };
}

const needsOf = (needs: Route['needs']) => (needs === undefined ? {} : { needs });
