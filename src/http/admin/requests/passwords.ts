/** Passwords in the bodies of requests. What is said of them never repeats them. */
import * as v from 'valibot';
import { PASSWORD_BYTES_MAX, passwordIssues } from '../../../domain/access/password-rules.ts';
import type { Command } from '../../../domain/decide/decide.ts';
import { isRefusal, type Refusal } from '../../../domain/state/refusal.ts';
import { NOBODY } from '../../serving/access.ts';
import type { RequestContext } from '../../serving/route.ts';

const NOT_TEXT = 'A password must be a string.';

/** One that somebody chooses, which has to keep the rules. */
export const NewPasswordSchema = v.pipe(
  v.string(NOT_TEXT),
  v.rawCheck(({ dataset, addIssue }) => {
    const issues = dataset.typed ? passwordIssues(dataset.value) : [];
    if (issues.length > 0) addIssue({ message: issues.join(' ') });
  }),
  v.description(
    `At least 10 characters with a lowercase and an uppercase letter, a digit and another character, or at least 20 characters; at most ${PASSWORD_BYTES_MAX} bytes.`,
  ),
);

/** The body of a request that only asks whether a password would do. */
export const PasswordBody = v.pipe(v.object({ password: NewPasswordSchema }), v.title('NewPassword'));

/** One that somebody has, whatever the rules were when it was chosen. */
export const KnownPasswordSchema = v.pipe(
  v.string(NOT_TEXT),
  v.check(
    (text) => Buffer.byteLength(text) <= PASSWORD_BYTES_MAX,
    `A password has at most ${PASSWORD_BYTES_MAX} bytes.`,
  ),
);

/** The command with the hash of the password; at once, without one, where none was sent. */
export function hashed(
  context: Pick<RequestContext<unknown>, 'passwords' | 'caller' | 'remoteAddress'>,
  password: string | undefined,
  commandWith: (hash: string | undefined) => Command,
): Command | Promise<Command | Refusal> {
  if (password === undefined) return commandWith(undefined);
  const sender = { address: context.remoteAddress(), isSignedIn: context.caller !== NOBODY };
  return context.passwords
    .hash(password, sender)
    .then((hash) => (isRefusal(hash) ? hash : commandWith(hash)));
}
