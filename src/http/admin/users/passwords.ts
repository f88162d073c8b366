/** Routes about passwords of users (docs/specification/users.md#passwords). */
import * as v from 'valibot';
import { described, titled } from '../../../domain/json/schema.ts';
import { invalid, invalidOperation, isRefusal } from '../../../domain/state/refusal.ts';
import { emptyResponse } from '../../serving/json-response.ts';
import { readRoute, underTag, writeRoute } from '../../serving/route.ts';
import { hashed, KnownPasswordSchema, NewPasswordSchema, PasswordBody } from '../requests/bodies.ts';
import * as locate from '../requests/locators.ts';

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

export const passwordRoutes = underTag('Users', [
  readRoute('POST /user-admin/validate-password', {
    operationId: 'validatePassword',
    summary: 'Check whether a password is good enough; 400 says what it lacks.',
    permission: 'self',
    body: PasswordBody,
    read: () => ({ revision: 0, response: emptyResponse(200) }),
  }),
  writeRoute('POST /user-admin/:id/change-password', {
    operationId: 'changeUserPassword',
    summary: "Set a user's password.",
    permission: 'admin',
    locate: locate.user,
    body: ChangePasswordBody,
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
  }),
  writeRoute('POST /user/change-password', {
    operationId: 'changeMyPassword',
    summary: "Change the caller's own password. The old one is asked for; the first one is set by an Admin.",
    permission: 'personal',
    body: ChangeOwnPasswordBody,
    refusals: ['TooManyRequestsError'],
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
  }),
]);

const NO_PASSWORD = invalidOperation('You have no password yet; an Admin sets the first one.');

/** The caller is known, so this is no 401, which would tell clients to sign in again. */
const WRONG = invalid('The old password is wrong.', '/body/oldPassword');
