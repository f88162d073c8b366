/** What the console of Unleash asks for at its start, and the origins of pages that may call the surfaces for pages. */
import * as v from 'valibot';
import { list } from '../../../domain/json/list-schema.ts';
import { frontendOrigins, isOrigin, ORIGIN_PHRASE } from '../../../domain/state/frontend-origins.ts';
import { emptyResponse } from '../../dispatch/json-response.ts';
import { type Route, readRoute, writeRoute } from '../../dispatch/route.ts';
import { settledResponse } from '../views/responses.ts';

const UI_CONFIG = '/ui-config';

/** A response to a page is compared with each of them. */
const ORIGINS_MAX = 100;
const ORIGIN_LENGTH_MAX = 300;

const ORIGINS_PHRASE = `a list of at most ${ORIGINS_MAX} origins`;
const OriginsBody = v.pipe(
  v.object({
    frontendApiOrigins: v.pipe(
      list(
        v.pipe(
          v.string(ORIGIN_PHRASE),
          v.maxLength(ORIGIN_LENGTH_MAX, `an origin of at most ${ORIGIN_LENGTH_MAX} characters`),
          v.check(isOrigin, ORIGIN_PHRASE),
        ),
        ORIGINS_PHRASE,
      ),
      v.maxLength(ORIGINS_MAX, ORIGINS_PHRASE),
      v.description('Origins such as https://shop.example; * stands for any, and an empty list for none.'),
    ),
  }),
  v.title('FrontendOrigins'),
);

const UiConfigSchema = v.pipe(
  v.object({
    name: v.string(),
    slogan: v.string(),
    version: v.string(),
    environment: v.string(),
    flags: v.pipe(v.record(v.string(), v.unknown()), v.description('Always empty.')),
    links: v.pipe(v.array(v.unknown()), v.description('Always empty.')),
    frontendApiOrigins: v.array(v.string()),
  }),
  v.title('UiConfig'),
);

export const uiConfigRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: UI_CONFIG,
    operationId: 'getUiConfig',
    tag: 'Instance',
    summary: 'Read the version, and the origins of pages that may call the surfaces for pages.',
    permission: 'read',
    success: { status: 200, schema: UiConfigSchema },
    read: (context) => {
      const { version, configuredOrigins } = context.instance;
      const frontendApiOrigins = frontendOrigins(context.world.directory.settings, configuredOrigins);
      return settledResponse(context, {
        ...{ name: 'Flagstaff', slogan: '', version, environment: '' },
        ...{ flags: {}, links: [], frontendApiOrigins },
      });
    },
  }),
  writeRoute({
    method: 'POST',
    path: `${UI_CONFIG}/cors`,
    operationId: 'setCors',
    tag: 'Instance',
    summary: 'Set the origins of pages that may call the surfaces for pages.',
    permission: 'admin',
    body: OriginsBody,
    success: { status: 204, schema: null },
    command: ({ body }) => ({ type: 'set-frontend-origins', origins: body.frontendApiOrigins }),
    respond: () => emptyResponse(204),
  }),
];
