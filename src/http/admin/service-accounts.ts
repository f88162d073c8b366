/** Routes about service accounts (docs/specification/users.md#service-accounts). Those about their tokens are in personal-tokens.ts. */
import * as v from 'valibot';
import { described, titled } from '../../domain/json/schema.ts';
import { personalTokensOf } from '../../domain/people/token-commands.ts';
import type { User } from '../../domain/state/world.ts';
import { jsonResponse } from '../serving/json-response.ts';
import { type RequestContext, readRoute, underTag, writeRoute } from '../serving/route.ts';
import { ServiceAccountSchema, ServiceAccountsSchema } from './access-schemas.ts';
import { DisplayNameSchema, RootRoleSchema, UsernameSchema } from './bodies.ts';
import { personalTokenView } from './directory-views.ts';
import * as locate from './locators.ts';
import { recorded, settledResponse } from './responses.ts';
import { imageUrlOf, rootRolesView } from './views.ts';

const ACCOUNTS = '/service-account';
const ACCOUNT = `${ACCOUNTS}/:id`;

const CreateBody = titled('CreateServiceAccount', {
  name: v.optional(v.nullable(DisplayNameSchema)),
  username: described(
    v.optional(v.nullable(UsernameSchema)),
    'Unique among users too; one is made up where it is left out.',
  ),
  rootRole: RootRoleSchema,
});

const UpdateBody = titled('UpdateServiceAccount', {
  name: v.optional(v.nullable(DisplayNameSchema)),
  rootRole: v.optional(RootRoleSchema),
});

/** With no field that clients of this interface do not know: some refuse those. */
function serviceAccountView({ world, usage }: RequestContext<unknown>, account: User) {
  const { id, name, username, rootRole, createdAt } = account;
  return {
    id,
    isAPI: false,
    ...(name === null ? {} : { name }),
    ...(username === null ? {} : { username }),
    imageUrl: imageUrlOf(username ?? ''),
    rootRole,
    seenAt: null,
    createdAt,
    tokens: personalTokensOf(world, id).map((token) => personalTokenView(token, usage.seen)),
  };
}

export const serviceAccountRoutes = underTag('Service accounts', [
  readRoute(`GET ${ACCOUNTS}`, {
    permission: 'admin',
    operationId: 'getServiceAccounts',
    summary: 'List the service accounts with their tokens, and the root roles.',
    success: { status: 200, schema: ServiceAccountsSchema },
    read: (context) => {
      const { world } = context;
      const serviceAccounts = [...world.directory.users.values()]
        .filter(({ isService }) => isService === true)
        .map((account) => serviceAccountView(context, account));
      return settledResponse(context, { serviceAccounts, rootRoles: rootRolesView(world) });
    },
  }),
  writeRoute(`POST ${ACCOUNTS}`, {
    permission: 'admin',
    operationId: 'createServiceAccount',
    summary: 'Create a service account.',
    body: CreateBody,
    success: { status: 201, schema: ServiceAccountSchema },
    command: ({ body: { name = null, username = null, rootRole } }) => ({
      ...{ type: 'create-service-account', name, username, rootRole },
    }),
    respond: (context, events) =>
      jsonResponse(201, serviceAccountView(context, recorded(events, 'service-account-created').data)),
  }),
  writeRoute(`PUT ${ACCOUNT}`, {
    permission: 'admin',
    operationId: 'updateServiceAccount',
    summary: 'Change the name or the root role of a service account.',
    locate: locate.serviceAccount,
    body: UpdateBody,
    success: { status: 200, schema: ServiceAccountSchema },
    command: ({ params, body }) => ({
      type: 'update-service-account',
      userId: locate.numericId(params.id),
      ...body,
    }),
    respond: (context) => {
      const account = locate.present(locate.serviceAccount(context.world, context.params));
      return jsonResponse(200, serviceAccountView(context, account));
    },
  }),
  writeRoute(`DELETE ${ACCOUNT}`, {
    permission: 'admin',
    operationId: 'deleteServiceAccount',
    summary: 'Delete a service account with its tokens and memberships.',
    locate: locate.serviceAccount,
    command: ({ params }) => ({ type: 'delete-service-account', userId: locate.numericId(params.id) }),
  }),
]);
