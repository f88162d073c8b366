/** Routes with which Admins make links that they hand on themselves (docs/specification/users.md#links). */
import * as v from 'valibot';
import { RESET_LIFETIME_MS } from '../../../domain/access/links.ts';
import { described, titled } from '../../../domain/json/schema.ts';
import type { Invitation } from '../../../domain/kinds/invitation.ts';
import { userNamed } from '../../../domain/people/identity.ts';
import { knownRole } from '../../../domain/people/roles-and-groups.ts';
import { isRefusal, notFound } from '../../../domain/state/refusal.ts';
import type { World } from '../../../domain/state/world.ts';
import { makeSecret, secretOf } from '../../serving/fresh-secret.ts';
import { jsonResponse } from '../../serving/json-response.ts';
import { linkUrl } from '../../serving/public-url.ts';
import { readRoute, underTag, writeRoute } from '../../serving/route.ts';
import { DateTimeSchema, lineOfText, TEXT_LENGTH_MAX } from '../requests/bodies.ts';
import * as locate from '../requests/locators.ts';
import {
  InvitationSchema,
  InvitationsSchema,
  NewInvitationSchema,
  ResetPasswordSchema,
} from '../schemas/access-schemas.ts';
import { foundUserView, roleView } from '../views/access-views.ts';
import { recorded, settledResponse } from '../views/responses.ts';

const INVITATIONS = '/invite-link/tokens';
const INVITATION = `${INVITATIONS}/:token`;

const ResetBody = titled('ResetPassword', {
  id: described(lineOfText('a username or an email', 1, 1000), 'The username or email of the user.'),
});

const CreateInvitationBody = titled('CreateInvitation', {
  name: lineOfText('a name', 1, TEXT_LENGTH_MAX),
  expiresAt: DateTimeSchema,
});

const UpdateInvitationBody = titled('UpdateInvitation', {
  enabled: v.optional(v.boolean()),
  expiresAt: v.optional(DateTimeSchema),
});

function invitationView(world: World, { digest, rootRole, users, ...shown }: Invitation) {
  const { name, enabled, expiresAt, createdAt, createdBy } = shown;
  return {
    ...{ secret: digest, url: null as string | null, name, enabled, expiresAt, createdAt, createdBy },
    users: users.flatMap((id) => world.directory.users.get(id) ?? []).map(foundUserView),
    role: roleView(knownRole(world, rootRole)),
  };
}

/** The path names it by its secret or by its digest; no secret looks like a digest. */
function locateInvitation(world: World, params: Parameters<typeof locate.secretDigest>[1]) {
  const { invitations } = world.directory;
  return (
    invitations.get(locate.secretDigest(invitations, params)) ?? notFound('There is no such invitation.')
  );
}

export const invitationRoutes = underTag('Users', [
  writeRoute('POST /user-admin/reset-password', {
    permission: 'admin',
    operationId: 'resetUserPassword',
    summary:
      'Make a link with which a user sets a password, good once and for a day. The server sends no email.',
    body: ResetBody,
    success: { status: 200, schema: ResetPasswordSchema },
    refusals: ['NotFoundError'],
    secretField: 'resetPasswordUrl',
    command: (context) => {
      const { id } = context.body;
      const user = userNamed(context.world, id);
      if (user === undefined) return notFound(`There is no user "${id}".`);
      const digest = makeSecret(context, '', 'base64url');
      return { type: 'create-password-link', userId: user.id, digest, lifetimeMs: RESET_LIFETIME_MS };
    },
    respond: (context) =>
      jsonResponse(200, { resetPasswordUrl: linkUrl(context, 'password', secretOf(context)) }),
  }),
  readRoute(`GET ${INVITATIONS}`, {
    permission: 'admin',
    operationId: 'getAllPublicSignupTokens',
    summary: 'List the invitations, without their secrets.',
    success: { status: 200, schema: InvitationsSchema },
    read: (context) => {
      const { world } = context;
      const tokens = [...world.directory.invitations.values()].map((one) => invitationView(world, one));
      return settledResponse(context, { tokens });
    },
  }),
  writeRoute(`POST ${INVITATIONS}`, {
    permission: 'admin',
    operationId: 'createPublicSignupToken',
    summary:
      'Make an invitation, by which people become users with the role Viewer. Only this response shows its link.',
    body: CreateInvitationBody,
    success: { status: 201, schema: NewInvitationSchema },
    secretField: ['secret', 'url'],
    command: (context) => ({
      type: 'create-invitation',
      digest: makeSecret(context, '', 'base64url'),
      ...context.body,
    }),
    respond: (context, events) => {
      const { data, hidden } = recorded(events, 'public-signup-token-created');
      const secret = secretOf(context);
      const shown = invitationView(context.world, { ...data, digest: hidden.digest });
      return jsonResponse(201, { ...shown, secret, url: linkUrl(context, 'invitation', secret) });
    },
  }),
  readRoute(`GET ${INVITATION}`, {
    permission: 'admin',
    operationId: 'getPublicSignupToken',
    summary: 'Read an invitation, named by its secret or its digest.',
    locate: locateInvitation,
    success: { status: 200, schema: InvitationSchema },
    read: (context, invitation) => settledResponse(context, invitationView(context.world, invitation)),
  }),
  writeRoute(`PUT ${INVITATION}`, {
    permission: 'admin',
    operationId: 'updatePublicSignupToken',
    summary: 'Switch an invitation off or on, or change when it expires.',
    locate: locateInvitation,
    body: UpdateInvitationBody,
    success: { status: 200, schema: InvitationSchema },
    command: ({ world, params, body }) => ({
      type: 'update-invitation',
      digest: locate.secretDigest(world.directory.invitations, params),
      ...body,
    }),
    respond: ({ world, params }) => {
      const invitation = locateInvitation(world, params);
      if (isRefusal(invitation)) throw new Error('an invitation that was changed is gone');
      return jsonResponse(200, invitationView(world, invitation));
    },
  }),
]);
