/** Routes about passwords of users, and about links by which people set one or become users (docs/specification/users.md#passwords). */

import * as v from 'valibot';
import { ownCommand } from '../../domain/decide/decide.ts';
import { described, lineOfText, TEXT_LENGTH_MAX, Timestamp, titled } from '../../domain/json/schema.ts';
import type { Invitation } from '../../domain/kinds/invitation.ts';
import { userNamed } from '../../domain/people/identity.ts';
import { knownRole } from '../../domain/people/roles-and-groups.ts';
import { invalid, invalidOperation, isRefusal, notFound } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import { DateTimeSchema, hashed, KnownPasswordSchema, NewPasswordSchema } from '../../http/admin/bodies.ts';
import * as locate from '../../http/admin/locators.ts';
import { listResponse, PAGED, recorded } from '../../http/admin/responses.ts';
import { shown } from '../../http/admin/shown.ts';
import { FoundUserSchema, foundUserView, RoleSchema, roleView } from '../../http/admin/views.ts';
import { linkUrl, makeSecret, secretOf } from '../../http/serving/fresh-secret.ts';
import { readRoute, underTag, writeRoute } from '../../http/serving/route.ts';
import { createInvitation, createPasswordLink, updateInvitation } from './link-commands.ts';
import { setPassword } from './password-commands.ts';
import type { Passwords } from './passwords.ts';

const ResetPasswordSchema = titled('ResetPasswordLink', {
  resetPasswordUrl: described(
    v.string(),
    'Good once, and for a day; shown only here. The server sends no email.',
  ),
});

const INVITATION_FIELDS = {
  name: v.string(),
  enabled: v.boolean(),
  expiresAt: Timestamp,
  createdAt: Timestamp,
  createdBy: v.string(),
  users: described(v.array(FoundUserSchema), 'Who came by it, and is still there.'),
  role: RoleSchema,
} as const;

const InvitationSchema = titled('Invitation', {
  secret: described(v.string(), 'Its digest, in the place of the secret.'),
  url: described(v.null(), 'Only the response that made the invitation shows it.'),
  ...INVITATION_FIELDS,
});

const NewInvitationSchema = titled('NewInvitation', {
  secret: described(v.string(), 'Shown in this response and never again.'),
  url: described(v.string(), 'For the Admin to hand on.'),
  ...INVITATION_FIELDS,
});

const InvitationsSchema = titled('Invitations', { tokens: v.array(InvitationSchema) });

const CONFIRMATION = described(
  v.optional(KnownPasswordSchema),
  'The new password again; when it is sent, both must be the same.',
);

const ChangePasswordBody = titled('ChangePassword', {
  password: NewPasswordSchema,
  confirmPassword: CONFIRMATION,
});

const ChangeOwnPasswordBody = titled('ChangeOwnPassword', {
  password: NewPasswordSchema,
  confirmPassword: CONFIRMATION,
  oldPassword: described(KnownPasswordSchema, 'The password up to now.'),
});

const DIFFERENT = invalid('The two new passwords differ.', '/body/confirmPassword');

function isConfirmed(body: { readonly password: string; readonly confirmPassword?: string | undefined }) {
  return body.confirmPassword === undefined || body.confirmPassword === body.password;
}

