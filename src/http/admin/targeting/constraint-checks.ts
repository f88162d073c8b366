/** The check of a constraint that a form makes before it adds it to a strategy. */
import { ConstraintSchema } from '../../../domain/flags/constraint.ts';
import { emptyResponse } from '../../serving/json-response.ts';
import { type Route, readRoute } from '../../serving/route.ts';

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
