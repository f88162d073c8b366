/** Service accounts (docs/specification/users.md#service-accounts). The routes about their tokens are in personal-tokens.ts. */

import * as v from 'valibot';
import { grouped } from '../../domain/json/grouped.ts';
import { described, Integer, Timestamp, titled } from '../../domain/json/schema.ts';
import { personalTokensOf } from '../../domain/people/token-commands.ts';
import type { User } from '../../domain/state/world.ts';
import { type RequestContext, readRoute, underTag, writeRoute } from '../serving/route.ts';
import { DisplayNameSchema, RootRoleSchema, UsernameSchema } from './bodies.ts';
import * as locate from './locators.ts';
import { PersonalTokenSchema, personalTokenView } from './personal-tokens.ts';
import { listOf, listsResponse, PAGED, recorded } from './responses.ts';
import { shown } from './shown.ts';
import { imageUrlOf, NAMES, RoleSchema, rootRolesView } from './views.ts';

/** Clients of this interface refuse fields that they do not know. */
const ServiceAccountSchema = titled('ServiceAccount', {
  id: Integer,
  isAPI: v.literal(false),
  ...NAMES,
  imageUrl: v.string(),
  rootRole: described(Integer, 'A role id.'),
  seenAt: described(v.null(), 'The tokens say when they were used last.'),
  createdAt: Timestamp,
  tokens: v.array(PersonalTokenSchema),
});

const ServiceAccountsSchema = titled('ServiceAccounts', {
  serviceAccounts: v.array(ServiceAccountSchema),
  rootRoles: v.array(RoleSchema),
});

const ACCOUNTS = '/service-account';

const ACCOUNT = `${ACCOUNTS}/:id`;

const CreateAccountBody = titled('CreateServiceAccount', {
  name: v.optional(v.nullable(DisplayNameSchema)),
  username: described(
    v.optional(v.nullable(UsernameSchema)),
    'Unique among users too; one is made up where it is left out.',
  ),
  rootRole: RootRoleSchema,
});

const UpdateAccountBody = titled('UpdateServiceAccount', {
  name: v.optional(v.nullable(DisplayNameSchema)),
  rootRole: v.optional(RootRoleSchema),
});

function serviceAccountView(
  { world, usage }: RequestContext<unknown>,
  account: User,
  tokens = personalTokensOf(world, account.id),
) {
  return shown(ServiceAccountSchema, {
    ...account,
    isAPI: false,
    imageUrl: imageUrlOf(account),
    seenAt: null,
    tokens: tokens.map((token) => personalTokenView(token, usage.seen)),
  });
}

export const serviceAccountRoutes = underTag('Service accounts', [
  readRoute(`GET ${ACCOUNTS}`, {
    permission: 'admin',
    operationId: 'getServiceAccounts',
    summary: 'List the service accounts with their tokens, and the root roles.',
    ...PAGED,
    success: { status: 200, schema: ServiceAccountsSchema },
    read: (context) => {
      const { world } = context;
      // To go through all tokens for each account would hold the event loop for seconds.
      const tokens = grouped(world.directory.personalTokens.values(), ({ userId }) => userId);
      const accounts = listOf({
        name: 'serviceAccounts',
        items: [...world.directory.users.values()].filter(({ isService }) => isService === true),
        view: (account) => serviceAccountView(context, account, tokens.get(account.id) ?? []),
      });
      return listsResponse(context, [accounts], { rootRoles: rootRolesView(world) });
    },
  }),
  writeRoute(`POST ${ACCOUNTS}`, {
    permission: 'admin',
    operationId: 'createServiceAccount',
    summary: 'Create a service account.',
    body: CreateAccountBody,
    success: { status: 201, schema: ServiceAccountSchema },
    command: ({ body: fields }) => ({ type: 'create-service-account', fields }),
    shows: (context, _, events) =>
      serviceAccountView(context, recorded(events, 'service-account-created').data),
  }),
  writeRoute(`PUT ${ACCOUNT}`, {
    permission: 'admin',
    operationId: 'updateServiceAccount',
    summary: 'Change the name or the root role of a service account.',
    locate: locate.serviceAccount,
    body: UpdateAccountBody,
    success: { status: 200, schema: ServiceAccountSchema },
    command: ({ body: fields }, { id: userId }) => ({ type: 'update-user', userId, fields }),
    shows: (context, account) => serviceAccountView(context, account),
  }),
  writeRoute(`DELETE ${ACCOUNT}`, {
    permission: 'admin',
    operationId: 'deleteServiceAccount',
    summary: 'Delete a service account with its tokens and memberships.',
    locate: locate.serviceAccount,
    command: (_, { id: userId }) => ({ type: 'delete-user', userId }),
  }),
]);