export const passwordRoutes = (passwords: Passwords) =>
  underTag('Users', [
    writeRoute('POST /user-admin/:id/change-password', {
      operationId: 'changeUserPassword',
      summary: "Set a user's password.",
      permission: 'admin',
      locate: locate.user,
      body: ChangePasswordBody,
      secretsInBody: ['password', 'confirmPassword'],
      command: (context, { id: userId }) => {
        const { body } = context;
        if (!isConfirmed(body)) return DIFFERENT;
        return hashed(context, body.password, (hash) =>
          ownCommand({ sent: { userId, hash, checked: null }, decide: setPassword }),
        );
      },
    }),
    writeRoute('POST /user/change-password', {
      operationId: 'changeMyPassword',
      summary:
        "Change the caller's own password. The old one is asked for; the first one is set by an Admin.",
      permission: 'personal',
      body: ChangeOwnPasswordBody,
      refusals: ['TooManyRequestsError'],
      secretsInBody: ['password', 'confirmPassword', 'oldPassword'],
      command: async (context) => {
        const { body, world } = context;
        const user = locate.callingUser(context);
        if (!isConfirmed(body)) return DIFFERENT;
        if (!world.directory.passwords.has(user.id)) return NO_PASSWORD;
        const sent = { password: body.oldPassword, address: context.remoteAddress() };
        const checked = await passwords.confirm(context, user, sent);
        if (isRefusal(checked)) return checked.name === 'AuthenticationRequired' ? WRONG : checked;
        return hashed(context, body.password, (hash) =>
          ownCommand({ sent: { userId: user.id, hash, checked }, decide: setPassword }),
        );
      },
    }),
  ]);

const NO_PASSWORD = invalidOperation('You have no password yet; an Admin sets the first one.');

/** The caller is known, so this is no 401, which would tell clients to sign in again. */
const WRONG = invalid('The old password is wrong.', '/body/oldPassword');

// Routes with which Admins make links that they hand on themselves (docs/specification/users.md#links).

const INVITATIONS = '/invite-link/tokens';
const INVITATION = `${INVITATIONS}/:token`;

/** A reset is short-lived, because the user who asked for it waits for the link. */
const RESET_LIFETIME_MS = 24 * 60 * 60_000;

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

const invitationView = (world: World, invitation: Invitation) =>
  shown(InvitationSchema, {
    ...invitation,
    secret: invitation.digest,
    url: null,
    users: invitation.users.flatMap((id) => world.directory.users.get(id) ?? []).map(foundUserView),
    role: roleView(knownRole(world, invitation.rootRole)),
  });

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
      const sent = { userId: user.id, digest, lifetimeMs: RESET_LIFETIME_MS };
      return ownCommand({ sent, decide: createPasswordLink });
    },
    shows: (context) => ({ resetPasswordUrl: linkUrl(context, 'password', secretOf(context)) }),
  }),
  readRoute(`GET ${INVITATIONS}`, {
    permission: 'admin',
    operationId: 'getAllPublicSignupTokens',
    summary: 'List the invitations, without their secrets.',
    ...PAGED,
    success: { status: 200, schema: InvitationsSchema },
    read: (context) =>
      listResponse(context, {
        name: 'tokens',
        items: context.world.directory.invitations.values(),
        view: (one) => invitationView(context.world, one),
      }),
  }),
  writeRoute(`POST ${INVITATIONS}`, {
    permission: 'admin',
    operationId: 'createPublicSignupToken',
    summary:
      'Make an invitation, by which people become users with the role Viewer. Only this response shows its link.',
    body: CreateInvitationBody,
    success: { status: 201, schema: NewInvitationSchema },
    secretField: ['secret', 'url'],
    command: (context) => {
      const sent = { digest: makeSecret(context, '', 'base64url'), ...context.body };
      return ownCommand({ sent, decide: createInvitation });
    },
    shows: (context, _, events) => {
      const { data, hidden } = recorded(events, 'public-signup-token-created');
      const secret = secretOf(context);
      const invitation = invitationView(context.world, { ...data, digest: hidden.digest });
      return { ...invitation, secret, url: linkUrl(context, 'invitation', secret) };
    },
  }),
  writeRoute(`PUT ${INVITATION}`, {
    permission: 'admin',
    operationId: 'updatePublicSignupToken',
    summary: 'Switch an invitation off or on, or change when it expires.',
    locate: locateInvitation,
    body: UpdateInvitationBody,
    success: { status: 200, schema: InvitationSchema },
    command: ({ body }, { digest }) => ownCommand({ sent: { digest, ...body }, decide: updateInvitation }),
    shows: ({ world }, invitation) => invitationView(world, invitation),
  }),
]);
