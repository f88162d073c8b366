/** What flagd asks for: definitions of flags that it evaluates itself (docs/specification/surfaces.md#what-flagd-gets). */
import * as v from 'valibot';
import { isRefusal } from '../../domain/state/refusal.ts';
import { readRoute } from '../serving/route.ts';
import { SDK_ERRORS, sdkAccess } from '../serving/sdk-access.ts';
import type { Surface } from '../serving/surface.ts';
import { clientQuery, payerOf } from './documents/client-query.ts';
import { QUERY_PARAMETERS } from './documents/query-parameters.ts';
import { flagdDocuments } from './flagd-documents.ts';

const DefinitionSchema = v.pipe(
  v.object({
    state: v.literal('ENABLED'),
    variants: v.object({ on: v.boolean(), off: v.boolean() }),
    defaultVariant: v.picklist(['on', 'off']),
    targeting: v.pipe(
      v.exactOptional(v.record(v.string(), v.unknown())),
      v.description('JSONLogic; absent for a flag that is the same for everybody.'),
    ),
  }),
  v.title('FlagdDefinition'),
);

const DefinitionsSchema = v.pipe(
  v.object({
    $schema: v.string(),
    flags: v.record(v.string(), DefinitionSchema),
    metadata: v.object({ environment: v.string(), leftOutCount: v.number() }),
    leftOut: v.pipe(
      v.record(v.string(), v.string()),
      v.description('Flags that flagd would evaluate in another way than SDKs do, by name, and why.'),
    ),
  }),
  v.title('FlagdDefinitions'),
);

export const flagdSurface: Surface = {
  prefix: '/flagd',
  access: sdkAccess('client'),
  errors: SDK_ERRORS,
  routes: [
    readRoute({
      method: 'GET',
      // flagd tells JSON from YAML by the end of the path.
      path: '/flags.json',
      operationId: 'getFlagdDefinitions',
      tag: 'OpenFeature',
      summary: 'Read the flags that the token covers as definitions for flagd.',
      permission: 'scope',
      query: QUERY_PARAMETERS,
      success: { status: 200, schema: DefinitionsSchema },
      refusals: ['ValidationError', 'PayloadTooLargeError', 'ServiceUnavailableError'],
      read: async (context) => {
        const query = clientQuery(context, true);
        if (isRefusal(query)) return query;
        const document = await flagdDocuments(context.engine).get(query, payerOf(query, context));
        if (isRefusal(document)) return document;
        const { revision, encoded } = document;
        return { revision, response: await encoded.response(context.header('accept-encoding')) };
      },
    }),
  ],
  description: `\`/flagd/flags.json\` is for flagd: definitions of the flags of the projects and the environment that a client token
covers, except those that flagd would evaluate in another way than SDKs do.`,
};
