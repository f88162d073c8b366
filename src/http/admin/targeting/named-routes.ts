/** The routes that every kind of thing with a name has: it is created, read, changed and deleted as the row of its kind says. */
import * as v from 'valibot';
import type { CreateNamed, DeleteNamed, UpdateNamed } from '../../../domain/decide/kind-commands.ts';
import { type NamedKindName, namedKindOf, type RecordOf } from '../../../domain/kinds/kinds.ts';
import { locateNamed } from '../../../domain/state/directory-records.ts';
import type { DomainEvent } from '../../../domain/state/events.ts';
import type { RefusalName } from '../../../domain/state/refusal.ts';
import type { World } from '../../../domain/state/world.ts';
import { emptyResponse, jsonResponse } from '../../serving/json-response.ts';
import type { Params } from '../../serving/params.ts';
import { type Route, readRoute, type Schema, type WriteRoute, writeRoute } from '../../serving/route.ts';
import { pinnedResponse, recorded, settledResponse } from '../views/responses.ts';

/** The texts and shapes of the interface to a kind. */
interface NamedPage<Name extends NamedKindName> {
  readonly kind: Name;
  /** The path of the list, such as `/tag-types`. */
  readonly path: string;
  /** The parameter for the name in the path of one. */
  readonly param: keyof Params;
  readonly tag: string;
  /** A record as responses show it. */
  readonly shown: Schema;
  view(world: World, record: RecordOf<Name>): object;
  /** A response with one record, where that is more than the record. */
  readonly found?: { readonly schema: Schema; of(view: object): object };
  /** Names of the two bodies in the description. */
  readonly bodies: readonly [create: string, update: string];
  readonly create: Operation;
  readonly read: Omit<Operation, 'needs'>;
  readonly update: Operation;
  readonly remove: Operation;
  /** Whether `If-Match` pins a record. */
  readonly isPinned?: true;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly needs: NonNullable<Route['needs']>;
}

interface NamedRoutes {
  readonly create: Route;
  readonly read: Route;
  readonly update: Route;
  readonly remove: Route;
}

export function namedRoutes<Name extends NamedKindName>(page: NamedPage<Name>): NamedRoutes {
  const { kind, path, param, tag, found } = page;
  const { sent, nameSchema, events, bytesMax, canChangePredefined } = namedKindOf(kind);
  const locate = (world: World, params: Params) => locateNamed(world, kind, params[param]);
  const tooLarge: readonly RefusalName[] = bytesMax === null ? [] : ['PayloadTooLargeError'];
  const fixed: readonly RefusalName[] = canChangePredefined ? [] : ['InvalidOperationError'];
  const one = `${path}/:${param}`;
  const [createBody, updateBody] = page.bodies;
  const write = { tag, permission: 'targeting:write' } as const;
  const pinned: Pick<WriteRoute, 'pinned'> = page.isPinned === true ? { pinned: locate } : {};
  const done = { success: { status: 200, schema: null }, respond: () => emptyResponse(200) } as const;
  const view = (world: World, record: object): object => page.view(world, record as RecordOf<Name>);
  return {
    create: writeRoute({
      ...{ method: 'POST', path, ...write, ...page.create },
      body: v.pipe(v.object({ name: nameSchema, ...sent }), v.title(createBody)),
      success: { status: 201, schema: page.shown },
      refusals: ['NameExistsError', 'InvalidOperationError', ...tooLarge],
      command: ({ body: { name, ...fields } }) =>
        ({ type: 'create-named', kind, name, fields }) as CreateNamed,
      respond: ({ world }, happened) => {
        const { data } = recorded(happened, events.created as DomainEvent['type']);
        return jsonResponse(201, view(world, data as object));
      },
    }),
    read: readRoute({
      ...{ method: 'GET', path: one, tag, permission: 'read', ...page.read, locate },
      success: { status: 200, schema: found?.schema ?? page.shown },
      read: (context, record) => {
        const shown = view(context.world, record);
        const body = found === undefined ? shown : found.of(shown);
        return page.isPinned === true
          ? pinnedResponse(context, record, body)
          : settledResponse(context, body);
      },
    }),
    update: writeRoute({
      ...{ method: 'PUT', path: one, ...write, ...page.update, ...done, locate, ...pinned },
      body: v.pipe(v.object(sent), v.title(updateBody)),
      refusals: [...fixed, ...tooLarge],
      command: ({ params, body }) =>
        ({ type: 'update-named', kind, name: params[param], fields: body }) as UpdateNamed,
    }),
    remove: writeRoute({
      ...{ method: 'DELETE', path: one, ...write, ...page.remove, ...done, locate, ...pinned },
      refusals: ['InvalidOperationError'],
      command: ({ params }) => ({ type: 'delete-named', kind, name: params[param] }) as DeleteNamed,
    }),
  };
}
