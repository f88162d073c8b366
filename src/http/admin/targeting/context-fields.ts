/** The legal values of context fields, and the strategies that compare with a field. */
import { ConstraintSchema } from '../../../domain/flags/constraint.ts';
import { LegalValueSchema } from '../../../domain/kinds/context-field.ts';
import { isRefusal } from '../../../domain/state/refusal.ts';
import { emptyResponse } from '../../serving/json-response.ts';
import { type Route, readRoute, writeRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';
import { settledResponse } from '../views/responses.ts';
import { StrategyUsesSchema, strategyUses } from '../views/strategy-uses.ts';

const FIELD = '/context/:contextField';

export const contextFieldRoutes: readonly Route[] = [
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
    pinned: locate.contextField,
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
    pinned: locate.contextField,
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
