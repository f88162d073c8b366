/** Routes about passwords of users (docs/specification/users.md#passwords). */
import * as v from 'valibot';
import { invalid, invalidOperation, isRefusal } from '../../../domain/state/refusal.ts';
import { emptyResponse } from '../../serving/json-response.ts';
import { type Route, readRoute, writeRoute } from '../../serving/route.ts';
import { hashed, KnownPasswordSchema, NewPasswordSchema, PasswordBody } from '../requests/bodies.ts';
import * as locate from '../requests/locators.ts';

const CONFIRMATION = v.pipe(
  v.optional(KnownPasswordSchema),
  v.description('The new password again; when it is sent, both must be the same.'),
);

const ChangePasswordBody = v.pipe(
  v.object({ password: NewPasswordSchema, confirmPassword: CONFIRMATION }),
  v.title('ChangePassword'),
);

const ChangeOwnPasswordBody = v.pipe(
  v.object({
    password: NewPasswordSchema,
    confirmPassword: CONFIRMATION,
    oldPassword: v.pipe(KnownPasswordSchema, v.description('The password up to now.')),
  }),
  v.title('ChangeOwnPassword'),
);

const DIFFERENT = invalid('The two new passwords differ.', '/body/confirmPassword');

function isConfirmed(body: { readonly password: string; readonly confirmPassword?: string | undefined }) {
  return body.confirmPassword === undefined || body.confirmPassword === body.password;
}

export const passwordRoutes: readonly Route[] = [
  readRoute({
    method: 'POST',
    path: '/user-admin/validate-password',
    operationId: 'validatePassword',
    tag: 'Users',
    summary: 'Check whether a password is good enough; 400 says what it lacks.',
    permission: 'self',
    body: PasswordBody,
    success: { status: 200, schema: null },
    read: () => ({ revision: 0, response: emptyResponse(200) }),
  }),
  writeRoute({
    method: 'POST',
    path: '/user-admin/:id/change-password',
    operationId: 'changeUserPassword',
    tag: 'Users',
    summary: "Set a user's password.",
    permission: 'admin',
    locate: locate.user,
    body: ChangePasswordBody,
    success: { status: 200, schema: null },
    secretsInBody: ['password', 'confirmPassword'],
    command: (context) => {
      const { body, params } = context;
      if (!isConfirmed(body)) return DIFFERENT;
      const userId = locate.numericId(params.id);
      return hashed(context, body.password, (hash = '') => ({
        type: 'set-password',
        userId,
        hash,
        checked: null,
      }));
    },
    respond: () => emptyResponse(200),
  }),
  writeRoute({
    method: 'POST',
    path: '/user/change-password',
    operationId: 'changeMyPassword',
    tag: 'Users',
    summary: "Change the caller's own password. The old one is asked for; the first one is set by an Admin.",
    permission: 'personal',
    body: ChangeOwnPasswordBody,
    success: { status: 200, schema: null },
    refusals: ['InvalidOperationError', 'TooManyRequestsError'],
    secretsInBody: ['password', 'confirmPassword', 'oldPassword'],
    command: async (context) => {
      const { body, caller, passwords, world } = context;
      const { user } = caller;
      if (user === null) throw new Error('a caller who is no user got past the rights of this route');
      if (!isConfirmed(body)) return DIFFERENT;
      if (!world.directory.passwords.has(user.id)) return NO_PASSWORD;
      const checked = await passwords.confirm(user, body.oldPassword, context.remoteAddress());
      if (isRefusal(checked)) return checked.name === 'AuthenticationRequired' ? WRONG : checked;
      return hashed(context, body.password, (hash = '') => ({
        type: 'set-password',
        userId: user.id,
        hash,
        checked,
      }));
    },
    respond: () => emptyResponse(200),
  }),
];

const NO_PASSWORD = invalidOperation('You have no password yet; an Admin sets the first one.');

/** The caller is known, so this is no 401, which would tell clients to sign in again. */
const WRONG = invalid('The old password is wrong.', '/body/oldPassword');
