/**
 * Holds every response that a test sees against the table of routes: its status, headers and body, without one field
 * more or less than its schema has. Importing this file is enough; a test that gets a wrong answer fails in its call.
 */
import assert from 'node:assert/strict';
import * as v from 'valibot';
import { ErrorSchema, MembershipErrorSchema, MessageErrorSchema } from '../../src/http/admin/schemas.ts';
import { errorNames } from '../../src/http/description/error-responses.ts';
import { ERROR_STATUS, type ErrorName } from '../../src/http/serving/errors.ts';
import type { Route, Schema } from '../../src/http/serving/route.ts';
import { compileRoutes } from '../../src/http/serving/route-matcher.ts';
import { type Surface, surfaceAt } from '../../src/http/serving/surface.ts';
import './check-against-description.ts';
import { DESCRIBED, type DescribedRoute } from './described-routes.ts';
import { observeResponses, type ReceivedResponse } from './server.ts';
import { SURFACES } from './surfaces.ts';

const matcher = compileRoutes<DescribedRoute>(
  DESCRIBED.map((described) => ({ ...described, method: described.route.method, value: described })),
);

/** The refusals that any route may give; the rest has to be announced by the route. */
const COMMON_REFUSALS: ReadonlySet<string> = new Set<ErrorName>([
  'ValidationError',
  'AuthenticationRequired',
  'NoAccessError',
  'NotFoundError',
  'MethodNotAllowedError',
  'PayloadTooLargeError',
  'UnsupportedMediaTypeError',
  'PreconditionFailedError',
  'ServiceUnavailableError',
  'InsufficientStorageError',
]);

/** Writes that no state refuses: a 409 of theirs is about the Idempotency-Key alone. */
const WITHOUT_CONFLICTS: ReadonlySet<string> = new Set(
  `
    addDefaultStrategyToProjectEnvironment addEnvironmentToProject addProjectAccess addUserToProject
    changePassword changeUserPassword changeUserRoleInProject createProject createServiceAccount
    deleteContextFieldLegalValue deprecateStrategy reactivateStrategy removeFavoriteFeature
    removeFavoriteProject removeGroupAccess removeUserAccess removeUserFromProject resetUserPassword
    setCors setProjectAccess setRolesForGroup setRolesForUser setUiConfig toggleEnvironmentOff
    toggleEnvironmentOn toggleMaintenance updateContextField updateEnvironment updateGroup updateProject
    updateProjectEnterpriseSettings updatePublicSignupToken updateServiceAccount updateSortOrder
    updateTagType
  `
    .trim()
    .split(/\s+/),
);

observeResponses((method, path, response) => {
  const [bare = ''] = path.split('?', 1);
  const match = matcher.match(method, bare);
  const there = { route: null, surface: surfaceAt(SURFACES, bare) ?? null };
  const { route, surface } = match.kind === 'found' ? match.found : there;
  if (response.status >= 400 && surface?.errors.own !== undefined) {
    checkJsonHeaders(response);
    conforms(surface.errors.own.schema, response.body, 'an error');
  } else if (response.status >= 400 && isMessageOnly(surface, response))
    conforms(MessageErrorSchema, response.body, 'a message');
  else if (response.status >= 400) checkRefusal(route, response);
  else if (response.status === 304) assert.equal(response.body, undefined);
  else if (route !== null) checkSuccess(method, route, response);
});

function isMessageOnly(surface: Surface | null, { status }: ReceivedResponse): boolean {
  return [...(surface?.errors.messageOnly ?? [])].some((name) => ERROR_STATUS[name] === status);
}

function checkSuccess(method: string, { success, operationId }: Route, response: ReceivedResponse): void {
  assert.equal(response.status, success.status, `the status of ${operationId}`);
  if (success.text !== undefined) {
    assert.equal(response.headers.get('content-type'), `${success.text}; charset=utf-8`);
    return;
  }
  if (success.schema === null) {
    assert.equal(response.body, undefined, `${operationId} answers without a body`);
    const length = response.headers.get('content-length');
    // uWebSockets.js sends a length with the last response of a connection, a 204 included.
    if (success.status === 204) assert(length === null || length === '0');
    else assert.equal(length, '0');
    assert.equal(response.headers.get('content-type'), null);
    return;
  }
  checkJsonHeaders(response);
  if (method === 'HEAD') assert.equal(response.body, undefined);
  else conforms(success.schema, response.body, operationId);
}

function checkRefusal(route: Route | null, response: ReceivedResponse): void {
  checkJsonHeaders(response);
  if (response.body === undefined) return;
  if (Array.isArray(response.body)) {
    assert.equal(response.status, ERROR_STATUS.MembershipRuleError);
    assert(route?.refusals?.includes('MembershipRuleError'), 'only membership rules answer with a list');
    conforms(MembershipErrorSchema, response.body, 'a membership rule');
    return;
  }
  conforms(ErrorSchema, response.body, 'an error');
  const name = response.body.name as ErrorName;
  if (name in ERROR_STATUS) assert.equal(response.status, ERROR_STATUS[name], `the status of ${name}`);
  if (route !== null && !COMMON_REFUSALS.has(name))
    assert(isAnnounced(name, route, response.body.message), `${route.operationId} announces ${name}`);
  assert.match(response.body.message, /^[A-Z].*[.!?]$/s, 'a message is a whole sentence');
  assert.equal(response.headers.has('retry-after'), [429, 503].includes(response.status));
  assert.equal(response.headers.has('allow'), response.status === 405);
}

function isAnnounced(name: ErrorName, route: Route, message: string): boolean {
  if (name === 'InternalError') return false;
  if (name === 'InvalidOperationError' && WITHOUT_CONFLICTS.has(route.operationId))
    return message.includes('Idempotency-Key');
  return errorNames(route).has(name);
}

function checkJsonHeaders(response: ReceivedResponse): void {
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  if (response.body === undefined || response.headers.has('content-encoding')) return;
  const bytes = Buffer.byteLength(JSON.stringify(response.body));
  assert.equal(response.headers.get('content-length'), String(bytes), 'the length is that of the JSON sent');
}

/** Keys that schemas drop from records, whose keys are names that clients chose. */
const DROPPED_KEYS = new Set(['__proto__', 'prototype', 'constructor']);

/** Schemas drop unknown fields and fill in defaults: only what they leave exactly as it was conforms. */
function conforms(schema: Schema, body: unknown, what: string): void {
  const parsed = v.safeParse(schema, body);
  assert(parsed.success, `${what} does not conform: ${JSON.stringify(parsed.issues?.map(placeOf))}`);
  assert.deepEqual(
    withoutDropped(body),
    withoutDropped(parsed.output),
    `${what} has fields that its schema does not know, or lacks some`,
  );
}

const withoutDropped = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body ?? null), (key, value) => (DROPPED_KEYS.has(key) ? undefined : value));

function placeOf(issue: v.BaseIssue<unknown>): string {
  return `${v.getDotPath(issue) ?? 'the whole'}: ${issue.message}`;
}
