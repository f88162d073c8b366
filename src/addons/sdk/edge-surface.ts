/**
 * The routes that Unleash Edge calls without a token of its own, to learn which of its clients' tokens are valid and
 * what they cover. The request itself proves that Edge has the tokens; of invalid ones it learns only that.
 */
import * as v from 'valibot';
import { described, list, titled } from '../../domain/json/schema.ts';
import { digestOf, expiryOf } from '../../http/serving/access.ts';
import { COMMON_ERRORS } from '../../http/serving/errors.ts';
import { jsonResponse } from '../../http/serving/json-response.ts';
import { readRoute, underTag } from '../../http/serving/route.ts';
import type { Surface } from '../../http/serving/surface.ts';

/** Each is hashed, which takes some 2 µs, for unknown callers. */
const TOKENS_MAX = 500;
const TOKEN_LENGTH_MAX = 300;

const TOKEN_PHRASE = `a text of at most ${TOKEN_LENGTH_MAX} characters`;
const TOKENS_PHRASE = `a list of at most ${TOKENS_MAX} tokens`;

const TokensBody = titled('EdgeTokens', {
  tokens: v.pipe(
    list(v.pipe(v.string(TOKEN_PHRASE), v.maxLength(TOKEN_LENGTH_MAX, TOKEN_PHRASE)), TOKENS_PHRASE),
    v.maxLength(TOKENS_MAX, TOKENS_PHRASE),
  ),
});

const ValidTokensSchema = titled('ValidEdgeTokens', {
  tokens: v.array(
    v.object({
      token: described(v.string(), 'As it was sent.'),
      type: v.picklist(['admin', 'client', 'frontend']),
      projects: v.array(v.string()),
      environment: v.string(),
    }),
  ),
});

export const edgeSurface: Surface = {
  prefix: '/edge',
  access: null,
  errors: COMMON_ERRORS,
  routes: underTag('Edge', [
    readRoute('POST /validate', {
      operationId: 'validateEdgeTokens',
      summary: 'Find out which API tokens are valid, and what they cover.',
      permission: 'scope',
      body: TokensBody,
      success: { status: 200, schema: ValidTokensSchema },
      read: ({ world, body, now }) => {
        const { apiTokens, accessRevision } = world.directory;
        const tokens = [...new Set(body.tokens)].flatMap((secret) => {
          const token = apiTokens.get(digestOf(secret));
          if (token === undefined || expiryOf(token.expiresAt) <= now()) return [];
          const { type, projects, environment } = token;
          return { token: secret, type, projects, environment };
        });
        return { revision: accessRevision, response: jsonResponse(200, { tokens }) };
      },
    }),
  ]),
  description: `\`/edge/validate\` tells Unleash Edge which of the tokens that it was given are valid. It needs no token.`,
};
