/**
 * Paths that SDKs and probes know of the frontend API and that it does not have. Unleash responds 405 to them, and clients take that
 * for "not supported", while a 404 would tell them that there is no frontend API at all.
 */
import { refuse } from '../../domain/state/refusal.ts';
import { errorOfRefusal, plainErrorResponse } from '../serving/errors.ts';
import type { PlainRoute } from '../serving/route.ts';

const UNSUPPORTED: Readonly<Record<string, string>> = {
  '/client/features': 'The frontend API sends evaluated flags only: ask GET /api/frontend.',
  '/health': 'The frontend API has no health of its own: ask GET /health.',
};

export const unsupportedRoutes: readonly PlainRoute[] = Object.entries(UNSUPPORTED).map(
  ([path, message]) => ({
    kind: 'plain',
    method: 'GET',
    path,
    respond: () => plainErrorResponse(errorOfRefusal(refuse('MethodNotAllowedError', message))),
  }),
);
