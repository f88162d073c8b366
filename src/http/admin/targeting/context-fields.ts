/** Context fields and their legal values. */
import * as v from 'valibot';
import { refuseTaken } from '../../../domain/decide/kind-commands.ts';
import { ConstraintSchema } from '../../../domain/flags/constraint.ts';
import { CONTEXT_FIELD, LegalValueSchema } from '../../../domain/kinds/context-field.ts';
import { namedRecords } from '../../../domain/state/directory-records.ts';
import { isRefusal } from '../../../domain/state/refusal.ts';
import { emptyResponse } from '../../serving/json-response.ts';
import { type Route, readRoute, writeRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';
import * as pins from '../requests/pins.ts';
import { ContextFieldSchema, ContextFieldsSchema, StrategyUsesSchema } from '../schemas/targeting-schemas.ts';
import { arrayResponse } from '../views/list-response.ts';
import { settledResponse } from '../views/responses.ts';
import { strategyUses } from '../views/strategy-uses.ts';
import { contextFieldView } from '../views/views.ts';
import { namedRoutes } from './named-routes.ts';

const FIELDS = '/context';
const FIELD = `${FIELDS}/:contextField`;

const { create, read, update, remove } = namedRoutes({
  kind: 'contextFields',
  path: FIELDS,
  param: 'contextField',
  tag: 'Context',
  shown: ContextFieldSchema,
  view: contextFieldView,
  bodies: ['CreateContextField', 'UpdateContextField'],
  create: {
    operationId: 'createContextField',
    summary: 'Create a context field.',
    needs: ['CREATE_CONTEXT_FIELD'],
  },
  read: { operationId: 'getContextField', summary: 'Read a context field.' },
  update: {
    operationId: 'updateContextField',
    summary: 'Change a context field; what is absent keeps its value.',
    needs: ['UPDATE_CONTEXT_FIELD'],
  },
  remove: {
    operationId: 'deleteContextField',
    summary: 'Delete a context field that is not predefined.',
    needs: ['DELETE_CONTEXT_FIELD'],
  },
  isPinned: true,
});

const ValidateContextFieldBody = v.pipe(
  v.object({ name: CONTEXT_FIELD.nameSchema }),
  v.title('ValidateContextField'),
);

export const contextFieldRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: FIELDS,
    operationId: 'getContextFields',
    tag: 'Context',
    summary: 'List the context fields.',
    permission: 'read',
    success: { status: 200, schema: ContextFieldsSchema },
    read: (context) =>
      arrayResponse(context, namedRecords(context.world, 'contextFields'), (field) =>
        contextFieldView(context.world, field),
      ),
  }),
  create,
  readRoute({
    method: 'POST',
    path: `${FIELDS}/validate`,
    operationId: 'validate',
    tag: 'Context',
    summary: 'Check whether a context field can have a name: it is valid and not taken.',
    permission: 'read',
    body: ValidateContextFieldBody,
    success: { status: 200, schema: null },
    refusals: ['NameExistsError'],
    read: ({ world, engine, body }) =>
      refuseTaken(world, 'contextFields', body.name) ?? {
        revision: engine.lastId,
        response: emptyResponse(200),
      },
  }),
  read,
  update,
  remove,
  readRoute({
    method: 'GET',
    path: `${FIELD}/strategies`,
    operationId: 'getStrategiesByContextField',
    tag: 'Context',
    summary: 'List the strategies with a constraint on a context field.',
    permission: 'read',
    locate: locate.contextField,
    success: { status: 200, schema: StrategyUsesSchema },
    refusals: ['NotFoundError'],
    read: async (context, field) => {
      const strategies = await strategyUses(context, 'context-field', field.name);
      return isRefusal(strategies) ? strategies : settledResponse(context, { strategies });
    },
  }),
  writeRoute({
    method: 'POST',
    path: `${FIELD}/legal-values`,
    operationId: 'updateContextFieldLegalValue',
    tag: 'Context',
    summary: 'Add a legal value to a context field, or give it another description.',
    permission: 'targeting:write',
    needs: ['UPDATE_CONTEXT_FIELD'],
    locate: locate.contextField,
    pinned: pins.contextField,
    body: LegalValueSchema,
    success: { status: 200, schema: null },
    refusals: ['InvalidOperationError', 'PayloadTooLargeError'],
    command: ({ params, body }) => ({
      type: 'set-legal-value',
      name: params.contextField,
      legalValue: body,
    }),
    respond: () => emptyResponse(200),
  }),
  writeRoute({
    method: 'DELETE',
    path: `${FIELD}/legal-values/:legalValue`,
    operationId: 'deleteContextFieldLegalValue',
    tag: 'Context',
    summary: 'Remove a legal value from a context field; one that it does not have changes nothing.',
    permission: 'targeting:write',
    needs: ['UPDATE_CONTEXT_FIELD'],
    locate: locate.contextField,
    pinned: pins.contextField,
    success: { status: 200, schema: null },
    command: ({ params }) => ({
      type: 'remove-legal-value',
      name: params.contextField,
      value: params.legalValue,
    }),
    respond: () => emptyResponse(200),
  }),
];

/** The check of a constraint that a form makes before it adds it to a strategy. */
export const constraintCheckRoutes: readonly Route[] = [
  readRoute({
    method: 'POST',
    path: '/constraints/validate',
    operationId: 'validateConstraint',
    tag: 'Context',
    summary: 'Check whether a strategy can have a constraint.',
    permission: 'read',
    body: ConstraintSchema,
    success: { status: 204, schema: null },
    read: ({ engine }) => ({ revision: engine.lastId, response: emptyResponse(204) }),
  }),
];
