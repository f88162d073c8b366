/** Signing in with a username or email and a password, as clients of the Unleash Admin API do (docs/specification/rights.md#sessions). */
import * as v from 'valibot';
import { isRefusal } from '../../domain/state/refusal.ts';
import { KnownPasswordSchema } from '../admin/requests/passwords.ts';
import { CompanionUserSchema } from '../admin/schemas/schemas.ts';
import { companionUserView } from '../admin/views/views.ts';
import { actorOf } from '../serving/access.ts';
import { COMMON_ERRORS } from '../serving/errors.ts';
import { JSON_HEADERS } from '../serving/json-response.ts';
import { writeRoute } from '../serving/route.ts';
import { FOR_ALL, type Surface } from '../serving/surface.ts';
import type { SessionStart } from './session-start.ts';

/** Longer than any username or email that is accepted. */
const NAME_LENGTH_MAX = 1_000;
const NAME_PHRASE = 'the username or the email of a user';

const SignInBody = v.pipe(
  v.object({
    username: v.pipe(v.string(NAME_PHRASE), v.maxLength(NAME_LENGTH_MAX, NAME_PHRASE)),
    password: KnownPasswordSchema,
  }),
  v.title('SignIn'),
);

export function passwordSurface(start: SessionStart): Surface {
  const route = writeRoute({
    method: 'POST',
    path: '/simple/login',
    operationId: 'login',
    tag: 'Sessions',
    summary: 'Begin a session with a username or email and a password.',
    permission: 'scope',
    body: SignInBody,
    success: { status: 200, schema: CompanionUserSchema },
    refusals: ['AuthenticationRequired', 'TooManyRequestsError'],
    secretsInBody: ['password'],
    command: async (context) => {
      const { username, password } = context.body;
      const address = context.remoteAddress();
      const user = await context.passwords.signIn({ name: username, password, address });
      if (isRefusal(user)) return user;
      return start.command(context, { userId: user.id, tokenDigest: null, begunWith: 'password' });
    },
    actor: (world, command) => actorOf(world, command.type === 'begin-session' ? command.userId : null),
    respond: (context, _, command) => {
      const { world, usage } = context;
      const user =
        command.type === 'begin-session' ? world.directory.users.get(command.userId ?? 0) : undefined;
      if (user === undefined) throw new Error('a session was begun for nobody');
      const headers = JSON_HEADERS.with('set-cookie', start.cookie(context));
      return { status: 200, headers, body: JSON.stringify(companionUserView(user, usage.signIns)) };
    },
  });
  return { prefix: '/auth', access: FOR_ALL, errors: COMMON_ERRORS, routes: [route], description: null };
}
