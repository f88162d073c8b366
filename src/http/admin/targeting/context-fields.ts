/** The legal values of context fields, and the strategies that compare with a field. */
import { ConstraintSchema } from '../../../domain/flags/constraint.ts';
import { LegalValueSchema } from '../../../domain/kinds/context-field.ts';
import { isRefusal } from '../../../domain/state/refusal.ts';
import { emptyResponse } from '../../serving/json-response.ts';
import { readRoute, underTag, writeRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';
import { settledResponse } from '../views/responses.ts';
import { StrategyUsesSchema, strategyUses } from '../views/strategy-uses.ts';

const FIELD = '/context/:contextField';

export const contextFieldRoutes = underTag('Context', [
  readRoute(`GET ${FIELD}/strategies`, {
    operationId: 'getStrategiesByContextField',
    summary: 'List the strategies with a constraint on a context field.',
    locate: locate.contextField,
    success: { status: 200, schema: StrategyUsesSchema },
    read: async (context, field) => {
      const strategies = await strategyUses(context, 'context-field', field.name);
      return isRefusal(strategies) ? strategies : settledResponse(context, { strategies });
    },
  }),
  writeRoute(`POST ${FIELD}/legal-values`, {
    operationId: 'updateContextFieldLegalValue',
    summary: 'Add a legal value to a context field, or give it another description.',
    permission: 'targeting:write',
    needs: ['UPDATE_CONTEXT_FIELD'],
    locate: locate.contextField,
    pinned: locate.contextField,
    body: LegalValueSchema,
    command: ({ params, body }) => ({
      type: 'set-legal-value',
      name: params.contextField,
      legalValue: body,
    }),
  }),
  writeRoute(`DELETE ${FIELD}/legal-values/:legalValue`, {
    operationId: 'deleteContextFieldLegalValue',
    summary: 'Remove a legal value from a context field; one that it does not have changes nothing.',
    permission: 'targeting:write',
    needs: ['UPDATE_CONTEXT_FIELD'],
    locate: locate.contextField,
    pinned: locate.contextField,
    command: ({ params }) => ({
      type: 'remove-legal-value',
      name: params.contextField,
      value: params.legalValue,
    }),
  }),
]);

/** The check of a constraint that a form makes before it adds it to a strategy. */
export const constraintCheckRoutes = underTag('Context', [
  readRoute('POST /constraints/validate', {
    operationId: 'validateConstraint',
    summary: 'Check whether a strategy can have a constraint.',
    body: ConstraintSchema,
    success: { status: 204, schema: null },
    read: ({ engine }) => ({ revision: engine.lastId, response: emptyResponse(204) }),
  }),
]);
