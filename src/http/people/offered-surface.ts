/** Tells the sign-in page how people can sign in, which it shows to everybody. */
import * as v from 'valibot';
import { COMMON_ERRORS } from '../serving/errors.ts';
import { jsonResponse } from '../serving/json-response.ts';
import { readRoute } from '../serving/route.ts';
import type { Surface } from '../serving/surface.ts';

const SignInsSchema = v.pipe(
  v.object({
    token: v.boolean(),
    password: v.boolean(),
    provider: v.nullable(v.object({ button: v.string(), path: v.string() })),
  }),
  v.title('SignIns'),
);

export interface SignInsOffered {
  /** Of the button that leads to the provider, and where it leads; null where there is none. */
  readonly provider: { readonly button: string; readonly path: string } | null;
  /** Whether nobody has to sign in. */
  readonly areOpen: boolean;
}

export function offeredSurface({ provider, areOpen }: SignInsOffered): Surface {
  const route = readRoute({
    method: 'GET',
    path: '/sign-ins',
    operationId: 'getSignIns',
    tag: 'Sessions',
    summary: 'Say how people can sign in.',
    permission: 'scope',
    success: { status: 200, schema: SignInsSchema },
    read: ({ world }) => ({
      revision: world.directory.accessRevision,
      response: jsonResponse(200, {
        ...{ token: !areOpen, password: !areOpen && world.directory.passwords.size > 0, provider },
      }),
    }),
  });
  return { prefix: '/auth', access: null, errors: COMMON_ERRORS, routes: [route], description: null };
}
