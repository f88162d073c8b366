/** Routes about personal tokens: the caller's own, and those of any user for an Admin. */

import type { Right } from '../../domain/access/permissions.ts';
import { described, lineOfText, TEXT_LENGTH_MAX, titled } from '../../domain/json/schema.ts';
import { personalTokensOf } from '../../domain/people/token-commands.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import { makeSecret, secretOf } from '../serving/fresh-secret.ts';
import { jsonResponse } from '../serving/json-response.ts';
import type { ParamName, Params } from '../serving/params.ts';
import { type RequestContext, type Route, readRoute, underTag, writeRoute } from '../serving/route.ts';
import { DateTimeSchema } from './bodies.ts';
import { NewPersonalTokenSchema, PersonalTokensSchema } from './directory-schemas.ts';
import { personalTokenView } from './directory-views.ts';
import * as locate from './locators.ts';
import { recorded, settledResponse } from './responses.ts';

const CreateTokenBody = titled('CreatePersonalToken', {
  description: described(
    lineOfText('a description', 1, TEXT_LENGTH_MAX),
    "Different from that of the user's other tokens.",
  ),
  expiresAt: DateTimeSchema,
});

interface TokenRoutes {
  readonly base: string;
  readonly tag: string;
  /** The path parameter that names a token. */
  readonly tokenParam: ParamName;
  /** Part of the operation ids; `Pat` for the caller's own tokens. */
  readonly noun: string;
  readonly whose: string;
  readonly permission: Right;
  locateOwner?(world: World, params: Params): object | Refusal;
  locateToken?(world: World, params: Params): object | Refusal;
  ownerId(context: RequestContext<unknown>): number;
}

function tokenRoutes(options: TokenRoutes): readonly Route[] {
  const { base, tag, tokenParam, noun, whose, permission, locateOwner, locateToken, ownerId } = options;
  const located = locateOwner === undefined ? {} : { locate: locateOwner };
  return underTag(tag, [
    readRoute(`GET ${base}`, {
      permission,
      ...located,
      operationId: `get${noun}s`,
      summary: `List ${whose} personal tokens, without their secrets.`,
      success: { status: 200, schema: PersonalTokensSchema },
      read: (context) => {
        const pats = personalTokensOf(context.world, ownerId(context)).map((token) =>
          personalTokenView(token, context.usage.seen),
        );
        return settledResponse(context, { pats });
      },
    }),
    writeRoute(`POST ${base}`, {
      permission,
      ...located,
      operationId: `create${noun}`,
      summary: `Create one of ${whose} personal tokens. Only this response shows its secret.`,
      body: CreateTokenBody,
      success: { status: 201, schema: NewPersonalTokenSchema },
      refusals: ['NameExistsError'],
      secretField: 'secret',
      command: (context) => ({
        type: 'create-personal-token',
        userId: ownerId(context),
        digest: makeSecret(context, 'user:'),
        ...context.body,
      }),
      respond: (context, events) => {
        const token = { ...recorded(events, 'pat-created').data, seenAt: null };
        return jsonResponse(201, { ...token, secret: secretOf(context) });
      },
    }),
    writeRoute(`DELETE ${base}/:${tokenParam}`, {
      permission,
      ...(locateToken === undefined ? {} : { locate: locateToken }),
      operationId: `delete${noun}`,
      summary: `Delete one of ${whose} personal tokens.`,
      refusals: ['NotFoundError'],
      command: (context) => {
        const userId = ownerId(context);
        const token = locate.personalTokenOf(context.world, userId, context.params[tokenParam]);
        return isRefusal(token) ? token : { type: 'delete-personal-token', userId, id: token.id };
      },
    }),
  ]);
}

export const personalTokenRoutes: readonly Route[] = [
  ...tokenRoutes({
    base: '/user/tokens',
    tag: 'Personal tokens',
    tokenParam: 'id',
    noun: 'Pat',
    whose: "the caller's",
    permission: 'personal',
    ownerId: (context) => locate.callingUser(context).id,
  }),
  ...tokenRoutes({
    base: '/user-admin/:id/tokens',
    tag: 'Personal tokens',
    tokenParam: 'tokenId',
    noun: 'UserToken',
    whose: "a user's",
    permission: 'admin',
    locateOwner: locate.user,
    locateToken: locate.personalToken,
    ownerId: ({ params }) => locate.numericId(params.id),
  }),
  ...tokenRoutes({
    base: '/service-account/:id/token',
    tag: 'Service accounts',
    tokenParam: 'tokenId',
    noun: 'ServiceAccountToken',
    whose: "a service account's",
    permission: 'admin',
    locateOwner: locate.serviceAccount,
    locateToken: locate.serviceAccountToken,
    ownerId: ({ params }) => locate.numericId(params.id),
  }),
];
