/** Routes about personal tokens: the caller's own, and those of any user for an Admin. */

import * as v from 'valibot';
import type { UsageView } from '../../actors/usage-view.ts';
import type { Right } from '../../domain/access/permissions.ts';
import {
  described,
  Integer,
  lineOfText,
  NullableTimestamp,
  TEXT_LENGTH_MAX,
  Timestamp,
  titled,
} from '../../domain/json/schema.ts';
import { personalTokensOf } from '../../domain/people/token-commands.ts';
import { isRefusal } from '../../domain/state/refusal.ts';
import type { PersonalToken } from '../../domain/state/world.ts';
import { makeSecret, secretOf } from '../serving/fresh-secret.ts';
import type { ParamName } from '../serving/params.ts';
import { type RequestContext, type Route, readRoute, underTag, writeRoute } from '../serving/route.ts';
import { DateTimeSchema } from './bodies.ts';
import * as locate from './locators.ts';
import { recorded } from './responses.ts';
import { shown } from './shown.ts';
import { timeOrNull } from './views.ts';

const Secret = described(v.string(), 'Shown in this response and never again.');

const PERSONAL_TOKEN_FIELDS = {
  id: Integer,
  userId: Integer,
  description: v.string(),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  seenAt: NullableTimestamp,
} as const;

const NewPersonalTokenSchema = titled('NewPersonalToken', {
  ...PERSONAL_TOKEN_FIELDS,
  secret: Secret,
});

export const PersonalTokenSchema = titled('PersonalToken', PERSONAL_TOKEN_FIELDS);

const PersonalTokensSchema = titled('PersonalTokens', { pats: v.array(PersonalTokenSchema) });

export type TokensSeen = Pick<UsageView['seen'], 'token'>;

export const personalTokenView = (token: PersonalToken, seen: TokensSeen) =>
  shown(PersonalTokenSchema, { ...token, seenAt: timeOrNull(seen.token(token.digest)) });

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
  /** Absent: the caller. */
  readonly locateOwner?: typeof locate.user;
}

function tokenRoutes(options: TokenRoutes): readonly Route[] {
  const { base, tag, tokenParam, noun, whose, permission, locateOwner } = options;
  const [ofOwner, ofToken] =
    locateOwner === undefined ? [{}, {}] : [{ locate: locateOwner }, { locate: locate.tokenOf(locateOwner) }];
  const ownerId = (context: RequestContext<unknown>): number =>
    locateOwner === undefined ? locate.callingUser(context).id : locate.numericId(context.params.id);
  return underTag(tag, [
    readRoute(`GET ${base}`, {
      permission,
      ...ofOwner,
      operationId: `get${noun}s`,
      summary: `List ${whose} personal tokens, without their secrets.`,
      success: { status: 200, schema: PersonalTokensSchema },
      shows: (context) => ({
        pats: personalTokensOf(context.world, ownerId(context)).map((token) =>
          personalTokenView(token, context.usage.seen),
        ),
      }),
    }),
    writeRoute(`POST ${base}`, {
      permission,
      ...ofOwner,
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
      shows: (context, _, events) => {
        const { data } = recorded(events, 'pat-created');
        return { ...data, seenAt: null, secret: secretOf(context) };
      },
    }),
    writeRoute(`DELETE ${base}/:${tokenParam}`, {
      permission,
      ...ofToken,
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
  }),
  ...tokenRoutes({
    base: '/user-admin/:id/tokens',
    tag: 'Personal tokens',
    tokenParam: 'tokenId',
    noun: 'UserToken',
    whose: "a user's",
    permission: 'admin',
    locateOwner: locate.user,
  }),
  ...tokenRoutes({
    base: '/service-account/:id/token',
    tag: 'Service accounts',
    tokenParam: 'tokenId',
    noun: 'ServiceAccountToken',
    whose: "a service account's",
    permission: 'admin',
    locateOwner: locate.serviceAccount,
  }),
];
