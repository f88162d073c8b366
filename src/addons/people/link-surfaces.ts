/**
 * Surfaces for links that an Admin has handed out, to set a password or to become a user. The secret in the link is
 * all that identifies these people, so wrong secrets are counted, apart from wrong passwords.
 */

import * as v from 'valibot';
import type { PasswordLink } from '../../domain/access/links.ts';
import { ownCommand, sentWith } from '../../domain/decide/decide.ts';
import { described, Integer, titled } from '../../domain/json/schema.ts';
import type { Invitation } from '../../domain/kinds/invitation.ts';
import { knownRole } from '../../domain/people/roles-and-groups.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import {
  DisplayNameSchema,
  EmailSchema,
  hashed,
  NewPasswordSchema,
  UsernameSchema,
} from '../../http/admin/bodies.ts';
import { recorded, settledResponse } from '../../http/admin/responses.ts';
import { shown } from '../../http/admin/shown.ts';
import { FoundUserSchema, foundUserView, NAMES, RoleSchema, roleView } from '../../http/admin/views.ts';
import { actorOf, digestOf } from '../../http/serving/access.ts';
import { COMMON_ERRORS } from '../../http/serving/errors.ts';
import { emptyResponse } from '../../http/serving/json-response.ts';
import { type RequestContext, readRoute, underTag, writeRoute } from '../../http/serving/route.ts';
import { FOR_ALL, type Surface } from '../../http/serving/surface.ts';
import { goodInvitation, goodPasswordLink, signUp, usePasswordLink } from './link-commands.ts';
import type { Passwords } from './passwords.ts';

const LinkUserSchema = titled('LinkUser', {
  id: Integer,
  ...NAMES,
  email: described(v.string(), 'Empty for a user without one.'),
  token: v.string(),
  createdBy: v.null(),
  role: RoleSchema,
});

const InvitedUserSchema = titled('InvitedUser', { ...FoundUserSchema.entries, rootRole: Integer });

const SECRET_PHRASE = 'the secret of a link';
const Secret = v.pipe(v.string(`${SECRET_PHRASE}.`), v.maxLength(100, `${SECRET_PHRASE}.`));

const SetPasswordBody = titled('SetPasswordByLink', { token: Secret, password: NewPasswordSchema });
const SignUpBody = titled('SignUp', {
  email: v.optional(v.nullable(EmailSchema)),
  username: v.optional(v.nullable(UsernameSchema)),
  name: v.optional(v.nullable(DisplayNameSchema)),
  password: NewPasswordSchema,
});

type Context = RequestContext<unknown>;

/** Links and invitations by their secrets, of which wrong ones are counted. */
type Find<T> = (context: Context, secret: string) => T | Refusal;

const WRONG_LINK = ['NotFoundError', 'TooManyRequestsError'] as const;

const resetSurface = (passwordLink: Find<PasswordLink>): Surface => ({
  prefix: '/auth/reset',
  access: FOR_ALL,
  errors: COMMON_ERRORS,
  description: 'For people who have a link with which to set their password.',
  routes: underTag('Users', [
    readRoute('GET /validate', {
      permission: 'scope',
      operationId: 'validateToken',
      summary: 'Find out whose password a link sets.',
      query: { token: { description: 'The secret of the link.' } },
      // Wrong ones are counted, so a page of another site could use up the visitor's.
      changesUsage: true,
      success: { status: 200, schema: LinkUserSchema },
      refusals: WRONG_LINK,
      read: (context) => {
        const token = context.query('token');
        const link = passwordLink(context, token);
        if (isRefusal(link)) return link;
        const { world } = context;
        const user = world.directory.users.get(link.userId);
        if (user === undefined) throw new Error(`a link is for the user ${link.userId}, who does not exist`);
        const role = roleView(knownRole(world, user.rootRole));
        const fields = { ...user, email: user.email ?? '', token, createdBy: null, role };
        return settledResponse(context, shown(LinkUserSchema, fields));
      },
    }),
    writeRoute('POST /password', {
      permission: 'scope',
      operationId: 'changePassword',
      summary: 'Set the password of the user whom a link is for. The link is good no more afterwards.',
      body: SetPasswordBody,
      refusals: WRONG_LINK,
      secretsInBody: ['token', 'password'],
      command: (context) => {
        const { token, password } = context.body;
        const link = passwordLink(context, token);
        if (isRefusal(link)) return link;
        const { digest } = link;
        return hashed(context, password, (hash) =>
          ownCommand({ sent: { digest, hash }, decide: usePasswordLink }),
        );
      },
      actor: (world, command) => {
        const digest = sentWith(command, usePasswordLink)?.digest ?? '';
        return actorOf(world, world.directory.passwordLinks.get(digest)?.userId ?? null);
      },
    }),
  ]),
});

const inviteSurface = (invitation: Find<Invitation>): Surface => ({
  prefix: '/invite',
  access: FOR_ALL,
  errors: COMMON_ERRORS,
  description: 'For people who have an invitation, by which they become users.',
  routes: underTag('Users', [
    readRoute('GET /:token/validate', {
      permission: 'scope',
      operationId: 'validatePublicSignupToken',
      summary: 'Find out whether an invitation is good.',
      changesUsage: true,
      refusals: WRONG_LINK,
      read: (context) => {
        const found = invitation(context, context.params.token);
        return isRefusal(found) ? found : { revision: 0, response: emptyResponse(200) };
      },
    }),
    writeRoute('POST /:token/signup', {
      permission: 'scope',
      operationId: 'addPublicSignupTokenUser',
      summary: 'Become a user by an invitation.',
      body: SignUpBody,
      success: { status: 201, schema: InvitedUserSchema },
      refusals: [...WRONG_LINK],
      secretsInBody: ['password'],
      command: (context) => {
        const found = invitation(context, context.params.token);
        if (isRefusal(found)) return found;
        const { digest } = found;
        const { email = null, username = null, name = null, password } = context.body;
        const fields = { email, username, name };
        return hashed(context, password, (passwordHash) =>
          ownCommand({ sent: { digest, fields, passwordHash }, decide: signUp }),
        );
      },
      shows: (_, __, events) => {
        const { data } = recorded(events, 'user-created');
        return { ...foundUserView(data), rootRole: data.rootRole };
      },
    }),
  ]),
});

export function linkSurfaces(passwords: Passwords): readonly Surface[] {
  /** The link or invitation; what to respond where there is none; and 429 after too many that were wrong. */
  const counted =
    <T extends object>(good: (world: World, digest: string, now: number) => T | Refusal): Find<T> =>
    (context, secret) => {
      const found = good(context.world, digestOf(secret), context.now());
      return isRefusal(found) ? (passwords.refuseGuess(context.remoteAddress()) ?? found) : found;
    };
  return [resetSurface(counted(goodPasswordLink)), inviteSurface(counted(goodInvitation))];
}
